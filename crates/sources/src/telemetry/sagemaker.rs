//! Reads managed training of SageMaker: training jobs, tuning jobs, and the nodes of HyperPod clusters.
//!
//! # What it reads
//!
//! Answers of the API as the AWS CLI or an SDK prints them, one after another or in a list; pages of a list may follow
//! each other. Fields that are not named here are not read.
//!
//! ```text
//! aws sagemaker list-training-jobs --query 'TrainingJobSummaries[].TrainingJobName' --output text | tr '\t' '\n' \
//!   | xargs -n1 aws sagemaker describe-training-job --output json --training-job-name > jobs.json
//! ```
//!
//! | answer | what it becomes |
//! |---|---|
//! | `describe-training-job` | attempts |
//! | `describe-hyper-parameter-tuning-job` | the direction of the objective of its training jobs |
//! | `list-training-jobs`, `list-training-jobs-for-hyper-parameter-tuning-job` | nothing but a count of what is not described |
//! | `list-cluster-nodes`, `describe-cluster-node` of HyperPod | which machine a node of the cluster is, and from when |
//! | `describe-cluster`, `list-clusters`, `list-hyper-parameter-tuning-jobs` | nothing |
//!
//! | field of a training job | what it becomes |
//! |---|---|
//! | `TrainingJobArn` | the resource as the bill names it |
//! | `TrainingStartTime`, `TrainingEndTime` | start and end: what is billed lies between them |
//! | `SecondaryStatusTransitions[]` | the attempts inside a job, and phases |
//! | `TrainingJobStatus`, `SecondaryStatus`, `FailureReason` | how it ended, and why |
//! | `ResourceConfig.InstanceType`, `InstanceCount`, `InstanceGroups[]` | SKU, number of nodes |
//! | `EnableManagedSpotTraining`, `ResourceConfig.TrainingPlanArn` | what was bought |
//! | `FinalMetricDataList[]` | final quality |
//! | `ModelArtifacts.S3ModelArtifacts`, `CheckpointConfig.S3Uri` | artifacts |
//! | `ExperimentConfig.ExperimentName`, else `TuningJobArn`, else `Environment` and `HyperParameters` by key | the experiment |
//! | `HyperParameters` | configuration version, as a hash, unless one of them names it |
//! | `InputDataConfig[].DataSource.S3DataSource.S3Uri` | dataset snapshot |
//! | `BillableTimeInSeconds` × `InstanceCount`, `WarmPoolStatus` | a warning with the sum: the bill tells what it cost |
//! | `LastModifiedTime` | orders corrections |
//!
//! Times may be text with an offset (CLI), seconds since 1970 (API), or the parts of a date that a recorder of answers
//! kept; those carry no zone, which then must be declared.
//!
//! # How a record becomes an attempt
//!
//! A job is one attempt, `sm:{arn}:1`, until it is started again: every `Starting` or `Restarting` after the first
//! opens the next, `sm:{arn}:2` and so on. `Interrupted` ends one as taken back by the provider. The time until the
//! first instance works, and between an interruption and the next instance, is waiting and not held. All attempts of a
//! job are bound to the job's ARN; the bill has one number for the job, which is split by their time.
//!
//! | what is told | outcome and cause |
//! |---|---|
//! | `Completed` | completed |
//! | transition `Interrupted` | pre-empted, `spot_interruption` |
//! | `MaxRuntimeExceeded`, `MaxWaitTimeExceeded` | timeout, `time_limit` |
//! | `Stopped` otherwise | cancelled, `user_cancelled` |
//! | `Failed` with `CapacityError` | failed, `launch_failure` |
//! | `Failed` with `ClientError` or `AlgorithmError` | failed, `app_error`, or `oom_gpu` and `oom_host` by its words |
//! | `Failed` otherwise, as by `InternalServerError` | failed, cause unknown |
//!
//! A warm pool that was kept after the job is held by its last attempt for as long as it is billed. The status
//! messages are evidence only, as their text may change.
//!
//! # What it cannot tell
//!
//! * Accelerators: the instance type names them, and the answer does not count them.
//! * Jobs that are only listed: a summary has neither instance type nor start.
//! * Nodes of HyperPod without `PrivateDnsHostname`: older answers lack it.
//!
//! # References
//!
//! * <https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html>
//! * <https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_SecondaryStatusTransition.html>
//! * <https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListClusterNodes.html>

mod answer;
mod ending;
mod job;
mod node;
mod split;

use std::io::BufRead;

use ledger::SourceId;

use self::answer::Import;
use super::TelemetryRead;
use super::attempts::{Codes, values};
use crate::{SourceError, Zone};

/// What the user says beside the file.
#[derive(Debug, Clone)]
pub struct SageMakerOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The source of the records.
    pub source: SourceId,
    /// Zone of times that carry none.
    pub zone: Zone,
    /// Cluster of the nodes of HyperPod, as its scheduler calls it.
    pub cluster: Option<String>,
    /// Normalised keys of variables and hyper-parameters whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
}

const CODES: Codes = Codes {
    cannot_read: "sagemaker::cannot_read",
    too_large: "sagemaker::too_large",
    not_json: "sagemaker::not_json",
};

/// Reads one file of answers.
///
/// # Errors
/// A coded error where the file as a whole cannot be read.
pub fn read(input: impl BufRead, options: &SageMakerOptions) -> Result<TelemetryRead, SourceError> {
    let found = values(input, &options.file, &CODES)?;
    let mut import = Import::new(options);
    for answer in &found.documents {
        import.objectives(answer);
    }
    for answer in &found.documents {
        import.answer(answer);
    }
    if let Some(refusal) = found.broken {
        import.settle(Err(refusal));
    }
    Ok(import.finished())
}
