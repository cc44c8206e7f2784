//! How a training job ended, and why.

use ledger::{Cause, Outcome, RunState};

use super::split::Transition;
use crate::telemetry::attempts::{Refusal, outcome_of};
use crate::telemetry::openlineage::Object;

/// Longest evidence kept, in characters.
const EVIDENCE: usize = 500;

/// Where an attempt stands, and how it ended.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    pub(super) state: RunState,
    pub(super) outcome: Outcome,
    pub(super) cause: Cause,
    pub(super) evidence: Vec<String>,
}

impl Ending {
    fn of(cause: Cause, otherwise: Outcome, evidence: Vec<String>) -> Self {
        let evidence = evidence.into_iter().map(|text| text.chars().take(EVIDENCE).collect()).collect();
        Self { state: RunState::Ended, outcome: outcome_of(cause).unwrap_or(otherwise), cause, evidence }
    }

    /// An attempt that another one followed, or that was interrupted.
    pub(super) fn of_earlier(attempt: &[Transition]) -> Self {
        let interruption = attempt.iter().find(|one| one.status == "Interrupted");
        match (interruption, attempt.last()) {
            (Some(one), _) => Self::of(Cause::SpotInterruption, Outcome::Preempted, words(one)),
            (None, Some(last)) => Self::of(Cause::Unknown, Outcome::Failed, words(last)),
            (None, None) => Self::of(Cause::Unknown, Outcome::Failed, Vec::new()),
        }
    }

    /// The last attempt, which ended as the job did.
    pub(super) fn of_job(
        job: &Object<'_>,
        attempt: &[Transition],
        has_started: bool,
    ) -> Result<Self, Refusal> {
        let is_interrupted = attempt.iter().any(|one| one.status == "Interrupted");
        let secondary = job.text("SecondaryStatus")?.unwrap_or_default();
        let reason = job.owned("FailureReason")?;
        let still =
            |state| Self { state, outcome: Outcome::Unknown, cause: Cause::Unknown, evidence: Vec::new() };
        Ok(match job.required("TrainingJobStatus")? {
            "Completed" => Self::of(Cause::Unknown, Outcome::Completed, Vec::new()),
            "InProgress" | "Stopping" if is_interrupted => Self::of_earlier(attempt),
            "InProgress" | "Stopping" if has_started => still(RunState::Running),
            "InProgress" | "Stopping" => still(RunState::Pending),
            "Stopped" | "Failed" if is_limit(secondary) => {
                Self::of(Cause::TimeLimit, Outcome::Timeout, vec![secondary.to_owned()])
            }
            "Stopped" if is_interrupted => Self::of_earlier(attempt),
            "Stopped" | "Deleting" => {
                let evidence = [Some(secondary.to_owned()), reason].into_iter().flatten();
                Self::of(
                    Cause::UserCancelled,
                    Outcome::Cancelled,
                    evidence.filter(|text| !text.is_empty()).collect(),
                )
            }
            "Failed" => {
                let cause = reason.as_deref().map_or(Cause::Unknown, by_reason);
                Self::of(cause, Outcome::Failed, reason.into_iter().collect())
            }
            _ => {
                let expected = "InProgress, Completed, Failed, Stopping, Stopped or Deleting";
                return Err(job.refuse("row::unknown_word", "TrainingJobStatus", expected));
            }
        })
    }
}

fn is_limit(secondary: &str) -> bool {
    matches!(secondary, "MaxRuntimeExceeded" | "MaxWaitTimeExceeded")
}

fn words(one: &Transition) -> Vec<String> {
    [Some(one.status.clone()), one.message.clone()].into_iter().flatten().collect()
}

/// A reason begins with the kind of the error.
fn by_reason(reason: &str) -> Cause {
    let says = |part: &str| reason.contains(part);
    if says("CUDA out of memory") || says("CUDA error: out of memory") {
        Cause::OomGpu
    } else if says("Insufficient memory")
        || says("exit code: 137")
        || says("ExitCode 137")
        || says("OutOfMemory")
    {
        Cause::OomHost
    } else if reason.starts_with("CapacityError") {
        Cause::LaunchFailure
    } else if reason.starts_with("ClientError") || reason.starts_with("AlgorithmError") {
        Cause::AppError
    } else {
        Cause::Unknown
    }
}
