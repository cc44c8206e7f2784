//! What is wrong with one record, or with the input as a whole.

use ledger::Timestamp;

use crate::time::TimeFault;
use crate::{SourceError, Zone, instant};

/// Longest excerpt of a value in a rejection, in characters.
const EXCERPT: usize = 80;

/// The last second that is taken for a time: 9999-12-31T23:59:59Z.
const LAST_SECOND: i64 = 253_402_300_799;

/// Why a record cannot be taken.
#[derive(Debug)]
pub(super) enum Fault {
    /// The record is rejected and counted.
    Row(Refusal),
    /// The import ends.
    Stop(SourceError),
}

/// A rejection before its place is known.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Stable code.
    pub(super) code: &'static str,
    /// Column or path.
    pub(super) column: Option<String>,
    /// Excerpt of what was found.
    pub(super) found: String,
    /// What was expected.
    pub(super) expected: String,
}

impl Refusal {
    /// A refusal of a value.
    pub(super) fn new(code: &'static str, column: &str, found: &str, expected: impl Into<String>) -> Self {
        let found = found.chars().take(EXCERPT).collect();
        Self { code, column: Some(column.to_owned()), found, expected: expected.into() }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Row(refusal)
    }
}

/// Adds the file and row to an error, unless it knows its place.
pub(super) fn at_row(error: SourceError, file: &str, row: u64) -> SourceError {
    if error.place.is_some() {
        return error;
    }
    error.at(format!("{file}:{row}"))
}

/// A time as `sacct` prints it; `Unknown`, `None` and nothing are no time yet.
pub(super) fn text_time(text: &str, column: &str, zone: &Zone) -> Result<Option<Timestamp>, Fault> {
    let text = text.trim();
    if text.is_empty()
        || text == "0"
        || text.eq_ignore_ascii_case("unknown")
        || text.eq_ignore_ascii_case("none")
    {
        return Ok(None);
    }
    match instant(text, zone) {
        Ok(stamp) => Ok(Some(stamp)),
        Err(TimeFault::NoZone) => Err(Fault::Stop(
            SourceError::new(
                "slurm::no_time_zone",
                "times have no zone: sacct prints the local time of its machine",
            )
            .expected("an epoch, an offset, or a declared zone", text)
            .help("pass `--time-zone ZONE` (such as America/New_York), or export with SLURM_TIME_FORMAT=%s"),
        )),
        Err(TimeFault::Ambiguous) => Err(Refusal::new(
            "slurm::ambiguous_time",
            column,
            text,
            "a time that the declared zone has once: export with SLURM_TIME_FORMAT=%s",
        )
        .into()),
        Err(TimeFault::NotATime) => Err(Refusal::new("slurm::not_a_time", column, text, "a time").into()),
    }
}

/// An epoch of the JSON forms; 0 is no time yet.
pub(super) fn epoch_time(seconds: i64, column: &str) -> Result<Option<Timestamp>, Refusal> {
    match seconds {
        0 => Ok(None),
        1..=LAST_SECOND => Ok(Some(Timestamp::from_seconds(seconds))),
        _ => Err(Refusal::new("slurm::not_a_time", column, &seconds.to_string(), "seconds since 1970, or 0")),
    }
}
