//! Readers of run records, one file a format.

pub mod attempts;
pub mod opencost;
pub mod openlineage;
pub mod slurm;

use ledger::Observation;

use crate::Rejection;

/// What a reader made of one input: `accepted + rejections = rows`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TelemetryRead {
    /// What the records say, in the order of the input.
    pub observations: Vec<Observation>,
    /// Records that could not be read.
    pub rejections: Vec<Rejection>,
    /// Records found.
    pub rows: u64,
    /// Records read.
    pub accepted: u64,
    /// What the user should know of this input.
    pub warnings: Vec<Warning>,
}

/// Something that the user should know but that stops nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable code, such as `slurm::earlier_attempts_hidden`.
    pub code: &'static str,
    /// What is the matter.
    pub message: String,
    /// A command or an action that helps.
    pub help: String,
}
