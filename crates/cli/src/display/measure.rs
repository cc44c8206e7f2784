//! Times, durations and accelerator hours as people read them.

use ledger::{Span, Timestamp};

/// `2026-11-01 09:30`, in UTC, or the word for none.
pub(crate) fn time(stamp: Option<Timestamp>, none: &str) -> String {
    stamp.map_or_else(
        || none.to_owned(),
        |stamp| stamp.to_string().replace('T', " ").chars().take(16).collect(),
    )
}

/// `2d 03h`, `9h 30m`, `12m 05s` or `42s`, or the word for none.
pub(crate) fn duration(micros: Option<i64>, none: &str) -> String {
    micros.map_or_else(|| none.to_owned(), |micros| Span(micros).to_string())
}

/// Hours of accelerators to one digit, from thousandths of an accelerator times seconds.
pub(crate) fn gpu_hours(gpu_milliseconds: Option<u64>) -> String {
    const PER_TENTH: u64 = 1000 * 3600 / 10;
    let Some(time) = gpu_milliseconds else { return "not reported".to_owned() };
    let tenths = time / PER_TENTH + u64::from(time % PER_TENTH >= PER_TENTH / 2);
    format!("{}.{}", tenths / 10, tenths % 10)
}
