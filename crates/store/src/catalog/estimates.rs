//! Estimates in the catalog.

use ledger::{Day, Timestamp};
use money::Amount;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::values::parsed;
use super::{Connection, Database};
use crate::StoreError;
use crate::estimates::EstimateRecord;
use crate::word::{Word as _, known};

const SELECT: &str =
    "SELECT attempt_id, usage_day, resource_kind, currency, provider, list_cost, effective_cost,
        used_micros, price, made_at
    FROM estimates ORDER BY attempt_id, usage_day, resource_kind, currency";

const KEEP: &str =
    "INSERT INTO estimates (attempt_id, usage_day, resource_kind, currency, provider, list_cost,
        effective_cost, used_micros, price, made_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ON CONFLICT (attempt_id, usage_day, resource_kind, currency) DO UPDATE SET provider = excluded.provider,
        list_cost = excluded.list_cost, effective_cost = excluded.effective_cost,
        used_micros = excluded.used_micros, price = excluded.price, made_at = excluded.made_at";

/// Keeps an estimate in place of an earlier one.
pub(crate) async fn keep_estimate(
    connection: &mut Connection,
    estimate: &EstimateRecord,
) -> Result<(), StoreError> {
    sqlx::query(KEEP)
        .bind(estimate.attempt.to_string())
        .bind(estimate.day.0)
        .bind(estimate.resource_kind.text())
        .bind(estimate.currency.code())
        .bind(&estimate.provider)
        .bind(estimate.list_cost.map(|cost| cost.to_string()))
        .bind(estimate.effective_cost.map(|cost| cost.to_string()))
        .bind(estimate.used_micros)
        .bind(&estimate.price)
        .bind(estimate.made_at.0)
        .execute(connection)
        .await?;
    Ok(())
}

/// Drops an estimate.
pub(crate) async fn drop_estimate(
    connection: &mut Connection,
    estimate: &EstimateRecord,
) -> Result<(), StoreError> {
    let delete = "DELETE FROM estimates
        WHERE attempt_id = $1 AND usage_day = $2 AND resource_kind = $3 AND currency = $4";
    sqlx::query(delete)
        .bind(estimate.attempt.to_string())
        .bind(estimate.day.0)
        .bind(estimate.resource_kind.text())
        .bind(estimate.currency.code())
        .execute(connection)
        .await?;
    Ok(())
}

/// Every estimate that was kept.
pub(crate) async fn estimates(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<EstimateRecord>, StoreError> {
    sqlx::query(SELECT).fetch_all(executor).await?.iter().map(record).collect()
}

fn record(row: &SqliteRow) -> Result<EstimateRecord, StoreError> {
    let kind: String = row.try_get("resource_kind")?;
    let cost = |column: &str| -> Result<Option<Amount>, StoreError> {
        let text: Option<String> = row.try_get(column)?;
        text.map(|text| text.parse().map_err(|_| StoreError::damaged(format!("`{column}` holds `{text}`"))))
            .transpose()
    };
    Ok(EstimateRecord {
        attempt: ledger::AttemptId(parsed(row, "attempt_id")?),
        day: Day(row.try_get("usage_day")?),
        resource_kind: known(&kind)?,
        currency: parsed(row, "currency")?,
        provider: row.try_get("provider")?,
        list_cost: cost("list_cost")?,
        effective_cost: cost("effective_cost")?,
        used_micros: row.try_get("used_micros")?,
        price: row.try_get("price")?,
        made_at: Timestamp(row.try_get("made_at")?),
    })
}
