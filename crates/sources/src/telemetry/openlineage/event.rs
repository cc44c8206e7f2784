//! What one event says of its run.

use ledger::{
    AttemptView, Capacity, Cause, ExperimentId, ExperimentLink, LinkMethod, Observation, Outcome, RunRecord,
    RunState, SourceId, Timestamp,
};
use serde_json::Value;

use super::gpus::Gpus;
use super::object::Object;
use super::tags::Tags;
use super::{held, outputs};
use crate::telemetry::attempts::{Refusal, interruption, outcome_of};

/// Longest evidence kept of an error message, in characters.
const EVIDENCE: usize = 500;

/// Longest run id, in bytes.
const MAX_ID: usize = 200;

/// Everything that an event says.
#[derive(Debug)]
pub(super) struct Told {
    /// The attempt first; nothing, if the event is not about a run.
    pub(super) observations: Vec<Observation>,
    /// The promise of signs of life that it carries.
    pub(super) heartbeat: Option<Heartbeat>,
    /// True if the run ends with it.
    pub(super) ends: bool,
}

/// A promise of signs of life.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heartbeat {
    /// Microseconds between two of them.
    pub(super) every: i64,
    /// True if the event says nothing else but that the run goes on.
    pub(super) mere: bool,
}

/// Everything that an event says.
pub(super) fn told(event: &Value, source: &SourceId) -> Result<Told, Refusal> {
    let not_an_event = || Refusal::of_record("row::not_an_event", &event.to_string(), "an OpenLineage event");
    let mut event = Object::root(event.as_object().ok_or_else(not_an_event)?);
    if let (None, Some(data)) = (event.object("run")?, event.object("data")?) {
        event = data;
    }
    let Some(run) = event.object("run")? else {
        let about_others = event.object("job")?.is_some() || event.object("dataset")?.is_some();
        let nothing = || Told { observations: Vec::new(), heartbeat: None, ends: false };
        return if about_others { Ok(nothing()) } else { Err(not_an_event()) };
    };
    let id = run.required("runId")?;
    if id.len() > MAX_ID {
        return Err(run.refuse("row::too_long", "runId", "a shorter id"));
    }
    let key = format!("ol:{}", id.to_lowercase());
    let at = event.required_time("eventTime")?;
    let kind = Kind::of(&event)?;
    let records = records(&event, &run, kind, at)?;
    let ends = matches!(records.first(), Some(RunRecord::Attempt(view)) if view.state == RunState::Ended);
    let observed =
        |record| Observation { source: source.clone(), key: key.clone(), modified_at: Some(at), record };
    let observations = records.into_iter().map(observed).collect();
    Ok(Told { observations, heartbeat: heartbeat(&run, kind)?, ends })
}

fn heartbeat(run: &Object<'_>, kind: Kind) -> Result<Option<Heartbeat>, Refusal> {
    let Some(facet) = run.at(&["facets", "gpuRun_heartbeat"])? else { return Ok(None) };
    if !matches!(kind, Kind::Start | Kind::Running) {
        return Ok(None);
    }
    let thousandths = facet.thousandths("everySeconds")?.filter(|every| *every > 0);
    let missing = || facet.refuse("row::missing_value", "everySeconds", "seconds between two signs of life");
    let every =
        i64::try_from(thousandths.ok_or_else(missing)?).unwrap_or(i64::MAX / 1_000).saturating_mul(1_000);
    let attempt = run.at(&["facets", "gpuRun_attempt"])?;
    Ok(Some(Heartbeat { every, mere: kind == Kind::Running && attempt.is_none() }))
}

/// What happened to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Start,
    Running,
    Complete,
    Fail,
    Abort,
    Other,
}

impl Kind {
    fn of(event: &Object<'_>) -> Result<Self, Refusal> {
        match event.text("eventType")?.map(str::to_uppercase).as_deref() {
            Some("START") => Ok(Self::Start),
            Some("RUNNING") => Ok(Self::Running),
            Some("COMPLETE") => Ok(Self::Complete),
            Some("FAIL") => Ok(Self::Fail),
            Some("ABORT") => Ok(Self::Abort),
            Some("OTHER") | None => Ok(Self::Other),
            Some(_) => {
                let expected = "START, RUNNING, COMPLETE, FAIL, ABORT or OTHER";
                Err(event.refuse("row::unknown_word", "eventType", expected))
            }
        }
    }

