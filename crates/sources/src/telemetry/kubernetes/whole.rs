//! Attempts whose controller counts them: all pods of one count are the ranks of one attempt.

use std::collections::BTreeMap;

use ledger::{Cause, Outcome, RunState, Timestamp};

use super::cause::Verdict;
use super::controller::{Controller, Kind};
use super::draft::{Draft, first_failure};
use super::held::Span;
use super::pod::Pod;
use super::world::World;

/// The attempt of pods that one count of a controller names.
pub(super) fn whole<'w>(
    key: &str,
    restart: Option<u32>,
    pods: &[&'w Pod],
    world: &World,
) -> Option<Draft<'w>> {
    let lead = *pods.iter().min_by_key(|pod| (&pod.meta.name, pod.meta.created))?;
    let above = world.above(lead.meta.owner.as_ref());
    let find = |kinds: &[Kind]| above.iter().copied().find(|controller| kinds.contains(&controller.kind));
    let counter = find(&[Kind::JobSet, Kind::Volcano, Kind::RayJob]);
    let maker = find(&[Kind::JobSet, Kind::Volcano, Kind::RayCluster]);
    let started = pods.iter().filter_map(|pod| pod.held_from()).min();
    let is_superseded = counter.is_some_and(|counter| match &counter.ray {
        Some((_, id)) => !key.ends_with(&format!(":{id}")),
        None => restart.is_some_and(|restart| u64::from(restart) < counter.count),
    });
    let is_over = pods.iter().all(|pod| pod.is_over());
    let (state, verdict) = if is_over {
        end(pods, counter.filter(|_| !is_superseded), is_superseded, world)
    } else if started.is_some() {
        (RunState::Running, Verdict::unknown())
    } else {
        (RunState::Pending, Verdict::unknown())
    };
    let made = pods.iter().filter_map(|pod| pod.meta.created).min();
    let is_first = restart.is_none_or(|restart| restart == 0);
    let submitted = maker.filter(|_| is_first).and_then(|maker| maker.meta.created).or(made);
    Some(Draft {
        key: key.to_owned(),
        pods: pods.to_vec(),
        lead,
        span: Span::default(),
        submitted,
        started,
        ran: ran(pods),
        ended: if is_over { pods.iter().filter_map(|pod| pod.held_until()).max() } else { None },
        state,
        verdict,
        restart,
    })
}

/// When the last of all first containers had started; `None` while one has not.
fn ran(pods: &[&Pod]) -> Option<Timestamp> {
    let first = |pod: &&Pod| pod.runs.first().filter(|run| run.restart == 0).and_then(|run| run.started);
    let starts: Option<Vec<Timestamp>> = pods.iter().map(first).collect();
    starts?.into_iter().max()
}

fn end(
    pods: &[&Pod],
    counter: Option<&Controller>,
    is_superseded: bool,
    world: &World,
) -> (RunState, Verdict) {
    let failure = first_failure(pods, world);
    if let Some(ended) = counter.and_then(|counter| counter.ended.as_ref()) {
        if ended.has_completed {
            return (RunState::Ended, Verdict { outcome: Outcome::Completed, ..Verdict::unknown() });
        }
        let cause = match ended.condition.reason.as_deref() {
            Some("DeadlineExceeded") => Cause::TimeLimit,
            _ => Cause::Unknown,
        };
        let told = Verdict::of(cause, Outcome::Failed, ended.condition.words());
        let keep = failure.filter(|_| cause == Cause::Unknown);
        return (RunState::Ended, keep.unwrap_or(told));
    }
    if let Some(failure) = failure {
        return (RunState::Ended, failure);
    }
    if pods.iter().all(|pod| pod.has_succeeded) && !is_superseded {
        return (RunState::Ended, Verdict { outcome: Outcome::Completed, ..Verdict::unknown() });
    }
    if is_superseded {
        return (RunState::Ended, Verdict::of(Cause::Unknown, Outcome::Failed, Vec::new()));
    }
    (RunState::Lost, Verdict::unknown())
}

/// An attempt of a `JobSet` whose pods are gone: a restart deletes them.
#[derive(Debug)]
pub(super) struct Vanished<'w> {
    pub(super) key: String,
    pub(super) set: &'w Controller,
    pub(super) restart: u32,
    pub(super) ended: Option<Timestamp>,
    pub(super) outcome: Outcome,
}

/// Restarts that are listed of one `JobSet`; more are only counted.
const MAX_RESTARTS: u64 = 1_000;

/// The ended attempts of all `JobSet`s of which no pod is told, given the drafts of those that are.
pub(super) fn vanished<'w>(world: &'w World, drafts: &[Draft<'_>]) -> Vec<Vanished<'w>> {
    let by_key: BTreeMap<&str, &Draft<'_>> = drafts.iter().map(|draft| (draft.key.as_str(), draft)).collect();
    let mut vanished = Vec::new();
    for set in world.controllers.values().filter(|controller| controller.kind == Kind::JobSet) {
        let key = |restart: u64| format!("{}:{restart}", set.meta.id());
        let known = |restart: u64| by_key.get(key(restart).as_str()).copied();
        for restart in 0..=set.count.min(MAX_RESTARTS) {
            if known(restart).is_some() {
                continue;
            }
            let next = known(restart + 1)
                .and_then(|draft| draft.pods.iter().filter_map(|pod| pod.meta.created).min());
            let is_last = restart == set.count;
            let (ended, outcome) = match &set.ended {
                _ if !is_last => (next, Outcome::Failed),
                Some(end) if end.has_completed => (set.ended_at(), Outcome::Completed),
                Some(_) => (set.ended_at(), Outcome::Failed),
                None => continue,
            };
            let restart32 = u32::try_from(restart).unwrap_or(u32::MAX);
            vanished.push(Vanished { key: key(restart), set, restart: restart32, ended, outcome });
        }
    }
    vanished
}
