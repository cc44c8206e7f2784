//! Observations in the catalog: added once, never changed, and checked against their identity when read.

use std::collections::BTreeSet;

use ledger::{Observation, ObservationId, SourceId, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _};

use super::{Connection, Database};
use crate::observation::{StoredObservation, identity};
use crate::{StoreError, v1};

/// Rows of one statement: their parameters stay far below what either database allows.
const ROWS_MAX: usize = 1000;

const SELECT: &str = "SELECT id, source_id, record_key, modified_at, payload_version, payload
    FROM observations ORDER BY id";

/// Every observation in order of id.
pub(crate) async fn observations(
    executor: impl sqlx::Executor<'_, Database = Database>,
) -> Result<Vec<Observation>, StoreError> {
    sqlx::query(SELECT).fetch_all(executor).await?.iter().map(observation).collect()
}

/// Adds the observations that are not known and says how many those were.
pub(crate) async fn insert_observations(
    connection: &mut Connection,
    observations: &[Observation],
) -> Result<u64, StoreError> {
    let mut added = 0;
    for some in observations.chunks(ROWS_MAX) {
        let stored: Result<Vec<_>, _> = some.iter().map(StoredObservation::of).collect();
        let mut insert = QueryBuilder::<Database>::new(
            "INSERT INTO observations (id, source_id, record_key, modified_at, payload_version, payload) ",
        );
        insert.push_values(some.iter().zip(stored?), |mut row, (observation, stored)| {
            row.push_bind(stored.id.to_string())
                .push_bind(&observation.source.0)
                .push_bind(&observation.key)
                .push_bind(observation.modified_at.map(|instant| instant.0))
                .push_bind(v1::VERSION)
                .push_bind(stored.payload);
        });
        insert.push(" ON CONFLICT (id) DO NOTHING");
        added += insert.build().execute(&mut *connection).await?.rows_affected();
    }
    Ok(added)
}

/// Those of the ids that are in the catalog.
pub(crate) async fn known_observations(
    connection: &mut Connection,
    ids: &[ObservationId],
) -> Result<BTreeSet<ObservationId>, StoreError> {
    let mut known = BTreeSet::new();
    for some in ids.chunks(ROWS_MAX) {
        let mut select = QueryBuilder::<Database>::new("SELECT id FROM observations WHERE id IN (");
        let mut list = select.separated(", ");
        for id in some {
            list.push_bind(id.to_string());
        }
        select.push(")");
        let rows = select.build().fetch_all(&mut *connection).await?;
        let found: Result<BTreeSet<String>, _> = rows.iter().map(|row| row.try_get("id")).collect();
        let found = found?;
        known.extend(some.iter().filter(|id| found.contains(&id.to_string())));
    }
    Ok(known)
}

fn observation(row: &SqliteRow) -> Result<Observation, StoreError> {
    let (id, source): (String, String) = (row.try_get("id")?, row.try_get("source_id")?);
    let (key, payload): (String, String) = (row.try_get("record_key")?, row.try_get("payload")?);
    let modified_at: Option<i64> = row.try_get("modified_at")?;
    let version: i64 = row.try_get("payload_version")?;
    if version != v1::VERSION {
        return Err(StoreError::UnknownWord { kind: "version of a record", word: version.to_string() });
    }
    if identity(&source, &key, (modified_at, &payload)).to_string() != id {
        return Err(StoreError::damaged(format!("observation {id} is not what was stored")));
    }
    let record = v1::decode(&payload)?;
    Ok(Observation { source: SourceId(source), key, modified_at: modified_at.map(Timestamp), record })
}
