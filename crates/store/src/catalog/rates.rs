//! Lists of exchange rates in the catalog, and which of them is in force for each source.

use ledger::{DatedRate, Day, Timestamp};
use money::Currency;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _};

use super::values::{count, signed};
use super::{Connection, Database};
use crate::rates::{RateArrival, RateListRecord};
use crate::{ImportRecord, StoreError};

/// Rows of one statement: their parameters stay far below what either database allows.
const ROWS_MAX: usize = 1000;

const SELECT: &str =
    "SELECT l.id, l.source_id, l.place, l.arrived_at, l.base_currency, l.first_day, l.last_day, l.rates,
        c.list_id AS current_id
    FROM rate_lists l LEFT JOIN current_rate_lists c ON c.list_id = l.id
    ORDER BY l.sequence";

const INSERT: &str = "INSERT INTO rate_lists
        (id, source_id, place, arrived_at, base_currency, first_day, last_day, rates, sequence)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, COALESCE(MAX(sequence), 0) + 1 FROM rate_lists";

const MAKE_CURRENT: &str = "INSERT INTO current_rate_lists (source_id, list_id) VALUES ($1, $2)
    ON CONFLICT (source_id) DO UPDATE SET list_id = excluded.list_id";

const SELECT_RATES: &str = "SELECT rate_day, from_currency, to_currency, rate FROM rate_rows
    WHERE list_id = $1 AND rate_day >= $2 AND rate_day <= $3 ORDER BY rate_day, from_currency, to_currency";

/// Adds a list with its rates, unless it is known, and makes it the one in force; false if it was in force already.
pub(crate) async fn take_rate_list(
    connection: &mut Connection,
    id: &str,
    (arrival, import): (&RateArrival, &ImportRecord),
) -> Result<bool, StoreError> {
    let current = sqlx::query("SELECT list_id FROM current_rate_lists WHERE source_id = $1");
    let current = current.bind(&arrival.source).fetch_optional(&mut *connection).await?;
    let current: Option<String> = current.map(|row| row.try_get("list_id")).transpose()?;
    if current.as_deref() == Some(id) {
        return Ok(false);
    }
    let known = sqlx::query("SELECT id FROM rate_lists WHERE id = $1").bind(id);
    if known.fetch_optional(&mut *connection).await?.is_none() {
        let days = || arrival.rates.iter().map(|rate| i64::from(rate.day.0));
        sqlx::query(INSERT)
            .bind(id)
            .bind(&arrival.source)
            .bind(&import.place)
            .bind(import.arrived_at.0)
            .bind(arrival.base.map(|base| base.code().to_owned()))
            .bind(days().min())
            .bind(days().max())
            .bind(signed(arrival.rates.len() as u64)?)
            .execute(&mut *connection)
            .await?;
        insert_rows(&mut *connection, id, &arrival.rates).await?;
    }
    sqlx::query(MAKE_CURRENT).bind(&arrival.source).bind(id).execute(connection).await?;
    Ok(true)
}

async fn insert_rows(connection: &mut Connection, id: &str, rates: &[DatedRate]) -> Result<(), StoreError> {
    for some in rates.chunks(ROWS_MAX) {
        let mut insert = QueryBuilder::<Database>::new(
            "INSERT INTO rate_rows (list_id, rate_day, from_currency, to_currency, rate) ",
        );
        insert.push_values(some, |mut row, rate| {
            row.push_bind(id)
                .push_bind(i64::from(rate.day.0))
                .push_bind(rate.from.code().to_owned())
                .push_bind(rate.to.code().to_owned())
                .push_bind(rate.rate.map(|rate| rate.to_string()));
        });
        insert.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Every list of rates in order of arrival.
pub(crate) async fn rate_lists(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<RateListRecord>, StoreError> {
    sqlx::query(SELECT).fetch_all(executor).await?.iter().map(record).collect()
}

/// The rates of a list for some days.
pub(crate) async fn rates(
    executor: impl sqlx::Executor<'_, Database = Database>,
    list: &str,
    (first, last): (Day, Day),
) -> Result<Vec<DatedRate>, StoreError> {
    let query = sqlx::query(SELECT_RATES).bind(list).bind(i64::from(first.0)).bind(i64::from(last.0));
    query.fetch_all(executor).await?.iter().map(rate).collect()
}

fn rate(row: &SqliteRow) -> Result<DatedRate, StoreError> {
    let text: Option<String> = row.try_get("rate")?;
    let damaged = |text: &str| StoreError::damaged(format!("a rate is `{text}`"));
    Ok(DatedRate {
        day: day(row.try_get("rate_day")?)?,
        from: currency(&row.try_get::<String, _>("from_currency")?)?,
        to: currency(&row.try_get::<String, _>("to_currency")?)?,
        rate: text.map(|text| text.parse().map_err(|_| damaged(&text))).transpose()?,
    })
}

fn day(day: i64) -> Result<Day, StoreError> {
    i32::try_from(day).map(Day).map_err(|_| StoreError::OutOfRange { what: "day" })
}

fn currency(code: &str) -> Result<Currency, StoreError> {
    code.parse().map_err(|_| StoreError::damaged(format!("a rate's currency is `{code}`")))
}

fn record(row: &SqliteRow) -> Result<RateListRecord, StoreError> {
    let base: Option<String> = row.try_get("base_currency")?;
    let days = |name: &str| row.try_get::<Option<i64>, _>(name)?.map(day).transpose();
    Ok(RateListRecord {
        id: row.try_get("id")?,
        source: row.try_get("source_id")?,
        place: row.try_get("place")?,
        arrived_at: Timestamp(row.try_get("arrived_at")?),
        base: base.as_deref().map(currency).transpose()?,
        first_day: days("first_day")?,
        last_day: days("last_day")?,
        rates: count(row, "rates")?,
        current: row.try_get::<Option<String>, _>("current_id")?.is_some(),
    })
}