    const fn ends(self) -> bool {
        matches!(self, Self::Complete | Self::Fail | Self::Abort)
    }

    /// An event that only carries facets says nothing of the state, so it is no more than pending.
    const fn state(self) -> RunState {
        match self {
            Self::Start | Self::Running => RunState::Running,
            Self::Complete | Self::Fail | Self::Abort => RunState::Ended,
            Self::Other => RunState::Pending,
        }
    }

    fn outcome(self, cause: Cause) -> Outcome {
        match self {
            Self::Complete => Outcome::Completed,
            Self::Fail => outcome_of(cause).unwrap_or(Outcome::Failed),
            Self::Abort => outcome_of(cause).unwrap_or(Outcome::Cancelled),
            Self::Start | Self::Running | Self::Other => Outcome::Unknown,
        }
    }
}

fn records(
    event: &Object<'_>,
    run: &Object<'_>,
    kind: Kind,
    at: Timestamp,
) -> Result<Vec<RunRecord>, Refusal> {
    let view = view(event, run, kind, at)?;
    let mut records = Vec::new();
    if let Some(facets) = run.object("facets")? {
        if kind.ends() {
            let signal = facets.at(&["gpuRun_attempt"])?.map_or(Ok(None), |facet| facet.text("signal"))?;
            records.extend(interruption(view.outcome, view.cause, at, signal).map(RunRecord::Interruption));
        }
        if let Some(facet) = facets.object("gpuRun_resources")? {
            let seen = Gpus::of(&facets)?.map(|gpus| gpus.count);
            let bindings = held::bindings(&facet, (kind == Kind::Start).then_some(at), seen)?;
            records.extend(bindings.into_iter().map(RunRecord::Binding));
        }
        if let Some(facet) = facets.object("gpuRun_phases")? {
            records.extend(held::phases(&facet)?.into_iter().map(RunRecord::Phase));
        }
        if let Some(facet) = facets.object("gpuRun_checkpoint")? {
            records.push(RunRecord::Checkpoint(held::checkpoint(&facet)?));
        }
        if let Some(facet) = facets.object("gpuRun_quality")? {
            records.push(RunRecord::Quality(held::quality(&facet, at)?));
        }
    }
    records.extend(outputs::artifacts(event)?.into_iter().map(RunRecord::Artifact));
    records.insert(0, RunRecord::Attempt(view));
    Ok(records)
}

fn view(event: &Object<'_>, run: &Object<'_>, kind: Kind, at: Timestamp) -> Result<AttemptView, Refusal> {
    let mut view = AttemptView {
        started_at: (kind == Kind::Start).then_some(at),
        ended_at: kind.ends().then_some(at),
        state: kind.state(),
        ..AttemptView::of_scheduler(String::new())
    };
    let tags = Tags::of(event)?;
    view.model_version = tags.any(&["model_version", "model"]);
    view.config_version = tags.any(&["config_version", "config"]);
    view.dataset_snapshot = tags.any(&["dataset_snapshot", "dataset"]);
    view.team = tags.any(&["team"]);
    view.user = tags.any(&["user"]);
    if let Some(facet) = run.at(&["facets", "gpuRun_attempt"])? {
        told_by_attempt_facet(&mut view, (&facet, kind))?;
        if !matches!(kind, Kind::Start | Kind::Running) {
            gone(&mut view, &facet)?;
        }
    }
    if view.gpu_kind.is_none()
        && let Some(facets) = run.object("facets")?
    {
        view.gpu_kind = Gpus::of(&facets)?.and_then(|gpus| gpus.kind);
    }
    if let Some(facet) = run.at(&["facets", "errorMessage"])?
        && let Some(message) = facet.text("message")?
    {
        view.cause_evidence.push(message.chars().take(EVIDENCE).collect());
    }
    if kind == Kind::Fail && view.cause == Cause::Unknown && !view.cause_evidence.is_empty() {
        let out_of_memory = view.cause_evidence.iter().any(|text| text.contains("CUDA out of memory"));
        view.cause = if out_of_memory { Cause::OomGpu } else { Cause::AppError };
    }
    // Only the first event names a scheduler that nobody told: a later one would hide what an earlier one said.
    if kind == Kind::Start && view.scheduler.is_empty() {
        "openlineage".clone_into(&mut view.scheduler);
    }
    if view.outcome == Outcome::Unknown {
        view.outcome = kind.outcome(view.cause);
    }
    if let Some(job) = event.object("job")? {
        view.name = job.owned("name")?;
        if view.config_version.is_none() {
            let facet = job.at(&["facets", "sourceCodeLocation"])?;
            view.config_version = facet.map_or(Ok(None), |facet| facet.owned("version"))?;
        }
    }
    if view.dataset_snapshot.is_none() {
        view.dataset_snapshot = outputs::snapshot(event)?;
    }
    view.link = link(event, run, &tags)?;
    Ok(view)
}

