//! A custom job: when it ran, on what, and how it ended.

use ledger::{
    Artifact, ArtifactKind, AttemptView, Binding, BindingKind, Capacity, Cause, Chain, ExperimentId,
    ExperimentLink, Grade, Interval, JoinMethod, LinkMethod, Observation, Outcome, Phase, PhaseKind,
    QualityResult, RunRecord, RunState, ShareDriver,
};

use super::VertexAiOptions;
use super::tuning::Trial;
use crate::Zone;
use crate::telemetry::attempts::{Labels, Refusal, interruption, moment, outcome_of};
use crate::telemetry::openlineage::Object;

/// Everything that a job says, with what its trial measured.
pub(super) fn observations(
    job: &Object<'_>,
    trial: Option<&Trial>,
    options: &VertexAiOptions,
) -> Result<Vec<Observation>, Refusal> {
    let name = job.required("name")?;
    let view = view(job, trial, options)?;
    let pools = Pools::of(job)?;
    let mut records = Vec::new();
    if let Some(start) = view.started_at {
        records.push(RunRecord::Binding(Binding {
            kind: BindingKind::ManagedJob,
            resource_id: Some(name.to_owned()),
            node_name: None,
            sku: pools.machines(),
            start,
            end: view.ended_at,
            weight: 1_000,
            capacity: Some(1_000),
            driver: ShareDriver::Whole,
            gpus: pools.gpus.unwrap_or(0),
            method: JoinMethod::ResourceId,
        }));
        let waited = view.submitted_at.and_then(|submitted| Interval::new(submitted, start).ok());
        let waited = waited.filter(|interval| interval.micros() > 0);
        records.extend(waited.map(|interval| {
            RunRecord::Phase(Phase { interval, kind: PhaseKind::Queue, grade: Grade::Reported })
        }));
    }
    if let Some(end) = view.ended_at {
        let signal = view.cause_evidence.first().map(String::as_str);
        records.extend(interruption(view.outcome, view.cause, end, signal).map(RunRecord::Interruption));
        for metric in trial.map_or(&[][..], |trial| trial.metrics.as_slice()) {
            records.push(RunRecord::Quality(QualityResult {
                metric: metric.name.clone(),
                value: metric.value,
                direction: metric.direction,
                split: None,
                step: metric.step,
                at: end,
                protocol: None,
                is_final: true,
            }));
        }
    }
    if let Some(output) = job.at(&["jobSpec", "baseOutputDirectory"])? {
        let uri = output.owned("outputUriPrefix")?;
        let artifact = |uri| RunRecord::Artifact(Artifact { kind: ArtifactKind::Model, uri, version: None });
        records.extend(uri.map(artifact));
    }
    records.insert(0, RunRecord::Attempt(view));
    let modified_at = moment(job, "updateTime", &Zone::Undeclared)?;
    let observed = |record| Observation {
        source: options.source.clone(),
        key: format!("vertex:{name}:0"),
        modified_at,
        record,
    };
    Ok(records.into_iter().map(observed).collect())
}

fn view(job: &Object<'_>, trial: Option<&Trial>, options: &VertexAiOptions) -> Result<AttemptView, Refusal> {
    let time = |name: &str| moment(job, name, &Zone::Undeclared);
    let (started, ended) = (time("startTime")?, time("endTime")?);
    if started.is_some_and(|start| ended.is_some_and(|end| end < start)) {
        return Err(job.refuse("row::ends_before_start", "endTime", "a time not before the start"));
    }
    let (state, outcome, cause, evidence) = ending(job, started.is_some())?;
    let labels = Labels::of(job, &["labels"])?;
    let explicit = match job.object("jobSpec")? {
        Some(spec) => spec.text("experiment")?.map(|name| name.rsplit('/').next().unwrap_or(name).to_owned()),
        None => None,
    };
    let link = |name, method| ExperimentLink { experiment: ExperimentId(name), method };
    let pools = Pools::of(job)?;
    let view = AttemptView {
        link: explicit
            .map(|name| link(name, LinkMethod::Explicit))
            .or_else(|| labels.link(&options.experiment_keys))
            .or_else(|| trial.map(|trial| link(trial.tuning.clone(), LinkMethod::Explicit))),
        chain: Some(Chain { job: format!("vertex:{}", job.required("name")?), resizing: false }),
        name: job.owned("displayName")?,
        submitted_at: time("createTime")?,
        started_at: started,
        ended_at: if state == RunState::Ended { ended } else { None },
        state,
        outcome,
        cause,
        cause_evidence: evidence,
        gpu_count: pools.gpus,
        gpu_kind: pools.kind(),
        node_count: pools.nodes,
        capacity: capacity(job)?,
        ..AttemptView::of_scheduler("vertex-ai".to_owned())
    };
    Ok(labels.described(view))
}

