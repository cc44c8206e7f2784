//! An observation: what one record of a source said, stored once and never changed.

use std::fmt;

use crate::telemetry::{Artifact, AttemptView, Checkpoint, Interruption, NodePeriod, Phase, Snapshot};
use crate::{Binding, LinkDecision, QualityResult, SourceId, StoredBytes, Timestamp, Utilisation};

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
    /// Of how busy a device was; the key says what held it, as far as the source tells.
    Utilisation(Utilisation),
    /// Of what rests under a prefix, apart from any attempt.
    Stored(StoredBytes),
    /// Of the experiment of an attempt, by a person.
    Link(LinkDecision),
    /// Of all attempts of a cluster that had not ended at one time.
    Snapshot(Snapshot),
}

/// A stored record of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The source, such as `slurm:gpu26`.
    pub source: SourceId,
    /// The attempt's canonical key, or what is known of it.
    ///
    /// Of a machine apart from any attempt `instance:{id}`, of a node `node:{cluster}:{name}`, of a snapshot
    /// `snapshot:{scope}`; for what is under a prefix, `s3://{bucket}/{prefix}`; for a device, what
    /// held it: a key, the beginning of one up to a colon, `k8s:{cluster}/{namespace}/pod/{pod}`, or `device:{device}`.
    pub key: String,
    /// When the source says that the record was last changed, where it does; orders corrections.
    pub modified_at: Option<Timestamp>,
    /// What it says.
    pub record: RunRecord,
}

impl Observation {
    /// A person's decision on the attempt of this key, under the source `manual`: a record like any other, so that it is
    /// stored once, outlives every import, and is taken back only by a later one.
    pub fn of_decision(key: String, decision: LinkDecision) -> Self {
        let source = SourceId("manual".to_owned());
        Self { source, key, modified_at: Some(decision.at), record: RunRecord::Link(decision) }
    }
}
