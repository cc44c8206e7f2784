//! Values of the ledger as the catalog's columns hold them, and back.

use std::path::PathBuf;
use std::str::FromStr;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::{StoreError, folder};

/// A count as the signed number that SQL has.
pub(super) fn signed(count: u64) -> Result<i64, StoreError> {
    i64::try_from(count).map_err(|_| StoreError::OutOfRange { what: "count" })
}

/// The count in a column.
pub(super) fn count(row: &SqliteRow, column: &str) -> Result<u64, StoreError> {
    let signed: i64 = row.try_get(column)?;
    u64::try_from(signed).map_err(|_| StoreError::damaged(format!("`{column}` is below zero")))
}

/// The value that the text of a column spells.
pub(super) fn parsed<T: FromStr>(row: &SqliteRow, column: &str) -> Result<T, StoreError> {
    let text: String = row.try_get(column)?;
    text.parse().map_err(|_| StoreError::damaged(format!("`{column}` holds `{text}`")))
}

/// The list in a column.
pub(super) fn list<T: serde::de::DeserializeOwned>(
    row: &SqliteRow,
    column: &str,
) -> Result<Vec<T>, StoreError> {
    let text: String = row.try_get(column)?;
    Ok(serde_json::from_str(&text)?)
}

/// Paths as the JSON list of a column.
pub(super) fn paths_text(paths: &[PathBuf]) -> Result<String, StoreError> {
    let texts: Vec<String> = paths.iter().map(|path| folder::as_text(path)).collect();
    Ok(serde_json::to_string(&texts)?)
}

/// The paths in a column.
pub(super) fn paths(row: &SqliteRow, column: &str) -> Result<Vec<PathBuf>, StoreError> {
    Ok(list::<String>(row, column)?.into_iter().map(PathBuf::from).collect())
}
