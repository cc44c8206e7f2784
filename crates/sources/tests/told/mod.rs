//! The records of one kind in what a reader told.

#![allow(dead_code, reason = "every test uses some of these")]

use ledger::{AttemptView, Interruption, Phase, QualityResult, RunRecord};
use sources::telemetry::TelemetryRead;

macro_rules! of_kind {
    ($(#[$doc:meta])* $name:ident, $kind:ident, $record:ty) => {
        $(#[$doc])*
        pub(crate) fn $name(read: &TelemetryRead) -> Vec<(&str, &$record)> {
            let records = read.observations.iter().filter_map(|seen| match &seen.record {
                RunRecord::$kind(record) => Some((seen.key.as_str(), record)),
                _ => None,
            });
            records.collect()
        }
    };
}

of_kind! {
    /// Views of attempts, with their keys.
    views, Attempt, AttemptView
}
of_kind! {
    /// Phases, with the keys of their attempts.
    phases, Phase, Phase
}
of_kind! {
    /// Interruptions, with the keys of their attempts.
    interruptions, Interruption, Interruption
}
of_kind! {
    /// Results, with the keys of their attempts.
    keyed_qualities, Quality, QualityResult
}

pub(crate) fn qualities(read: &TelemetryRead) -> Vec<&QualityResult> {
    keyed_qualities(read).into_iter().map(|(_, quality)| quality).collect()
}

/// The codes of the warnings.
pub(crate) fn codes(read: &TelemetryRead) -> Vec<&str> {
    read.warnings.iter().map(|warning| warning.code).collect()
}
