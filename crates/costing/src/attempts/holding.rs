//! Gives each session the records that belong to it, and counts the accelerators that it held.

use ledger::{Attempt, Binding, Grade, Interval, Phase, PhaseKind, Timestamp};

use super::gather::{Group, Records, Said};
use super::lane::{Lane, host};
use super::record;

/// A session, as far as it decides which records belong to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) lane: usize,
    pub(super) end: Option<Timestamp>,
    pub(super) ended: bool,
}

/// The records of one session.
#[derive(Debug, Default)]
pub(super) struct Share<'a> {
    pub(super) records: Records<'a>,
    companion_bindings: Vec<Said<'a, Binding>>,
}

impl Share<'_> {
    /// The bindings that hold. A companion's machines count only if the attempt's own source names none by its id,
    /// so that no machine is held twice; its volumes and buckets always count.
    pub(super) fn bindings(&self) -> Vec<Binding> {
        let mut own = record::bindings(&self.records.bindings);
        let companion = record::bindings(&self.companion_bindings);
        let computes = |b: &Binding| b.kind.is_machine();
        let own_has_ids = own.iter().any(|b| computes(b) && b.resource_id.is_some());
        let companion_has_ids = companion.iter().any(|b| computes(b) && b.resource_id.is_some());
        let own_computes = own.iter().any(computes);
        let companion_machines = !own_has_ids && (companion_has_ids || !own_computes);
        if companion_machines {
            own.retain(|b| !computes(b));
        }
        own.extend(companion.into_iter().filter(|b| companion_machines || !computes(b)));
        own.sort();
        own.dedup();
        own
    }
}

/// Which end of time a record hangs on.
#[derive(Clone, Copy)]
enum Edge {
    /// It starts then: an end at that instant is before it.
    Start(Timestamp),
    /// It happened then: an end at that instant includes it.
    Instant(Timestamp),
    /// Nobody says when.
    Untimed,
}

fn instant(time: Option<Timestamp>) -> Edge {
    time.map_or(Edge::Untimed, Edge::Instant)
}

/// Divides the records of a key over its sessions, in the order of `places`.
pub(super) fn shares<'a>(group: &Group<'a>, lanes: &[Lane<'a>], places: &[Place]) -> Vec<Share<'a>> {
    let mut shares: Vec<Share<'a>> = places.iter().map(|_| Share::default()).collect();
    for (records, companion) in [(&group.own, false), (&group.companions, true)] {
        for one in &records.bindings {
            let lane = host(one.record).and_then(|host| lanes.iter().position(|lane| lane.holds(host)));
            let index = place(places, lane.unwrap_or(0), Edge::Start(one.record.start));
            let Some(share) = shares.get_mut(index) else { continue };
            let list = if companion { &mut share.companion_bindings } else { &mut share.records.bindings };
            list.push(*one);
        }
        let mut give = |edge: Edge, push: &mut dyn FnMut(&mut Records<'a>)| {
            if let Some(share) = shares.get_mut(place(places, 0, edge)) {
                push(&mut share.records);
            }
        };
        for one in &records.phases {
            give(Edge::Start(one.record.interval.start), &mut |share| share.phases.push(*one));
        }
        for one in &records.checkpoints {
            let time = one.record.started_at.or(one.record.completed_at).or(one.modified_at);
            give(instant(time), &mut |share| share.checkpoints.push(*one));
        }
        for one in &records.interruptions {
            give(Edge::Instant(one.record.at), &mut |share| share.interruptions.push(*one));
        }
        for one in &records.quality {
            give(Edge::Instant(one.record.at), &mut |share| share.quality.push(*one));
        }
        for one in &records.artifacts {
            give(instant(one.modified_at), &mut |share| share.artifacts.push(*one));
        }
    }
    shares
}

/// The first session of the lane that had not ended then, else its last.
fn place(places: &[Place], lane: usize, edge: Edge) -> usize {
    let open_then = |place: &Place| match (place.end, edge) {
        (Some(end), Edge::Start(time)) => time < end,
        (Some(end), Edge::Instant(time)) => time <= end,
        (Some(_), Edge::Untimed) => false,
        (None, _) => !place.ended,
    };
    let of_lane = || places.iter().enumerate().filter(|(_, place)| place.lane == lane);
    let found = of_lane().find(|(_, place)| open_then(place)).or_else(|| of_lane().next_back());
    found.map_or(0, |(index, _)| index)
}

/// The time that an attempt was suspended, where its source counts less than from its start to its end: machines were
/// held and nothing ran. The source tells how long and not when, so that it stands, modelled, at the end.
pub(super) fn suspended(attempt: &Attempt, elapsed_seconds: Option<u64>) -> Option<Phase> {
    const MICROS_PER_SECOND: i64 = 1_000_000;
    let (start, end) = (attempt.started_at?, attempt.ended_at?);
    let counted = i64::try_from(elapsed_seconds?).ok()?.checked_mul(MICROS_PER_SECOND)?;
    let missing = end.0.checked_sub(start.0)?.checked_sub(counted)?;
    // Times that are told to the second differ by less than one of them.
    let interval = Interval { start: Timestamp(end.0.checked_sub(missing)?), end };
    (missing >= MICROS_PER_SECOND).then_some(Phase {
        interval,
        kind: PhaseKind::Idle,
        grade: Grade::Modelled,
    })
}

/// Fills the accelerators held: the source's own count and seconds first, else what the bindings say.
pub(super) fn count_accelerators(attempt: &mut Attempt, elapsed_seconds: Option<u64>) {
    if let Some(count) = attempt.gpu_count {
        attempt.gpu_milliseconds = match (elapsed_seconds, attempt.started_at, attempt.ended_at) {
            (Some(seconds), ..) => count.checked_mul(seconds),
            (None, Some(start), Some(end)) => held(count, start, end),
            _ => None,
        };
        return;
    }
    let holding: Vec<&Binding> = attempt.bindings.iter().filter(|binding| binding.gpus > 0).collect();
    if holding.is_empty() {
        return;
    }
    attempt.gpu_count = most_at_once(&holding);
    attempt.gpu_milliseconds = holding.iter().try_fold(0_u64, |sum, binding| {
        binding
            .end
            .and_then(|end| held(binding.gpus, binding.start, end))
            .and_then(|one| sum.checked_add(one))
    });
}

/// Thousandths of an accelerator times seconds, rounded down.
fn held(count: u64, start: Timestamp, end: Timestamp) -> Option<u64> {
    let micros = end.0.checked_sub(start.0).and_then(|micros| u128::try_from(micros).ok())?;
    u64::try_from(u128::from(count).checked_mul(micros)? / 1_000_000).ok()
}

/// The most accelerators held at one time; an end at an instant comes before a start at it.
fn most_at_once(holding: &[&Binding]) -> Option<u64> {
    let mut changes: Vec<(Timestamp, i128)> = Vec::with_capacity(holding.len() * 2);
    for binding in holding {
        changes.push((binding.start, i128::from(binding.gpus)));
        if let Some(end) = binding.end {
            changes.push((end, -i128::from(binding.gpus)));
        }
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0_i128, 0_i128);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    u64::try_from(most).ok()
}
