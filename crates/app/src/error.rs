//! An error for the user: code, place, what was found and expected, and what helps.

use std::fmt;

/// What a face shows when a verb fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppError {
    /// Stable code, such as `bill::missing_column`.
    pub code: String,
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// File, row and column, as far as known.
    pub place: Option<String>,
    /// What was expected.
    pub expected: Option<String>,
    /// What was found.
    pub found: Option<String>,
    /// A command or an action that helps.
    pub help: Option<String>,
    /// Text and byte span of the part to blame, for what the user typed.
    pub span: Option<(String, std::ops::Range<usize>)>,
}

impl AppError {
    /// An error with a code and a message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let (code, message) = (code.into(), message.into());
        Self { code, message, place: None, expected: None, found: None, help: None, span: None }
    }

    /// Says what helps.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Points into what the user typed.
    #[must_use]
    pub fn span(mut self, text: impl Into<String>, span: std::ops::Range<usize>) -> Self {
        self.span = Some((text.into(), span));
        self
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)
    }
}

impl std::error::Error for AppError {}

impl From<sources::SourceError> for AppError {
    fn from(error: sources::SourceError) -> Self {
        Self {
            code: error.code.to_owned(),
            message: error.message,
            place: error.place,
            expected: error.expected,
            found: error.found,
            help: error.help,
            span: None,
        }
    }
}

impl From<store::StoreError> for AppError {
    fn from(error: store::StoreError) -> Self {
        let help = error.help();
        Self { help, ..Self::new(error.code(), error.to_string()) }
    }
}

impl From<engine::EngineError> for AppError {
    fn from(error: engine::EngineError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<money::AmountError> for AppError {
    fn from(error: money::AmountError) -> Self {
        Self::new("money::out_of_range", error.to_string())
    }
}

impl From<ledger::UnlikeAmounts> for AppError {
    fn from(error: ledger::UnlikeAmounts) -> Self {
        Self::new("money::unlike_amounts", error.to_string())
    }
}
