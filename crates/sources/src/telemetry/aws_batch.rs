//! Reads jobs of AWS Batch, with every attempt that the service keeps.
//!
//! # What it reads
//!
//! Answers of `describe-jobs`, one after another or in a list. The service keeps ended jobs for about a week, so
//! import them in time; an array job's children are described by their own ids (`{id}:0`, `{id}:1`, …), a multi-node
//! job's nodes are `{id}#0`, `{id}#1`, …. Answers of `ecs describe-container-instances` in the same file tell which
//! machine ran a container.
//!
//! ```text
//! aws batch list-jobs --job-queue QUEUE --job-status FAILED --query 'jobSummaryList[].jobId' --output text | tr '\t' '\n' \
//!   | xargs -n100 aws batch describe-jobs --jobs > jobs.json
//! aws ecs describe-container-instances --cluster CLUSTER --container-instances … >> jobs.json
//! ```
//!
//! | field | what it becomes |
//! |---|---|
//! | `jobArn`, else `jobId` | the key; aliases |
//! | `attempts[].startedAt`, `stoppedAt` (milliseconds) | start and end of each attempt |
//! | `attempts[].statusReason`, `container.exitCode`, `reason` | how it ended, and why |
//! | `attempts[].container.containerInstanceArn` | the machine, if its answer is there or the reason names it; else a name |
//! | `eksAttempts[].nodeName`, `podName` | the node, for jobs on EKS |
//! | `container.resourceRequirements[]` | accelerators, else processors; of one node |
//! | `nodeProperties.numNodes` | nodes of a multi-node job |
//! | `createdAt`, `jobQueue`, `jobName` | submission, queue, name |
//! | `arrayProperties.index` | a part of the name |
//! | `tags` | experiment, team, user and versions, by key |
//! | `ec2InstanceId` of a container instance | the machine as the bill names it |
//!
//! # How a record becomes an attempt
//!
//! Each element of `attempts` is an attempt, `batch:{jobArn}:{index from 0}`; all of a job are of one experiment, if
//! no tag names one. The job's own `startedAt` belongs to the attempt that runs, or to the last one where none is
//! listed: the service lists an attempt only when it has ended. A job that never started is one attempt without a
//! start, and holds nothing. The parent of an array is no attempt: its children are. A node of a multi-node job adds
//! what it held to the job's attempt, and then the job's own record holds nothing.
//!
//! | what is told | outcome and cause |
//! |---|---|
//! | exit code 0, or `SUCCEEDED` | completed |
//! | reason beginning `Host EC2` | pre-empted, `spot_interruption` |
//! | `OutOfMemoryError` | failed, `oom_host` |
//! | `Job attempt duration exceeded timeout` | timeout, `time_limit` |
//! | `CannotPullContainerError` and its like | failed, `launch_failure` |
//! | `Dependent Job failed` | failed, `dependency` |
//! | a cancelled or terminated job | cancelled, `user_cancelled` |
//! | any other exit code | failed, `app_error` |
//!
//! # What it cannot tell
//!
//! * The machine of a container whose container instance is not described: it is bound by the name of that.
//! * Containers of Fargate, which the bill names only by the service.
//! * What was bought: the compute environment tells whether it is spot, and the job does not name it.
//!
//! # References
//!
//! * <https://docs.aws.amazon.com/batch/latest/APIReference/API_DescribeJobs.html>
//! * <https://docs.aws.amazon.com/batch/latest/APIReference/API_AttemptDetail.html>
//! * <https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html>

mod ending;
mod job;
mod machine;

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use ledger::{Observation, SourceId};
use serde_json::Value;

use super::attempts::{Codes, Refusal, values};
use super::openlineage::Object;
use super::{TelemetryRead, Warning};
use crate::SourceError;

/// What the user says beside the file.
#[derive(Debug, Clone)]
pub struct AwsBatchOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The source of the records.
    pub source: SourceId,
    /// Normalised keys of tags whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
}

