//! What imports remember of the places that they read.

use ledger::Timestamp;
use sqlx::Row as _;

use super::{Connection, Database};
use crate::StoreError;
use crate::place::{PlaceKey, PlaceRead, VERSION};

const SELECT: &str = "SELECT read_at, payload FROM places
    WHERE reader = $1 AND source_name = $2 AND place = $3";

const KEEP: &str = "INSERT INTO places (reader, source_name, place, read_at, payload_version, payload)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (reader, source_name, place) DO UPDATE SET read_at = excluded.read_at,
        payload_version = excluded.payload_version, payload = excluded.payload";

/// What is remembered of a place.
pub(crate) async fn place(
    executor: impl sqlx::Executor<'_, Database = Database>,
    key: &PlaceKey,
) -> Result<Option<PlaceRead>, StoreError> {
    let select = sqlx::query(SELECT).bind(&key.reader).bind(&key.source).bind(&key.place);
    let Some(row) = select.fetch_optional(executor).await? else { return Ok(None) };
    let payload: String = row.try_get("payload")?;
    Ok(Some(PlaceRead::from_json(key, Timestamp(row.try_get("read_at")?), &payload)?))
}

/// Remembers of a place what was read now, and nothing else.
pub(crate) async fn keep_place(connection: &mut Connection, read: &PlaceRead) -> Result<(), StoreError> {
    sqlx::query(KEEP)
        .bind(&read.key.reader)
        .bind(&read.key.source)
        .bind(&read.key.place)
        .bind(read.read_at.0)
        .bind(VERSION)
        .bind(read.to_json()?)
        .execute(connection)
        .await?;
    Ok(())
}
