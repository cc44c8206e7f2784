//! What holds of bindings, phases, checkpoints and artifacts after corrections and repeated reports.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{
    Artifact, Binding, Checkpoint, Interruption, Phase, PhaseKind, QualityResult, SourceId, Timestamp,
};

use super::gather::{Said, quality_order};

/// Of what one source said of the same thing, only the newest; several, if the source gives no time of change.
fn newest<'a, T, K: Ord>(said: &[Said<'a, T>], thing: impl Fn(&'a T) -> K) -> Vec<&'a T> {
    let mut newest: BTreeMap<(&SourceId, K), Option<Timestamp>> = BTreeMap::new();
    for one in said {
        let known = newest.entry((one.source, thing(one.record))).or_default();
        *known = (*known).max(one.modified_at);
    }
    said.iter()
        .filter(|one| newest.get(&(one.source, thing(one.record))) == Some(&one.modified_at))
        .map(|one| one.record)
        .collect()
}

/// Bindings: a closed one replaces its open report, a later end an earlier one, and overlapping equal reports of one
/// resource are one holding. A report that does not tell the size of the resource gives way to one that differs in
/// nothing else. A reader that knows of two equal holdings of one resource has to add them up.
pub(super) fn bindings(said: &[Said<'_, Binding>]) -> Vec<Binding> {
    let mut kept = newest(said, |b| (b.kind, &b.resource_id, &b.node_name, b.start));
    let without_size = |binding: &Binding| Binding { capacity: None, ..binding.clone() };
    let sized: BTreeSet<Binding> =
        kept.iter().filter(|b| b.capacity.is_some()).map(|b| without_size(b)).collect();
    kept.retain(|b| b.capacity.is_some() || !sized.contains(*b));
    let mut ends: BTreeMap<Binding, Option<Timestamp>> = BTreeMap::new();
    for binding in kept {
        let end = ends.entry(Binding { end: None, ..binding.clone() }).or_default();
        *end = (*end).max(binding.end);
    }
    let mut holdings: BTreeMap<Binding, Vec<Binding>> = BTreeMap::new();
    for (open, end) in ends {
        let start = open.start;
        let holding = holdings.entry(Binding { start: Timestamp(i64::MIN), ..open.clone() }).or_default();
        match holding.last_mut() {
            Some(last) if last.end.is_none_or(|known| start < known) => {
                last.end = if last.end.is_none() || end.is_none() { None } else { last.end.max(end) };
            }
            _ => holding.push(Binding { end, ..open }),
        }
    }
    let mut bindings: Vec<Binding> = holdings.into_values().flatten().collect();
    bindings.sort();
    bindings
}

/// Phases: of one kind and start the newest, else the longest.
pub(super) fn phases(said: &[Said<'_, Phase>]) -> Vec<Phase> {
    let kept = newest(said, |p| (p.kind, p.interval.start));
    let mut longest: BTreeMap<(Timestamp, PhaseKind), Phase> = BTreeMap::new();
    for phase in kept {
        longest
            .entry((phase.interval.start, phase.kind))
            .and_modify(|known| {
                if (phase.interval.end, phase.grade) > (known.interval.end, known.grade) {
                    phase.clone_into(known);
                }
            })
            .or_insert_with(|| phase.clone());
    }
    longest.into_values().collect()
}

/// Checkpoints: one that was reported when it began is replaced by its completion.
pub(super) fn checkpoints(said: &[Said<'_, Checkpoint>]) -> Vec<Checkpoint> {
    let mut kept: Vec<Checkpoint> =
        newest(said, |c| (c.step, &c.uri, c.started_at)).into_iter().cloned().collect();
    kept.sort();
    kept.dedup();
    let completed: Vec<Checkpoint> = kept.iter().filter(|c| c.completed_at.is_some()).cloned().collect();
    kept.retain(|begun| {
        let completes = |done: &Checkpoint| {
            done.step == begun.step
                && (done.uri == begun.uri || begun.uri.is_none())
                && (done.started_at.is_none()
                    || begun.started_at.is_none()
                    || done.started_at == begun.started_at)
        };
        begun.completed_at.is_some() || !completed.iter().any(completes)
    });
    kept.sort_by(|a, b| (a.completed_at.or(a.started_at), a).cmp(&(b.completed_at.or(b.started_at), b)));
    kept
}

/// Interruptions in order.
pub(super) fn interruptions(said: &[Said<'_, Interruption>]) -> Vec<Interruption> {
    let mut kept: Vec<Interruption> = said.iter().map(|one| one.record.clone()).collect();
    kept.sort();
    kept.dedup();
    kept
}

/// Quality in order of time; a value that its source measured again at the same time replaces the older one.
pub(super) fn quality(said: &[Said<'_, QualityResult>]) -> Vec<QualityResult> {
    let mut kept: Vec<QualityResult> =
        newest(said, |q| (q.at, &q.metric, &q.split, q.step, &q.protocol)).into_iter().cloned().collect();
    kept.sort_by(quality_order);
    kept.dedup_by(|a, b| quality_order(a, b).is_eq());
    kept
}

/// Artifacts in order.
pub(super) fn artifacts(said: &[Said<'_, Artifact>]) -> Vec<Artifact> {
    let mut kept: Vec<Artifact> = newest(said, |a| (a.kind, &a.uri)).into_iter().cloned().collect();
    kept.sort();
    kept.dedup();
    kept
}
