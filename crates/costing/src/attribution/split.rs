//! Splits amounts over the holders of their resource: first by time, then by share, exactly.

use money::{apportion_into, apportion_two};

use super::{Claim, Landing, Segment, Timeline, Window};

/// How the charges of one claim and interval split, whatever their amounts: made once and used for every row of both.
///
/// A charge is first cut by time: each held segment that it overlaps, and one cut for all billed time that nobody held,
/// which is the charge's window less what was held, or, where the bill tells that the resource ran for a part of the
/// window only, that part less what was held. Each cut is then shared by the units held; units that nobody held are
/// idle. Both cuts are by largest remainder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Where parts land, each place once.
    landings: Vec<Landing>,
    /// Time of each cut.
    times: Vec<u64>,
    /// Shares of each cut, as a range of the two lists below.
    cuts: Vec<(u32, u32)>,
    /// Landing of each share, as its number in `landings`.
    slots: Vec<u32>,
    /// Units of each share.
    weights: Vec<u64>,
}

/// Buffers that [`Split::apply`] uses again and again, so that an inner loop allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    landed: Vec<i128>,
    times: Vec<i128>,
    parts: Vec<i128>,
    remainders: Vec<u64>,
}

impl Split {
    /// The split of a claim over `[start, end)`.
    pub fn of(claim: &Claim<'_>, interval: (i64, i64)) -> Self {
        let mut split = Self::default();
        split.make(claim, Window::NONE, interval);
        split
    }

    /// Makes this the split of a claim over `[start, end)`, in the memory that it has; the window is of an interval
    /// nearby, and the one of this interval is given back.
    pub fn make(&mut self, claim: &Claim<'_>, near: Window, interval: (i64, i64)) -> Window {
        self.clear();
        let (timeline, only, rest) = match claim {
            Claim::Whole(landing) => {
                self.rest(*landing, 1);
                return near;
            }
            Claim::Shared { timeline, rest } => (*timeline, None, *rest),
            Claim::SharedWithin { timeline, experiment, rest } => (*timeline, Some(*experiment), *rest),
        };
        let window = timeline.window(near, interval);
        self.cut((timeline, timeline.segments_of(window)), (only, rest), interval);
        window
    }

    /// Where parts land, each place once; [`Split::apply`] gives the parts in this order.
    #[inline]
    pub fn landings(&self) -> &[Landing] {
        &self.landings
    }

