//! Attempts of pods, before their labels are read: which pods, from when to when, and how it ended.

use std::collections::BTreeMap;

use ledger::{Capacity, Outcome, RunState, Timestamp};

use super::cause::{Verdict, of_pod, of_restart};
use super::held::Span;
use super::pod::{Pod, Run};
use super::world::World;

/// An attempt.
#[derive(Debug)]
pub(super) struct Draft<'w> {
    /// Its key after that of the cluster.
    pub(super) key: String,
    /// The ranks, or the one pod.
    pub(super) pods: Vec<&'w Pod>,
    /// The pod that names it.
    pub(super) lead: &'w Pod,
    /// The time in which what the pods hold is its own.
    pub(super) span: Span,
    pub(super) submitted: Option<Timestamp>,
    pub(super) started: Option<Timestamp>,
    /// When the last of its containers had started.
    pub(super) ran: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
    pub(super) state: RunState,
    pub(super) verdict: Verdict,
    pub(super) restart: Option<u32>,
}

/// The attempts of one pod: each run of its main container.
pub(super) fn alone<'w>(pod: &'w Pod, key: &str, world: &World) -> Vec<Draft<'w>> {
    let mut drafts: Vec<Draft<'w>> = Vec::new();
    for (index, run) in pod.runs.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| pod.runs.get(before));
        let after = pod.runs.get(index + 1);
        let started = start(pod, run, before);
        let (ended, state, verdict) = match after {
            Some(after) => restarted(run, after),
            None => last(pod, run, started, world),
        };
        let ended = ended.map(|end| started.map_or(end, |start| end.max(start)));
        drafts.push(Draft {
            key: format!("{key}:{}", run.restart),
            pods: vec![pod],
            lead: pod,
            span: Span { start: started, end: ended },
            submitted: if run.restart == 0 { pod.meta.created } else { None },
            started,
            ran: run.started,
            ended,
            state,
            verdict,
            restart: Some(run.restart),
        });
    }
    drafts
}

/// A pod holds its node through its restarts: the time between two runs is that of the later one, if the one before is
/// known at all.
fn start(pod: &Pod, run: &Run, before: Option<&Run>) -> Option<Timestamp> {
    if run.restart == 0 {
        return pod.held_from();
    }
    let before = before.filter(|before| before.restart.checked_add(1) == Some(run.restart));
    match (before.and_then(|before| before.finished), run.started) {
        (Some(finished), Some(started)) => Some(finished.min(started)),
        (finished, started) => started.or(finished).or_else(|| pod.held_from()),
    }
}

fn restarted(run: &Run, after: &Run) -> (Option<Timestamp>, RunState, Verdict) {
    let verdict = run.end.as_ref().map_or_else(Verdict::unknown, of_restart);
    (run.finished.or(after.started), RunState::Ended, verdict)
}

fn last(
    pod: &Pod,
    run: &Run,
    started: Option<Timestamp>,
    world: &World,
) -> (Option<Timestamp>, RunState, Verdict) {
    if pod.is_over() {
        let (verdict, ended) = (verdict(pod, started, world), pod.held_until());
        // Gone without an end, unless something tells why.
        let is_lost = !pod.has_ended && !pod.has_end() && verdict == Verdict::unknown();
        return (ended, if is_lost { RunState::Lost } else { RunState::Ended }, verdict);
    }
    match &run.end {
        // What is being deleted was killed for that.
        Some(_) if pod.meta.deleted.is_some() => {
            (run.finished, RunState::Ended, verdict(pod, started, world))
        }
        Some(end) => (run.finished, RunState::Ended, of_restart(end)),
        None if started.is_some() => (None, RunState::Running, Verdict::unknown()),
        None => (None, RunState::Pending, Verdict::unknown()),
    }
}

fn verdict(pod: &Pod, started: Option<Timestamp>, world: &World) -> Verdict {
    let node = pod.node.as_deref().and_then(|name| world.node(name));
    let bought = node.map_or(Capacity::Unknown, |node| node.bought);
    of_pod(pod, bought, world.eviction(pod, (started, pod.held_until())))
}

