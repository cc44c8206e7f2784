//! The columns that are read, and how a header's names are matched to them.

use crate::SourceError;

/// Every column, in alphabetical order.
pub(super) const COLUMNS: &[&str] = &[
    "aliases",
    "artifact_uri",
    "attempt_id",
    "capacity",
    "cause",
    "checkpoint_at",
    "cluster",
    "config_version",
    "dataset_snapshot",
    "ended",
    "exit_code",
    "experiment",
    "gpu_kind",
    "gpus",
    "instance_type",
    "metric",
    "metric_at",
    "metric_direction",
    "metric_split",
    "metric_step",
    "metric_value",
    "model_version",
    "modified",
    "name",
    "nodes",
    "protocol",
    "queue",
    "resource_capacity",
    "resource_gpus",
    "resource_ids",
    "scheduler",
    "started",
    "status",
    "submitted",
    "team",
    "user",
];

/// Columns that every file has.
pub(super) const REQUIRED: [&str; 2] = ["attempt_id", "experiment"];

/// The column that a name in a file means.
pub(super) fn named(name: &str) -> Option<&'static str> {
    let words: Vec<String> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    let name = words.join("_");
    COLUMNS.binary_search_by(|known| (*known).cmp(name.as_str())).ok().and_then(|at| COLUMNS.get(at)).copied()
}

/// The error for a header without a required column.
pub(super) fn missing(column: &str, found: &[String], file: &str) -> SourceError {
    SourceError::new("attempts::missing_column", format!("the header has no column `{column}`"))
        .at(format!("{file}:header"))
        .expected(REQUIRED.join(", "), found.join(", "))
        .help(format!("add a column `{column}`, or rename the one that holds it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_without_regard_to_case_and_signs() {
        assert_eq!(named("Attempt ID"), Some("attempt_id"));
        assert_eq!(named(" resource-ids "), Some("resource_ids"));
        assert_eq!(named("experment"), None);
        assert!(COLUMNS.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn every_column_is_in_the_manual() {
        let manual = include_str!("../attempts.rs");
        for column in COLUMNS {
            assert!(manual.contains(&format!("`{column}`")), "{column} is not documented");
        }
    }
}