const CODES: Codes = Codes {
    cannot_read: "aws_batch::cannot_read",
    too_large: "aws_batch::too_large",
    not_json: "aws_batch::not_json",
};

/// Reads one file of answers.
///
/// # Errors
/// A coded error where the file as a whole cannot be read.
pub fn read(input: impl BufRead, options: &AwsBatchOptions) -> Result<TelemetryRead, SourceError> {
    let found = values(input, &options.file, &CODES)?;
    let mut import = Import {
        options,
        read: TelemetryRead::default(),
        machines: BTreeMap::new(),
        ids: BTreeSet::new(),
        childless: 0,
    };
    // Machines may stand behind the jobs that ran on them, and a job behind its nodes.
    for answer in &found.documents {
        import.known(answer);
    }
    for answer in &found.documents {
        import.answer(answer);
    }
    if let Some(refusal) = found.broken {
        import.settle(Err(refusal));
    }
    if import.childless > 0 {
        import.read.warnings.push(Warning {
            code: "aws_batch::children_not_described",
            message: format!(
                "{} array(s) are told without any of their children, which are the jobs",
                import.childless
            ),
            help:
                "list them by `aws batch list-jobs --array-job-id ID`, describe them, and import the answers"
                    .to_owned(),
        });
    }
    Ok(import.read)
}

/// What is gathered while answers are read.
struct Import<'o> {
    options: &'o AwsBatchOptions,
    read: TelemetryRead,
    /// Instance ids, by the ARN of the container instance.
    machines: BTreeMap<String, machine::Machine>,
    /// Ids of all jobs.
    ids: BTreeSet<String>,
    /// Arrays of which no child is told.
    childless: u64,
}

impl Import<'_> {
    fn known(&mut self, answer: &Value) {
        let Some(answer) = answer.as_object().map(Object::root) else { return };
        let jobs = answer.objects("jobs").unwrap_or_default();
        let ids = jobs.iter().chain([&answer]).filter_map(|job| job.owned("jobId").ok().flatten());
        self.ids.extend(ids);
        for one in answer.objects("containerInstances").unwrap_or_default() {
            if let Ok((arn, machine)) = machine::Machine::of(&one) {
                self.machines.insert(arn, machine);
            }
        }
    }

    fn answer(&mut self, answer: &Value) {
        let unknown = || {
            let expected = "an answer of describe-jobs with `jobs`";
            Refusal::of_record("aws_batch::unknown_answer", &answer.to_string(), expected)
        };
        let told = answer.as_object().map(Object::root).ok_or_else(unknown).and_then(|answer| {
            match (answer.is_told("jobs"), answer.is_told("containerInstances")) {
                (true, _) => Ok((answer.objects("jobs")?, true)),
                (false, true) => Ok((answer.objects("containerInstances")?, false)),
                // One element of an answer, as `--query 'jobs[]'` prints it.
                (false, false) if answer.has("jobId") => Ok((vec![answer], true)),
                (false, false) => Err(unknown()),
            }
        });
        match told {
            Ok((jobs, true)) => {
                for job in jobs {
                    let records = self.job(&job);
                    self.settle(records);
                }
            }
            Ok((machines, false)) => {
                for one in machines {
                    self.settle(machine::Machine::of(&one).map(|_| Vec::new()));
                }
            }
            Err(refusal) => self.settle(Err(refusal)),
        }
    }

    fn job(&mut self, job: &Object<'_>) -> Result<Vec<Observation>, Refusal> {
        if !job::is_array(job)? {
            return job::observations(job, &self.ids, &self.machines, self.options);
        }
        let id = job.required("jobId")?;
        self.childless += u64::from(!job::is_told(&self.ids, &format!("{id}:")));
        Ok(Vec::new())
    }

    fn settle(&mut self, records: Result<Vec<Observation>, Refusal>) {
        self.read.settle(records, &self.options.file);
    }
}
