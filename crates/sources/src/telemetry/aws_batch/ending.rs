//! How an attempt of a job ended, and why.

use ledger::{Cause, Outcome};

use crate::telemetry::attempts::outcome_of;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    pub(super) cause: Cause,
    pub(super) evidence: Vec<String>,
}

/// The words that an attempt has for its end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words<'a> {
    pub(super) status_reason: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    pub(super) exit_code: Option<i32>,
    /// True if somebody cancelled or terminated the job.
    pub(super) is_stopped: bool,
}

impl Ending {
    pub(super) const fn unknown() -> Self {
        Self { outcome: Outcome::Unknown, cause: Cause::Unknown, evidence: Vec::new() }
    }

    pub(super) const fn completed() -> Self {
        Self { outcome: Outcome::Completed, cause: Cause::Unknown, evidence: Vec::new() }
    }

    /// How an attempt ended that did not succeed.
    pub(super) fn failed(words: Words<'_>) -> Self {
        let texts = || [words.status_reason, words.reason].into_iter().flatten();
        let says = |part: &str| texts().any(|text| text.contains(part));
        let cause = if texts().any(|text| text.starts_with("Host EC2")) {
            Cause::SpotInterruption
        } else if says("OutOfMemoryError") || says("OOMKilled") {
            Cause::OomHost
        } else if says("duration exceeded timeout") {
            Cause::TimeLimit
        } else if says("Dependent Job") {
            Cause::Dependency
        } else if says("CannotPullContainer") || says("CannotStartContainer") || says("CannotCreateContainer")
        {
            Cause::LaunchFailure
        } else if words.is_stopped {
            Cause::UserCancelled
        } else if words.exit_code.is_some_and(|code| code != 0) {
            Cause::AppError
        } else {
            Cause::Unknown
        };
        let mut evidence: Vec<String> = texts().map(str::to_owned).collect();
        evidence.extend(words.exit_code.map(|code| format!("exit code {code}")));
        Self { outcome: outcome_of(cause).unwrap_or(Outcome::Failed), cause, evidence }
    }
}