/// The ends that have no event type: nobody tells how it ended, or it is gone without an end.
fn gone(view: &mut AttemptView, facet: &Object<'_>) -> Result<(), Refusal> {
    for (field, state) in [("lostAt", RunState::Lost), ("endedAt", RunState::Ended)] {
        if let Some(at) = facet.time(field)? {
            (view.ended_at, view.state) = (Some(at), state);
        }
    }
    Ok(())
}

fn told_by_attempt_facet(view: &mut AttemptView, (facet, kind): (&Object<'_>, Kind)) -> Result<(), Refusal> {
    if let Some(scheduler) = facet.owned("scheduler")? {
        view.scheduler = scheduler;
    }
    view.cluster = facet.owned("cluster")?;
    view.namespace = facet.owned("namespace")?;
    view.queue = facet.owned("queue")?.or_else(|| view.namespace.clone());
    view.user = facet.owned("user")?.or(view.user.take());
    view.team = facet.owned("team")?.or(view.team.take());
    view.submitted_at = facet.time("submittedAt")?;
    view.gpu_count = facet.thousandths("gpuCount")?;
    view.gpu_kind = facet.owned("gpuKind")?;
    view.node_count = facet.small_count("nodeCount")?;
    view.capacity = facet.word("capacity", Capacity::from_word)?.unwrap_or(Capacity::Unknown);
    view.model_version = facet.owned("modelVersion")?.or(view.model_version.take());
    view.config_version = facet.owned("configVersion")?.or(view.config_version.take());
    view.dataset_snapshot = facet.owned("datasetSnapshot")?.or(view.dataset_snapshot.take());
    view.cause = facet.word("cause", Cause::from_word)?.unwrap_or(Cause::Unknown);
    if matches!(kind, Kind::Complete | Kind::Fail | Kind::Abort) {
        view.outcome = facet.word("outcome", Outcome::from_word)?.unwrap_or(Outcome::Unknown);
    }
    view.cause_evidence = facet.texts("evidence")?;
    view.exit_code = facet.exit_code("exitCode")?;
    view.restart_index = facet.small_count("ordinal")?.and_then(|ordinal| ordinal.checked_sub(1));
    view.aliases = facet.texts("aliases")?;
    Ok(())
}

/// The root of the run's parents names the experiment, else its parent, else a tag, else the job itself.
fn link(event: &Object<'_>, run: &Object<'_>, tags: &Tags<'_>) -> Result<Option<ExperimentLink>, Refusal> {
    for path in [&["facets", "parent", "root", "job"][..], &["facets", "parent", "job"]] {
        if let Some(job) = run.at(path)?
            && let Some(name) = job.owned("name")?
        {
            return Ok(Some(ExperimentLink { experiment: ExperimentId(name), method: LinkMethod::Explicit }));
        }
    }
    if let Some(name) = tags.any(&["experiment", "experiment_id"]) {
        return Ok(Some(ExperimentLink { experiment: ExperimentId(name), method: LinkMethod::Label }));
    }
    let Some(job) = event.object("job")? else { return Ok(None) };
    let Some(name) = job.text("name")? else { return Ok(None) };
    let own = format!("ol:{}/{name}", job.text("namespace")?.unwrap_or_default());
    Ok(Some(ExperimentLink { experiment: ExperimentId(own), method: LinkMethod::OwnJob }))
}
