//! Builders and scenarios for the fold.

mod aliases;
mod corrections;
mod devices;
mod laws;
mod links;
mod machines;
mod phases;
mod presence;
mod resources;
mod retries;

use ledger::{
    Attempt, AttemptView, Binding, BindingKind, Capacity, Chain, ExperimentId, ExperimentLink, JoinMethod,
    LinkMethod, NodePeriod, Observation, Outcome, RunRecord, RunState, ShareDriver, SourceId, Timestamp,
};

use super::{Folded, fold};

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

pub(super) fn some(seconds: i64) -> Option<Timestamp> {
    Some(at(seconds))
}

/// A view that says nothing.
pub(super) fn view() -> AttemptView {
    AttemptView { cluster: Some("gpu".to_owned()), ..AttemptView::of_scheduler("slurm".to_owned()) }
}

pub(super) fn running(start: i64) -> AttemptView {
    AttemptView { started_at: some(start), state: RunState::Running, ..view() }
}

pub(super) fn ended(start: i64, end: i64, outcome: Outcome) -> AttemptView {
    AttemptView { started_at: some(start), ended_at: some(end), state: RunState::Ended, outcome, ..view() }
}

pub(super) fn labelled(experiment: &str) -> Option<ExperimentLink> {
    linked(experiment, LinkMethod::Label)
}

pub(super) fn linked(experiment: &str, method: LinkMethod) -> Option<ExperimentLink> {
    Some(ExperimentLink { experiment: ExperimentId(experiment.to_owned()), method })
}

/// A segment of job `job` that was submitted at `submit`.
pub(super) fn segment(job: &str, submit: i64, resizing: bool, view: AttemptView) -> AttemptView {
    AttemptView { submitted_at: some(submit), chain: Some(Chain { job: job.to_owned(), resizing }), ..view }
}

pub(super) fn node_binding(node: &str, start: i64, end: Option<i64>, gpus: u64) -> Binding {
    Binding {
        kind: BindingKind::Node,
        resource_id: None,
        node_name: Some(node.to_owned()),
        sku: None,
        start: at(start),
        end: end.map(at),
        weight: gpus,
        capacity: None,
        driver: ShareDriver::Gpu,
        gpus,
        method: JoinMethod::HostName,
    }
}

/// A holding of a whole machine that the bill knows by this id.
pub(super) fn instance(id: &str, start: i64, end: Option<i64>) -> Binding {
    Binding {
        kind: BindingKind::Instance,
        resource_id: Some(id.to_owned()),
        node_name: None,
        method: JoinMethod::ResourceId,
        ..node_binding("", start, end, 8_000)
    }
}

pub(super) fn codes(folded: &Folded) -> Vec<&'static str> {
    folded.notes.iter().map(|note| note.code).collect()
}

pub(super) fn period(node: &str, start: i64, end: Option<i64>, instance: &str) -> NodePeriod {
    NodePeriod {
        cluster: "gpu".to_owned(),
        node_name: node.to_owned(),
        start: at(start),
        end: end.map(at),
        instance_id: instance.to_owned(),
        instance_type: Some("p4d.24xlarge".to_owned()),
        capacity: Capacity::Spot,
    }
}

pub(super) fn says(key: &str, record: RunRecord) -> Observation {
    Observation { source: SourceId("slurm:gpu".to_owned()), key: key.to_owned(), modified_at: None, record }
}

pub(super) fn says_at(key: &str, modified: i64, record: RunRecord) -> Observation {
    Observation { modified_at: some(modified), ..says(key, record) }
}

pub(super) fn ran(key: &str, view: AttemptView) -> Observation {
    says(key, RunRecord::Attempt(view))
}

pub(super) fn ran_at(key: &str, modified: i64, view: AttemptView) -> Observation {
    says_at(key, modified, RunRecord::Attempt(view))
}

pub(super) fn bound(key: &str, binding: Binding) -> Observation {
    says(key, RunRecord::Binding(binding))
}

pub(super) fn attempt<'a>(folded: &'a Folded, key: &str) -> &'a Attempt {
    folded.attempts.iter().find(|attempt| attempt.canonical_key == key).unwrap_or_else(|| {
        let keys: Vec<&str> = folded.attempts.iter().map(|attempt| attempt.canonical_key.as_str()).collect();
        panic!("no attempt {key} among {keys:?}")
    })
}

pub(super) fn only(observations: &[Observation]) -> Attempt {
    let folded = fold(observations);
    assert_eq!(folded.attempts.len(), 1, "{:#?}", folded.attempts);
    folded.attempts.into_iter().next().unwrap()
}
