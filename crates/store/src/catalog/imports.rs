//! Imports in the catalog, with the rows that they rejected.

use ledger::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _};

use super::values::{count, list, signed};
use super::{Connection, Database};
use crate::{ImportRecord, REJECTIONS_MAX, Rejection, StoreError};

/// Rows of one statement: their parameters stay far below what either database allows.
const ROWS_MAX: usize = 1000;

const SELECT: &str = "SELECT sequence, kind, place, arrived_at, rows_read, accepted, rejected, warnings
    FROM imports ORDER BY sequence";

const INSERT: &str =
    "INSERT INTO imports (sequence, kind, place, arrived_at, rows_read, accepted, rejected, warnings)
    SELECT COALESCE(MAX(sequence), 0) + 1, $1, $2, $3, $4, $5, $6, $7 FROM imports
    RETURNING sequence";

const SELECT_REJECTIONS: &str = "SELECT code, file, row_number, column_name, found, expected
    FROM rejections WHERE import = $1 ORDER BY position";

/// Every import in order, without its rejections.
pub(crate) async fn imports(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<ImportRecord>, StoreError> {
    sqlx::query(SELECT).fetch_all(executor).await?.iter().map(record).collect()
}

/// The rejections kept of an import, in order.
pub(crate) async fn rejections(
    executor: impl sqlx::Executor<'_, Database = Database>,
    import: i64,
) -> Result<Vec<Rejection>, StoreError> {
    sqlx::query(SELECT_REJECTIONS).bind(import).fetch_all(executor).await?.iter().map(rejection).collect()
}

/// Adds an import with the first of its rejections.
pub(crate) async fn insert_import(
    connection: &mut Connection,
    import: &ImportRecord,
) -> Result<(), StoreError> {
    let inserted = sqlx::query(INSERT)
        .bind(&import.kind)
        .bind(&import.place)
        .bind(import.arrived_at.0)
        .bind(signed(import.rows)?)
        .bind(signed(import.accepted)?)
        .bind(signed(import.rejected)?)
        .bind(serde_json::to_string(&import.warnings)?)
        .fetch_one(&mut *connection)
        .await?;
    let sequence: i64 = inserted.try_get("sequence")?;
    let kept = import.rejections.iter().take(REJECTIONS_MAX);
    let kept: Vec<(i64, i64, &Rejection)> = (1..)
        .zip(kept)
        .map(|(position, rejection)| Ok((position, signed(rejection.row)?, rejection)))
        .collect::<Result<_, StoreError>>()?;
    for some in kept.chunks(ROWS_MAX) {
        let mut insert = QueryBuilder::<Database>::new(
            "INSERT INTO rejections
                (import, position, code, file, row_number, column_name, found, expected) ",
        );
        insert.push_values(some, |mut row, (position, number, rejection)| {
            row.push_bind(sequence)
                .push_bind(*position)
                .push_bind(&rejection.code)
                .push_bind(&rejection.file)
                .push_bind(*number)
                .push_bind(&rejection.column)
                .push_bind(&rejection.found)
                .push_bind(&rejection.expected);
        });
        insert.build().execute(&mut *connection).await?;
    }
    Ok(())
}

fn record(row: &SqliteRow) -> Result<ImportRecord, StoreError> {
    Ok(ImportRecord {
        sequence: row.try_get("sequence")?,
        kind: row.try_get("kind")?,
        place: row.try_get("place")?,
        arrived_at: Timestamp(row.try_get("arrived_at")?),
        rows: count(row, "rows_read")?,
        accepted: count(row, "accepted")?,
        rejected: count(row, "rejected")?,
        rejections: Vec::new(),
        warnings: list(row, "warnings")?,
    })
}

fn rejection(row: &SqliteRow) -> Result<Rejection, StoreError> {
    Ok(Rejection {
        code: row.try_get("code")?,
        file: row.try_get("file")?,
        row: count(row, "row_number")?,
        column: row.try_get("column_name")?,
        found: row.try_get("found")?,
        expected: row.try_get("expected")?,
    })
}
