//! How a record stands: its state words as run state, outcome and cause.

use ledger::{Cause, Outcome, RunState};

use super::fault::Refusal;

/// Flags that win over the base state beside them, the strongest first.
const FLAGS: [&str; 6] =
    ["RESIZING", "REQUEUED", "LAUNCH_FAILED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"];

/// What the state words of a record say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    /// Where the attempt stands.
    pub(super) state: RunState,
    /// How it ended.
    pub(super) outcome: Outcome,
    /// Why.
    pub(super) cause: Cause,
    /// The word that decided; empty if the record has no state.
    pub(super) word: String,
    /// True for a segment of a resized job.
    pub(super) resizing: bool,
}

/// What a record says of time: whether it has started, and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    /// Neither.
    Waiting,
    /// Started only.
    Open,
    /// It has an end.
    Closed,
}

/// Reads state words: one of `sacct` text, or a base state with flags of the JSON forms.
///
/// `None` is a record that a federation revoked, because the job ran elsewhere.
pub(super) fn standing(words: &[String], span: Span) -> Result<Option<Standing>, Refusal> {
    let word = FLAGS.iter().copied().find(|flag| words.iter().any(|word| word == flag));
    let word = word.or_else(|| words.first().map(String::as_str)).unwrap_or_default();
    if word == "REVOKED" {
        return Ok(None);
    }
    let known = by_word(word);
    let plain = word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    if known.is_none() && (!plain || word.len() > 40) {
        return Err(Refusal::new("slurm::not_a_state", "State", word, "a job state such as COMPLETED"));
    }
    let (state, outcome, cause) = known.unwrap_or_else(|| by_span(span));
    // A held or federated requeue is over only if it has an end; without one the job waits.
    let waits = span != Span::Closed && FLAGS.get(1..).is_some_and(|flags| flags.contains(&word));
    let (state, outcome, cause) =
        if waits { (RunState::Pending, Outcome::Unknown, Cause::Unknown) } else { (state, outcome, cause) };
    Ok(Some(Standing { state, outcome, cause, word: word.to_owned(), resizing: word == "RESIZING" }))
}

fn by_word(word: &str) -> Option<(RunState, Outcome, Cause)> {
    let ended = |outcome, cause| (RunState::Ended, outcome, cause);
    Some(match word {
        "PENDING" => (RunState::Pending, Outcome::Unknown, Cause::Unknown),
        "RUNNING" | "SUSPENDED" | "CONFIGURING" | "COMPLETING" | "SIGNALING" | "STAGE_OUT" | "STOPPED"
        | "POWER_UP_NODE" => (RunState::Running, Outcome::Unknown, Cause::Unknown),
        "COMPLETED" => ended(Outcome::Completed, Cause::Unknown),
        "FAILED" | "SPECIAL_EXIT" => ended(Outcome::Failed, Cause::AppError),
        "CANCELLED" => ended(Outcome::Cancelled, Cause::UserCancelled),
        "TIMEOUT" | "DEADLINE" => ended(Outcome::Timeout, Cause::TimeLimit),
        "NODE_FAIL" => ended(Outcome::Failed, Cause::NodeFailure),
        "PREEMPTED" => ended(Outcome::Preempted, Cause::PreemptedScheduler),
        "OUT_OF_MEMORY" => ended(Outcome::Failed, Cause::OomHost),
        "BOOT_FAIL" | "LAUNCH_FAILED" => ended(Outcome::Failed, Cause::LaunchFailure),
        "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" => ended(Outcome::Cancelled, Cause::RequeuedByOperator),
        "RESIZING" => ended(Outcome::Unknown, Cause::Unknown),
        _ => return None,
    })
}

/// Where a record without a known state stands, by its times alone.
fn by_span(span: Span) -> (RunState, Outcome, Cause) {
    let state = match span {
        Span::Waiting => RunState::Pending,
        Span::Open => RunState::Running,
        Span::Closed => RunState::Ended,
    };
    (state, Outcome::Unknown, Cause::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], span: Span) -> (RunState, Outcome, Cause) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let standing = standing(&words, span).unwrap().unwrap();
        (standing.state, standing.outcome, standing.cause)
    }

    // Trap10: PENDING stands first in the list of a record that was requeued.
    #[test]
    fn a_flag_wins_over_pending() {
        let requeued = (RunState::Ended, Outcome::Cancelled, Cause::RequeuedByOperator);
        assert_eq!(read(&["PENDING", "REQUEUED"], Span::Closed), requeued);
        assert_eq!(read(&["REQUEUED"], Span::Closed), requeued);
        assert_eq!(read(&["PENDING", "REQUEUE_HOLD"], Span::Waiting).0, RunState::Pending);
        assert_eq!(
            read(&["PENDING", "RESIZING"], Span::Closed),
            (RunState::Ended, Outcome::Unknown, Cause::Unknown)
        );
        assert_eq!(read(&["RUNNING", "COMPLETING"], Span::Open).0, RunState::Running);
    }

    #[test]
    fn every_state_text_has_an_outcome() {
        for (word, outcome, cause) in [
            ("COMPLETED", Outcome::Completed, Cause::Unknown),
            ("FAILED", Outcome::Failed, Cause::AppError),
            ("CANCELLED", Outcome::Cancelled, Cause::UserCancelled),
            ("TIMEOUT", Outcome::Timeout, Cause::TimeLimit),
            ("DEADLINE", Outcome::Timeout, Cause::TimeLimit),
            ("NODE_FAIL", Outcome::Failed, Cause::NodeFailure),
            ("PREEMPTED", Outcome::Preempted, Cause::PreemptedScheduler),
            ("OUT_OF_MEMORY", Outcome::Failed, Cause::OomHost),
            ("BOOT_FAIL", Outcome::Failed, Cause::LaunchFailure),
        ] {
            assert_eq!(read(&[word], Span::Closed), (RunState::Ended, outcome, cause), "for {word}");
        }
        assert_eq!(
            read(&["SOME_NEW_STATE"], Span::Closed),
            (RunState::Ended, Outcome::Unknown, Cause::Unknown)
        );
        assert_eq!(standing(&["REVOKED".to_owned()], Span::Closed).unwrap(), None);
        assert!(standing(&["2026-11-30".to_owned()], Span::Closed).is_err());
    }
}
