//! Why a whole input cannot be read: the code, the place, what was found and what helps.

use std::fmt;

/// An error that ends an import; the store stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// Stable code, such as `bill::missing_column`.
    pub code: &'static str,
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// File, row and column as far as known: `cur.csv.gz:12 lineItem/UnblendedCost`.
    pub place: Option<String>,
    /// What was expected and what was found, where that helps.
    pub expected: Option<String>,
    /// What was found.
    pub found: Option<String>,
    /// A command or an action that helps.
    pub help: Option<String>,
}

impl SourceError {
    /// An error with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: None, expected: None, found: None, help: None }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Says what was expected and what was found instead.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>, found: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.found = Some(found.into());
        self
    }

    /// Says what helps.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SourceError {}
