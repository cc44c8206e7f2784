//! What one row says: the attempt, the resources that it held, its quality, checkpoints and artifact.

use ledger::{
    Artifact, ArtifactKind, AttemptView, Binding, BindingKind, Capacity, Cause, Checkpoint, ExperimentId,
    ExperimentLink, JoinMethod, LinkMethod, Observation, Outcome, QualityResult, RunRecord, RunState,
    ShareDriver, Timestamp,
};

use super::cell::{self, Row};
use super::refusal::{Fault, Refusal};
use super::{AttemptsOptions, Resource, thousandths, words};

/// Everything that a row says, the attempt first.
pub(super) fn observations(row: &Row, options: &AttemptsOptions) -> Result<Vec<Observation>, Fault> {
    let key = format!("csv:{}:{}", options.source, row.required("attempt_id")?);
    let modified_at = row.time("modified", &options.zone)?;
    let view = view(row, options)?;
    let mut records = Vec::new();
    records.extend(bindings(row, &view)?.into_iter().map(RunRecord::Binding));
    records.extend(quality(row, &view, options)?.map(RunRecord::Quality));
    for text in row.list("checkpoint_at") {
        let completed_at = Some(cell::time(text, "checkpoint_at", &options.zone)?);
        let checkpoint =
            Checkpoint { step: None, started_at: None, completed_at, durable: true, bytes: None, uri: None };
        records.push(RunRecord::Checkpoint(checkpoint));
    }
    let interruption = view.ended_at.and_then(|at| words::interruption(view.outcome, view.cause, at, None));
    records.extend(interruption.map(RunRecord::Interruption));
    if let Some(uri) = row.text("artifact_uri") {
        let artifact = Artifact { kind: ArtifactKind::Model, uri, version: view.model_version.clone() };
        records.push(RunRecord::Artifact(artifact));
    }
    records.insert(0, RunRecord::Attempt(view));
    let source = &options.source;
    Ok(records
        .into_iter()
        .map(|record| Observation { source: source.clone(), key: key.clone(), modified_at, record })
        .collect())
}

fn view(row: &Row, options: &AttemptsOptions) -> Result<AttemptView, Fault> {
    let submitted_at = row.time("submitted", &options.zone)?;
    let started_at = row.time("started", &options.zone)?;
    let ended_at = row.time("ended", &options.zone)?;
    let (state, outcome) = standing(row, started_at, ended_at)?;
    if let (Some(start), Some(end)) = (started_at, ended_at)
        && end < start
    {
        let expected = format!("a time not before the start, {start}");
        return Err(Refusal::new("row::ends_before_start", "ended", &end.to_string(), expected).into());
    }
    let (cause, cause_evidence) = cause(row, outcome);
    let never_ran = state == RunState::Ended && submitted_at.is_some() && started_at.is_none();
    let experiment = ExperimentId(row.required("experiment")?.to_owned());
    Ok(AttemptView {
        aliases: row.list("aliases").into_iter().map(str::to_owned).collect(),
        link: Some(ExperimentLink { experiment, method: LinkMethod::Explicit }),
        chain: None,
        scheduler: row.text("scheduler").unwrap_or_else(|| "manual".to_owned()),
        cluster: row.text("cluster"),
        namespace: None,
        name: row.text("name"),
        user: row.text("user"),
        team: row.text("team"),
        queue: row.text("queue"),
        submitted_at,
        started_at,
        ended_at,
        state,
        outcome,
        cause,
        cause_evidence,
        exit_code: row.parsed("exit_code", "a whole number")?,
        restart_index: None,
        gpu_count: row.get("gpus").map(|text| gpus(text, "gpus")).transpose()?,
        gpu_kind: row.text("gpu_kind"),
        elapsed_seconds: never_ran.then_some(0),
        node_count: row.parsed("nodes", "a number of nodes")?,
        capacity: row.get("capacity").map_or(Ok(Capacity::Unknown), words::capacity)?,
        model_version: row.text("model_version"),
        config_version: row.text("config_version"),
        dataset_snapshot: row.text("dataset_snapshot"),
    })
}

/// The state that the row tells, or that its times tell if it has none.
fn standing(
    row: &Row,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
) -> Result<(RunState, Outcome), Refusal> {
    let Some(text) = row.get("status") else {
        let state = match (start, end) {
            (_, Some(_)) => RunState::Ended,
            (Some(_), None) => RunState::Running,
            (None, None) => RunState::Pending,
        };
        return Ok((state, Outcome::Unknown));
    };
    let (state, outcome) = words::status(text)?;
    let contradiction = match state {
        RunState::Running | RunState::Pending if end.is_some() => {
            Some("no `ended`, or a status that has ended")
        }
        RunState::Pending if start.is_some() => Some("no `started`, or another status"),
        RunState::Pending | RunState::Running | RunState::Ended | RunState::Lost => None,
    };
    match contradiction {
        Some(expected) => Err(Refusal::new("row::contradiction", "status", text, expected)),
        None => Ok((state, outcome)),
    }
}

