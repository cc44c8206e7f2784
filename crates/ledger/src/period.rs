//! Instants, half-open intervals, days and billing periods, all in UTC.

use std::fmt;
use std::str::FromStr;

/// An instant: microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
const MICROS_PER_DAY: i64 = SECONDS_PER_DAY * MICROS_PER_SECOND;

/// The text is not a period, or an interval ends before it starts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// Not `YYYY-MM`.
    #[error("`{text}` is not a billing period of the form YYYY-MM")]
    NotAPeriod {
        /// What was found.
        text: String,
    },
    /// The end lies before the start.
    #[error("the interval ends at {end} before it starts at {start}")]
    EndsBeforeStart {
        /// Start found.
        start: Timestamp,
        /// End found.
        end: Timestamp,
    },
}

impl Timestamp {
    /// The instant `seconds` after the epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds * MICROS_PER_SECOND)
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(MICROS_PER_SECOND)
    }

    /// The UTC day that holds this instant.
    pub fn day(self) -> Day {
        Day(i32::try_from(self.0.div_euclid(MICROS_PER_DAY)).unwrap_or(i32::MAX))
    }
}

/// RFC 3339 in UTC, with fractional seconds only where there are any.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second_of_day = self.seconds().rem_euclid(SECONDS_PER_DAY);
        let micros = self.0.rem_euclid(MICROS_PER_SECOND);
        let (h, m, s) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
        write!(f, "{}T{h:02}:{m:02}:{s:02}", self.day())?;
        if micros != 0 {
            write!(f, ".{micros:06}")?;
        }
        f.write_str("Z")
    }
}

/// A UTC day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

impl Day {
    /// The day's first instant.
    pub fn start(self) -> Timestamp {
        Timestamp(i64::from(self.0) * MICROS_PER_DAY)
    }

    /// Year, month 1–12 and day 1–31 in the Gregorian calendar.
    pub fn civil(self) -> (i32, u32, u32) {
        // Days to civil date by era arithmetic (public-domain algorithm, H. Hinnant, "chrono-Compatible Low-Level
        // Date Algorithms").
        let z = i64::from(self.0) + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + i64::from(month <= 2);
        (
            i32::try_from(year).unwrap_or(i32::MAX),
            u32::try_from(month).unwrap_or(0),
            u32::try_from(day).unwrap_or(0),
        )
    }

    /// The day of a Gregorian date; the month and day must be in range.
    pub fn from_civil(year: i32, month: u32, day: u32) -> Self {
        let y = i64::from(year) - i64::from(month <= 2);
        let era = y.div_euclid(400);
        let yoe = y.rem_euclid(400);
        let mp = (i64::from(month) + 9) % 12;
        let doy = (153 * mp + 2) / 5 + i64::from(day) - 1;
        let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
        Self(i32::try_from(era * 146_097 + doe - 719_468).unwrap_or(i32::MAX))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A half-open interval `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// First instant inside.
    pub start: Timestamp,
    /// First instant outside.
    pub end: Timestamp,
}

impl Interval {
    /// The interval from `start` to `end`.
    ///
    /// # Errors
    /// `EndsBeforeStart`; an empty interval is allowed.
    pub fn new(start: Timestamp, end: Timestamp) -> Result<Self, PeriodError> {
        if end < start {
            return Err(PeriodError::EndsBeforeStart { start, end });
        }
        Ok(Self { start, end })
    }

    /// Microseconds inside.
    pub const fn micros(self) -> i64 {
        self.end.0 - self.start.0
    }

    /// The common part, or `None` if there is none.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end).then_some(Self { start, end })
    }
}

/// A length of time in microseconds; shown as people say it, `2d 03h`, `9h 30m`, `12m 05s` or `42s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub i64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.unsigned_abs() / MICROS_PER_SECOND.unsigned_abs();
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
        if self.0 < 0 {
            f.write_str("-")?;
        }
        if days > 0 {
            write!(f, "{days}d {hours:02}h")
        } else if hours > 0 {
            write!(f, "{hours}h {minutes:02}m")
        } else if minutes > 0 {
            write!(f, "{minutes}m {:02}s", seconds % 60)
        } else {
            write!(f, "{seconds}s")
        }
    }
}

/// A calendar month for which a provider bills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BillingPeriod {
    /// Gregorian year.
    pub year: i32,
    /// Month 1–12.
    pub month: u32,
}

impl BillingPeriod {
    /// The period that holds `instant`.
    pub fn of(instant: Timestamp) -> Self {
        let (year, month, _) = instant.day().civil();
        Self { year, month }
    }

    /// From the first instant of the month to the first of the next.
    pub fn interval(self) -> Interval {
        let (next_year, next_month) =
            if self.month == 12 { (self.year + 1, 1) } else { (self.year, self.month + 1) };
        Interval {
            start: Day::from_civil(self.year, self.month, 1).start(),
            end: Day::from_civil(next_year, next_month, 1).start(),
        }
    }
}

impl fmt::Display for BillingPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for BillingPeriod {
    type Err = PeriodError;

    fn from_str(text: &str) -> Result<Self, PeriodError> {
        let refuse = || PeriodError::NotAPeriod { text: text.to_owned() };
        let (year, month) = text.split_once('-').ok_or_else(refuse)?;
        if year.len() != 4 || month.len() != 2 {
            return Err(refuse());
        }
        let year = year.parse().map_err(|_| refuse())?;
        let month = month.parse().map_err(|_| refuse())?;
        if !(1..=12).contains(&month) {
            return Err(refuse());
        }
        Ok(Self { year, month })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instants_are_shown_in_utc() {
        assert_eq!(Timestamp::from_seconds(1_795_998_677).to_string(), "2026-11-30T00:31:17Z");
        assert_eq!(Timestamp(-1).to_string(), "1969-12-31T23:59:59.999999Z");
    }

    #[test]
    fn a_length_of_time_is_shown_in_its_two_largest_units() {
        for (seconds, shown) in [
            (0, "0s"),
            (42, "42s"),
            (725, "12m 05s"),
            (34_200, "9h 30m"),
            (183_600, "2d 03h"),
            (-61, "-1m 01s"),
        ] {
            assert_eq!(Span(seconds * MICROS_PER_SECOND).to_string(), shown);
        }
    }

    #[test]
    fn a_period_is_half_open_and_knows_its_length() {
        let period: BillingPeriod = "2028-02".parse().unwrap();
        assert_eq!(period.interval().start.to_string(), "2028-02-01T00:00:00Z");
        assert_eq!(period.interval().end.to_string(), "2028-03-01T00:00:00Z");
        assert_eq!(BillingPeriod::of(period.interval().end).to_string(), "2028-03");
        assert!("2028-13".parse::<BillingPeriod>().is_err());
        assert!("2028-2".parse::<BillingPeriod>().is_err());
    }

    proptest! {
        #[test]
        fn every_day_has_one_date(day in -1_000_000_i32..1_000_000) {
            let (y, m, d) = Day(day).civil();
            prop_assert_eq!(Day::from_civil(y, m, d), Day(day));
        }
    }
}
