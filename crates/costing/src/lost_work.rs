//! Lost work: paid training time between the last durable checkpoint and the interruption.
//!
//! # Grades
//! The best that the records allow, told by the [`Grade`] of each result:
//!
//! | grade | from | lost |
//! |---|---|---|
//! | A, `measured` | step logs of the attempt and of the one that went on | from when the last step that was not done again was done |
//! | B, `derived` | times at which checkpoints were durable | from the last of them, or from the start of training |
//! | C, `modelled` | only the interval at which checkpoints were written, as the user declares it | half of it, at most all |
//!
//! A checkpoint that was begun and not completed does not count, nor one that did not survive the node. If the attempt
//! that went on began at an earlier step than that of the last checkpoint, it had restored an older one, and that counts.
//! A step log that lacks steps gives a range. Where nothing is told of checkpoints, what was lost is not known, and is at
//! most everything since training began.
//!
//! # What is counted, and what is not
//! * An attempt loses work if it ended otherwise than completed, or nobody saw it end. Work counts as lost until its end:
//!   a hang after the last checkpoint is paid and lost like training.
//! * Only held time is paid ([`LostWork::held`]), on every machine of the attempt, those included that were not
//!   interrupted.
//! * Lost work is a part of an attempt's cost and never beside it. If no attempt of the experiment completed and none goes
//!   on, the whole of each is failed spend already: such work is [`abandoned`](LostWork::is_abandoned), and
//!   [`counted`] leaves it out.
//!
//! Definitions follow the productivity measures of the field: wasted progress from disruption by redone steps
//! (<https://github.com/AI-Hypercomputer/ml-goodput-measurement>), and half the interval as the expectation (Young 1974,
//! Daly 2006). Unlike them, an attempt that nobody restarts shows what it lost, and queue and boot time are not mixed in.

mod lineage;
mod steps;
#[cfg(test)]
mod tests;

use ledger::{
    Attempt, AttemptId, Binding, Checkpoint, Grade, Interval, Outcome, PhaseKind, RunState, Timestamp,
};

use crate::phases::{held, union};

/// What an interrupted attempt lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostWork {
    /// The attempt.
    pub attempt: AttemptId,
    /// The attempt that went on from it, where one did.
    pub continued_by: Option<AttemptId>,
    /// How much, or why that is not known.
    pub extent: Extent,
    /// True if the experiment came to nothing, so that the whole attempt is failed spend and this is a part of it.
    pub is_abandoned: bool,
}

/// How much was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// From `interval.start` until the attempt's end; the truth lies between `least` and `most` microseconds.
    Known {
        /// The time that is lost.
        interval: Interval,
        /// How it is known: measured (A), derived (B) or modelled (C).
        grade: Grade,
        /// The least it can be, in microseconds.
        least: i64,
        /// The most it can be, in microseconds.
        most: i64,
    },
    /// Nobody tells of checkpoints: it is at most this time, and may be nothing.
    NotReported {
        /// From the start of training to the end.
        at_most: Interval,
    },
}

/// A part of lost work on one machine, which is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldLoss<'a> {
    /// What was held.
    pub binding: &'a Binding,
    /// The lost time in which it was.
    pub interval: Interval,
}

impl LostWork {
    /// The lost time, if it is known.
    pub const fn interval(&self) -> Option<Interval> {
        match self.extent {
            Extent::Known { interval, .. } => Some(interval),
            Extent::NotReported { .. } => None,
        }
    }

    /// The lost time that was paid: in order and without overlap. Where nothing tells what was held, all of it.
    pub fn paid(&self, attempt: &Attempt) -> Vec<Interval> {
        let Some(lost) = self.interval() else { return Vec::new() };
        let held = held(attempt);
        if held.is_empty() {
            return union(std::iter::once(lost));
        }
        union(held.into_iter().filter_map(|holding| holding.intersection(lost)))
    }

    /// The lost time on each thing that the attempt held: price × time of these is what the lost work cost. Two parts of
    /// one machine with other shares are two.
    pub fn held<'a>(&self, attempt: &'a Attempt) -> Vec<HeldLoss<'a>> {
        let Some(lost) = self.interval() else { return Vec::new() };
        let on = |binding: &'a Binding| {
            let end = binding.end.unwrap_or(Timestamp(i64::MAX));
            let interval = Interval { start: binding.start, end }.intersection(lost)?;
            Some(HeldLoss { binding, interval })
        };
        attempt.bindings.iter().filter_map(on).collect()
    }

    /// Accelerator time lost, in thousandths of an accelerator times seconds, rounded down once; `None` if nobody tells
    /// how many were held.
    pub fn gpu_milliseconds(&self, attempt: &Attempt) -> Option<u64> {
        const MICROS_PER_SECOND: i128 = 1_000_000;
        let held = self.held(attempt);
        let micros = if held.iter().any(|loss| loss.binding.gpus > 0) {
            held.iter().map(|loss| i128::from(loss.binding.gpus) * i128::from(loss.interval.micros())).sum()
        } else {
            i128::from(attempt.gpu_count?) * i128::from(self.interval()?.micros())
        };
        u64::try_from(micros / MICROS_PER_SECOND).ok()
    }
}

