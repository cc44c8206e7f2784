//! Times that trackers write as numbers since 1970.

use ledger::Timestamp;

/// Instants further from 1970 than this are no times of a run, in seconds: about the year 3000.
const MAX_SECONDS: f64 = 32_503_680_000.0;

/// Seconds with a fraction; what is finer than a microsecond is rounded.
pub(in crate::telemetry) fn of_seconds(seconds: f64) -> Option<Timestamp> {
    if !(0.0..MAX_SECONDS).contains(&seconds) {
        return None;
    }
    // By its decimal text: exact, and without a cast.
    let text = format!("{seconds:.6}");
    let (whole, fraction) = text.split_once('.')?;
    let (whole, fraction): (i64, i64) = (whole.parse().ok()?, fraction.parse().ok()?);
    whole.checked_mul(1_000_000)?.checked_add(fraction).map(Timestamp)
}

/// Whole milliseconds.
pub(in crate::telemetry) fn of_millis(millis: i64) -> Option<Timestamp> {
    millis.checked_mul(1_000).map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact_to_the_microsecond() {
        assert_eq!(of_seconds(1_795_997_436.520_508).unwrap().to_string(), "2026-11-30T00:10:36.520508Z");
        assert_eq!(of_seconds(0.000_001), Some(Timestamp(1)));
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e18] {
            assert_eq!(of_seconds(wrong), None, "for {wrong}");
        }
    }
}
