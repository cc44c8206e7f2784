//! A measured quality of a model; the only floating point in the ledger, and it never meets money here.

use crate::Timestamp;
use crate::basis::words;

words! {
    /// Which way is better.
    Direction {
        /// Higher is better.
        Maximise => "maximise",
        /// Lower is better.
        Minimise => "minimise",
    }
}

words! {
    /// Which of a series counts.
    Reduction {
        /// The last value.
        Last => "last",
        /// The best value.
        Best => "best",
        /// The value at a step.
        AtStep => "at_step",
    }
}

/// One value of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct QualityResult {
    /// Metric name.
    pub metric: String,
    /// Its value; may be NaN or infinite, as trackers report.
    #[expect(clippy::disallowed_types, reason = "a metric is a double at its source, and is no money")]
    pub value: f64,
    /// Which way is better, where declared.
    pub direction: Option<Direction>,
    /// Data split, such as `validation`.
    pub split: Option<String>,
    /// Training step.
    pub step: Option<u64>,
    /// When it was measured.
    pub at: Timestamp,
    /// Validation protocol and its version.
    pub protocol: Option<String>,
    /// True if the source calls it the final result.
    pub is_final: bool,
}
