//! An observation: what one record of a source said, stored once and never changed.

use std::fmt;

use crate::telemetry::{Artifact, AttemptView, Checkpoint, Interruption, NodePeriod, Phase};
use crate::{Binding, QualityResult, SourceId, Timestamp};

/// The identity of an observation: a hash of source, key and content, so that the same record is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObservationId(pub [u8; 16]);

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub enum RunRecord {
    /// Of an attempt.
    Attempt(AttemptView),
    /// Of a resource that the attempt held.
    Binding(Binding),
    /// Of a phase of it.
    Phase(Phase),
    /// Of a checkpoint.
    Checkpoint(Checkpoint),
    /// Of an interruption.
    Interruption(Interruption),
    /// Of its quality.
    Quality(QualityResult),
    /// Of an artifact.
    Artifact(Artifact),
    /// Of a node, apart from any attempt.
    Node(NodePeriod),
}

/// A stored record of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The source, such as `slurm:gpu26`.
    pub source: SourceId,
    /// The attempt's canonical key; for a node, `node:{cluster}:{name}`.
    pub key: String,
    /// When the source says that the record was last changed, where it does; orders corrections.
    pub modified_at: Option<Timestamp>,
    /// What it says.
    pub record: RunRecord,
}
