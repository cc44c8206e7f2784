//! The `--where` language: which experiments an answer is about, in the same text for every face.
//!
//! ```text
//! team = "vision" and capacity = spot
//! status in (failed, running) or not (attempts <= 1)
//! name like "vit%" and started >= 2026-11-01
//! ```
//!
//! A condition is a field, an operator and a value. Operators are `=`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)`, `like`
//! (`%` any text, `_` any character) and `contains`; the last two ignore case and all may follow `not`. Conditions are
//! joined by `and`, `or`, `not` and parentheses; `and` binds tighter than `or`. A value is a string in double or single
//! quotes (a quote inside is written twice), or a bare word, number or date. A date stands for its whole UTC day.
//!
//! A field may have several values, such as the outcomes of all attempts: a condition holds if one of them fits. A field
//! without a value is never equal to anything, nor less, nor greater. `!=` holds exactly where `=` does not.

mod field;
mod matching;
mod moment;
mod parser;
#[cfg(test)]
mod tests;
mod token;

use crate::AppError;

pub(crate) use field::nearest;
pub use field::{FIELDS, Field, FieldKind};
pub(crate) use moment::Moment;

/// Bytes of the longest filter that is read.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// A filter that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    text: String,
    condition: Condition,
}

/// A condition on the fields of an experiment.
#[derive(Debug, Clone, PartialEq)]
enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Test { field: &'static Field, test: Test },
}

/// What one condition asks of a field.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    Compare(Comparison, Value),
    In(Vec<Value>),
    Like(String),
    Contains(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value, read by the kind of its field.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Word(String),
    Number(i64),
    Moment(Moment),
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// Codes `filter::…` with the span to blame; an unknown field or word names the known ones.
    pub fn parse(text: &str) -> Result<Self, AppError> {
        if text.len() > TEXT_BYTES_MAX {
            let message = format!("the filter is {} bytes long; the limit is {TEXT_BYTES_MAX}", text.len());
            return Err(AppError::new("filter::too_long", message));
        }
        let condition = parser::condition(text)?;
        Ok(Self { text: text.to_owned(), condition })
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether what has these field values is meant; `values` gives the values of a field by its name.
    pub fn matches(&self, values: &dyn Fn(&str) -> Vec<String>) -> bool {
        self.condition.holds(values)
    }
}
