//! Names of the demo company: accounts, buckets, commitments and the people's tools.

use crate::cluster::schedule::{self, Cluster};
use crate::desk::{self, Desk};
use crate::managed::plan::{self, ManagedJob};
use crate::rented::{self, RentedAttempt};

/// An account that pays a bill of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Payer {
    /// Account id.
    pub(crate) id: &'static str,
    /// Account name.
    pub(crate) name: &'static str,
    /// Name of its data export.
    pub(crate) export: &'static str,
}

/// Pays for the Slurm cluster.
pub(crate) const TRAINING: Payer =
    Payer { id: "111122223333", name: "Larkspur Training", export: "larkspur-training" };
/// Pays for managed jobs, evaluation and model APIs.
pub(crate) const PLATFORM: Payer =
    Payer { id: "444455556666", name: "Larkspur Platform", export: "larkspur-platform" };
/// A member account under the second payer, in which evaluation runs.
pub(crate) const EVALUATION: &str = "777788889999";

/// Bucket of shared datasets.
pub(crate) const DATASETS: &str = "larkspur-datasets";
/// Bucket of all checkpoints that have no bucket of their own.
pub(crate) const CHECKPOINTS: &str = "larkspur-checkpoints";
/// Bucket of the tokenised text that only `llm7b-pre` reads.
pub(crate) const TOKENS: &str = "larkspur-tokens-llm7b";
/// Experiments whose checkpoints and scratch disks are their own and are tagged.
pub(crate) const TAGGED: [&str; 4] = ["vitl-tune", "llm1b-pre", "dino-pre", "wav2vec-pre"];
/// The savings plan on A100 instances.
pub(crate) const SAVINGS_PLAN: &str = "arn:aws:savingsplans::111122223333:savingsplan/5a1c0f3e-demo";
/// The reservation of the `dev` node.
pub(crate) const RESERVATION: &str = "arn:aws:ec2:us-east-1:111122223333:reserved-instances/9d2b7c41-demo";
/// The capacity block.
pub(crate) const CAPACITY_BLOCK: &str =
    "arn:aws:ec2:us-east-2:111122223333:capacity-reservation/cr-0b10c0demo";
/// The Kubernetes cluster.
pub(crate) const EKS: &str = "arn:aws:eks:us-east-1:777788889999:cluster/eval";

/// All that the company did in the sixty days.
#[derive(Debug)]
pub(crate) struct Company {
    /// The seed.
    pub(crate) seed: u64,
    /// Slurm.
    pub(crate) cluster: Cluster,
    /// Managed training.
    pub(crate) managed: Vec<ManagedJob>,
    /// Evaluation machines, workstations and pods.
    pub(crate) desk: Desk,
    /// Machines that are rented elsewhere.
    pub(crate) rented: Vec<RentedAttempt>,
}

impl Company {
    /// The company of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            cluster: schedule::play(seed),
            managed: plan::play(seed),
            desk: desk::play(seed),
            rented: rented::play(seed),
        }
    }
}