type Ending = (RunState, Outcome, Cause, Vec<String>);

fn ending(job: &Object<'_>, has_started: bool) -> Result<Ending, Refusal> {
    let error = job.object("error")?;
    let (code, message) = match &error {
        Some(error) => (error.count("code")?, error.owned("message")?),
        None => (None, None),
    };
    let evidence: Vec<String> = message.into_iter().collect();
    let ended = |cause: Cause, otherwise: Outcome| {
        (RunState::Ended, outcome_of(cause).unwrap_or(otherwise), cause, evidence.clone())
    };
    let open = |state| (state, Outcome::Unknown, Cause::Unknown, Vec::new());
    let word = job.required("state")?;
    Ok(match word.strip_prefix("JOB_STATE_").unwrap_or(word) {
        "SUCCEEDED" => (RunState::Ended, Outcome::Completed, Cause::Unknown, Vec::new()),
        // Some results may be missing, and which is not told.
        "PARTIALLY_SUCCEEDED" => ended(Cause::Unknown, Outcome::Unknown),
        "FAILED" => {
            let says = |part: &str| evidence.iter().any(|text| text.contains(part));
            let cause = match code {
                // RESOURCE_EXHAUSTED, UNAVAILABLE: there was no machine.
                Some(8 | 14) if !has_started => Cause::LaunchFailure,
                _ if says("CUDA out of memory") => Cause::OomGpu,
                _ if says("out-of-memory") || says("out of memory") || says("OOM") => Cause::OomHost,
                _ if says("exited with a non-zero status") => Cause::AppError,
                _ => Cause::Unknown,
            };
            ended(cause, Outcome::Failed)
        }
        "CANCELLED" => ended(Cause::UserCancelled, Outcome::Cancelled),
        "EXPIRED" => ended(Cause::TimeLimit, Outcome::Timeout),
        "QUEUED" | "PENDING" if !has_started => open(RunState::Pending),
        "QUEUED" | "PENDING" | "RUNNING" | "CANCELLING" | "PAUSED" | "UPDATING" => {
            open(if has_started { RunState::Running } else { RunState::Pending })
        }
        _ => return Err(job.refuse("row::unknown_word", "state", "a state such as JOB_STATE_SUCCEEDED")),
    })
}

fn capacity(job: &Object<'_>) -> Result<Capacity, Refusal> {
    let scheduling = job.at(&["jobSpec", "scheduling"])?;
    let strategy = scheduling.map_or(Ok(None), |scheduling| scheduling.text("strategy"))?;
    Ok(match strategy {
        Some("SPOT") => Capacity::Spot,
        Some("STANDARD" | "ON_DEMAND" | "FLEX_START") => Capacity::OnDemand,
        Some(_) | None => Capacity::Unknown,
    })
}

/// True for a job whose workers may have started more than once.
pub(super) fn may_restart(job: &Object<'_>) -> Result<bool, Refusal> {
    let Some(scheduling) = job.at(&["jobSpec", "scheduling"])? else { return Ok(false) };
    let restarts = scheduling.flag("restartJobOnWorkerRestart")? == Some(true);
    Ok((restarts || capacity(job)? == Capacity::Spot) && scheduling.flag("disableRetries")? != Some(true))
}

/// The worker pools of a job.
#[derive(Default)]
struct Pools {
    nodes: Option<u32>,
    gpus: Option<u64>,
    machines: Vec<String>,
    kinds: Vec<String>,
}

impl Pools {
    fn of(job: &Object<'_>) -> Result<Self, Refusal> {
        let mut pools = Self::default();
        let Some(spec) = job.object("jobSpec")? else { return Ok(pools) };
        for pool in spec.objects("workerPoolSpecs")? {
            let Some(machine) = pool.object("machineSpec")? else { continue };
            let replicas = pool.small_count("replicaCount")?.unwrap_or(1);
            pools.nodes = Some(pools.nodes.unwrap_or(0).saturating_add(replicas));
            pools.machines.extend(machine.owned("machineType")?);
            let count = machine.count("acceleratorCount")?.unwrap_or(0);
            let gpus = count.saturating_mul(u64::from(replicas)).saturating_mul(1_000);
            pools.gpus = Some(pools.gpus.unwrap_or(0).saturating_add(gpus));
            pools.kinds.extend(machine.owned("acceleratorType")?.filter(|_| count > 0));
        }
        Ok(pools)
    }

    fn machines(&self) -> Option<String> {
        joined(&self.machines)
    }

    fn kind(&self) -> Option<String> {
        joined(&self.kinds)
    }
}

fn joined(words: &[String]) -> Option<String> {
    let mut words = words.to_vec();
    words.sort();
    words.dedup();
    (!words.is_empty()).then(|| words.join("+"))
}
