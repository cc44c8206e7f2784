//! Which attempt of an experiment went on from which.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Attempt, Timestamp};

/// For every attempt that ended, the position of the one that went on from it.
///
/// It started no earlier than the other ended, and each goes on from one only: of those that had ended, the latest. The
/// same job (its key but for the last part) goes before the same name; if the experiment ran nothing at the same time,
/// what came next is meant whatever its name. Trials of a sweep, which run side by side under other names, never go on
/// from each other.
pub(super) fn successors(attempts: &[&Attempt]) -> BTreeMap<usize, usize> {
    let mut found = Successors { attempts, next: BTreeMap::new(), taken: BTreeSet::new() };
    let (mut by_job, mut by_name): (Groups<'_>, Groups<'_>) = (BTreeMap::new(), BTreeMap::new());
    for (index, attempt) in attempts.iter().enumerate() {
        by_job.entry(job(&attempt.canonical_key)).or_default().push(index);
        if let Some(name) = &attempt.name {
            by_name.entry(name).or_default().push(index);
        }
    }
    by_job.values().chain(by_name.values()).for_each(|group| found.link(group));
    if !overlap(attempts) {
        found.link(&(0..attempts.len()).collect::<Vec<_>>());
    }
    found.next
}

/// Positions of attempts, by what they share.
type Groups<'a> = BTreeMap<&'a str, Vec<usize>>;

struct Successors<'a> {
    attempts: &'a [&'a Attempt],
    next: BTreeMap<usize, usize>,
    taken: BTreeSet<usize>,
}

impl Successors<'_> {
    /// Lets each start of a group go on from the latest end before it that nothing goes on from yet.
    fn link(&mut self, group: &[usize]) {
        let all = group.iter().filter_map(|index| Some((*index, self.attempts.get(*index)?)));
        let starts = all.clone().filter(|(index, _)| !self.taken.contains(index));
        let mut starts: Vec<(Timestamp, usize)> =
            starts.filter_map(|(index, attempt)| Some((attempt.started_at?, index))).collect();
        let ends = all.filter(|(index, _)| !self.next.contains_key(index));
        let mut ends: Vec<(Timestamp, usize)> =
            ends.filter_map(|(index, attempt)| Some((attempt.ended_at?, index))).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        let mut ended: Vec<usize> = Vec::new();
        for (start, after) in starts {
            while let Some((_, before)) = ends.next_if(|(end, _)| *end <= start) {
                ended.push(before);
            }
            // An attempt that ended when it started would go on from itself.
            if let Some(at) = ended.iter().rposition(|before| *before != after) {
                self.next.insert(ended.remove(at), after);
                self.taken.insert(after);
            }
        }
    }
}

/// The key without the part that tells executions of one job apart, and without a session's number.
fn job(key: &str) -> &str {
    if let Some((run, _)) = key.rsplit_once(['#', '@']) {
        return run;
    }
    match key.match_indices(':').count() {
        0..=2 => key,
        _ => key.rsplit_once(':').map_or(key, |(job, _)| job),
    }
}

fn overlap(attempts: &[&Attempt]) -> bool {
    let mut spans: Vec<(Timestamp, Timestamp)> = attempts
        .iter()
        .filter_map(|attempt| Some((attempt.started_at?, attempt.ended_at.unwrap_or(Timestamp(i64::MAX)))))
        .collect();
    spans.sort_unstable();
    spans.windows(2).any(|pair| matches!(pair, [(_, end), (start, _)] if start < end))
}
