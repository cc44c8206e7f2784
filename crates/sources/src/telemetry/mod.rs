//! Readers of run records, one file a format.

pub mod attempts;
pub mod aws_batch;
pub mod azure_ml;
pub mod ec2_events;
pub mod jobstats;
pub mod kubernetes;
pub mod mlflow;
pub mod mlperf;
pub mod opencost;
pub mod openlineage;
pub mod prometheus;
pub mod s3_inventory;
pub mod sagemaker;
mod shared;
pub mod slurm;
pub mod tensorboard;
pub mod vertex_ai;
pub mod wandb;

use ledger::Observation;

use self::attempts::Refusal;
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

impl TelemetryRead {
    /// Counts a record as accepted or rejected.
    pub(in crate::telemetry) fn count(&mut self, taken: Result<(), Refusal>, file: &str, number: u64) {
        self.rows += 1;
        match taken {
            Ok(()) => self.accepted += 1,
            Err(refusal) => self.rejections.push(refusal.rejection(file, number)),
        }
    }

    /// Warns of what was met, with its count before the message; of nothing, if it was not met.
    pub(in crate::telemetry) fn warn_of(&mut self, count: u64, code: &'static str, told: (&str, &str)) {
        if count > 0 {
            let (message, help) = told;
            self.warnings.push(Warning {
                code,
                message: format!("{count} {message}"),
                help: help.to_owned(),
            });
        }
    }

    /// Counts a record of a file, and keeps what it says.
    pub(in crate::telemetry) fn settle(&mut self, records: Result<Vec<Observation>, Refusal>, file: &str) {
        let number = self.rows + 1;
        let taken = records.map(|records| self.observations.extend(records));
        self.count(taken, file, number);
    }
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
