//! `sql`: the answer of a user's own statement, one object a row.

use engine::QueryResult;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Columns and rows of a statement; exact decimals are strings, numbers and truths are JSON's own.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SqlAnswer<'a> {
    /// Column names in order.
    pub columns: &'a [String],
    /// Rows as objects by column name, in the order of the columns.
    #[serde(serialize_with = "rows")]
    rows: &'a QueryResult,
}

/// One row.
struct Row<'a> {
    result: &'a QueryResult,
    cells: &'a [Option<String>],
}

/// The public shape of `sql`.
pub fn sql(result: &QueryResult) -> SqlAnswer<'_> {
    SqlAnswer { columns: &result.columns, rows: result }
}

impl SqlAnswer<'_> {
    /// One JSON object a row.
    ///
    /// # Errors
    /// Of the serialiser.
    pub fn lines(&self) -> Result<Vec<String>, serde_json::Error> {
        let result = self.rows;
        result.rows.iter().map(|cells| serde_json::to_string(&Row { result, cells })).collect()
    }
}

fn rows<S: Serializer>(result: &QueryResult, serializer: S) -> Result<S::Ok, S::Error> {
    let mut rows = serializer.serialize_seq(Some(result.rows.len()))?;
    for cells in &result.rows {
        rows.serialize_element(&Row { result, cells })?;
    }
    rows.end()
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_map(Some(self.cells.len()))?;
        for ((column, bare), cell) in self.result.columns.iter().zip(&self.result.bare).zip(self.cells) {
            match cell {
                None => row.serialize_entry(column, &())?,
                // What is no JSON number after all, such as a NaN, is unknown and not a number.
                Some(text) if *bare => row.serialize_entry(column, &bare_value(text))?,
                Some(text) => row.serialize_entry(column, text)?,
            }
        }
        row.end()
    }
}

fn bare_value(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).ok()
}
