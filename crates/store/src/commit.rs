//! The one way in: staged folders are moved to their place, then one transaction switches the catalog to them.
//!
//! Until the transaction ends, the catalog knows nothing of the moved folders; a kill leaves them as orphans that the
//! next process to take the lock removes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ledger::{Day, Observation};

use crate::catalog::{self, Arrival, Connection};
use crate::staging::StagingFolder;
use crate::{
    Change, Committed, DeliveryFacts, DeliveryKey, DeliveryRecord, ImportRecord, PlaceRead, SettlementRecord,
    StagedDelivery, StagedPostings, Store, StoreError, WriteLock, folder,
};

impl Store {
    /// Makes a change part of the store, whole or not at all.
    ///
    /// # Errors
    /// `Disagreement` if counts do not add up, `MixedCurrency`, `TwoDeliveries`, `StalePostings`, `ForeignLock`;
    /// else of files or the catalog. On any error the store is as it was.
    pub async fn commit(&self, lock: &WriteLock, change: Change) -> Result<Committed, StoreError> {
        lock.must_be_of(self.root())?;
        check(&change)?;
        self.sweep_once(lock).await?;
        let placed = self.place(change).await?;
        self.switch(&placed).await
    }

    /// Puts postings in the place of those of the same charges, which were made from other prices; no import is recorded.
    ///
    /// # Errors
    /// `StalePostings`, `ForeignLock`; else of files or the catalog. On any error the store is as it was.
    pub async fn settle_anew(
        &self,
        lock: &WriteLock,
        postings: Vec<StagedPostings>,
    ) -> Result<(), StoreError> {
        lock.must_be_of(self.root())?;
        self.sweep_once(lock).await?;
        let settlements = self.place_postings(postings).await?;
        let mut transaction = self.pool.begin().await?;
        for settlement in &settlements {
            catalog::settle(&mut transaction, settlement).await?;
        }
        catalog::drop_stale_settlements(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Removes what earlier commits left, the first time that a lock is used.
    async fn sweep_once(&self, lock: &WriteLock) -> Result<(), StoreError> {
        let mut swept = lock.swept.lock().await;
        if !*swept {
            self.remove_orphans().await?;
            *swept = true;
        }
        Ok(())
    }

    /// Moves what is staged to its place. The catalog does not know it yet.
    pub(crate) async fn place(&self, change: Change) -> Result<Placed, StoreError> {
        let Change { import, deliveries, observations, postings, read } = change;
        let mut connection = self.pool.acquire().await?;
        let mut arrivals = Vec::with_capacity(deliveries.len());
        for (staged, facts) in deliveries {
            let record = record(&staged, facts);
            if !catalog::is_known(&mut connection, &staged.id).await? {
                self.move_in(staged.folder, &folder::charges_of(&record.key()))?;
            }
            arrivals.push(record);
        }
        drop(connection);
        let settlements = self.place_postings(postings).await?;
        Ok(Placed { import, arrivals, observations, settlements, read })
    }

    async fn place_postings(
        &self,
        postings: Vec<StagedPostings>,
    ) -> Result<Vec<SettlementRecord>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let settled: BTreeSet<PathBuf> = catalog::settlements(&mut *connection)
            .await?
            .into_iter()
            .flat_map(|settled| settled.files)
            .collect();
        let mut settlements = Vec::with_capacity(postings.len());
        for staged in postings {
            let settlement = settlement(&staged);
            // Made from the same inputs, so they are the same postings; they stay where readers may be reading them.
            if settlement.files.iter().any(|file| settled.contains(file)) {
                continue;
            }
            self.move_in(staged.folder, &folder::postings_of(&staged.key, &staged.inputs_hash))?;
            settlements.push(settlement);
        }
        Ok(settlements)
    }

    /// Switches the catalog to what was moved, in one transaction.
    pub(crate) async fn switch(&self, placed: &Placed) -> Result<Committed, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let committed = record_all(&mut transaction, placed).await?;
        transaction.commit().await?;
        Ok(committed)
    }

    fn move_in(&self, staged: StagingFolder, place: &Path) -> Result<(), StoreError> {
        // Invariant: the catalog does not know the place, so what is there was left by a commit that failed.
        folder::remove(&self.root().join(place))?;
        staged.move_to(self.root(), place)
    }
}

/// A change whose files are in their place.
#[derive(Debug)]
pub(crate) struct Placed {
    import: ImportRecord,
    arrivals: Vec<DeliveryRecord>,
    observations: Vec<Observation>,
    settlements: Vec<SettlementRecord>,
    read: Option<PlaceRead>,
}

