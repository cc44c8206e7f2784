//! Times as sources write them, read into UTC instants; a time without zone needs a declared one.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use ledger::Timestamp;

/// The zone of times that carry none.
#[derive(Debug, Clone)]
pub enum Zone {
    /// The format says that bare times are UTC.
    Utc,
    /// The user declared this zone.
    Declared(TimeZone),
    /// Nobody said; a bare time is an error.
    Undeclared,
}

impl Zone {
    /// A declared IANA zone, `UTC` included.
    ///
    /// # Errors
    /// The text, if no such zone is known.
    pub fn declared(name: &str) -> Result<Self, String> {
        TimeZone::get(name).map(Self::Declared).map_err(|_| name.to_owned())
    }
}

/// Why a text is no instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeFault {
    /// Not a time in any form that sources use.
    #[error("not a time")]
    NotATime,
    /// It has no zone and none was declared.
    #[error("has no zone and none is declared")]
    NoZone,
    /// The declared zone has this local time twice or not at all.
    #[error("is ambiguous or absent in the declared zone (a clock change)")]
    Ambiguous,
}

/// Reads `2026-07-01T00:00:00Z`, `2026-07-01 00:00:00+00:00`, `2026-07-01 00:00:00 UTC`, `20260701T000000.000Z`,
/// `2026-07-01`, epoch seconds and the bare forms of `zone`.
///
/// # Errors
/// `NotATime`, `NoZone` or `Ambiguous`.
pub fn instant(text: &str, zone: &Zone) -> Result<Timestamp, TimeFault> {
    let text = text.trim();
    if let Some(stamp) = with_offset(text) {
        return Ok(stamp);
    }
    let bare = text.strip_suffix(" UTC").map_or((text, zone), |rest| (rest, &Zone::Utc));
    let local: DateTime = bare.0.parse().map_err(|_| TimeFault::NotATime)?;
    let zone = match bare.1 {
        Zone::Utc => TimeZone::UTC,
        Zone::Declared(zone) => zone.clone(),
        Zone::Undeclared => return Err(TimeFault::NoZone),
    };
    let stamp = zone.to_ambiguous_timestamp(local).unambiguous().map_err(|_| TimeFault::Ambiguous)?;
    Ok(Timestamp(stamp.as_microsecond()))
}

fn with_offset(text: &str) -> Option<Timestamp> {
    if !text.is_empty() && text.len() <= 11 && text.bytes().all(|b| b.is_ascii_digit()) && text.len() != 8 {
        return text.parse().ok().map(Timestamp::from_seconds);
    }
    text.parse::<jiff::Timestamp>().ok().map(|stamp| Timestamp(stamp.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_time_gives_one_instant() {
        for text in [
            "2026-07-01T00:00:00Z",
            "2026-07-01T00:00:00.000Z",
            "2026-07-01 00:00:00+00:00",
            "2026-07-01 00:00:00 UTC",
            "20260701T000000.000Z",
            "2026-06-30T20:00:00-04:00",
            "1782864000",
        ] {
            assert_eq!(
                instant(text, &Zone::Undeclared).unwrap().to_string(),
                "2026-07-01T00:00:00Z",
                "for {text}"
            );
        }
        for text in ["2026-07-01", "2026-07-01 00:00:00", "2026-07-01T00:00:00.000"] {
            assert_eq!(instant(text, &Zone::Utc).unwrap().to_string(), "2026-07-01T00:00:00Z", "for {text}");
            assert_eq!(instant(text, &Zone::Undeclared), Err(TimeFault::NoZone), "for {text}");
        }
    }

    #[test]
    fn a_local_time_needs_its_zone_and_a_repeated_hour_is_refused() {
        let new_york = Zone::declared("America/New_York").unwrap();
        assert_eq!(instant("2026-11-29T19:24:38", &new_york).unwrap().to_string(), "2026-11-30T00:24:38Z");
        assert_eq!(instant("2026-11-01T01:30:00", &new_york), Err(TimeFault::Ambiguous));
        assert_eq!(instant("2026-03-08T02:30:00", &new_york), Err(TimeFault::Ambiguous));
        assert_eq!(Zone::declared("America/Gotham").unwrap_err(), "America/Gotham");
        assert_eq!(instant("yesterday", &new_york), Err(TimeFault::NotATime));
    }
}
