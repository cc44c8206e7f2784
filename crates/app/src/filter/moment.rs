//! A point in time as people type it: an RFC 3339 instant, or a UTC day.

use std::cmp::Ordering;

use ledger::{Day, Timestamp};
use sources::{Zone, instant};

/// A day or an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// `YYYY-MM-DD`: the whole day in UTC.
    Day(Day),
    /// An instant with its zone.
    Instant(Timestamp),
}

impl Moment {
    /// Reads `2026-11-01` or `2026-11-01T09:30:00Z`; a time without zone is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let is_day = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_day {
            return instant(text, &Zone::Utc).ok().map(|stamp| Self::Day(stamp.day()));
        }
        if !text.contains('-') {
            return None;
        }
        instant(text, &Zone::Undeclared).ok().map(Self::Instant)
    }

    /// Its first instant.
    pub(crate) fn start(self) -> Timestamp {
        match self {
            Self::Day(day) => day.start(),
            Self::Instant(stamp) => stamp,
        }
    }

    /// Where `stamp` lies: before, in or after the moment.
    pub(super) fn place(self, stamp: Timestamp) -> Ordering {
        match self {
            Self::Day(day) => stamp.day().cmp(&day),
            Self::Instant(own) => stamp.cmp(&own),
        }
    }
}
