//! The words of a spreadsheet for states, causes and capacities, and what follows from a cause.

use ledger::{Capacity, Cause, Direction, Initiator, Interruption, Outcome, RunState, Timestamp};

use super::refusal::Refusal;

/// A word in lower case with `_` between its parts.
pub(super) fn plain(text: &str) -> String {
    let parts: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    parts.join("_").to_lowercase()
}

/// Where the attempt stands and how it ended.
pub(super) fn status(text: &str) -> Result<(RunState, Outcome), Refusal> {
    let ended = |outcome| Ok((RunState::Ended, outcome));
    match plain(text).as_str() {
        "completed" | "complete" | "succeeded" | "success" | "successful" | "finished" | "done" | "ok" => {
            ended(Outcome::Completed)
        }
        "failed" | "failure" | "fail" | "error" | "crashed" | "node_fail" | "out_of_memory" => {
            ended(Outcome::Failed)
        }
        "cancelled" | "canceled" | "killed" | "aborted" | "stopped" => ended(Outcome::Cancelled),
        "preempted" | "pre_empted" | "interrupted" | "spot_interrupted" | "evicted" => {
            ended(Outcome::Preempted)
        }
        "timeout" | "timed_out" | "time_limit" => ended(Outcome::Timeout),
        "running" | "active" | "in_progress" => Ok((RunState::Running, Outcome::Unknown)),
        "pending" | "queued" | "waiting" | "submitted" => Ok((RunState::Pending, Outcome::Unknown)),
        "lost" | "vanished" | "missing" => Ok((RunState::Lost, Outcome::Unknown)),
        _ => Err(Refusal::new(
            "row::unknown_word",
            "status",
            text,
            "completed, failed, cancelled, preempted, timeout, running, pending or lost",
        )),
    }
}

/// What was bought.
pub(super) fn capacity(text: &str) -> Result<Capacity, Refusal> {
    match plain(text).as_str() {
        "on_demand" | "ondemand" => Ok(Capacity::OnDemand),
        "spot" | "preemptible" => Ok(Capacity::Spot),
        "reserved" | "reservation" | "capacity_block" => Ok(Capacity::Reserved),
        "unknown" => Ok(Capacity::Unknown),
        _ => Err(Refusal::new("row::unknown_word", "capacity", text, "on_demand, spot or reserved")),
    }
}

/// Which way is better.
pub(super) fn direction(text: &str) -> Result<Direction, Refusal> {
    match plain(text).as_str() {
        "maximise" | "maximize" | "max" | "higher" | "up" => Ok(Direction::Maximise),
        "minimise" | "minimize" | "min" | "lower" | "down" => Ok(Direction::Minimise),
        _ => Err(Refusal::new("row::unknown_word", "metric_direction", text, "maximise or minimise")),
    }
}

/// How an attempt ended that was stopped for a cause, or `None` if the cause alone does not say.
pub(in crate::telemetry) const fn outcome_of(cause: Cause) -> Option<Outcome> {
    match cause {
        Cause::SpotInterruption
        | Cause::PreemptedScheduler
        | Cause::EvictedQuota
        | Cause::RequeuedByOperator => Some(Outcome::Preempted),
        Cause::TimeLimit => Some(Outcome::Timeout),
        Cause::UserCancelled => Some(Outcome::Cancelled),
        Cause::AppError
        | Cause::OomHost
        | Cause::OomGpu
        | Cause::NodeFailure
        | Cause::LaunchFailure
        | Cause::Dependency => Some(Outcome::Failed),
        Cause::Unknown => None,
    }
}

/// The interruption that an end means, with the source's word for it; `None` if nobody interrupted it.
pub(in crate::telemetry) fn interruption(
    outcome: Outcome,
    cause: Cause,
    at: Timestamp,
    signal: Option<&str>,
) -> Option<Interruption> {
    if outcome == Outcome::Completed {
        return None;
    }
    let (initiator, word) = match cause {
        Cause::SpotInterruption => (Initiator::Provider, cause.word()),
        Cause::PreemptedScheduler | Cause::EvictedQuota => (Initiator::Scheduler, cause.word()),
        Cause::NodeFailure => (Initiator::Hardware, cause.word()),
        Cause::RequeuedByOperator => (Initiator::User, cause.word()),
        Cause::AppError
        | Cause::OomHost
        | Cause::OomGpu
        | Cause::LaunchFailure
        | Cause::UserCancelled
        | Cause::TimeLimit
        | Cause::Dependency => return None,
        Cause::Unknown if outcome == Outcome::Preempted => (Initiator::Unknown, outcome.word()),
        Cause::Unknown => return None,
    };
    Some(Interruption { at, initiator, signal: signal.unwrap_or(word).to_owned(), resource_id: None })
}