    /// Splits an amount (any unit): one part for each landing, which sum to the amount exactly.
    #[inline]
    pub fn apply<'a>(&self, amount: i128, scratch: &'a mut Scratch) -> &'a [i128] {
        let Scratch { landed, times, parts, remainders } = scratch;
        landed.clear();
        if self.landings.len() == 1 {
            landed.push(amount);
            return landed;
        }
        landed.resize(self.landings.len(), 0);
        times.clear();
        if self.cuts.len() == 1 {
            times.push(amount);
        } else {
            apportioned(amount, &self.times, (times, remainders));
        }
        for ((first, end), cut) in self.cuts.iter().zip(times.iter()) {
            let shares = *first as usize..*end as usize;
            let slots = &self.slots[shares.clone()];
            let weights = &self.weights[shares];
            match (slots, weights) {
                ([slot], _) => {
                    landed[*slot as usize] += cut;
                    continue;
                }
                ([a, b], [first, second]) => {
                    if let Some(parts) = apportion_two(*cut, *first, *second) {
                        landed[*a as usize] += parts.0;
                        landed[*b as usize] += parts.1;
                        continue;
                    }
                }
                _ => {}
            }
            apportioned(*cut, weights, (parts, remainders));
            for (slot, part) in slots.iter().zip(parts.iter()) {
                landed[*slot as usize] += part;
            }
        }
        landed
    }

    /// [`Split::apply`] for the commonest split: one cut between two places. `None` for any other.
    #[inline]
    pub fn in_two(&self, amount: i128) -> Option<(i128, i128)> {
        match (self.slots.as_slice(), self.weights.as_slice(), self.cuts.as_slice()) {
            ([0, 1], [first, second], [_]) => apportion_two(amount, *first, *second),
            _ => None,
        }
    }

    fn clear(&mut self) {
        self.landings.clear();
        self.times.clear();
        self.cuts.clear();
        self.slots.clear();
        self.weights.clear();
    }

    fn cut(
        &mut self,
        (timeline, segments): (&Timeline, &[Segment]),
        (only, rest): (Option<u32>, Landing),
        (start, end): (i64, i64),
    ) {
        if let [segment] = segments
            && segment.start <= start
            && end <= segment.end
        {
            return self.shares((timeline, segment), (only, false), rest, 1);
        }
        let overlap =
            |segment: &Segment| u64::try_from(end.min(segment.end) - start.max(segment.start)).unwrap_or(0);
        let held: u64 = segments.iter().map(overlap).sum();
        let unheld = timeline.unheld((start, end), held);
        // Only the experiment is on the tag: that several cuts of the charge go to this attempt is our join.
        let several = segments.len() > 1 || unheld > 0;
        for segment in segments {
            self.shares((timeline, segment), (only, several), rest, overlap(segment));
        }
        if unheld > 0 || self.cuts.is_empty() {
            self.rest(rest, unheld.max(1));
        }
        reduce(&mut self.times);
    }

    /// A cut of a segment, shared by the units held.
    fn shares(
        &mut self,
        (timeline, segment): (&Timeline, &Segment),
        (only, cut): (Option<u32>, bool),
        rest: Landing,
        time: u64,
    ) {
        if time == 0 {
            return;
        }
        let first = self.weights.len();
        let chosen = timeline.shares(segment).iter();
        let chosen = chosen
            .filter(|share| share.weight > 0 && only.is_none_or(|experiment| share.experiment == experiment));
        let several = cut || chosen.clone().count() > 1;
        for share in chosen {
            let landing = if only.is_some() { share.landing.tagged(several) } else { share.landing };
            self.share(landing, share.weight);
        }
        // A claim limited to one experiment owns the whole charge: units that nobody holds are its own too.
        if only.is_none() && segment.idle > 0 {
            self.share(rest, segment.idle);
        }
        if self.weights.len() == first {
            self.share(rest, 1);
        }
        reduce(&mut self.weights[first..]);
        self.times.push(time);
        self.cuts.push((super::number(first), super::number(self.weights.len())));
    }

    /// A cut that lands in one place.
    fn rest(&mut self, landing: Landing, time: u64) {
        let first = super::number(self.weights.len());
        self.share(landing, 1);
        self.times.push(time);
        self.cuts.push((first, first + 1));
    }

    fn share(&mut self, landing: Landing, weight: u64) {
        let known = self.landings.iter().position(|held| *held == landing);
        let slot = known.unwrap_or_else(|| {
            self.landings.push(landing);
            self.landings.len() - 1
        });
        self.slots.push(super::number(slot));
        self.weights.push(weight);
    }
}

/// Splits an amount; weights that nobody can share by give it to the last part.
#[inline]
fn apportioned(amount: i128, weights: &[u64], (parts, remainders): (&mut Vec<i128>, &mut Vec<u64>)) {
    parts.clear();
    parts.resize(weights.len(), 0);
    remainders.clear();
    remainders.resize(weights.len(), 0);
    if apportion_into(amount, weights, parts, remainders).is_err()
        && let Some(last) = parts.last_mut()
    {
        *last = amount;
    }
}

/// Divides weights by what they have in common: the parts stay the same, and small weights are cheaper to divide by.
fn reduce(weights: &mut [u64]) {
    let common = weights.iter().fold(0, |common, weight| greatest_common_divisor(common, *weight));
    if common > 1 {
        for weight in weights {
            *weight /= common;
        }
    }
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Splits `amount` (any unit) of a charge of `[start, end)` as `claim` says: each landing once with its part, and the
/// parts sum to `amount` exactly.
pub fn divide(claim: &Claim<'_>, interval: (i64, i64), amount: i128) -> Vec<(Landing, i128)> {
    let (split, mut scratch) = (Split::of(claim, interval), Scratch::default());
    split.landings().iter().copied().zip(split.apply(amount, &mut scratch).iter().copied()).collect()
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
