//! Times, durations and accelerator hours as people read them.

use ledger::Timestamp;

/// `2026-11-01 09:30`, in UTC, or the word for none.
pub(crate) fn time(stamp: Option<Timestamp>, none: &str) -> String {
    stamp.map_or_else(
        || none.to_owned(),
        |stamp| stamp.to_string().replace('T', " ").chars().take(16).collect(),
    )
}

/// `2d 03h`, `9h 30m`, `12m 05s` or `42s`, or the word for none.
pub(crate) fn duration(micros: Option<i64>, none: &str) -> String {
    let Some(micros) = micros else { return none.to_owned() };
    let seconds = micros.unsigned_abs() / 1_000_000;
    let sign = if micros < 0 { "-" } else { "" };
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let text = if days > 0 {
        format!("{days}d {hours:02}h")
    } else if hours > 0 {
        format!("{hours}h {minutes:02}m")
    } else if minutes > 0 {
        format!("{minutes}m {:02}s", seconds % 60)
    } else {
        format!("{seconds}s")
    };
    format!("{sign}{text}")
}

/// Hours of accelerators to one digit, from thousandths of an accelerator times seconds.
pub(crate) fn gpu_hours(gpu_milliseconds: Option<u64>) -> String {
    const PER_TENTH: u64 = 1000 * 3600 / 10;
    let Some(time) = gpu_milliseconds else { return "not reported".to_owned() };
    let tenths = time / PER_TENTH + u64::from(time % PER_TENTH >= PER_TENTH / 2);
    format!("{}.{}", tenths / 10, tenths % 10)
}
