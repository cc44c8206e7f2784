//! Removes what a killed process left: staging folders, and table folders that the catalog does not know.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::{self, CHARGES, POSTINGS};
use crate::{DeliveryKey, Store, StoreError, WriteLock, staging};

/// Folders between a table's and the one of a delivery: source, billing period, delivery.
const CHARGES_DEPTH: usize = 3;
/// One more for the run of the rules.
const POSTINGS_DEPTH: usize = 4;

impl Store {
    /// Removes what killed processes left and says how many folders that were.
    ///
    /// # Errors
    /// `ForeignLock`; else of files or the catalog.
    pub async fn sweep(&self, lock: &WriteLock) -> Result<usize, StoreError> {
        lock.must_be_of(self.root())?;
        let mut swept = lock.swept.lock().await;
        let removed = self.remove_orphans().await?;
        *swept = true;
        Ok(removed)
    }

    /// The same, for a caller that holds the turn.
    pub(crate) async fn remove_orphans(&self) -> Result<usize, StoreError> {
        let deliveries = self.deliveries().await?;
        let charges = deliveries.iter().map(|delivery| folder::charges_of(&delivery.key()));
        let settlements = self.settlements().await?;
        let postings = settlements.iter().map(|settlement| {
            let (source, delivery) = (settlement.source.clone(), settlement.delivery.clone());
            let key = DeliveryKey { source, period: settlement.period, delivery };
            folder::postings_of(&key, &settlement.inputs_hash)
        });
        let known: BTreeSet<PathBuf> = charges.chain(postings).map(|place| self.root().join(place)).collect();
        let mut removed = staging::sweep(self.root())?;
        removed += remove_unknown(&self.root().join(CHARGES), CHARGES_DEPTH, &known)?;
        removed += remove_unknown(&self.root().join(POSTINGS), POSTINGS_DEPTH, &known)?;
        Ok(removed)
    }
}

/// Removes the folders `depth` levels below that are not known, and those above them that are then empty.
fn remove_unknown(parent: &Path, depth: usize, known: &BTreeSet<PathBuf>) -> Result<usize, StoreError> {
    let mut removed = 0;
    for path in folder::subfolders(parent)? {
        if depth > 1 {
            removed += remove_unknown(&path, depth - 1, known)?;
            // Fails, as it should, for a folder that holds something.
            let _ = fs::remove_dir(&path);
        } else if !known.contains(&path) {
            folder::remove(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}
