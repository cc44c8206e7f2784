//! Finds the attempt that is meant by a key, or by a place in a bucket, at a time.

use std::collections::BTreeMap;

use ledger::{Artifact, Attempt, BindingKind, Checkpoint, Interval, Timestamp};

use super::gather::{IN_A_BUCKET, Records};
use super::{Note, gather, record};

/// Stands for the end of what has not ended.
const FOREVER: Timestamp = Timestamp(i64::MAX);

/// The attempts by key, and when each ran.
pub(super) struct Places<'a> {
    by_key: BTreeMap<&'a str, usize>,
    spans: Vec<Option<Interval>>,
}

impl<'a> Places<'a> {
    /// The places of these attempts.
    pub(super) fn of(attempts: &'a [Attempt]) -> Self {
        let by_key = attempts.iter().enumerate();
        let by_key = by_key.map(|(index, attempt)| (attempt.canonical_key.as_str(), index)).collect();
        let span = |attempt: &Attempt| {
            let start = attempt.started_at?;
            Some(Interval { start, end: attempt.ended_at.unwrap_or(FOREVER).max(start) })
        };
        Self { by_key, spans: attempts.iter().map(span).collect() }
    }

    /// The attempts of a key, its sessions, and those whose keys begin with it up to a colon.
    pub(super) fn of_key(&self, key: &str) -> impl Iterator<Item = usize> {
        let goes_on = move |known: &str| {
            let next = known.as_bytes().get(key.len());
            next.is_none_or(|next| b"#@:".contains(next))
        };
        let from = self.by_key.range::<str, _>((std::ops::Bound::Included(key), std::ops::Bound::Unbounded));
        let found = from.take_while(move |(known, _)| known.starts_with(key));
        found
            .filter(move |(known, _)| goes_on(known))
            .map(|(_, index)| *index)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Of these attempts, the one that ran for the longest part of a window; `None` if none ran in it.
    pub(super) fn longest(&self, candidates: impl Iterator<Item = usize>, window: Interval) -> Option<usize> {
        let common = |index: &usize| {
            let span = self.spans.get(*index).copied().flatten()?;
            span.intersection(window).map(Interval::micros)
        };
        let overlaps = candidates.filter_map(|index| Some((common(&index)?, std::cmp::Reverse(index))));
        overlaps.max().map(|(_, index)| index.0)
    }

    /// Of these attempts, the one that ran at a time, else the last one that had begun by then.
    fn at(&self, candidates: &[usize], time: Timestamp) -> Option<usize> {
        let begun = candidates.iter().filter_map(|index| {
            let span = self.spans.get(*index).copied().flatten()?;
            (span.start <= time).then_some(((time <= span.end, span.start), std::cmp::Reverse(*index)))
        });
        begun.max().map(|(_, index)| index.0)
    }
}

/// What was made of one attempt.
#[derive(Default)]
struct Found {
    checkpoints: Vec<Checkpoint>,
    artifacts: Vec<Artifact>,
}

/// Gives what listings of buckets found to the attempts that hold the bucket's prefix, or that say that something of
/// theirs lies there; a note tells of what belongs to none.
pub(super) fn give_listed(attempts: &mut [Attempt], listed: BTreeMap<&str, Records<'_>>) -> Vec<Note> {
    let mut found: BTreeMap<usize, Found> = BTreeMap::new();
    let mut notes = Vec::new();
    if listed.is_empty() {
        return notes;
    }
    {
        let (places, locations) = (Places::of(attempts), locations(attempts));
        for (key, records) in listed {
            let owners = owners(&locations, key);
            let mut unplaced = 0;
            for checkpoint in record::checkpoints(&records.checkpoints) {
                let time = checkpoint.completed_at.or(checkpoint.started_at);
                match time.and_then(|time| places.at(&owners, time)) {
                    Some(index) => found.entry(index).or_default().checkpoints.push(checkpoint),
                    // One that is not complete has no time; nothing is lost with it.
                    None => unplaced += usize::from(checkpoint.durable),
                }
            }
            for said in &records.artifacts {
                match said.modified_at.and_then(|time| places.at(&owners, time)) {
                    Some(index) => found.entry(index).or_default().artifacts.push(said.record.clone()),
                    None => unplaced += 1,
                }
            }
            if unplaced > 0 {
                notes.push(gather::without_attempt(key, unplaced));
            }
        }
    }
    for (index, found) in found {
        if let Some(attempt) = attempts.get_mut(index) {
            take(attempt, found);
        }
    }
    notes
}

/// Adds what the attempt did not tell of itself.
fn take(attempt: &mut Attempt, found: Found) {
    for checkpoint in found.checkpoints {
        let is_told = |told: &Checkpoint| match (&told.uri, &checkpoint.uri) {
            (Some(told), Some(listed)) => trimmed(told) == trimmed(listed),
            _ => false,
        };
        if !attempt.checkpoints.iter().any(is_told) {
            attempt.checkpoints.push(checkpoint);
        }
    }
    let time = |c: &Checkpoint| c.completed_at.or(c.started_at);
    attempt.checkpoints.sort_by(|a, b| (time(a), a).cmp(&(time(b), b)));
    for artifact in found.artifacts {
        let is_told =
            |told: &Artifact| told.kind == artifact.kind && trimmed(&told.uri) == trimmed(&artifact.uri);
        if !attempt.artifacts.iter().any(is_told) {
            attempt.artifacts.push(artifact);
        }
    }
    attempt.artifacts.sort();
}

fn trimmed(uri: &str) -> &str {
    uri.trim_end_matches('/')
}

/// Where attempts say that something of theirs lies, without the scheme, which some readers leave out of prefixes.
fn locations(attempts: &[Attempt]) -> BTreeMap<&str, Vec<usize>> {
    let mut locations: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, attempt) in attempts.iter().enumerate() {
        let buckets = attempt.bindings.iter().filter(|binding| binding.kind == BindingKind::BucketPrefix);
        let prefixes = buckets.filter_map(|binding| binding.resource_id.as_deref());
        let prefixes = prefixes.map(|id| id.strip_prefix(IN_A_BUCKET).unwrap_or(id));
        let artifacts = attempt.artifacts.iter().map(|artifact| artifact.uri.as_str());
        let checkpoints = attempt.checkpoints.iter().filter_map(|checkpoint| checkpoint.uri.as_deref());
        let named = artifacts.chain(checkpoints).filter_map(|uri| uri.strip_prefix(IN_A_BUCKET));
        for place in prefixes.chain(named) {
            let of_place = locations.entry(trimmed(place)).or_default();
            if of_place.last() != Some(&index) {
                of_place.push(index);
            }
        }
    }
    locations
}

/// The attempts of the places at and below a prefix, else of the nearest one above it.
fn owners(locations: &BTreeMap<&str, Vec<usize>>, key: &str) -> Vec<usize> {
    let prefix = key.strip_prefix(IN_A_BUCKET).unwrap_or(key);
    let below = locations
        .range::<str, _>((std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded))
        .take_while(|(place, _)| place.starts_with(prefix))
        .filter(|(place, _)| matches!(place.as_bytes().get(prefix.len()), None | Some(b'/')));
    let mut owners: Vec<usize> = below.flat_map(|(_, owners)| owners.iter().copied()).collect();
    let mut at = prefix;
    while owners.is_empty() {
        let Some((above, _)) = at.rsplit_once('/') else { break };
        at = above;
        owners.extend(locations.get(above).into_iter().flatten());
    }
    owners.sort_unstable();
    owners.dedup();
    owners
}