/// Writes a change to the catalog; it counts once the transaction is committed.
pub(crate) async fn record_all(
    connection: &mut Connection,
    placed: &Placed,
) -> Result<Committed, StoreError> {
    let mut committed = Committed::default();
    for arrival in &placed.arrivals {
        let sequence = catalog::next_sequence(&mut *connection).await?;
        let arrival = DeliveryRecord { sequence, ..arrival.clone() };
        match catalog::arrive(&mut *connection, &arrival).await? {
            Arrival::New => committed.new_deliveries += 1,
            Arrival::Unchanged => committed.unchanged_deliveries += 1,
        }
    }
    committed.new_observations = catalog::insert_observations(&mut *connection, &placed.observations).await?;
    let observations = u64::try_from(placed.observations.len()).unwrap_or(u64::MAX);
    committed.known_observations = observations.saturating_sub(committed.new_observations);
    for settlement in &placed.settlements {
        catalog::settle(&mut *connection, settlement).await?;
    }
    catalog::drop_stale_settlements(&mut *connection).await?;
    if let Some(read) = &placed.read {
        let arrived = |key: &DeliveryKey| placed.arrivals.iter().any(|arrival| arrival.key() == *key);
        let unread = read.deliveries.iter().filter(|key| !arrived(key)).count();
        committed.unread_deliveries = u64::try_from(unread).unwrap_or(u64::MAX);
        catalog::keep_place(&mut *connection, read).await?;
    }
    if !committed.is_no_op() {
        catalog::insert_import(&mut *connection, &placed.import).await?;
    }
    Ok(committed)
}

/// Refuses a change that contradicts itself, before anything is moved.
fn check(change: &Change) -> Result<(), StoreError> {
    let mut seen = BTreeSet::new();
    for (staged, facts) in &change.deliveries {
        if !seen.insert((&staged.source, staged.period)) {
            let (source_id, period) = (staged.source.clone(), staged.period);
            return Err(StoreError::TwoDeliveries { source_id, period });
        }
        if let Some(second) = staged.currency.filter(|currency| *currency != facts.currency) {
            return Err(StoreError::MixedCurrency {
                first: facts.currency,
                second: second.code().to_owned(),
            });
        }
        let what = |of: &str| format!("{of} of `{}` for {}", staged.source, staged.period);
        must_agree(what("the number of charges"), facts.accepted, staged.totals.rows)?;
        must_agree(what("the number of rows"), facts.rows, facts.accepted.saturating_add(facts.rejected))?;
    }
    let import = &change.import;
    let kinds = import.accepted.saturating_add(import.rejected);
    must_agree(format!("the number of rows of `{}`", import.place), import.rows, kinds)
}

fn must_agree(what: String, expected: u64, found: u64) -> Result<(), StoreError> {
    if expected == found {
        return Ok(());
    }
    Err(StoreError::Disagreement { what, expected: expected.to_string(), found: found.to_string() })
}

/// The record of a staged delivery; its place in the order of arrival follows in the transaction.
fn record(staged: &StagedDelivery, facts: DeliveryFacts) -> DeliveryRecord {
    let days: BTreeSet<Day> = facts.days.into_iter().collect();
    DeliveryRecord {
        id: staged.id.clone(),
        source: staged.source.clone(),
        period: staged.period,
        sequence: 0,
        arrived_at: facts.arrived_at,
        place: facts.place,
        currency: facts.currency,
        rows: facts.rows,
        accepted: facts.accepted,
        rejected: facts.rejected,
        billed_total: staged.totals.billed,
        effective_total: staged.totals.effective,
        list_total: staged.totals.list,
        marginal_total: staged.totals.marginal,
        source_total: facts.source_total,
        unpriced: staged.totals.unpriced,
        is_final: facts.is_final,
        first_day: days.first().copied(),
        last_day: days.last().copied(),
        days: days.into_iter().collect(),
        split_rows: facts.split_rows,
        capacity_block_rows: facts.capacity_block_rows,
        reader_version: facts.reader_version,
        details: facts.details,
        files: staged.places(),
        current: true,
    }
}

fn settlement(staged: &StagedPostings) -> SettlementRecord {
    SettlementRecord {
        source: staged.key.source.clone(),
        period: staged.key.period,
        delivery: staged.key.delivery.clone(),
        inputs_hash: staged.inputs_hash.clone(),
        rows: staged.rows,
        files: staged.places(),
    }
}

#[cfg(test)]
mod tests;
