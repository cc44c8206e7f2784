//! Joins the segments of a resized job into one attempt.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ledger::{Capacity, Timestamp};

use super::draft::Draft;

/// Joins each segment that ended by a resize with the one of the same job that starts, and was submitted, where it
/// ends. A resize without a successor stands alone.
pub(super) fn joined(mut drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.sort_by(|a, b| order(a).cmp(&order(b)));
    let successors = successors(&drafts);
    let followers: BTreeSet<usize> = successors.values().copied().collect();
    let mut slots: Vec<Option<Draft>> = drafts.into_iter().map(Some).collect();
    let mut attempts = Vec::with_capacity(slots.len());
    for index in 0..slots.len() {
        if followers.contains(&index) {
            continue;
        }
        let Some(mut attempt) = slots.get_mut(index).and_then(Option::take) else { continue };
        let mut at = index;
        while let Some(next) = successors.get(&at).copied() {
            if let Some(segment) = slots.get_mut(next).and_then(Option::take) {
                attempt.absorb(segment);
            }
            at = next;
        }
        attempts.push(attempt);
    }
    attempts
}

fn order(draft: &Draft) -> (Option<Timestamp>, &str) {
    (draft.attempt.started_at, &draft.attempt.canonical_key)
}

/// For every segment that goes on, the one that it goes on with; always a later one in the list.
fn successors(drafts: &[Draft]) -> BTreeMap<usize, usize> {
    let mut starts: BTreeMap<(&str, Timestamp), Vec<usize>> = BTreeMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        let (submitted, started) = (draft.attempt.submitted_at, draft.attempt.started_at);
        if let (Some(chain), Some(start)) = (&draft.chain, started)
            && submitted == started
        {
            starts.entry((&chain.job, start)).or_default().push(index);
        }
    }
    let mut taken = BTreeSet::new();
    let mut successors = BTreeMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        let (Some(chain), Some(end)) = (&draft.chain, draft.attempt.ended_at) else { continue };
        if !chain.resizing {
            continue;
        }
        let candidates = starts.get(&(chain.job.as_str(), end));
        let next =
            candidates.and_then(|all| all.iter().find(|next| **next > index && !taken.contains(*next)));
        if let Some(next) = next {
            taken.insert(*next);
            successors.insert(index, *next);
        }
    }
    successors
}

impl Draft {
    /// Goes on with the next segment: how it ended comes from there, counts are the larger, time is summed.
    fn absorb(&mut self, next: Self) {
        self.chain = next.chain;
        self.capacities.extend(next.capacities);
        let (a, b) = (&mut self.attempt, next.attempt);
        a.aliases.push(b.canonical_key);
        a.aliases.extend(b.aliases);
        if (Reverse(b.link.confidence), b.link.method) < (Reverse(a.link.confidence), a.link.method) {
            a.link = b.link;
        }
        a.name = a.name.take().or(b.name);
        a.user = a.user.take().or(b.user);
        a.team = a.team.take().or(b.team);
        a.queue = a.queue.take().or(b.queue);
        a.namespace = a.namespace.take().or(b.namespace);
        a.ended_at = b.ended_at;
        a.state = b.state;
        a.outcome = b.outcome;
        a.cause = b.cause;
        a.cause_evidence.extend(b.cause_evidence);
        a.exit_code = b.exit_code;
        a.gpu_count = a.gpu_count.max(b.gpu_count);
        a.gpu_kind = a.gpu_kind.take().or(b.gpu_kind);
        a.gpu_milliseconds = match (a.gpu_milliseconds, b.gpu_milliseconds) {
            (Some(first), Some(second)) => first.checked_add(second),
            _ => None,
        };
        a.node_count = a.node_count.max(b.node_count);
        if a.capacity == Capacity::Unknown {
            a.capacity = b.capacity;
        }
        a.model_version = a.model_version.take().or(b.model_version);
        a.config_version = a.config_version.take().or(b.config_version);
        a.dataset_snapshot = a.dataset_snapshot.take().or(b.dataset_snapshot);
        a.bindings.extend(b.bindings);
        a.phases.extend(b.phases);
        a.checkpoints.extend(b.checkpoints);
        a.interruptions.extend(b.interruptions);
        a.quality.extend(b.quality);
        a.artifacts.extend(b.artifacts);
        a.source_overwrote |= b.source_overwrote;
    }
}
