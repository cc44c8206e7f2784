//! Reference rates of the euro, a row for each day on which they are published.

use std::fmt::Write as _;

use ledger::Timestamp;

use crate::random::Stream;
use crate::span::{DAY, FIRST, LAST};

/// 1970-01-01 was a Thursday, so this day of a week counted from it is a Saturday.
const SATURDAY: i32 = 2;

/// The rates in the form of the European Central Bank, newest first: dollars and pounds for one euro. They are made up,
/// and are published from Monday to Friday.
pub(crate) fn reference(seed: u64) -> String {
    let mut stream = Stream::new(seed, "rates");
    let (mut dollars, mut pounds) = (10_850_i64, 85_600_i64);
    let mut rows = Vec::new();
    let mut at = FIRST - DAY;
    while at < LAST {
        let day = Timestamp::from_seconds(at).day();
        dollars += stream.span(0, 90) - 45;
        pounds += stream.span(0, 300) - 150;
        if !(SATURDAY..=SATURDAY + 1).contains(&day.0.rem_euclid(7)) {
            let dollars = format!("{}.{:04}", dollars / 10_000, dollars % 10_000);
            rows.push(format!("{day},{dollars},0.{pounds:05},"));
        }
        at += DAY;
    }
    let mut text = "Date,USD,GBP,\n".to_owned();
    for row in rows.iter().rev() {
        let _ = writeln!(text, "{row}");
    }
    text
}
