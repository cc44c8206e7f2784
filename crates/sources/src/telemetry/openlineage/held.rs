//! What the facets say beside the attempt: resources, phases, a checkpoint, a quality.

use ledger::{
    Binding, BindingKind, Checkpoint, Direction, Grade, Interval, JoinMethod, Phase, PhaseKind,
    QualityResult, ShareDriver, Timestamp,
};

use super::object::Object;
use crate::telemetry::attempts::{Refusal, Resource};

/// Resources held. A binding without a start begins with the run, which only a START event knows. Accelerators that the
/// event saw, in thousandths, are those of the one machine that it names.
pub(super) fn bindings(
    facet: &Object<'_>,
    run_start: Option<Timestamp>,
    seen: Option<u64>,
) -> Result<Vec<Binding>, Refusal> {
    let all = facet.objects("bindings")?;
    let seen = seen.filter(|_| all.len() == 1);
    all.iter().map(|one| binding(one, run_start, seen)).collect()
}

fn binding(one: &Object<'_>, run_start: Option<Timestamp>, seen: Option<u64>) -> Result<Binding, Refusal> {
    let node_name = one.owned("nodeName")?;
    let resource = one.text("resourceId")?.map(Resource::of);
    if resource.is_none() && node_name.is_none() {
        return Err(one.refuse("row::missing_value", "resourceId", "a resource id, or a `nodeName`"));
    }
    let by_shape = resource.as_ref().map_or(BindingKind::Node, |resource| resource.kind);
    let kind = one.word("kind", BindingKind::from_word)?.unwrap_or(by_shape);
    let start = match one.time("start")?.or(run_start) {
        Some(start) => start,
        None => one.required_time("start")?,
    };
    let end = one.time("end")?;
    if end.is_some_and(|end| end < start) {
        return Err(one.refuse("row::ends_before_start", "end", "a time not before the start"));
    }
    let gpus = one.thousandths("gpus")?.or(seen);
    let (driver, weight, capacity) = match (gpus, one.thousandths("cpus")?) {
        (Some(gpus), _) => (ShareDriver::Gpu, gpus, one.thousandths("gpuCapacity")?),
        (None, Some(cpus)) => (ShareDriver::Cpu, cpus, one.thousandths("cpuCapacity")?),
        (None, None) => (ShareDriver::Whole, 1_000, Some(1_000)),
    };
    let method = if resource.is_some() { JoinMethod::ResourceId } else { JoinMethod::HostName };
    Ok(Binding {
        kind,
        resource_id: resource.map(|resource| resource.id),
        node_name,
        sku: one.owned("sku")?,
        start,
        end,
        weight,
        capacity,
        driver,
        gpus: gpus.unwrap_or(0),
        method,
    })
}

/// Phases, measured by the run itself unless they say that somebody else reported them.
pub(super) fn phases(facet: &Object<'_>) -> Result<Vec<Phase>, Refusal> {
    let phase = |one: &Object<'_>| {
        let missing = || one.refuse("row::missing_value", "kind", "a phase such as `train`");
        let kind = one.word("kind", PhaseKind::from_word)?.ok_or_else(missing)?;
        let (start, end) = (one.required_time("start")?, one.required_time("end")?);
        let interval = Interval::new(start, end)
            .map_err(|_| one.refuse("row::ends_before_start", "end", "a time not before the start"))?;
        let grade = one.word("grade", told_grade)?.unwrap_or(Grade::Measured);
        Ok(Phase { interval, kind, grade })
    };
    facet.objects("phases")?.iter().map(phase).collect()
}

fn told_grade(word: &str) -> Option<Grade> {
    Grade::from_word(word).filter(|grade| matches!(grade, Grade::Measured | Grade::Reported))
}

/// Schemes of stores that outlive a node.
const REMOTE: [&str; 8] =
    ["s3://", "gs://", "az://", "abfs://", "abfss://", "wasbs://", "hdfs://", "https://"];

/// One checkpoint.
pub(super) fn checkpoint(facet: &Object<'_>) -> Result<Checkpoint, Refusal> {
    let uri = facet.owned("uri")?;
    let remote = uri.as_deref().is_some_and(|uri| REMOTE.iter().any(|scheme| uri.starts_with(scheme)));
    Ok(Checkpoint {
        step: facet.count("step")?,
        started_at: facet.time("startedAt")?,
        completed_at: facet.time("completedAt")?,
        durable: facet.flag("durable")?.unwrap_or(remote),
        bytes: facet.count("bytes")?,
        uri,
    })
}

/// One value of a metric, measured when the event was sent.
pub(super) fn quality(facet: &Object<'_>, at: Timestamp) -> Result<QualityResult, Refusal> {
    Ok(QualityResult {
        metric: facet.required("metric")?.to_owned(),
        value: facet.number("value")?,
        direction: facet.word("direction", direction)?,
        split: facet.owned("split")?,
        step: facet.count("step")?,
        at,
        protocol: facet.owned("protocol")?,
        is_final: facet.flag("isFinal")?.unwrap_or(false),
    })
}

fn direction(word: &str) -> Option<Direction> {
    match word {
        "maximize" => Some(Direction::Maximise),
        "minimize" => Some(Direction::Minimise),
        _ => Direction::from_word(word),
    }
}
