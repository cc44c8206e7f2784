//! Splits one amount over the holders of its resource: first by time, then by share, exactly.

use money::apportion_into;

use super::{Claim, Landing, Timeline, Window};

/// Buffers that [`divide`] uses again and again, so that an inner loop allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    times: Division,
    shares: Division,
}

#[derive(Debug, Default)]
struct Division {
    weights: Vec<u64>,
    parts: Vec<i128>,
    remainders: Vec<u64>,
}

impl Division {
    /// Splits `total` over `self.weights` into `self.parts`; where no weight is above zero the last part, which is the
    /// rest, takes all.
    fn run(&mut self, total: i128) {
        self.parts.clear();
        self.parts.resize(self.weights.len(), 0);
        self.remainders.clear();
        self.remainders.resize(self.weights.len(), 0);
        if apportion_into(total, &self.weights, &mut self.parts, &mut self.remainders).is_err()
            && let Some(last) = self.parts.last_mut()
        {
            *last = total;
        }
    }
}

/// Splits `amount` (any unit) of a charge of `[start, end)` as `claim` says; `land` is called once or more with each
/// landing and its part, and the parts sum to `amount` exactly.
///
/// A charge is first cut by time: each held segment that it overlaps, and one cut for all billed time that nobody held,
/// which is the charge's window less what was held, or, where the bill tells that the resource ran for a part of the
/// window only, that part less what was held. Each
/// cut is then shared by the units held; units that nobody held are idle. Both cuts are by largest remainder.
pub fn divide(
    claim: &Claim<'_>,
    interval: (i64, i64),
    amount: i128,
    scratch: &mut Scratch,
    land: &mut impl FnMut(Landing, i128),
) {
    let (timeline, only, rest) = match claim {
        Claim::Whole(landing) => return land(*landing, amount),
        Claim::Shared { timeline, rest } => (*timeline, None, *rest),
        Claim::SharedWithin { timeline, experiment, rest } => (*timeline, Some(*experiment), *rest),
    };
    let segments = timeline.overlapping(interval.0, interval.1);
    divide_over((timeline, segments), (only, rest), (interval, amount), scratch, land);
}

/// [`divide`] for a claim to a whole resource whose segments of the charge's interval are known already.
pub fn divide_window(
    (timeline, window): (&Timeline, Window),
    rest: Landing,
    (interval, amount): ((i64, i64), i128),
    scratch: &mut Scratch,
    land: &mut impl FnMut(Landing, i128),
) {
    divide_over((timeline, timeline.segments_of(window)), (None, rest), (interval, amount), scratch, land);
}

fn divide_over(
    (timeline, segments): (&Timeline, &[super::Segment]),
    (only, rest): (Option<u32>, Landing),
    (interval, amount): ((i64, i64), i128),
    scratch: &mut Scratch,
    land: &mut impl FnMut(Landing, i128),
) {
    let (start, end) = interval;
    match segments {
        [] => land(rest, amount),
        [segment] if segment.start <= start && end <= segment.end => {
            share((timeline, segment), (only, false), rest, amount, &mut scratch.shares, land);
        }
        segments => {
            let times = &mut scratch.times;
            times.weights.clear();
            let mut held = 0_u64;
            for segment in segments {
                let overlap = end.min(segment.end) - start.max(segment.start);
                let overlap = u64::try_from(overlap).unwrap_or(0);
                held += overlap;
                times.weights.push(overlap);
            }
            times.weights.push(timeline.unheld(interval, held));
            times.run(amount);
            // Only the experiment is on the tag: that several cuts of the charge go to this attempt is our join.
            let cut = segments.len() > 1 || times.weights.last().is_some_and(|unheld| *unheld > 0);
            for (segment, part) in segments.iter().zip(&times.parts) {
                share((timeline, segment), (only, cut), rest, *part, &mut scratch.shares, land);
            }
            if let Some(gap) = times.parts.last().filter(|gap| **gap != 0) {
                land(rest, *gap);
            }
        }
    }
}

fn share(
    (timeline, segment): (&Timeline, &super::Segment),
    (only, cut): (Option<u32>, bool),
    rest: Landing,
    amount: i128,
    division: &mut Division,
    land: &mut impl FnMut(Landing, i128),
) {
    let shares = timeline.shares(segment);
    if let ([share], 0, None) = (shares, segment.idle, only) {
        return land(share.landing, amount);
    }
    let chosen =
        || shares.iter().filter(|share| only.is_none_or(|experiment| share.experiment == experiment));
    division.weights.clear();
    division.weights.extend(chosen().map(|share| share.weight));
    // A claim limited to one experiment owns the whole charge: units that nobody holds are its own too.
    division.weights.push(if only.is_none() { segment.idle } else { 0 });
    division.run(amount);
    let several = cut || division.weights.len() > 2;
    for (share, part) in chosen().zip(&division.parts) {
        let landing = if only.is_some() { share.landing.tagged(several) } else { share.landing };
        land(landing, *part);
    }
    if let Some(idle) = division.parts.last().filter(|idle| **idle != 0) {
        land(rest, *idle);
    }
}

/// A time in which the place of a landing held a part of a charge's resource, for showing why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// First instant, in microseconds.
    pub start: i64,
    /// First instant after it.
    pub end: i64,
    /// Units held.
    pub weight: u64,
    /// Units that were shared out.
    pub of: u64,
}

/// The time over which a charge is shared out, in microseconds: what was held of it and the billed rest; `None` for a
/// charge that lands whole.
pub fn shared_time(claim: &Claim<'_>, interval: (i64, i64)) -> Option<u64> {
    let timeline = match claim {
        Claim::Whole(_) => return None,
        Claim::Shared { timeline, .. } | Claim::SharedWithin { timeline, .. } => *timeline,
    };
    let overlap =
        |s: &super::Segment| u64::try_from(interval.1.min(s.end) - interval.0.max(s.start)).unwrap_or(0);
    let held: u64 = timeline.overlapping(interval.0, interval.1).iter().map(overlap).sum();
    Some(held + timeline.unheld(interval, held))
}

/// The overlaps behind the part of a charge that lands in `landing`; none if the charge lands whole without a split.
pub fn overlaps(claim: &Claim<'_>, interval: (i64, i64), landing: Landing) -> Vec<Overlap> {
    let (timeline, only) = match claim {
        Claim::Whole(_) => return Vec::new(),
        Claim::Shared { timeline, .. } => (*timeline, None),
        Claim::SharedWithin { timeline, experiment, .. } => (*timeline, Some(*experiment)),
    };
    let mut found = Vec::new();
    for segment in timeline.overlapping(interval.0, interval.1) {
        let shares = timeline.shares(segment);
        let chosen =
            shares.iter().filter(|share| only.is_none_or(|experiment| share.experiment == experiment));
        let held: u64 = chosen.clone().map(|share| share.weight).sum();
        let of = held + if only.is_none() { segment.idle } else { 0 };
        for share in chosen.filter(|share| share.landing.same_place(landing)) {
            let (start, end) = (segment.start.max(interval.0), segment.end.min(interval.1));
            found.push(Overlap { start, end, weight: share.weight, of });
        }
    }
    found
}
