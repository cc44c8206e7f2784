//! Makes one partition of an attempt's time of the phases that its sources told.
//!
//! # Precedence
//! Where several phases were told of one instant, the one holds that says most of what the machines did then:
//!
//! 1. `ckpt_restore`, `ckpt_save`: while a checkpoint is read or written training waits, or it is no phase
//! 2. `eval`, `data_load`: told inside of training, they are what training waited for
//! 3. `idle`: nothing happened, whatever the run believed
//! 4. `train`
//! 5. `upload`, `init`: they go on beside training and count where nothing else does
//! 6. `container_start`, `provision`, `teardown`: the machines' own, which end where the program's begin
//! 7. `queue`, then `unknown`
//!
//! Of two reports of one kind the better grade holds. What was told of a time before the attempt was handed in or after
//! its end is cut off.
//!
//! # Gaps
//! Before the start an instant that nobody tells of is `queue`, and from the start on `unknown`. Waiting is `queue` only
//! while nothing is held: before the start a held machine that waits is `provision`, and from the start on what is told
//! as `queue` is `idle`, for allocated time is billed. What follows here from other times is graded `derived`.

use std::collections::BTreeMap;

use ledger::{Grade, Interval, Phase, PhaseKind, Timestamp};

/// The times that an attempt's partition is bounded by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) submitted: Option<Timestamp>,
    pub(super) started: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
}

impl Span {
    /// From when it was handed in, or started, or first told of, until it ended or was last told of.
    fn bounds(&self, told: &[Phase]) -> Option<Interval> {
        let handed_in = match (self.submitted, self.started) {
            (Some(submitted), Some(started)) => Some(submitted.min(started)),
            (one, other) => one.or(other),
        };
        let start = handed_in.or_else(|| told.iter().map(|phase| phase.interval.start).min())?;
        let last = || told.iter().map(|phase| phase.interval.end).max().max(self.started);
        let end = self.ended.or_else(last)?;
        (start < end).then_some(Interval { start, end })
    }
}

/// What changes at an instant: phases of this kind and grade begin or end, machines are taken or let go.
#[derive(Debug, Default)]
struct Change {
    phases: Vec<(Rank, i32)>,
    held: i32,
}

/// The order in which phases of one instant stand, the strongest first.
type Rank = (u8, Grade, PhaseKind);

fn rank(phase: &Phase) -> Rank {
    let order = match phase.kind {
        PhaseKind::CheckpointRestore => 0,
        PhaseKind::CheckpointSave => 1,
        PhaseKind::Eval => 2,
        PhaseKind::DataLoad => 3,
        PhaseKind::Idle => 4,
        PhaseKind::Train => 5,
        PhaseKind::Upload => 6,
        PhaseKind::Init => 7,
        PhaseKind::ContainerStart => 8,
        PhaseKind::Provision => 9,
        PhaseKind::Teardown => 10,
        PhaseKind::Queue => 11,
        PhaseKind::Unknown => 12,
    };
    (order, phase.grade, phase.kind)
}

/// The partition: in order, without overlap and without a gap; empty where no time is known.
pub(super) fn partition(span: Span, told: &[Phase], held: &[Interval]) -> Vec<Phase> {
    let Some(bounds) = span.bounds(told) else { return Vec::new() };
    let mut changes: BTreeMap<Timestamp, Change> = BTreeMap::new();
    for edge in [Some(bounds.start), Some(bounds.end), span.started].into_iter().flatten() {
        if bounds.start <= edge && edge <= bounds.end {
            changes.entry(edge).or_default();
        }
    }
    for phase in told {
        let Some(inside) = phase.interval.intersection(bounds) else { continue };
        changes.entry(inside.start).or_default().phases.push((rank(phase), 1));
        changes.entry(inside.end).or_default().phases.push((rank(phase), -1));
    }
    for interval in held.iter().filter_map(|interval| interval.intersection(bounds)) {
        changes.entry(interval.start).or_default().held += 1;
        changes.entry(interval.end).or_default().held -= 1;
    }
    let mut open: BTreeMap<Rank, i32> = BTreeMap::new();
    let mut holding = 0;
    let mut parts: Vec<Phase> = Vec::new();
    let mut steps = changes.into_iter().peekable();
    while let Some((start, change)) = steps.next() {
        for (rank, by) in change.phases {
            let count = open.entry(rank).or_default();
            *count += by;
            if *count == 0 {
                open.remove(&rank);
            }
        }
        holding += change.held;
        let Some((end, _)) = steps.peek() else { break };
        let best = open.keys().next().map(|(_, grade, kind)| (*kind, *grade));
        let has_started = span.started.is_some_and(|started| started <= start);
        let (kind, grade) = standing(best, has_started, holding > 0);
        match parts.last_mut() {
            Some(last) if (last.kind, last.grade) == (kind, grade) => last.interval.end = *end,
            _ => parts.push(Phase { interval: Interval { start, end: *end }, kind, grade }),
        }
    }
    parts
}

/// What stands of the strongest phase that was told, if any.
fn standing(told: Option<(PhaseKind, Grade)>, has_started: bool, is_held: bool) -> (PhaseKind, Grade) {
    match (told, has_started, is_held) {
        (None, true, _) => (PhaseKind::Unknown, Grade::Derived),
        (Some((PhaseKind::Queue, _)), true, _) => (PhaseKind::Idle, Grade::Derived),
        (None | Some((PhaseKind::Queue, _)), false, true) => (PhaseKind::Provision, Grade::Derived),
        (None, false, false) => (PhaseKind::Queue, Grade::Derived),
        (Some(told), _, _) => told,
    }
}
