//! Brings a set of observations into one order and groups it by attempt.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ledger::{
    Artifact, AttemptView, Binding, Checkpoint, Confidence, ExperimentLink, Interruption, NodePeriod,
    Observation, Phase, QualityResult, RunRecord, Snapshot, SourceId, StoredBytes, Timestamp,
};

use super::decision::Decisions;
use super::{Note, alias, device};

/// How the keys begin of what listings of buckets found.
pub(super) const IN_A_BUCKET: &str = "s3://";

/// What the key of a machine begins with, before its id on the bill.
const MACHINE: &str = "instance:";

/// A record, with who said it and when.
#[derive(Debug)]
pub(super) struct Said<'a, T> {
    pub(super) source: &'a SourceId,
    pub(super) modified_at: Option<Timestamp>,
    pub(super) record: &'a T,
}

impl<T> Clone for Said<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Said<'_, T> {}

/// Everything said of one key.
#[derive(Debug, Default)]
pub(super) struct Records<'a> {
    pub(super) views: Vec<Said<'a, AttemptView>>,
    pub(super) bindings: Vec<Said<'a, Binding>>,
    pub(super) phases: Vec<Said<'a, Phase>>,
    pub(super) checkpoints: Vec<Said<'a, Checkpoint>>,
    pub(super) interruptions: Vec<Said<'a, Interruption>>,
    pub(super) quality: Vec<Said<'a, QualityResult>>,
    pub(super) artifacts: Vec<Said<'a, Artifact>>,
}

/// An attempt's own records, and those of keys that name it as another name of theirs.
#[derive(Debug, Default)]
pub(super) struct Group<'a> {
    pub(super) own: Records<'a>,
    pub(super) companions: Records<'a>,
    pub(super) companion_keys: Vec<&'a str>,
    /// What companions say of the experiment, with how sure it is that they are of this attempt.
    pub(super) companion_links: Vec<(&'a ExperimentLink, Confidence)>,
}

/// All observations, grouped.
#[derive(Debug, Default)]
pub(super) struct Gathered<'a> {
    pub(super) groups: BTreeMap<&'a str, Group<'a>>,
    pub(super) nodes: Vec<Said<'a, NodePeriod>>,
    pub(super) devices: Vec<device::Told<'a>>,
    pub(super) stored: Vec<Said<'a, StoredBytes>>,
    /// What listings of buckets found, by place.
    pub(super) listed: BTreeMap<&'a str, Records<'a>>,
    pub(super) snapshots: Vec<Said<'a, Snapshot>>,
    pub(super) decisions: Decisions<'a>,
    /// Interruptions of machines, which know no attempt.
    pub(super) machines: BTreeSet<Interruption>,
    pub(super) notes: Vec<Note>,
}

/// Groups the set of observations; every list is in one total order and free of duplicates.
pub(super) fn gather(observations: &[Observation]) -> Gathered<'_> {
    let mut sorted: Vec<&Observation> = observations.iter().collect();
    sorted.sort_unstable_by(|a, b| total_order(a, b));
    sorted.dedup_by(|a, b| total_order(a, b) == Ordering::Equal);
    let mut gathered = Gathered::default();
    let mut by_key: BTreeMap<&str, Records<'_>> = BTreeMap::new();
    for observation in sorted {
        if !gathered.take_apart(observation) {
            by_key.entry(&observation.key).or_default().push(observation);
        }
    }
    let alias::Homes { homes, notes } = alias::homes(&by_key);
    gathered.notes.extend(notes);
    for (key, records) in by_key {
        let home = homes.get(key).filter(|home| home.key != key);
        match home {
            Some(home) => gathered.groups.entry(home.key).or_default().join(key, records, home.confidence),
            None if records.views.is_empty() && key.starts_with(IN_A_BUCKET) => {
                gathered.listed.insert(key, records);
            }
            None if records.views.is_empty() => gathered.notes.push(without_attempt(key, records.count())),
            None => gathered.groups.entry(key).or_default().own = records,
        }
    }
    gathered
}

impl<'a> Gathered<'a> {
    /// Takes a record that is of no key's attempt; false if it is of one.
    fn take_apart(&mut self, observation: &'a Observation) -> bool {
        match &observation.record {
            RunRecord::Node(period) => self.nodes.push(said(observation, period)),
            RunRecord::Utilisation(told) => self.devices.push((&observation.key, said(observation, told))),
            RunRecord::Stored(stored) => self.stored.push(said(observation, stored)),
            RunRecord::Snapshot(snapshot) => self.snapshots.push(said(observation, snapshot)),
            RunRecord::Link(decision) => {
                self.decisions.entry(&observation.key).or_default().push(decision);
            }
            RunRecord::Interruption(interruption) => {
                let Some(machine) = observation.key.strip_prefix(MACHINE) else { return false };
                let resource_id = Some(machine.to_owned());
                self.machines.insert(Interruption { resource_id, ..interruption.clone() });
            }
            RunRecord::Attempt(_)
            | RunRecord::Binding(_)
            | RunRecord::Phase(_)
            | RunRecord::Checkpoint(_)
            | RunRecord::Quality(_)
            | RunRecord::Artifact(_) => return false,
        }
        true
    }
}

