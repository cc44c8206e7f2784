//! Values that are not money: accelerator time, durations and quality.

use serde::Serialize;

const NOT_REPORTED: &str = "not reported";
const REPORTED: &str = "reported";

/// Accelerator time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Gpu {
    /// Accelerators times seconds, as a decimal; `null` where it is not known.
    pub seconds: Option<String>,
    /// `reported` or `not reported`.
    pub state: &'static str,
}

/// A measured quality.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Quality {
    /// Name of the metric.
    pub metric: Option<String>,
    /// Its value; `null` where there is none or it is no finite number.
    pub value: Option<f64>,
    /// `reported`, `not finite` or `not reported`.
    pub state: &'static str,
}

impl Gpu {
    pub(crate) fn of(gpu_milliseconds: Option<u64>) -> Self {
        let seconds = gpu_milliseconds.map(|thousandths| decimal(thousandths.into(), 3));
        let state = if seconds.is_some() { REPORTED } else { NOT_REPORTED };
        Self { seconds, state }
    }
}

impl Quality {
    pub(crate) fn of(quality: Option<&(String, f64)>) -> Self {
        let Some((metric, value)) = quality else {
            return Self { metric: None, value: None, state: NOT_REPORTED };
        };
        let finite = value.is_finite();
        Self {
            metric: Some(metric.clone()),
            value: finite.then_some(*value),
            state: if finite { REPORTED } else { "not finite" },
        }
    }
}

/// Seconds of a count of microseconds.
pub(crate) fn seconds(micros: i64) -> String {
    let text = decimal(micros.unsigned_abs().into(), 6);
    if micros < 0 { format!("-{text}") } else { text }
}

/// `number` × 10^-`places`, without trailing zeros.
fn decimal(number: u128, places: usize) -> String {
    let digits = format!("{number:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
