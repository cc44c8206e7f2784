//! Version 1 of the stored form of a run record: JSON text that is the same for the same record for ever.
//!
//! The text is part of an observation's identity, so this form never changes: fields stand in the order of these
//! types, absent ones are left out, times are microseconds since 1970 in UTC, floats are text. A record or a field may
//! be added that is left out where it says nothing, since every text from before it stays what it was. A later form is a
//! module of its own and leaves identities as they are.

mod attempt;
pub(crate) mod price;
mod records;
mod usage;

use ledger::RunRecord;
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// The number of this form in the catalog.
pub(crate) const VERSION: i64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    Attempt(attempt::AttemptView),
    Binding(records::Binding),
    Phase(records::Phase),
    Checkpoint(records::Checkpoint),
    Interruption(records::Interruption),
    Quality(records::QualityResult),
    Artifact(records::Artifact),
    Node(records::NodePeriod),
    Utilisation(usage::Utilisation),
    Stored(usage::StoredBytes),
    Link(records::LinkDecision),
    Snapshot(records::Snapshot),
}

/// The stored text of a record.
pub(crate) fn encode(record: &RunRecord) -> Result<String, StoreError> {
    let stored = match record {
        RunRecord::Attempt(view) => Record::Attempt(view.into()),
        RunRecord::Binding(binding) => Record::Binding(binding.into()),
        RunRecord::Phase(phase) => Record::Phase(phase.into()),
        RunRecord::Checkpoint(checkpoint) => Record::Checkpoint(checkpoint.into()),
        RunRecord::Interruption(interruption) => Record::Interruption(interruption.into()),
        RunRecord::Quality(quality) => Record::Quality(quality.into()),
        RunRecord::Artifact(artifact) => Record::Artifact(artifact.into()),
        RunRecord::Node(node) => Record::Node(node.into()),
        RunRecord::Utilisation(utilisation) => Record::Utilisation(utilisation.into()),
        RunRecord::Stored(stored) => Record::Stored(stored.into()),
        RunRecord::Link(decision) => Record::Link(decision.into()),
        RunRecord::Snapshot(snapshot) => Record::Snapshot(snapshot.into()),
    };
    Ok(serde_json::to_string(&stored)?)
}

/// The record of a stored text.
pub(crate) fn decode(text: &str) -> Result<RunRecord, StoreError> {
    Ok(match serde_json::from_str(text)? {
        Record::Attempt(view) => RunRecord::Attempt(view.try_into()?),
        Record::Binding(binding) => RunRecord::Binding(binding.try_into()?),
        Record::Phase(phase) => RunRecord::Phase(phase.try_into()?),
        Record::Checkpoint(checkpoint) => RunRecord::Checkpoint(checkpoint.into()),
        Record::Interruption(interruption) => RunRecord::Interruption(interruption.try_into()?),
        Record::Quality(quality) => RunRecord::Quality(quality.try_into()?),
        Record::Artifact(artifact) => RunRecord::Artifact(artifact.try_into()?),
        Record::Node(node) => RunRecord::Node(node.try_into()?),
        Record::Utilisation(utilisation) => RunRecord::Utilisation(utilisation.try_into()?),
        Record::Stored(stored) => RunRecord::Stored(stored.into()),
        Record::Link(decision) => RunRecord::Link(decision.into()),
        Record::Snapshot(snapshot) => RunRecord::Snapshot(snapshot.into()),
    })
}

fn micros(instant: Option<ledger::Timestamp>) -> Option<i64> {
    instant.map(|instant| instant.0)
}

fn instant(micros: Option<i64>) -> Option<ledger::Timestamp> {
    micros.map(ledger::Timestamp)
}

#[cfg(test)]
mod tests;