impl<'a> Group<'a> {
    fn join(&mut self, key: &'a str, records: Records<'a>, confidence: Confidence) {
        let links = records.views.iter().filter_map(|said| said.record.link.as_ref());
        self.companion_links.extend(links.map(|link| (link, confidence)));
        self.companion_keys.push(key);
        self.companions.append(records);
    }
}

/// That nothing is known of the attempt of some records.
pub(super) fn without_attempt(key: &str, count: usize) -> Note {
    Note {
        code: "attempt::records_without_attempt",
        key: key.to_owned(),
        message: format!("{count} records speak of `{key}`, but no record says that it ran"),
    }
}

const fn said<'a, T>(observation: &'a Observation, record: &'a T) -> Said<'a, T> {
    Said { source: &observation.source, modified_at: observation.modified_at, record }
}

impl<'a> Records<'a> {
    fn push(&mut self, o: &'a Observation) {
        match &o.record {
            RunRecord::Attempt(record) => self.views.push(said(o, record)),
            RunRecord::Binding(record) => self.bindings.push(said(o, record)),
            RunRecord::Phase(record) => self.phases.push(said(o, record)),
            RunRecord::Checkpoint(record) => self.checkpoints.push(said(o, record)),
            RunRecord::Interruption(record) => self.interruptions.push(said(o, record)),
            RunRecord::Quality(record) => self.quality.push(said(o, record)),
            RunRecord::Artifact(record) => self.artifacts.push(said(o, record)),
            RunRecord::Node(_)
            | RunRecord::Link(_)
            | RunRecord::Snapshot(_)
            | RunRecord::Utilisation(_)
            | RunRecord::Stored(_) => {}
        }
    }

    /// All but the views.
    fn count(&self) -> usize {
        self.bindings.len()
            + self.phases.len()
            + self.checkpoints.len()
            + self.interruptions.len()
            + self.quality.len()
            + self.artifacts.len()
    }

    fn append(&mut self, mut other: Self) {
        self.views.append(&mut other.views);
        self.bindings.append(&mut other.bindings);
        self.phases.append(&mut other.phases);
        self.checkpoints.append(&mut other.checkpoints);
        self.interruptions.append(&mut other.interruptions);
        self.quality.append(&mut other.quality);
        self.artifacts.append(&mut other.artifacts);
    }
}

/// A total order over observations: equal only if every field is.
fn total_order(a: &Observation, b: &Observation) -> Ordering {
    (&a.key, a.modified_at, &a.source)
        .cmp(&(&b.key, b.modified_at, &b.source))
        .then_with(|| record_order(&a.record, &b.record))
}

fn record_order(a: &RunRecord, b: &RunRecord) -> Ordering {
    match (a, b) {
        (RunRecord::Attempt(a), RunRecord::Attempt(b)) => a.cmp(b),
        (RunRecord::Binding(a), RunRecord::Binding(b)) => a.cmp(b),
        (RunRecord::Phase(a), RunRecord::Phase(b)) => a.cmp(b),
        (RunRecord::Checkpoint(a), RunRecord::Checkpoint(b)) => a.cmp(b),
        (RunRecord::Interruption(a), RunRecord::Interruption(b)) => a.cmp(b),
        (RunRecord::Quality(a), RunRecord::Quality(b)) => quality_order(a, b),
        (RunRecord::Artifact(a), RunRecord::Artifact(b)) => a.cmp(b),
        (RunRecord::Node(a), RunRecord::Node(b)) => a.cmp(b),
        (RunRecord::Utilisation(a), RunRecord::Utilisation(b)) => a.cmp(b),
        (RunRecord::Stored(a), RunRecord::Stored(b)) => a.cmp(b),
        (RunRecord::Link(a), RunRecord::Link(b)) => a.cmp(b),
        (RunRecord::Snapshot(a), RunRecord::Snapshot(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// By time, then metric; the value, which may be no number, is compared bit for bit.
pub(super) fn quality_order(a: &QualityResult, b: &QualityResult) -> Ordering {
    (a.at, &a.metric, &a.split, a.step, &a.protocol, a.is_final, a.direction)
        .cmp(&(b.at, &b.metric, &b.split, b.step, &b.protocol, b.is_final, b.direction))
        .then_with(|| a.value.total_cmp(&b.value))
}

const fn rank(record: &RunRecord) -> u8 {
    match record {
        RunRecord::Attempt(_) => 0,
        RunRecord::Binding(_) => 1,
        RunRecord::Phase(_) => 2,
        RunRecord::Checkpoint(_) => 3,
        RunRecord::Interruption(_) => 4,
        RunRecord::Quality(_) => 5,
        RunRecord::Artifact(_) => 6,
        RunRecord::Node(_) => 7,
        RunRecord::Utilisation(_) => 8,
        RunRecord::Stored(_) => 9,
        RunRecord::Link(_) => 10,
        RunRecord::Snapshot(_) => 11,
    }
}
