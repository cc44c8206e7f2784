//! A row that could not be read, with its place and reason; it is counted, shown and never silently dropped.

/// One rejected row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// Stable code, such as `row::not_a_decimal`.
    pub code: &'static str,
    /// File name as given by the user or the manifest.
    pub file: String,
    /// Row, from 1 after the header.
    pub row: u64,
    /// Column as the file names it, where one is to blame.
    pub column: Option<String>,
    /// What was found, cut to 120 characters.
    pub found: String,
    /// What was expected.
    pub expected: String,
}
