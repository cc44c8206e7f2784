//! The store as its callers see it: a folder that is opened, written by commits and read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ledger::{BillingPeriod, Observation, ObservationId, Posting, SourceId};
use sqlx::sqlite::SqlitePool;

use crate::delivery::{DeliveryWriter, Layout, totals_at_rest};
use crate::{
    DeliveryKey, DeliveryRecord, ImportRecord, Rejection, SettlementRecord, StagedPostings, StoreError,
    Totals, WriteLock, catalog, postings,
};

/// An open store. Clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    pub(crate) pool: SqlitePool,
}

impl Store {
    /// Opens the store in a folder and makes it first where there is none.
    ///
    /// # Errors
    /// `NewerFormat`; else of files or the catalog.
    pub async fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        fs::create_dir_all(path).map_err(|error| StoreError::io("make", path, error))?;
        catalog::create(path).await?;
        Self::open(path).await
    }

    /// Opens the store in a folder.
    ///
    /// # Errors
    /// `NotFound`, `NewerFormat`; else of the catalog.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let pool = catalog::open(path).await?;
        let root = fs::canonicalize(path).map_err(|error| StoreError::io("open", path, error))?;
        Ok(Self { root, pool })
    }

    /// The store's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Takes the right to write, which one process has at a time. The first commit under it, or `sweep`, removes what
    /// dead processes left.
    ///
    /// # Errors
    /// `Locked` if it is taken; else of files.
    pub fn lock(&self) -> Result<WriteLock, StoreError> {
        WriteLock::take(&self.root)
    }

    /// Begins to write the charges of a delivery; they are part of the store once they are committed.
    ///
    /// # Errors
    /// Of files.
    pub fn begin_delivery(
        &self,
        source: &SourceId,
        period: BillingPeriod,
    ) -> Result<DeliveryWriter, StoreError> {
        DeliveryWriter::begin(&self.root, source, period, Layout::CHARGES)
    }

    /// Writes the postings of a delivery, made from inputs of this hash; they are part of the store once committed.
    ///
    /// # Errors
    /// `BadHash`; else of files.
    pub fn stage_postings(
        &self,
        delivery: &DeliveryKey,
        inputs_hash: &str,
        postings: &[Posting],
    ) -> Result<StagedPostings, StoreError> {
        postings::stage(&self.root, delivery, inputs_hash, postings)
    }

    /// Every delivery in order of arrival.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn deliveries(&self) -> Result<Vec<DeliveryRecord>, StoreError> {
        catalog::deliveries(&self.pool).await
    }

    /// The delivery of each source and period from which figures are made, in order of arrival.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn current_deliveries(&self) -> Result<Vec<DeliveryRecord>, StoreError> {
        let mut deliveries = self.deliveries().await?;
        deliveries.retain(|delivery| delivery.current);
        Ok(deliveries)
    }

    /// The totals of a delivery made again from its Parquet files, refused unless they are those of the catalog.
    ///
    /// # Errors
    /// `Disagreement`; else of files.
    pub fn verify_delivery(&self, delivery: &DeliveryRecord) -> Result<Totals, StoreError> {
        let (expected, found) = (delivery.totals(), totals_at_rest(&self.root, &delivery.files)?);
        if expected == found {
            return Ok(found);
        }
        Err(StoreError::Disagreement {
            what: format!("the total of `{}` for {} at rest", delivery.source, delivery.period),
            expected: format!("{expected:?}"),
            found: format!("{found:?}"),
        })
    }

    /// Every observation, in order of id: the same set gives the same list, however it came in.
    ///
    /// # Errors
    /// `Damaged`, `UnknownWord`; else of the catalog.
    pub async fn observations(&self) -> Result<Vec<Observation>, StoreError> {
        catalog::observations(&self.pool).await
    }

    /// Those of the ids that the store holds.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn has_observations(
        &self,
        ids: &[ObservationId],
    ) -> Result<BTreeSet<ObservationId>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        catalog::known_observations(&mut connection, ids).await
    }

    /// Which postings stand for each current delivery, in order of source and period; none for one without postings.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn settlements(&self) -> Result<Vec<SettlementRecord>, StoreError> {
        catalog::settlements(&self.pool).await
    }

    /// Hands every posting of a settlement to `sink`, in the order in which they were staged.
    ///
    /// # Errors
    /// `Disagreement` if postings are missing, `UnknownWord`; else of files.
    pub fn read_postings(
        &self,
        settlement: &SettlementRecord,
        sink: &mut dyn FnMut(Posting),
    ) -> Result<(), StoreError> {
        postings::read_postings(&self.root, settlement, sink)
    }

    /// Every import that brought something, in order, without its rejections.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn imports(&self) -> Result<Vec<ImportRecord>, StoreError> {
        catalog::imports(&self.pool).await
    }

    /// The rows that an import rejected, in order, as far as they are kept.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn rejections(&self, import: &ImportRecord) -> Result<Vec<Rejection>, StoreError> {
        catalog::rejections(&self.pool, import.sequence).await
    }
}
