//! What an attempt did with its time, and with which of it machines were held: the partition that figures and pictures
//! are cut by.
//!
//! [`Attempt::phases`] is a partition already: in order, without overlap, and without a gap from when the attempt was
//! handed in until it ended; an attempt that goes on is told of as far as its records reach. How overlaps and gaps were
//! resolved stands at `attempts::phase`. All times are exact in microseconds, so that parts sum to the whole.
//!
//! Waiting in a queue is elapsed time and costs nothing; a machine that was provisioned and waits costs what it costs.
//! So a part also says whether anything was held. A volume or a bucket is held by itself and says nothing of time spent.

use ledger::{Attempt, Grade, Interval, Phase, PhaseKind, RunState, Timestamp};

/// A part of an attempt's time in which one thing was done, and which is paid or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// When.
    pub interval: Interval,
    /// What was done.
    pub kind: PhaseKind,
    /// How good the times are.
    pub grade: Grade,
    /// True if a machine was held: this time is billed, whatever was done with it.
    pub is_held: bool,
}

/// The attempt's time cut by phase and by whether machines were held; the parts sum to [`Attempt::phases`].
///
/// Where nothing tells what was held, everything from the start on was, but for waiting in a queue.
pub fn parts(attempt: &Attempt) -> Vec<Part> {
    let held = held(attempt);
    if held.is_empty() {
        let told = attempt.phases.iter();
        return told.map(|phase| part(phase, phase.interval, is_allocated(attempt, phase))).collect();
    }
    let mut parts = Vec::with_capacity(attempt.phases.len());
    let mut from = 0;
    for phase in &attempt.phases {
        let mut at = phase.interval.start;
        while held.get(from).is_some_and(|holding| holding.end <= at) {
            from += 1;
        }
        for holding in held.iter().skip(from) {
            let Some(common) = holding.intersection(phase.interval) else { break };
            if at < common.start {
                parts.push(part(phase, Interval { start: at, end: common.start }, false));
            }
            parts.push(part(phase, common, true));
            at = common.end;
        }
        if at < phase.interval.end {
            parts.push(part(phase, Interval { start: at, end: phase.interval.end }, false));
        }
    }
    parts
}

fn part(phase: &Phase, interval: Interval, is_held: bool) -> Part {
    Part { interval, kind: phase.kind, grade: phase.grade, is_held }
}

fn is_allocated(attempt: &Attempt, phase: &Phase) -> bool {
    let has_started = attempt.started_at.is_some_and(|start| start <= phase.interval.start);
    has_started && phase.kind != PhaseKind::Queue
}

/// What an attempt did during any interval, as phases that sum to it: the weights by which the cost of a holding or of a
/// charge is divided over phases. Before the attempt's own time a machine comes up (`provision`), after its end it goes
/// down (`teardown`), and what a running attempt does beyond its records is `unknown`.
pub fn within(attempt: &Attempt, interval: Interval) -> Vec<Phase> {
    let mut phases = Vec::new();
    let mut add = |start: Timestamp, end: Timestamp, (kind, grade): (PhaseKind, Grade)| {
        if start < end {
            phases.push(Phase { interval: Interval { start, end }, kind, grade });
        }
    };
    let after = match attempt.state {
        RunState::Ended | RunState::Lost => PhaseKind::Teardown,
        RunState::Pending | RunState::Running => PhaseKind::Unknown,
    };
    let (Some(first), Some(last)) = (attempt.phases.first(), attempt.phases.last()) else {
        add(interval.start, interval.end, (PhaseKind::Unknown, Grade::Derived));
        return phases;
    };
    let (first, last) = (first.interval.start, last.interval.end);
    add(interval.start, interval.end.min(first), (PhaseKind::Provision, Grade::Derived));
    for phase in &attempt.phases {
        if let Some(common) = phase.interval.intersection(interval) {
            add(common.start, common.end, (phase.kind, phase.grade));
        }
    }
    add(interval.start.max(last), interval.end, (after, Grade::Derived));
    phases
}

/// When the attempt held any machine, in order and without overlap; what it still holds, it holds for ever.
pub fn held(attempt: &Attempt) -> Vec<Interval> {
    let machines = attempt.bindings.iter().filter(|binding| binding.kind.is_machine());
    union(
        machines.map(|binding| Interval {
            start: binding.start,
            end: binding.end.unwrap_or(Timestamp(i64::MAX)),
        }),
    )
}

/// The time that any of the intervals covers, in order and without overlap.
pub(crate) fn union(intervals: impl Iterator<Item = Interval>) -> Vec<Interval> {
    let mut sorted: Vec<Interval> = intervals.filter(|interval| interval.start < interval.end).collect();
    sorted.sort_unstable();
    let mut union: Vec<Interval> = Vec::new();
    for interval in sorted {
        match union.last_mut() {
            Some(last) if interval.start <= last.end => last.end = last.end.max(interval.end),
            _ => union.push(interval),
        }
    }
    union
}
