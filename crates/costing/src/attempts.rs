//! Attempts and experiments, folded from what sources said: a pure function of the set of observations.
//!
//! # What the fold promises
//! - Any order, any duplication and any split of the same imports give the same attempts, byte for byte.
//! - A later success never changes a stored failure: a retry has another key, and a source that overwrites its own
//!   record opens a further session, `{key}#2`, with `source_overwrote` set on both and the failed one kept.
//! - Unknown stays unknown: a time, a count or an outcome that nobody told is `None` or `Unknown`, never zero.
//!
//! # How observations become attempts
//! 1. Records are grouped by key. If a record's aliases name another key that has records of its own (a tracker's
//!    session that names the scheduler's job), it accompanies that attempt: it adds experiment, versions, quality,
//!    checkpoints and artifacts, and the scheduler's times stay. An alias that is a job's name, the beginning of keys up
//!    to a colon, means the execution of that job during which the session began, give or take ten minutes. One without
//!    the cluster, such as `job_id=42`, joins if only one cluster has such an execution; else it stays apart, with a note.
//! 2. Two executions under one key — overlapping, with different starts, on different hosts — are an id collision:
//!    both are kept, the later as `{key}@{start in epoch seconds}`, and a note says so.
//! 3. Views are walked in the order in which they were reported: `modified_at`, else the latest time that the view
//!    tells; on a tie the less final first. A newer view corrects an older one field by field, the earliest start and
//!    the latest reported end hold. Running after an end, a start after an end, or a failure that later reads as a
//!    success with a later end opens a further session.
//! 4. Segments of a resized job are joined into one attempt under the first segment's key; accelerator time is the sum
//!    over segments, counts are the largest of any segment.
//! 5. Node names are resolved through the node table of the same cluster; parts of a binding that no period covers
//!    stay node names. Several equal reports of one resource (one from each rank) are one holding.
//! 6. An attempt that nobody saw end, and that a later complete snapshot of its cluster does not hold any more, is lost
//!    at the time when it was last seen; what it held is let go then.
//! 7. An interruption of a machine, which knows no attempt, goes to every attempt that held the machine then, once. If
//!    the provider took it and the scheduler saw no more than a lost node, that is the cause. One that nobody held is
//!    kept apart, with a note.
//! 8. The phases told become one partition of the time from the submission to the end ([`phases`](crate::phases)).
//! 9. Every link has a method and a confidence. The latest decision by hand outranks all records; without one the surest
//!    record holds. What a record adds that joined less surely is no surer than the join.
//! 10. What a source tells of a device goes to the attempt that it says held it, for the most of the window; of windows
//!     of one device that overlap only one counts, so that ranks and exporters of one host are not added up.
//! 11. Checkpoints and artifacts that a listing found go to the attempt that ran when they were complete, among those
//!     that hold the prefix, or have something at it, or have one above it.
//! 12. Attempts of one experiment are numbered by start, else submission, else end, then key. Two that look like two
//!     views of one execution stay two, with a note.

mod alias;
mod decision;
mod device;
mod draft;
mod duplicate;
mod gather;
mod holding;
mod lane;
mod machine;
mod node;
mod phase;
mod place;
mod presence;
mod record;
mod segment;
mod session;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ledger::{
    Attempt, Experiment, ExperimentId, Interruption, Observation, StoredBytes, Timestamp, Utilisation,
};

/// What the fold made of a set of observations.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Folded {
    /// The attempts, by canonical key.
    pub attempts: Vec<Attempt>,
    /// Interruptions of machines that no attempt held then, by time; they find a home when its records come.
    pub unclaimed: Vec<Interruption>,
    /// What the user should know of them, by code and key.
    pub notes: Vec<Note>,
    /// How busy devices were of which no source says that an attempt held them, by device and time.
    pub devices: Vec<Utilisation>,
    /// What rests under the prefixes of each bucket, by the newest listing of each source.
    pub stored: Vec<StoredBytes>,
}

/// Something that the fold found and resolved, and that a user should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Stable code, `attempt::…`; `docs/errors.md` lists them.
    pub code: &'static str,
    /// The canonical key that it is about.
    pub key: String,
    /// What was found.
    pub message: String,
}

/// Folds a set of observations into attempts.
pub fn fold(observations: &[Observation]) -> Folded {
    let gathered = gather::gather(observations);
    let surroundings = draft::Surroundings {
        nodes: node::NodeTable::of(&gathered.nodes),
        presence: presence::Presence::of(&gathered.snapshots),
    };
    let mut notes = gathered.notes;
    let mut drafts = Vec::with_capacity(gathered.groups.len());
    for (key, group) in &gathered.groups {
        drafts.extend(draft::drafts(key, group, &surroundings, &mut notes));
    }
    let mut attempts: Vec<Attempt> =
        segment::joined(drafts).into_iter().map(draft::Draft::finished).collect();
    notes.extend(decision::decide(&mut attempts, &gathered.decisions));
    let unclaimed = machine::claim(&mut attempts, &gathered.machines);
    notes.extend(unclaimed.iter().map(machine::note));
    notes.extend(duplicate::notes(&attempts));
    number(&mut attempts);
    attempts.sort_by(|a, b| a.canonical_key.cmp(&b.canonical_key));
    let devices = device::attach(&mut attempts, gathered.devices);
    notes.extend(place::give_listed(&mut attempts, gathered.listed));
    notes.sort();
    Folded { attempts, unclaimed, notes, devices, stored: device::newest_listing(gathered.stored) }
}

/// The experiments that the attempts belong to, by name; each with its attempts in order.
pub fn experiments(attempts: &[Attempt]) -> Vec<Experiment> {
    let mut by_experiment: BTreeMap<&ExperimentId, Vec<&Attempt>> = BTreeMap::new();
    for attempt in attempts {
        by_experiment.entry(&attempt.link.experiment).or_default().push(attempt);
    }
    by_experiment
        .into_iter()
        .map(|(id, mut members)| {
            members.sort_by(|a, b| {
                a.ordinal.cmp(&b.ordinal).then_with(|| a.canonical_key.cmp(&b.canonical_key))
            });
            Experiment {
                id: id.clone(),
                attempts: members.iter().map(|attempt| attempt.id).collect(),
                team: members.iter().rev().find_map(|attempt| attempt.team.clone()),
            }
        })
        .collect()
}

/// Numbers the attempts of each experiment from 1.
fn number(attempts: &mut [Attempt]) {
    attempts.sort_by(|a, b| order_in_experiment(a).cmp(&order_in_experiment(b)));
    let mut next: BTreeMap<ExperimentId, u32> = BTreeMap::new();
    for attempt in attempts {
        let ordinal = next.entry(attempt.link.experiment.clone()).or_default();
        *ordinal = ordinal.saturating_add(1);
        attempt.ordinal = *ordinal;
    }
}

fn order_in_experiment(attempt: &Attempt) -> (Timestamp, &str) {
    let time = attempt.started_at.or(attempt.submitted_at).or(attempt.ended_at);
    (time.unwrap_or(Timestamp(i64::MAX)), &attempt.canonical_key)
}
