//! Who held one resource when, and in what shares: the build side of the join by resource and time.

use ledger::ShareDriver;

use super::Landing;

/// A claim to a resource during `[start, end)`, in microseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// First instant held.
    pub start: i64,
    /// First instant not held.
    pub end: i64,
    /// Where the share lands.
    pub landing: Landing,
    /// The experiment of the holder, for claims that are limited to one.
    pub experiment: u32,
    /// Units held, in thousandths.
    pub weight: u64,
    /// Units that the resource has; `None` where unknown, and then the holders have it all.
    pub capacity: Option<u64>,
    /// What the units are.
    pub driver: ShareDriver,
}

/// A time in which the holders of a resource do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// First instant.
    pub start: i64,
    /// First instant after it.
    pub end: i64,
    /// Where its shares begin in the timeline's list.
    first: u32,
    /// How many shares it has.
    count: u32,
    /// Units that nobody holds.
    pub idle: u64,
}

/// One holder's part of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    /// Where it lands.
    pub landing: Landing,
    /// The holder's experiment.
    pub experiment: u32,
    /// Units held.
    pub weight: u64,
}

/// The held segments of one resource in order of time; what lies between them is idle.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Timeline {
    segments: Vec<Segment>,
    shares: Vec<Share>,
    running: Vec<RunningTime>,
}

/// Where the segments of an interval are in a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    from: u32,
    count: u32,
}

/// A time that holds no interval.
const NEVER: (i64, i64) = (i64::MAX, i64::MIN);

impl Window {
    /// Where a search without a neighbour begins.
    pub const NONE: Self = Self { from: 0, count: 0 };
}

/// How long a resource ran inside a billing window that it did not fill, as the quantity of the bill's rows tells.
///
/// AWS bills an instance by the second in the running state and shows the part of an hour as a fraction of `Hrs`
/// (aws.amazon.com/ec2/pricing/on-demand), so an hour's row of which half an hour is billed holds half an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunningTime {
    /// Start of the billing window, in microseconds.
    pub start: i64,
    /// End of the billing window.
    pub end: i64,
    /// Microseconds billed, over all rows of the window.
    pub micros: u64,
}

impl Timeline {
    /// The timeline of any number of overlapping holders; their order does not matter.
    pub fn of(holders: &[Holder]) -> Self {
        let mut edges: Vec<i64> = holders.iter().flat_map(|h| [h.start, h.end]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut sorted: Vec<&Holder> = holders.iter().filter(|h| h.start < h.end).collect();
        sorted.sort_unstable();
        let mut timeline = Self::default();
        let mut active: Vec<&Holder> = Vec::new();
        let mut next = 0;
        for pair in edges.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            active.retain(|holder| holder.end > start);
            while next < sorted.len() && sorted[next].start <= start {
                active.push(sorted[next]);
                next += 1;
            }
            if !active.is_empty() {
                timeline.push(start, end, &active);
            }
        }
        timeline.segments.shrink_to_fit();
        timeline.shares.shrink_to_fit();
        timeline
    }

    fn push(&mut self, start: i64, end: i64, active: &[&Holder]) {
        let (mut shares, idle) = shares_of(active);
        shares.sort_unstable_by_key(|share| share.landing);
        let first = self.shares.len();
        if let Some(last) = self.segments.last_mut() {
            let known = &self.shares[last.first as usize..];
            if last.end == start && last.idle == idle && known == shares.as_slice() {
                last.end = end;
                return;
            }
        }
        let (first, count) = (super::number(first), super::number(shares.len()));
        self.shares.append(&mut shares);
        self.segments.push(Segment { start, end, first, count, idle });
    }

    /// The segments that overlap `[start, end)`, or the one that holds `start` if the interval is empty.
    #[inline]
    pub fn overlapping(&self, start: i64, end: i64) -> &[Segment] {
        let from = self.segments.partition_point(|segment| segment.end <= start);
        let until = end.max(start + 1);
        let count = self.segments[from..].iter().take_while(|segment| segment.start < until).count();
        &self.segments[from..from + count]
    }

    /// Where the segments of an interval are, searched from the place of the interval before it: the rows of a bill
    /// mostly come in order of time, so the place is at hand.
    #[inline]
    pub fn window(&self, near: Window, (start, end): (i64, i64)) -> Window {
        let mut from = (near.from as usize).min(self.segments.len());
        if from > 0 && self.segments[from - 1].end > start {
            from = self.segments.partition_point(|segment| segment.end <= start);
        }
        while self.segments.get(from).is_some_and(|segment| segment.end <= start) {
            from += 1;
        }
        let until = end.max(start + 1);
        let count = self.segments[from..].iter().take_while(|segment| segment.start < until).count();
        Window { from: super::number(from), count: super::number(count) }
    }

