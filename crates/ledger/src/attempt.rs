//! An attempt: one execution of a job, folded from its observations.

use crate::basis::words;
use crate::telemetry::{Artifact, Checkpoint, Interruption, Phase};
use crate::{AttemptId, AttemptLink, Binding, QualityResult, Timestamp, Utilisation};

words! {
    /// Where an attempt stands.
    RunState {
        /// Submitted, nothing allocated.
        Pending => "pending",
        /// Allocated and not ended.
        Running => "running",
        /// Ended, with an outcome.
        Ended => "ended",
        /// Gone without an end.
        Lost => "lost",
    }
}

words! {
    /// How an attempt ended.
    Outcome {
        /// It did what it was to do.
        Completed => "completed",
        /// It failed.
        Failed => "failed",
        /// Somebody stopped it.
        Cancelled => "cancelled",
        /// It had to give way.
        Preempted => "preempted",
        /// Its time ran out.
        Timeout => "timeout",
        /// Not ended, or not told.
        Unknown => "unknown",
    }
}

words! {
    /// Why it did not complete.
    Cause {
        /// The program failed.
        AppError => "app_error",
        /// Host memory ran out.
        OomHost => "oom_host",
        /// Accelerator memory ran out.
        OomGpu => "oom_gpu",
        /// A node was lost.
        NodeFailure => "node_failure",
        /// The provider took a spot instance back.
        SpotInterruption => "spot_interruption",
        /// The scheduler gave the nodes to another job.
        PreemptedScheduler => "preempted_scheduler",
        /// A quota was taken back.
        EvictedQuota => "evicted_quota",
        /// It never came up.
        LaunchFailure => "launch_failure",
        /// An operator sent it back to the queue.
        RequeuedByOperator => "requeued_by_operator",
        /// A user stopped it.
        UserCancelled => "user_cancelled",
        /// Its time limit passed.
        TimeLimit => "time_limit",
        /// A job that it depends on did not complete.
        Dependency => "dependency",
        /// Not told.
        Unknown => "unknown",
    }
}

words! {
    /// What was bought.
    Capacity {
        /// On demand.
        OnDemand => "on_demand",
        /// Spot.
        Spot => "spot",
        /// Reserved, or a capacity block.
        Reserved => "reserved",
        /// Not told.
        Unknown => "unknown",
    }
}

/// One execution of a job.
///
/// All times are UTC. `gpu_count` is `None` where no source tells it; it is over all nodes, in thousandths.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Immutable id.
    pub id: AttemptId,
    /// The key that the id is made from.
    pub canonical_key: String,
    /// Other names of the same execution.
    pub aliases: Vec<String>,
    /// The experiment, and how the link was found.
    pub link: AttemptLink,
    /// Position among the attempts of the experiment, from 1, in order of start.
    pub ordinal: u32,
    /// What launched it: `slurm`, `openlineage`, …
    pub scheduler: String,
    /// Cluster, where there is one.
    pub cluster: Option<String>,
    /// Namespace of the cluster, where it has such.
    pub namespace: Option<String>,
    /// Job name.
    pub name: Option<String>,
    /// Who ran it.
    pub user: Option<String>,
    /// Team or accounting group.
    pub team: Option<String>,
    /// Partition or queue.
    pub queue: Option<String>,
    /// When it was handed in.
    pub submitted_at: Option<Timestamp>,
    /// When resources were allocated and billed time may begin.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Where it stands.
    pub state: RunState,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub cause: Cause,
    /// The source's own words for the end.
    pub cause_evidence: Vec<String>,
    /// Exit code, where told; never used to decide success.
    pub exit_code: Option<i32>,
    /// Restarts before this attempt, where told.
    pub restart_index: Option<u32>,
    /// Accelerators, in thousandths.
    pub gpu_count: Option<u64>,
    /// Accelerator model.
    pub gpu_kind: Option<String>,
    /// Accelerator-seconds over all segments, in thousandths of a GPU times seconds.
    pub gpu_milliseconds: Option<u64>,
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
    /// Resources held.
    pub bindings: Vec<Binding>,
    /// Phases of its time, a partition: in order, without overlap, and without a gap from when it was handed in until it
    /// ended.
    pub phases: Vec<Phase>,
    /// Checkpoints written.
    pub checkpoints: Vec<Checkpoint>,
    /// Interruptions.
    pub interruptions: Vec<Interruption>,
    /// Quality measured.
    pub quality: Vec<QualityResult>,
    /// Artifacts made.
    pub artifacts: Vec<Artifact>,
    /// How busy its devices were, where the source says that it held them; evidence, which prices nothing.
    pub utilisation: Vec<Utilisation>,
    /// True if a source changed this attempt's history after it had ended.
    pub source_overwrote: bool,
}