/// What the attempts of one experiment lost, in the order of their ends; `checkpoint_every` is the interval in
/// microseconds that the user declares where checkpoints are not told.
pub fn lost_work(attempts: &[&Attempt], checkpoint_every: Option<i64>) -> Vec<LostWork> {
    let is_abandoned = !attempts.iter().any(|attempt| is_alive(attempt));
    let tells = attempts.iter().any(|attempt| !attempt.checkpoints.is_empty());
    let next = lineage::successors(attempts);
    let mut interrupted: Vec<(usize, &Attempt, Timestamp)> = attempts
        .iter()
        .enumerate()
        .filter_map(|(index, attempt)| Some((index, *attempt, interrupted_at(attempt)?)))
        .collect();
    interrupted.sort_by_key(|(_, attempt, end)| (*end, attempt.canonical_key.as_str()));
    interrupted
        .into_iter()
        .filter_map(|(index, attempt, end)| {
            let after = next.get(&index).and_then(|next| attempts.get(*next)).copied();
            let trained = Interval::new(training_began(attempt)?, end).ok()?;
            let extent = extent(attempt, after, (trained, tells, checkpoint_every));
            let continued_by = after.map(|after| after.id);
            Some(LostWork { attempt: attempt.id, continued_by, extent, is_abandoned })
        })
        .collect()
}

/// Those whose lost work is to be counted beside failed spend of whole attempts: what was abandoned is in there.
pub fn counted(lost: &[LostWork]) -> impl Iterator<Item = &LostWork> {
    lost.iter().filter(|work| !work.is_abandoned)
}

/// It did what it was to do, or still may.
fn is_alive(attempt: &Attempt) -> bool {
    attempt.outcome == Outcome::Completed || matches!(attempt.state, RunState::Pending | RunState::Running)
}

/// When an attempt was interrupted: its end, or when it was last seen. `None` if it was not, or never started.
fn interrupted_at(attempt: &Attempt) -> Option<Timestamp> {
    let stopped = match attempt.outcome {
        Outcome::Failed | Outcome::Cancelled | Outcome::Preempted | Outcome::Timeout => true,
        Outcome::Unknown => !attempt.interruptions.is_empty() || attempt.state == RunState::Lost,
        Outcome::Completed => false,
    };
    let is_over = matches!(attempt.state, RunState::Ended | RunState::Lost);
    attempt.ended_at.filter(|_| stopped && is_over && attempt.started_at.is_some())
}

/// The first training that is told, else the start.
fn training_began(attempt: &Attempt) -> Option<Timestamp> {
    let trains = attempt.phases.iter().find(|phase| phase.kind == PhaseKind::Train);
    trains.map(|phase| phase.interval.start).or(attempt.started_at)
}

fn extent(
    attempt: &Attempt,
    after: Option<&Attempt>,
    (trained, tells, checkpoint_every): (Interval, bool, Option<i64>),
) -> Extent {
    let end = trained.end;
    let since = |start: Timestamp| Interval { start: start.clamp(trained.start, end), end };
    if let Some(redone) = after.and_then(|after| steps::redone(attempt, after)) {
        let interval = since(redone.last_kept.unwrap_or(trained.start));
        let micros = interval.micros();
        // A step that follows the last kept one was done from then on; otherwise steps between them are not told.
        let least = match redone.first_redone {
            _ if redone.is_exact => micros,
            Some(first) => since(first).micros().min(micros),
            None => 0,
        };
        return Extent::Known { interval, grade: Grade::Measured, least, most: micros };
    }
    if tells {
        let restart = after.and_then(steps::first_step);
        let kept = last_durable(&attempt.checkpoints, end, restart);
        let interval = since(kept.unwrap_or(trained.start));
        let micros = interval.micros();
        return Extent::Known { interval, grade: Grade::Derived, least: micros, most: micros };
    }
    match checkpoint_every.filter(|every| *every > 0) {
        Some(every) => {
            let most = every.min(trained.micros());
            let expected = (every / 2).min(most);
            let interval = since(Timestamp(end.0.saturating_sub(expected)));
            Extent::Known { interval, grade: Grade::Modelled, least: 0, most }
        }
        None => Extent::NotReported { at_most: trained },
    }
}

/// When the last checkpoint was durable that the work went on from: none from after the restart's first step.
fn last_durable(checkpoints: &[Checkpoint], end: Timestamp, restart: Option<u64>) -> Option<Timestamp> {
    let is_behind = |step: Option<u64>| match (step, restart) {
        (Some(step), Some(restart)) => step <= restart,
        _ => true,
    };
    let kept = checkpoints.iter().filter(|checkpoint| checkpoint.durable && is_behind(checkpoint.step));
    kept.filter_map(|checkpoint| checkpoint.completed_at).filter(|at| *at <= end).max()
}
