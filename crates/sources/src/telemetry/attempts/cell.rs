//! The cells of one row, by column, read as what they hold.

use std::collections::BTreeMap;
use std::str::FromStr;

use ledger::Timestamp;

use super::refusal::{Fault, Refusal};
use crate::time::TimeFault;
use crate::{SourceError, Zone, instant};

/// The non-empty cells of a row.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: BTreeMap<&'static str, String>,
}

impl Row {
    /// Keeps a cell, unless it is empty.
    pub(super) fn put(&mut self, column: &'static str, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.cells.insert(column, text.to_owned());
        }
    }

    pub(super) fn has(&self, column: &str) -> bool {
        self.cells.contains_key(column)
    }

    pub(super) fn get(&self, column: &str) -> Option<&str> {
        self.cells.get(column).map(String::as_str)
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        self.cells.get(column).cloned()
    }

    pub(super) fn required(&self, column: &str) -> Result<&str, Refusal> {
        self.get(column).ok_or_else(|| Refusal::new("row::missing_value", column, "", "a value"))
    }

    /// The parts of a list.
    pub(super) fn list(&self, column: &str) -> Vec<&str> {
        let text = self.get(column).unwrap_or_default();
        text.split(';').map(str::trim).filter(|part| !part.is_empty()).collect()
    }

    /// A whole number or another value that is its own text.
    pub(super) fn parsed<T: FromStr>(&self, column: &str, expected: &str) -> Result<Option<T>, Refusal> {
        let Some(text) = self.get(column) else { return Ok(None) };
        // A spreadsheet may have made `8.0` of `8`.
        let whole = text.strip_suffix(".0").unwrap_or(text);
        let value = text.parse().or_else(|_| whole.parse());
        value.map(Some).map_err(|_| Refusal::new("row::not_a_number", column, text, expected))
    }

    pub(super) fn time(&self, column: &str, zone: &Zone) -> Result<Option<Timestamp>, Fault> {
        self.get(column).map(|text| time(text, column, zone)).transpose()
    }
}

/// One instant.
pub(super) fn time(text: &str, column: &str, zone: &Zone) -> Result<Timestamp, Fault> {
    let stamp = match instant(text, zone) {
        Ok(stamp) => stamp,
        Err(TimeFault::NoZone) => {
            let error =
                SourceError::new("attempts::no_time_zone", format!("times in `{column}` have no zone"))
                    .expected("an offset such as `Z` or `+02:00`, epoch seconds, or a declared zone", text)
                    .help("pass `--time-zone ZONE` (such as Europe/Paris), or write times with an offset");
            return Err(Fault::Stop(Box::new(error)));
        }
        Err(TimeFault::Ambiguous) => {
            let expected = "a time that the declared zone has once: write it with an offset";
            return Err(Refusal::new("row::ambiguous_time", column, text, expected).into());
        }
        Err(TimeFault::NotATime) => {
            let expected = "a time such as 2026-07-01T10:00:00Z";
            return Err(Refusal::new("row::not_a_time", column, text, expected).into());
        }
    };
    Ok(stamp)
}

/// A count in thousandths, from its decimal text; `None` if it is no count or has more than three decimals.
pub(in crate::telemetry) fn thousandths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 3 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<3}").parse().ok()?;
    whole.checked_mul(1_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact_thousandths() {
        for (text, expect) in [
            ("8", Some(8_000)),
            ("8.0", Some(8_000)),
            ("0.5", Some(500)),
            (" 0.125 ", Some(125)),
            ("0.3333", None),
            ("-1", None),
            ("1e3", None),
            ("", None),
            (".5", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(thousandths(text), expect, "for {text}");
        }
    }
}
