//! Price lists in the catalog, and which of them is in force for each source.

use ledger::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _};

use super::values::{count, signed};
use super::{Connection, Database};
use crate::prices::{PriceArrival, PriceListRecord, StoredPrice};
use crate::{ImportRecord, StoreError, v1};

/// Rows of one statement: their parameters stay far below what either database allows.
const ROWS_MAX: usize = 1000;

const SELECT: &str =
    "SELECT l.id, l.source_id, l.place, l.arrived_at, l.published_at, l.prices, l.quarantined,
        c.list_id AS current_id
    FROM price_lists l LEFT JOIN current_price_lists c ON c.list_id = l.id
    ORDER BY l.sequence";

const INSERT: &str = "INSERT INTO price_lists
        (id, source_id, place, arrived_at, published_at, prices, quarantined, sequence)
    SELECT $1, $2, $3, $4, $5, $6, $7, COALESCE(MAX(sequence), 0) + 1 FROM price_lists";

const MAKE_CURRENT: &str = "INSERT INTO current_price_lists (source_id, list_id) VALUES ($1, $2)
    ON CONFLICT (source_id) DO UPDATE SET list_id = excluded.list_id";

const SELECT_PRICES: &str = "SELECT p.payload, p.doubt FROM price_rows p
    JOIN current_price_lists c ON c.list_id = p.list_id ORDER BY c.source_id, p.position";

/// Adds a list with its rows, unless it is known, and makes it the one in force; false if it was in force already.
pub(crate) async fn take_price_list(
    connection: &mut Connection,
    id: &str,
    (arrival, import): (&PriceArrival, &ImportRecord),
    rows: &[(String, Option<&str>)],
) -> Result<bool, StoreError> {
    let current = sqlx::query("SELECT list_id FROM current_price_lists WHERE source_id = $1");
    let current = current.bind(&arrival.source).fetch_optional(&mut *connection).await?;
    let current: Option<String> = current.map(|row| row.try_get("list_id")).transpose()?;
    if current.as_deref() == Some(id) {
        return Ok(false);
    }
    let known = sqlx::query("SELECT id FROM price_lists WHERE id = $1").bind(id);
    if known.fetch_optional(&mut *connection).await?.is_none() {
        sqlx::query(INSERT)
            .bind(id)
            .bind(&arrival.source)
            .bind(&import.place)
            .bind(import.arrived_at.0)
            .bind(arrival.published_at.map(|at| at.0))
            .bind(signed(arrival.prices.len() as u64)?)
            .bind(signed(arrival.quarantined.len() as u64)?)
            .execute(&mut *connection)
            .await?;
        insert_rows(&mut *connection, id, rows).await?;
    }
    sqlx::query(MAKE_CURRENT).bind(&arrival.source).bind(id).execute(connection).await?;
    Ok(true)
}

async fn insert_rows(
    connection: &mut Connection,
    id: &str,
    rows: &[(String, Option<&str>)],
) -> Result<(), StoreError> {
    let numbered: Vec<(i64, &(String, Option<&str>))> = (1..).zip(rows).collect();
    for some in numbered.chunks(ROWS_MAX) {
        let mut insert = QueryBuilder::<Database>::new(
            "INSERT INTO price_rows (list_id, position, payload_version, payload, doubt) ",
        );
        insert.push_values(some, |mut row, (position, (payload, doubt))| {
            row.push_bind(id)
                .push_bind(*position)
                .push_bind(v1::VERSION)
                .push_bind(payload)
                .push_bind(*doubt);
        });
        insert.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Every price list in order of arrival.
pub(crate) async fn price_lists(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<PriceListRecord>, StoreError> {
    sqlx::query(SELECT).fetch_all(executor).await?.iter().map(record).collect()
}

/// The prices of the lists in force.
pub(crate) async fn prices(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<StoredPrice>, StoreError> {
    let price = |row: &SqliteRow| {
        let payload: String = row.try_get("payload")?;
        Ok(StoredPrice { row: v1::price::decode(&payload)?, doubt: row.try_get("doubt")? })
    };
    sqlx::query(SELECT_PRICES).fetch_all(executor).await?.iter().map(price).collect()
}

fn record(row: &SqliteRow) -> Result<PriceListRecord, StoreError> {
    Ok(PriceListRecord {
        id: row.try_get("id")?,
        source: row.try_get("source_id")?,
        place: row.try_get("place")?,
        arrived_at: Timestamp(row.try_get("arrived_at")?),
        published_at: row.try_get::<Option<i64>, _>("published_at")?.map(Timestamp),
        prices: count(row, "prices")?,
        quarantined: count(row, "quarantined")?,
        current: row.try_get::<Option<String>, _>("current_id")?.is_some(),
    })
}
