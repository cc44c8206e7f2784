//! What is wrong with one record, or with the file as a whole.

use crate::SourceError;

/// Longest excerpt of a value in a rejection, in characters.
const EXCERPT: usize = 80;

/// Why a row cannot be taken.
#[derive(Debug)]
pub(super) enum Fault {
    /// The row is rejected and counted.
    Row(Refusal),
    /// The import ends.
    Stop(Box<SourceError>),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Row(refusal)
    }
}

/// A rejection before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::telemetry) struct Refusal {
    /// Stable code.
    pub(in crate::telemetry) code: &'static str,
    /// Column or path.
    pub(in crate::telemetry) column: Option<String>,
    /// Excerpt of what was found.
    pub(in crate::telemetry) found: String,
    /// What was expected.
    pub(in crate::telemetry) expected: String,
}

impl Refusal {
    /// A refusal of a value.
    pub(in crate::telemetry) fn new(
        code: &'static str,
        column: &str,
        found: &str,
        expected: impl Into<String>,
    ) -> Self {
        let found = found.chars().take(EXCERPT).collect();
        Self { code, column: Some(column.to_owned()), found, expected: expected.into() }
    }

    /// A refusal of the whole record.
    pub(in crate::telemetry) fn of_record(
        code: &'static str,
        found: &str,
        expected: impl Into<String>,
    ) -> Self {
        Self { column: None, ..Self::new(code, "", found, expected) }
    }
}

/// The input broke off.
pub(in crate::telemetry) fn cannot_read(
    code: &'static str,
    file: &str,
    error: &std::io::Error,
) -> SourceError {
    SourceError::new(code, format!("cannot read the file: {error}"))
        .at(file)
        .help("check the path and its permissions")
}
