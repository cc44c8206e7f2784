//! Gives interruptions of machines to the attempts that held them.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Attempt, Cause, Initiator, Interruption, Outcome, Timestamp};

use super::Note;

/// A spot machine goes two minutes after its warning, and its request tells so up to as long after that.
const NOTICE_MICROS: i64 = 240 * 1_000_000;

/// How long a scheduler may take to see that a machine has gone.
const DETECTION_MICROS: i64 = 600 * 1_000_000;

/// A holding of a machine.
#[derive(Debug, Clone, Copy)]
struct Holding {
    start: Timestamp,
    end: Option<Timestamp>,
    attempt: usize,
}

impl Holding {
    /// The machine was held then; an end at that instant is the interruption's.
    fn holds(&self, at: Timestamp) -> bool {
        self.start <= at && self.end.is_none_or(|end| at <= end)
    }

    /// It had been let go shortly before.
    fn held_before(&self, at: Timestamp) -> bool {
        self.end.is_some_and(|end| end < at && at.0.saturating_sub(end.0) <= NOTICE_MICROS)
    }
}

/// Adds each interruption of a machine once to every attempt that held it then, however many nodes the attempt had and
/// however many attempts shared the machine. Where nobody held it at that instant, an attempt is meant that had let it
/// go within the notice and did not complete: it obeyed a warning, or the record of the end came late. Returns those that
/// no attempt held.
pub(super) fn claim(attempts: &mut [Attempt], told: &BTreeSet<Interruption>) -> Vec<Interruption> {
    if told.is_empty() {
        return Vec::new();
    }
    let mut holdings: BTreeMap<String, Vec<Holding>> = BTreeMap::new();
    for (index, attempt) in attempts.iter().enumerate() {
        for binding in &attempt.bindings {
            let Some(id) = &binding.resource_id else { continue };
            let holding = Holding { start: binding.start, end: binding.end, attempt: index };
            holdings.entry(id.clone()).or_default().push(holding);
        }
    }
    let mut unclaimed = Vec::new();
    for interruption in told {
        let of_machine = interruption.resource_id.as_ref().and_then(|id| holdings.get(id));
        let holders = of_machine.map(|held| holders(attempts, held, interruption.at)).unwrap_or_default();
        if holders.is_empty() {
            unclaimed.push(interruption.clone());
        }
        for index in holders {
            if let Some(attempt) = attempts.get_mut(index) {
                interrupt(attempt, interruption);
            }
        }
    }
    for attempt in attempts {
        attempt.interruptions.sort();
        attempt.interruptions.dedup();
    }
    unclaimed
}

fn holders(attempts: &[Attempt], held: &[Holding], at: Timestamp) -> BTreeSet<usize> {
    let then: BTreeSet<usize> = held.iter().filter(|h| h.holds(at)).map(|h| h.attempt).collect();
    if !then.is_empty() {
        return then;
    }
    let stopped = |index: &usize| attempts.get(*index).is_some_and(|a| a.outcome != Outcome::Completed);
    held.iter().filter(|h| h.held_before(at)).map(|h| h.attempt).filter(stopped).collect()
}

/// A provider that takes a machine is the cause of an end that follows, where the scheduler saw no more than a lost node.
fn interrupt(attempt: &mut Attempt, interruption: &Interruption) {
    attempt.interruptions.push(interruption.clone());
    let follows = attempt.ended_at.is_some_and(|end| {
        let after = end.0.saturating_sub(interruption.at.0);
        (-NOTICE_MICROS..=DETECTION_MICROS).contains(&after)
    });
    let is_open = matches!(attempt.cause, Cause::Unknown | Cause::NodeFailure);
    let gave_way =
        matches!(attempt.outcome, Outcome::Failed | Outcome::Preempted | Outcome::Unknown) && follows;
    if interruption.initiator == Initiator::Provider && is_open && gave_way {
        attempt.cause = Cause::SpotInterruption;
        let machine = interruption.resource_id.as_deref().unwrap_or_default();
        attempt.cause_evidence.push(format!("{machine}: {} at {}", interruption.signal, interruption.at));
    }
}

/// What a user should know of an interruption that no attempt held.
pub(super) fn note(unclaimed: &Interruption) -> Note {
    let machine = unclaimed.resource_id.as_deref().unwrap_or_default();
    Note {
        code: "attempt::interruption_without_attempt",
        key: format!("instance:{machine}"),
        message: format!(
            "`{}` by {} at {} is kept, but no attempt held `{machine}` then",
            unclaimed.signal, unclaimed.initiator, unclaimed.at
        ),
    }
}
