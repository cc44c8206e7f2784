//! Finds attempts that look like two views of one execution: a tracker's session beside the scheduler's job.

use std::collections::BTreeMap;

use ledger::{Attempt, ExperimentId, Timestamp};

use super::Note;
use super::alias::SLACK_MICROS;
use super::lane::host;

/// A note for every attempt without machines of its own that began and ended with exactly one of another source in the
/// same experiment that has some, and for every two of two sources that held one machine at one time.
pub(super) fn notes(attempts: &[Attempt]) -> Vec<Note> {
    let mut by_experiment: BTreeMap<&ExperimentId, Vec<&Attempt>> = BTreeMap::new();
    for attempt in attempts {
        by_experiment.entry(&attempt.link.experiment).or_default().push(attempt);
    }
    by_experiment.values().flat_map(|members| of_experiment(members)).collect()
}

/// Only attempts that began about when another did are compared.
fn of_experiment(members: &[&Attempt]) -> Vec<Note> {
    let mut started: Vec<(Timestamp, &Attempt)> =
        members.iter().filter_map(|attempt| Some((attempt.started_at?, *attempt))).collect();
    started.sort_by_key(|(start, attempt)| (*start, attempt.canonical_key.as_str()));
    let mut notes = Vec::new();
    for (began, view) in &started {
        let from = started.partition_point(|(start, _)| start.0 < began.0.saturating_sub(SLACK_MICROS));
        let near = started.iter().skip(from);
        let near = near.take_while(|(start, _)| start.0 <= began.0.saturating_add(SLACK_MICROS));
        let is_apart = hosts(view).next().is_none();
        let mut like = near.map(|(_, job)| *job).filter(|job| {
            let has_machines = hosts(job).next().is_some();
            let looks_like = || {
                if is_apart { has_machines } else { shares_a_machine(view, job) && is_told_later(view, job) }
            };
            job.scheduler != view.scheduler && ends_within(view, job) && looks_like()
        });
        if let (Some(job), None) = (like.next(), like.next()) {
            notes.push(note(view, job));
        }
    }
    notes
}

fn hosts(attempt: &Attempt) -> impl Iterator<Item = &str> {
    attempt.bindings.iter().filter_map(host)
}

fn shares_a_machine(a: &Attempt, b: &Attempt) -> bool {
    hosts(a).any(|host| hosts(b).any(|other| other == host))
}

/// Of two that contain each other only one is noted.
fn is_told_later(view: &Attempt, job: &Attempt) -> bool {
    (view.started_at, &view.canonical_key) > (job.started_at, &job.canonical_key) || !ends_within(job, view)
}

/// It ended no later, give or take what clocks differ by.
fn ends_within(view: &Attempt, job: &Attempt) -> bool {
    match (view.ended_at, job.ended_at) {
        (Some(ended), Some(end)) => ended.0 <= end.0.saturating_add(SLACK_MICROS),
        (None, Some(_)) => false,
        (_, None) => true,
    }
}

fn note(view: &Attempt, job: &Attempt) -> Note {
    Note {
        code: "attempt::possible_duplicate",
        key: view.canonical_key.clone(),
        message: format!(
            "it looks like the execution `{}` as {} tells it; give it that key as `attempt_alias` if it is",
            job.canonical_key, job.scheduler
        ),
    }
}