/// The cause as a word, and any other text as evidence.
fn cause(row: &Row, outcome: Outcome) -> (Cause, Vec<String>) {
    let implied = if outcome == Outcome::Timeout { Cause::TimeLimit } else { Cause::Unknown };
    let Some(text) = row.get("cause") else { return (implied, Vec::new()) };
    match Cause::from_word(&words::plain(text)) {
        Some(cause) => (cause, Vec::new()),
        None => (implied, vec![text.to_owned()]),
    }
}

fn gpus(text: &str, column: &str) -> Result<u64, Refusal> {
    thousandths(text)
        .ok_or_else(|| Refusal::new("row::not_a_count", column, text, "a number such as 8 or 0.5"))
}

/// Each resource, held from start to end.
fn bindings(row: &Row, view: &AttemptView) -> Result<Vec<Binding>, Refusal> {
    let Some(start) = view.started_at else { return Ok(Vec::new()) };
    let resources: Vec<Resource> = row.list("resource_ids").into_iter().map(Resource::of).collect();
    let machines = resources.iter().filter(|resource| resource.kind == BindingKind::Instance).count();
    let mut held = of_each(row, "resource_gpus", machines, gpus)?;
    if let (None, Some(total)) = (held.iter().flatten().next(), view.gpu_count) {
        held = spread(total, machines).into_iter().map(Some).collect();
    }
    let capacity = of_each(row, "resource_capacity", machines, gpus)?;
    let sku = of_each(row, "instance_type", machines, |text, _| Ok(text.to_owned()))?;
    let mut of_machines = held.into_iter().zip(capacity).zip(sku);
    Ok(resources
        .into_iter()
        .map(|resource| {
            let is_machine = resource.kind == BindingKind::Instance;
            let machine = if is_machine { of_machines.next() } else { None };
            let ((held, capacity), sku) = machine.unwrap_or_default();
            let (driver, weight, capacity) = match held {
                Some(held) => (ShareDriver::Gpu, held, capacity),
                None => (ShareDriver::Whole, 1_000, Some(1_000)),
            };
            Binding {
                kind: resource.kind,
                resource_id: Some(resource.id),
                node_name: None,
                sku,
                start,
                end: view.ended_at,
                weight,
                capacity,
                driver,
                gpus: held.unwrap_or(0),
                method: JoinMethod::Declared,
            }
        })
        .collect())
}

/// A value for each machine: one stands for all, a list must be as long as there are machines.
fn of_each<T: Clone>(
    row: &Row,
    column: &str,
    machines: usize,
    read: impl Fn(&str, &str) -> Result<T, Refusal>,
) -> Result<Vec<Option<T>>, Refusal> {
    let parts = row.list(column);
    let values: Vec<T> = parts.iter().map(|part| read(part, column)).collect::<Result<_, _>>()?;
    match values.as_slice() {
        [] => Ok(vec![None; machines]),
        [one] => Ok(vec![Some(one.clone()); machines]),
        list if list.len() == machines => Ok(list.iter().cloned().map(Some).collect()),
        list => {
            let expected = format!("one value, or {machines}, as there are machines in `resource_ids`");
            Err(Refusal::new(
                "row::wrong_number_of_values",
                column,
                &format!("{} values", list.len()),
                expected,
            ))
        }
    }
}

/// Whole thousandths for each machine, as even as they can be; they sum to the total.
fn spread(total: u64, machines: usize) -> Vec<u64> {
    let Some(count) = u64::try_from(machines).ok().filter(|count| *count > 0) else { return Vec::new() };
    (0..count).map(|index| total / count + u64::from(index < total % count)).collect()
}

fn quality(row: &Row, view: &AttemptView, options: &AttemptsOptions) -> Result<Option<QualityResult>, Fault> {
    let value = row.get("metric_value");
    let Some(metric) = row.text("metric") else {
        return match value {
            None => Ok(None),
            Some(_) => Err(Refusal::new("row::missing_value", "metric", "", "the name of the metric").into()),
        };
    };
    let Some(text) = value else { return Ok(None) };
    let expected = "a number, NaN or inf";
    let value =
        text.parse().map_err(|_| Refusal::new("row::not_a_number", "metric_value", text, expected))?;
    let at = row.time("metric_at", &options.zone)?.or(view.ended_at).or(view.started_at);
    let expected = "a time, since the row has no `ended` and no `started`";
    Ok(Some(QualityResult {
        metric,
        value,
        direction: row.get("metric_direction").map(words::direction).transpose()?,
        split: row.text("metric_split"),
        step: row.parsed("metric_step", "a step")?,
        at: at.ok_or_else(|| Refusal::new("row::missing_value", "metric_at", "", expected))?,
        protocol: row.text("protocol"),
        is_final: true,
    }))
}
