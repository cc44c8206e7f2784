//! Deliveries in the catalog: all that ever arrived, and which of them is current.

use ledger::{BillingPeriod, Day, DeliveryId, SourceId, Timestamp};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::values::{count, list, parsed, paths, paths_text, signed};
use super::{Connection, Database};
use crate::delivery::DETAILS_VERSION;
use crate::{DeliveryDetails, DeliveryRecord, StoreError};

/// What an arriving delivery was to the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It became the current one.
    New,
    /// It was the current one already.
    Unchanged,
}

const SELECT: &str = "SELECT d.id, d.source_id, d.billing_period, d.sequence, d.arrived_at, d.place, d.currency,
        d.rows_read, d.accepted, d.rejected, d.billed_total, d.effective_total, d.list_total, d.marginal_total,
        d.source_total, d.unpriced, d.is_final, d.days, d.split_rows, d.capacity_block_rows, d.reader_version,
        d.files, c.delivery_id AS current_id, x.payload AS details
    FROM deliveries d LEFT JOIN current_deliveries c ON c.delivery_id = d.id
        LEFT JOIN delivery_details x ON x.delivery_id = d.id
    ORDER BY d.sequence";

const INSERT: &str = "INSERT INTO deliveries (id, source_id, billing_period, sequence, arrived_at, place, currency,
        rows_read, accepted, rejected, billed_total, effective_total, list_total, marginal_total,
        source_total, unpriced, is_final, days, split_rows, capacity_block_rows, reader_version, files)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
    ON CONFLICT (id) DO NOTHING";

const INSERT_DETAILS: &str = "INSERT INTO delivery_details (delivery_id, payload_version, payload)
    VALUES ($1, $2, $3) ON CONFLICT (delivery_id) DO NOTHING";

const MAKE_CURRENT: &str = "INSERT INTO current_deliveries (source_id, billing_period, delivery_id)
    VALUES ($1, $2, $3)
    ON CONFLICT (source_id, billing_period) DO UPDATE SET delivery_id = excluded.delivery_id";

/// Every delivery in order of arrival.
pub(crate) async fn deliveries(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<DeliveryRecord>, StoreError> {
    sqlx::query(SELECT).fetch_all(executor).await?.iter().map(record).collect()
}

/// True if a delivery of this id ever arrived.
pub(crate) async fn is_known(connection: &mut Connection, id: &DeliveryId) -> Result<bool, StoreError> {
    let found = sqlx::query("SELECT id FROM deliveries WHERE id = $1").bind(&id.0);
    Ok(found.fetch_optional(connection).await?.is_some())
}

/// The number of the next delivery to arrive.
pub(crate) async fn next_sequence(connection: &mut Connection) -> Result<i64, StoreError> {
    let next = "SELECT COALESCE(MAX(sequence), 0) + 1 AS next FROM deliveries";
    Ok(sqlx::query(next).fetch_one(connection).await?.try_get("next")?)
}

/// Adds a delivery, unless it is known, and makes it the current one of its source and period.
///
/// A known delivery that arrives again after another one becomes current again and keeps its first record.
pub(crate) async fn arrive(
    connection: &mut Connection,
    delivery: &DeliveryRecord,
) -> Result<Arrival, StoreError> {
    let current = current(&mut *connection, &delivery.source, delivery.period).await?;
    if current.is_some_and(|current| current == delivery.id.0) {
        return Ok(Arrival::Unchanged);
    }
    insert(&mut *connection, delivery).await?;
    let make_current = sqlx::query(MAKE_CURRENT).bind(&delivery.source.0).bind(delivery.period.to_string());
    make_current.bind(&delivery.id.0).execute(connection).await?;
    Ok(Arrival::New)
}

/// The id of the current delivery of a source and period.
pub(super) async fn current(
    connection: &mut Connection,
    source: &SourceId,
    period: BillingPeriod,
) -> Result<Option<String>, StoreError> {
    let select = "SELECT delivery_id FROM current_deliveries WHERE source_id = $1 AND billing_period = $2";
    let found = sqlx::query(select).bind(&source.0).bind(period.to_string());
    let row = found.fetch_optional(connection).await?;
    Ok(row.map(|row| row.try_get("delivery_id")).transpose()?)
}

async fn insert(connection: &mut Connection, delivery: &DeliveryRecord) -> Result<(), StoreError> {
    let days: Vec<i32> = delivery.days.iter().map(|day| day.0).collect();
    sqlx::query(INSERT)
        .bind(&delivery.id.0)
        .bind(&delivery.source.0)
        .bind(delivery.period.to_string())
        .bind(delivery.sequence)
        .bind(delivery.arrived_at.0)
        .bind(&delivery.place)
        .bind(delivery.currency.code())
        .bind(signed(delivery.rows)?)
        .bind(signed(delivery.accepted)?)
        .bind(signed(delivery.rejected)?)
        .bind(delivery.billed_total.to_string())
        .bind(delivery.effective_total.to_string())
        .bind(delivery.list_total.to_string())
        .bind(delivery.marginal_total.to_string())
        .bind(delivery.source_total.to_string())
        .bind(signed(delivery.unpriced)?)
        .bind(i64::from(delivery.is_final))
        .bind(serde_json::to_string(&days)?)
        .bind(signed(delivery.split_rows)?)
        .bind(signed(delivery.capacity_block_rows)?)
        .bind(&delivery.reader_version)
        .bind(paths_text(&delivery.files)?)
        .execute(&mut *connection)
        .await?;
    sqlx::query(INSERT_DETAILS)
        .bind(&delivery.id.0)
        .bind(DETAILS_VERSION)
        .bind(delivery.details.to_json()?)
        .execute(connection)
        .await?;
    Ok(())
}

fn record(row: &SqliteRow) -> Result<DeliveryRecord, StoreError> {
    let days: Vec<Day> = list(row, "days")?.into_iter().map(Day).collect();
    Ok(DeliveryRecord {
        id: DeliveryId(row.try_get("id")?),
        source: SourceId(row.try_get("source_id")?),
        period: parsed(row, "billing_period")?,
        sequence: row.try_get("sequence")?,
        arrived_at: Timestamp(row.try_get("arrived_at")?),
        place: row.try_get("place")?,
        currency: parsed(row, "currency")?,
        rows: count(row, "rows_read")?,
        accepted: count(row, "accepted")?,
        rejected: count(row, "rejected")?,
        billed_total: parsed(row, "billed_total")?,
        effective_total: parsed(row, "effective_total")?,
        list_total: parsed(row, "list_total")?,
        marginal_total: parsed(row, "marginal_total")?,
        source_total: parsed(row, "source_total")?,
        unpriced: count(row, "unpriced")?,
        is_final: row.try_get::<i64, _>("is_final")? != 0,
        first_day: days.first().copied(),
        last_day: days.last().copied(),
        days,
        split_rows: count(row, "split_rows")?,
        capacity_block_rows: count(row, "capacity_block_rows")?,
        reader_version: row.try_get("reader_version")?,
        files: paths(row, "files")?,
        current: row.try_get::<Option<String>, _>("current_id")?.is_some(),
        // A delivery of a store that was made before details were kept has none.
        details: match row.try_get::<Option<String>, _>("details")? {
            Some(json) => DeliveryDetails::from_json(&json)?,
            None => DeliveryDetails::default(),
        },
    })
}
