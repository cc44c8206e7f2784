//! The company's sixty days, and spans of time in seconds since the epoch.

use ledger::{BillingPeriod, Interval, Timestamp};

/// First second of the demo: 2026-09-01T00:00:00Z.
pub(crate) const FIRST: i64 = 1_788_220_800;
/// First second after the demo: 2026-10-31T00:00:00Z.
pub(crate) const LAST: i64 = FIRST + 60 * DAY;
/// Seconds in a day.
pub(crate) const DAY: i64 = 86_400;
/// Seconds in an hour.
pub(crate) const HOUR: i64 = 3600;
/// The billing periods.
pub(crate) const PERIODS: [BillingPeriod; 2] =
    [BillingPeriod { year: 2026, month: 9 }, BillingPeriod { year: 2026, month: 10 }];

/// The instant `minutes` into a day of the demo, counted from 0.
pub(crate) const fn moment(day: i64, minutes: i64) -> i64 {
    FIRST + day * DAY + minutes * 60
}

/// The half-open span `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// First second inside.
    pub(crate) start: i64,
    /// First second outside.
    pub(crate) end: i64,
}

impl Span {
    /// The span between two instants.
    pub(crate) const fn new(start: i64, end: i64) -> Self {
        Self { start, end }
    }

    /// The whole of a billing period.
    pub(crate) fn of_period(period: BillingPeriod) -> Self {
        let Interval { start, end } = period.interval();
        Self::new(start.seconds(), end.seconds())
    }

    /// Seconds inside; none if it is empty.
    pub(crate) fn seconds(self) -> u64 {
        u64::try_from(self.end - self.start).unwrap_or(0)
    }

    /// True if nothing is inside.
    pub(crate) const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The common part.
    pub(crate) fn within(self, other: Self) -> Self {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// The clock hours that it touches, each cut to the span.
    pub(crate) fn hours(self) -> impl Iterator<Item = Self> {
        self.pieces(HOUR)
    }

    /// The UTC days that it touches, each cut to the span.
    pub(crate) fn days(self) -> impl Iterator<Item = Self> {
        self.pieces(DAY)
    }

    /// The clock hour in which it starts.
    pub(crate) const fn clock_hour(self) -> Self {
        let start = self.start - self.start.rem_euclid(HOUR);
        Self::new(start, start + HOUR)
    }

    fn pieces(self, length: i64) -> impl Iterator<Item = Self> {
        let mut next = self.start;
        std::iter::from_fn(move || {
            if next >= self.end {
                return None;
            }
            let end = (next - next.rem_euclid(length) + length).min(self.end);
            let piece = Self::new(next, end);
            next = end;
            Some(piece)
        })
    }
}

/// RFC 3339 text of an instant.
pub(crate) fn rfc3339(second: i64) -> String {
    Timestamp::from_seconds(second).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_sixty_days() {
        assert_eq!(rfc3339(FIRST), "2026-09-01T00:00:00Z");
        assert_eq!(rfc3339(LAST), "2026-10-31T00:00:00Z");
    }

    #[test]
    fn hours_are_cut_at_the_clock() {
        let span = Span::new(FIRST + 1800, FIRST + 2 * HOUR + 60);
        let lengths: Vec<u64> = span.hours().map(Span::seconds).collect();
        assert_eq!(lengths, [1800, 3600, 60]);
    }
}
