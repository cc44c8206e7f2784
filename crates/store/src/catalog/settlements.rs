//! Settlements in the catalog: which postings stand for the current delivery of a source and period.

use ledger::{DeliveryId, SourceId};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::deliveries::current;
use super::values::{count, parsed, paths, paths_text, signed};
use super::{Connection, Database};
use crate::{SettlementRecord, StoreError};

const SELECT: &str = "SELECT source_id, billing_period, delivery_id, inputs_hash, postings, files
    FROM settlements ORDER BY source_id, billing_period";

const SETTLE: &str =
    "INSERT INTO settlements (source_id, billing_period, delivery_id, inputs_hash, postings, files)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (source_id, billing_period) DO UPDATE SET delivery_id = excluded.delivery_id,
        inputs_hash = excluded.inputs_hash, postings = excluded.postings, files = excluded.files";

const DROP_STALE: &str = "DELETE FROM settlements
    WHERE delivery_id NOT IN (SELECT delivery_id FROM current_deliveries)";

/// Every settlement in order of source and period.
pub(crate) async fn settlements(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<SettlementRecord>, StoreError> {
    sqlx::query(SELECT).fetch_all(executor).await?.iter().map(record).collect()
}

/// Points the settlement of a source and period to postings, which must be of its current delivery.
pub(crate) async fn settle(
    connection: &mut Connection,
    settlement: &SettlementRecord,
) -> Result<(), StoreError> {
    let SettlementRecord { source, period, delivery, inputs_hash, rows, files } = settlement;
    if current(&mut *connection, source, *period).await?.is_none_or(|current| current != delivery.0) {
        return Err(StoreError::StalePostings { source_id: source.clone(), period: *period });
    }
    sqlx::query(SETTLE)
        .bind(&source.0)
        .bind(period.to_string())
        .bind(&delivery.0)
        .bind(inputs_hash)
        .bind(signed(*rows)?)
        .bind(paths_text(files)?)
        .execute(connection)
        .await?;
    Ok(())
}

/// Forgets settlements of deliveries that are not current any more: no figure comes from a bill that was replaced.
pub(crate) async fn drop_stale_settlements(connection: &mut Connection) -> Result<(), StoreError> {
    sqlx::query(DROP_STALE).execute(connection).await?;
    Ok(())
}

fn record(row: &SqliteRow) -> Result<SettlementRecord, StoreError> {
    Ok(SettlementRecord {
        source: SourceId(row.try_get("source_id")?),
        period: parsed(row, "billing_period")?,
        delivery: DeliveryId(row.try_get("delivery_id")?),
        inputs_hash: row.try_get("inputs_hash")?,
        rows: count(row, "postings")?,
        files: paths(row, "files")?,
    })
}
