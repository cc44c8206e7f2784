//! The catalog database: which deliveries, observations, settlements and imports there are, and what is current.
//!
//! SQLite in a folder; the SQL is plain enough for PostgreSQL, which a shared store may use later.

mod deliveries;
mod estimates;
mod imports;
mod observations;
mod places;
mod prices;
mod rates;
mod settlements;
mod tables;
mod values;

use std::path::Path;
use std::time::Duration;

use sqlx::Row as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

pub(crate) use deliveries::{Arrival, arrive, deliveries, is_known, next_sequence};
pub(crate) use estimates::{drop_estimate, estimates, keep_estimate};
pub(crate) use imports::{imports, insert_import, rejections};
pub(crate) use observations::{insert_observations, known_observations, observations};
pub(crate) use places::{keep_place, place};
pub(crate) use prices::{price_lists, prices, take_price_list};
pub(crate) use rates::{rate_lists, rates, take_rate_list};
pub(crate) use settlements::{drop_stale_settlements, settle, settlements};

use crate::StoreError;
use crate::folder::CATALOG;

/// The newest format of the catalog that this program knows.
pub(crate) const FORMAT: i64 = 5;

const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECTIONS_MAX: u32 = 4;

pub(crate) type Database = sqlx::Sqlite;
pub(crate) type Connection = sqlx::SqliteConnection;

/// Opens the catalog of a store that exists.
pub(crate) async fn open(root: &Path) -> Result<SqlitePool, StoreError> {
    if !root.join(CATALOG).is_file() {
        return Err(StoreError::NotFound { path: root.to_owned() });
    }
    let pool = connect(options(root)).await?;
    match format(&pool).await? {
        Some(found) if found > FORMAT => {
            Err(StoreError::NewerFormat { path: root.to_owned(), found, known: FORMAT })
        }
        Some(found) => {
            migrate(&pool, found).await?;
            Ok(pool)
        }
        // The first process died before its tables were there.
        None => Err(StoreError::NotFound { path: root.to_owned() }),
    }
}

/// Makes the tables where there are none.
pub(crate) async fn create(root: &Path) -> Result<(), StoreError> {
    let pool = connect(options(root).create_if_missing(true)).await?;
    if format(&pool).await?.is_none() {
        migrate(&pool, 0).await?;
    }
    pool.close().await;
    Ok(())
}

/// Brings the tables from a format that was found to the newest one, in one transaction.
async fn migrate(pool: &SqlitePool, found: i64) -> Result<(), StoreError> {
    if found >= FORMAT {
        return Ok(());
    }
    // Whoever comes second waits here for the first, and then finds nothing to do.
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let found = format_of(&mut transaction).await?.unwrap_or(0);
    let known = usize::try_from(found).unwrap_or(0);
    for statement in tables::FORMATS.iter().skip(known).flat_map(|statements| statements.iter()) {
        sqlx::query(*statement).execute(&mut *transaction).await?;
    }
    let upsert = "INSERT INTO format (id, version) VALUES (1, $1)
        ON CONFLICT (id) DO UPDATE SET version = excluded.version";
    sqlx::query(upsert).bind(FORMAT).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(())
}

fn options(root: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(root.join(CATALOG))
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
}

async fn connect(options: SqliteConnectOptions) -> Result<SqlitePool, StoreError> {
    Ok(SqlitePoolOptions::new().max_connections(CONNECTIONS_MAX).connect_with(options).await?)
}

/// The format that the catalog says it has; `None` before its tables are made.
async fn format(pool: &SqlitePool) -> Result<Option<i64>, StoreError> {
    format_of(&mut *pool.acquire().await?).await
}

async fn format_of(connection: &mut Connection) -> Result<Option<i64>, StoreError> {
    let exists = "SELECT COUNT(*) AS tables FROM sqlite_master WHERE type = 'table' AND name = 'format'";
    let tables: i64 = sqlx::query(exists).fetch_one(&mut *connection).await?.try_get("tables")?;
    if tables == 0 {
        return Ok(None);
    }
    let row = sqlx::query("SELECT version FROM format WHERE id = 1").fetch_optional(connection).await?;
    Ok(row.map(|row| row.try_get("version")).transpose()?)
}
