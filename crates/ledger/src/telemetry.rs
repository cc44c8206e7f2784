//! What sources report of a run: views of an attempt, phases, checkpoints, interruptions, artifacts, nodes.

use crate::attempt::{Capacity, Cause, Outcome, RunState};
use crate::basis::words;
use crate::{ExperimentLink, Interval, Timestamp};

words! {
    /// How good a time or value is.
    Grade {
        /// Measured by the run itself.
        Measured => "measured",
        /// Reported by a source.
        Reported => "reported",
        /// Derived from other records.
        Derived => "derived",
        /// Modelled.
        Modelled => "modelled",
    }
}

words! {
    /// The parts of an attempt's time; queue is not billed.
    PhaseKind {
        /// Waiting for resources.
        Queue => "queue",
        /// Resources come up.
        Provision => "provision",
        /// The container starts.
        ContainerStart => "container_start",
        /// Data is read.
        DataLoad => "data_load",
        /// The program sets up.
        Init => "init",
        /// Training.
        Train => "train",
        /// Evaluation.
        Eval => "eval",
        /// A checkpoint is written and training waits.
        CheckpointSave => "ckpt_save",
        /// A checkpoint is read back.
        CheckpointRestore => "ckpt_restore",
        /// Artifacts are uploaded.
        Upload => "upload",
        /// Nothing happens.
        Idle => "idle",
        /// Resources go down.
        Teardown => "teardown",
        /// Not told.
        Unknown => "unknown",
    }
}

words! {
    /// Who interrupted.
    Initiator {
        /// The cloud provider.
        Provider => "provider",
        /// The scheduler.
        Scheduler => "scheduler",
        /// A person.
        User => "user",
        /// Hardware.
        Hardware => "hardware",
        /// The program.
        App => "app",
        /// Not told.
        Unknown => "unknown",
    }
}

words! {
    /// What an artifact is.
    ArtifactKind {
        /// A model.
        Model => "model",
        /// A checkpoint.
        Checkpoint => "checkpoint",
        /// A dataset.
        Dataset => "dataset",
        /// A log.
        Log => "log",
        /// Compiled code or engines.
        Compiled => "compiled",
    }
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Phase {
    /// When.
    pub interval: Interval,
    /// What.
    pub kind: PhaseKind,
    /// How good the times are.
    pub grade: Grade,
}

/// A checkpoint; it counts for lost work only from `completed_at` on, if it is durable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checkpoint {
    /// Training step.
    pub step: Option<u64>,
    /// When writing began.
    pub started_at: Option<Timestamp>,
    /// When it was durable.
    pub completed_at: Option<Timestamp>,
    /// True if it survives the node.
    pub durable: bool,
    /// Size in bytes.
    pub bytes: Option<u64>,
    /// Where it lies.
    pub uri: Option<String>,
}

/// An interruption.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interruption {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub initiator: Initiator,
    /// The source's word for it.
    pub signal: String,
    /// The machine that was taken away, by its id on the bill, where that is told.
    pub resource_id: Option<String>,
}

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Artifact {
    /// What it is.
    pub kind: ArtifactKind,
    /// Where it lies.
    pub uri: String,
    /// Version or digest.
    pub version: Option<String>,
}

/// Links between records of one job, from which the fold joins the segments of a resized run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chain {
    /// All records of one job of one cluster share this.
    pub job: String,
    /// True if the record ends because the job was resized: its successor starts where it ends.
    pub resizing: bool,
}

/// What one record of a source says of one attempt (or of one segment of it).
///
/// Every field is what the source says, absent where it says nothing; see [`crate::Attempt`] for the meanings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptView {
    /// Other names of the same execution.
    pub aliases: Vec<String>,
    /// The experiment, where the record names one.
    pub link: Option<ExperimentLink>,
    /// For resized jobs.
    pub chain: Option<Chain>,
    /// What launched it.
    pub scheduler: String,
    /// Cluster.
    pub cluster: Option<String>,
    /// Namespace of the cluster.
    pub namespace: Option<String>,
    /// Job name.
    pub name: Option<String>,
    /// Who.
    pub user: Option<String>,
    /// Team or accounting group.
    pub team: Option<String>,
    /// Partition or queue.
    pub queue: Option<String>,
    /// Handed in.
    pub submitted_at: Option<Timestamp>,
    /// Allocated.
    pub started_at: Option<Timestamp>,
    /// Ended.
    pub ended_at: Option<Timestamp>,
    /// Where it stands.
    pub state: RunState,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub cause: Cause,
    /// The source's own words.
    pub cause_evidence: Vec<String>,
    /// Exit code.
    pub exit_code: Option<i32>,
    /// Restarts before.
    pub restart_index: Option<u32>,
    /// Accelerators over all nodes, in thousandths.
    pub gpu_count: Option<u64>,
    /// Accelerator model.
    pub gpu_kind: Option<String>,
    /// Seconds of allocation, where the source counts them itself.
    pub elapsed_seconds: Option<u64>,
    /// Nodes.
    pub node_count: Option<u32>,
    /// What was bought.
    pub capacity: Capacity,
    /// Model version.
    pub model_version: Option<String>,
    /// Configuration version.
    pub config_version: Option<String>,
    /// Dataset snapshot.
    pub dataset_snapshot: Option<String>,
}

impl AttemptView {
    /// What a record says that tells only what launched the attempt.
    pub const fn of_scheduler(scheduler: String) -> Self {
        Self {
            aliases: Vec::new(),
            link: None,
            chain: None,
            scheduler,
            cluster: None,
            namespace: None,
            name: None,
            user: None,
            team: None,
            queue: None,
            submitted_at: None,
            started_at: None,
            ended_at: None,
            state: RunState::Pending,
            outcome: Outcome::Unknown,
            cause: Cause::Unknown,
            cause_evidence: Vec::new(),
            exit_code: None,
            restart_index: None,
            gpu_count: None,
            gpu_kind: None,
            elapsed_seconds: None,
            node_count: None,
            capacity: Capacity::Unknown,
            model_version: None,
            config_version: None,
            dataset_snapshot: None,
        }
    }
}

/// A node that was a given instance from `start` to `end`; node names are used again by other instances.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePeriod {
    /// Cluster of the node.
    pub cluster: String,
    /// Name of the node.
    pub node_name: String,
    /// Power-up.
    pub start: Timestamp,
    /// Power-down; `None` while up.
    pub end: Option<Timestamp>,
    /// The instance's id on the bill.
    pub instance_id: String,
    /// Instance type.
    pub instance_type: Option<String>,
    /// What was bought, where told.
    pub capacity: Capacity,
}

/// Everything that had not ended in a part of the world at one time: what is missing from it is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Snapshot {
    /// Beginning of the canonical keys that it speaks of, such as `k8s:{cluster}:`; it holds all of these.
    pub scope: String,
    /// When it was taken.
    pub taken_at: Timestamp,
    /// The canonical keys of the attempts that were waiting or running.
    pub alive: Vec<String>,
}