/// The attempts of a job whose masters are its attempts: each run of a master, with all ranks.
pub(super) fn led<'w>(job: &str, pods: &[&'w Pod], world: &World) -> Vec<Draft<'w>> {
    let mut drafts: Vec<Draft<'w>> = Vec::new();
    for master in masters(pods) {
        let before = drafts.last().and_then(|draft| draft.ended);
        let is_first = drafts.is_empty();
        for mut draft in alone(master, "", world) {
            let restart = draft.restart.filter(|restart| *restart > 0);
            let suffix = restart.map_or_else(String::new, |restart| format!(":{restart}"));
            draft.key = format!("{job}:{}{suffix}", master.meta.id());
            draft.pods = pods.to_vec();
            if draft.restart == Some(0) {
                draft.span.start = before;
                if is_first {
                    draft.started = pods.iter().filter_map(|pod| pod.held_from()).min();
                }
            }
            drafts.push(draft);
        }
    }
    if let Some(last) = drafts.last_mut() {
        // Workers hold their nodes until they end themselves.
        last.span.end = None;
        if last.state == RunState::Ended && last.verdict.outcome != Outcome::Completed {
            last.verdict = first_failure(&last.pods, world).unwrap_or_else(|| last.verdict.clone());
        }
    }
    drafts
}

/// The pods that lead a job, in the order of their making.
fn masters<'w>(pods: &[&'w Pod]) -> Vec<&'w Pod> {
    let label = |pod: &Pod, key: &str, value: &str| {
        pod.meta.labels.get(key).is_some_and(|found| found.eq_ignore_ascii_case(value))
    };
    let of_type = |kind: &str| -> Vec<&'w Pod> {
        let is = |pod: &&&Pod| label(pod, "training_kubeflow_org_replica_type", kind);
        pods.iter().filter(is).copied().collect()
    };
    let with_role = || pods.iter().filter(|pod| label(pod, "training_kubeflow_org_job_role", "master"));
    let mut masters: Vec<&Pod> = with_role().copied().collect();
    for kind in ["master", "chief", "launcher"] {
        if masters.is_empty() {
            masters = of_type(kind);
        }
    }
    if masters.is_empty() {
        // Elastic jobs have workers only.
        let first = |pod: &&&Pod| label(pod, "training_kubeflow_org_replica_index", "0");
        masters = pods.iter().filter(first).copied().collect();
    }
    if masters.is_empty() {
        masters.extend(pods.iter().min_by_key(|pod| (&pod.meta.name, pod.meta.created)));
    }
    masters.sort_by_key(|pod| (pod.meta.created, pod.meta.id()));
    masters
}

/// How the first pod ended that failed and that no other took the place of.
pub(super) fn first_failure(pods: &[&Pod], world: &World) -> Option<Verdict> {
    let mut succeeded: BTreeMap<Place<'_>, Option<Timestamp>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| pod.has_succeeded) {
        let made = succeeded.entry(place(pod)).or_default();
        *made = (*made).max(pod.meta.created);
    }
    let is_replaced = |pod: &Pod| succeeded.get(&place(pod)).is_some_and(|made| *made > pod.meta.created);
    let mut failed: Vec<(Option<Timestamp>, Verdict)> = pods
        .iter()
        .filter(|pod| pod.is_over() && !is_replaced(pod))
        .map(|pod| (pod.held_until(), verdict(pod, pod.held_from(), world)))
        .filter(|(_, verdict)| !matches!(verdict.outcome, Outcome::Completed | Outcome::Unknown))
        .collect();
    failed.sort_by_key(|(at, verdict)| (at.is_none(), *at, verdict.cause));
    failed.into_iter().next().map(|(_, verdict)| verdict)
}

/// What tells one rank of a job from another.
type Place<'p> = (Option<&'p str>, Option<&'p str>);

fn place(pod: &Pod) -> Place<'_> {
    let owner = pod.meta.owner.as_ref().map(|owner| owner.uid.as_str());
    (owner, pod.meta.labels.get("batch_kubernetes_io_job_completion_index"))
}