    /// The time around an interval in which every interval has the same window: the gap or the one segment that it is
    /// in, or no time at all.
    #[inline]
    pub fn steady(&self, window: Window, interval: (i64, i64)) -> (i64, i64) {
        let from = window.from as usize;
        match self.segments_of(window) {
            // An empty interval belongs to the segment that holds its instant, so it does not stretch.
            _ if interval.0 == interval.1 => NEVER,
            [] => {
                let before =
                    from.checked_sub(1).and_then(|at| self.segments.get(at)).map_or(i64::MIN, |s| s.end);
                (before, self.segments.get(from).map_or(i64::MAX, |next| next.start))
            }
            [segment] if segment.start <= interval.0 && interval.1 <= segment.end => {
                (segment.start, segment.end)
            }
            _ => NEVER,
        }
    }

    /// The segments of a window of this timeline.
    #[inline]
    pub fn segments_of(&self, window: Window) -> &[Segment] {
        &self.segments[window.from as usize..(window.from + window.count) as usize]
    }

    /// The shares of a segment of this timeline.
    #[inline]
    pub fn shares(&self, segment: &Segment) -> &[Share] {
        &self.shares[segment.first as usize..(segment.first + segment.count) as usize]
    }

    /// Tells in which windows the resource ran for less than the whole window.
    pub(super) fn set_running(&mut self, mut running: Vec<RunningTime>) {
        running.sort_unstable();
        self.running = running;
    }

    /// The time of a window that nobody held: what was billed of it, less what was held.
    #[inline]
    pub(super) fn unheld(&self, (start, end): (i64, i64), held: u64) -> u64 {
        let found = self.running.binary_search_by_key(&(start, end), |window| (window.start, window.end));
        let whole = u64::try_from(end - start).unwrap_or(0);
        let billed =
            found.ok().and_then(|at| self.running.get(at)).map_or(whole, |window| window.micros.min(whole));
        billed.saturating_sub(held)
    }

    /// Where any share of any segment lands.
    pub(super) fn landings(&self) -> impl Iterator<Item = Landing> + '_ {
        self.shares.iter().map(|share| share.landing)
    }

    /// All segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// This timeline with the segments of `other` in place of its own wherever `other` has any.
    #[must_use]
    pub fn overridden_by(&self, other: &Self) -> Self {
        let mut merged = Self { running: self.running.clone(), ..Self::default() };
        let mut pieces: Vec<(i64, i64, &Self, &Segment)> =
            other.segments.iter().map(|segment| (segment.start, segment.end, other, segment)).collect();
        for segment in &self.segments {
            let mut from = segment.start;
            for cut in other.overlapping(segment.start, segment.end) {
                if from < cut.start {
                    pieces.push((from, cut.start, self, segment));
                }
                from = from.max(cut.end);
            }
            if from < segment.end {
                pieces.push((from, segment.end, self, segment));
            }
        }
        pieces.sort_unstable_by_key(|piece| piece.0);
        for (start, end, timeline, segment) in pieces {
            let (first, shares) = (super::number(merged.shares.len()), timeline.shares(segment));
            merged.shares.extend_from_slice(shares);
            let count = super::number(shares.len());
            merged.segments.push(Segment { start, end, first, count, idle: segment.idle });
        }
        merged
    }
}

/// The shares of the holders present at one time, and the units that nobody holds.
///
/// Accelerators rank over processors and processors over the whole: on a node of which somebody holds accelerators, a
/// job that holds none has no share of it. A holder of the whole counts as holding every unit.
fn shares_of(active: &[&Holder]) -> (Vec<Share>, u64) {
    let driver = [ShareDriver::Gpu, ShareDriver::Cpu, ShareDriver::Whole]
        .into_iter()
        .find(|driver| active.iter().any(|h| h.driver == *driver && h.weight > 0))
        .unwrap_or(ShareDriver::Whole);
    let capacity = active.iter().filter(|h| h.driver == driver).filter_map(|h| h.capacity).max();
    let whole = capacity.unwrap_or_else(|| active.iter().map(|h| h.weight).max().unwrap_or(1).max(1));
    let mut shares: Vec<Share> = Vec::with_capacity(active.len());
    for holder in active {
        let weight = match (holder.driver, driver) {
            (held, leading) if held == leading => holder.weight,
            (ShareDriver::Whole, _) => whole,
            _ => 0,
        };
        if weight == 0 {
            continue;
        }
        match shares.iter_mut().find(|share| share.landing == holder.landing) {
            Some(share) => share.weight += weight,
            None => {
                shares.push(Share { landing: holder.landing, experiment: holder.experiment, weight });
            }
        }
    }
    let held: u64 = shares.iter().map(|share| share.weight).sum();
    let idle =
        if shares.is_empty() { whole } else { capacity.map_or(0, |capacity| capacity.saturating_sub(held)) };
    (shares, idle)
}
