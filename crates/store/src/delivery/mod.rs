//! A delivery: one complete arrival of a billing period from one source, kept for ever and never edited.

mod again;
mod charges_file;
mod check;
mod columns;
mod details;
mod part;
mod totals;
mod writer;

use std::path::{Path, PathBuf};

use ledger::{BillingPeriod, Day, DeliveryId, SourceId, Timestamp};
use money::{Amount, Currency};

pub(crate) use check::totals_at_rest;
pub(crate) use details::VERSION as DETAILS_VERSION;
pub use details::{BasisQuality, DeliveryDetails};
pub(crate) use part::{PartWriter, table_properties};
pub use totals::Totals;
pub use writer::DeliveryWriter;
pub(crate) use writer::Layout;

use crate::folder;
use crate::staging::StagingFolder;

/// What names a delivery and the folders that belong to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryKey {
    /// Where the bill comes from.
    pub source: SourceId,
    /// The month billed.
    pub period: BillingPeriod,
    /// The content.
    pub delivery: DeliveryId,
}

/// A delivery as the catalog knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// A hash of source, period and rows.
    pub id: DeliveryId,
    /// Where the bill comes from.
    pub source: SourceId,
    /// The month billed.
    pub period: BillingPeriod,
    /// Order of arrival over all sources, from 1.
    pub sequence: i64,
    /// When it arrived.
    pub arrived_at: Timestamp,
    /// File, folder or address it was read from.
    pub place: String,
    /// Currency of every cost.
    pub currency: Currency,
    /// Rows read.
    pub rows: u64,
    /// Rows kept as charges.
    pub accepted: u64,
    /// Rows that could not be read.
    pub rejected: u64,
    /// Σ billed cost.
    pub billed_total: Amount,
    /// Σ effective cost.
    pub effective_total: Amount,
    /// Σ list cost of the priced charges.
    pub list_total: Amount,
    /// Σ marginal cost.
    pub marginal_total: Amount,
    /// What the reader summed from the source's own cost column.
    pub source_total: Amount,
    /// Charges without a list price.
    pub unpriced: u64,
    /// True if the provider has closed the bill.
    pub is_final: bool,
    /// First day with usage.
    pub first_day: Option<Day>,
    /// Last day with usage.
    pub last_day: Option<Day>,
    /// Days with usage, in order.
    pub days: Vec<Day>,
    /// Rows of provider split data.
    pub split_rows: u64,
    /// Rows of capacity blocks.
    pub capacity_block_rows: u64,
    /// The reader that made it, with its version.
    pub reader_version: String,
    /// What is known of it beyond its totals.
    pub details: DeliveryDetails,
    /// Parquet files, relative to the store.
    pub files: Vec<PathBuf>,
    /// True if figures are made from it: the newest of its source and period.
    pub current: bool,
}

impl DeliveryRecord {
    /// What names it.
    pub fn key(&self) -> DeliveryKey {
        DeliveryKey { source: self.source.clone(), period: self.period, delivery: self.id.clone() }
    }

    /// The four totals with their counts.
    pub const fn totals(&self) -> Totals {
        Totals {
            rows: self.accepted,
            billed: self.billed_total,
            effective: self.effective_total,
            list: self.list_total,
            marginal: self.marginal_total,
            unpriced: self.unpriced,
        }
    }
}

/// What a reader tells of a delivery beside its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFacts {
    /// When it arrived.
    pub arrived_at: Timestamp,
    /// File, folder or address it was read from.
    pub place: String,
    /// Currency of every cost.
    pub currency: Currency,
    /// Rows read; accepted and rejected sum to it.
    pub rows: u64,
    /// Rows kept as charges; as many as were appended.
    pub accepted: u64,
    /// Rows that could not be read.
    pub rejected: u64,
    /// Plain sum of the source's own cost column over the accepted rows.
    pub source_total: Amount,
    /// True if the provider has closed the bill.
    pub is_final: bool,
    /// Days with usage, in any order.
    pub days: Vec<Day>,
    /// Rows of provider split data.
    pub split_rows: u64,
    /// Rows of capacity blocks.
    pub capacity_block_rows: u64,
    /// The reader that made it, with its version.
    pub reader_version: String,
    /// What else is known of it.
    pub details: DeliveryDetails,
}

/// A delivery that is written but not yet part of the store; dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub struct StagedDelivery {
    /// A hash of source, period and rows: the same rows give the same id, however they were cut into batches.
    pub id: DeliveryId,
    /// Where the bill comes from.
    pub source: SourceId,
    /// The month billed.
    pub period: BillingPeriod,
    /// Sums over the rows.
    pub totals: Totals,
    /// Currency of every row; `None` without rows.
    pub currency: Option<Currency>,
    /// Names of the part files.
    pub files: Vec<String>,
    pub(crate) folder: StagingFolder,
}

impl StagedDelivery {
    /// What names it.
    pub fn key(&self) -> DeliveryKey {
        DeliveryKey { source: self.source.clone(), period: self.period, delivery: self.id.clone() }
    }

    /// Where the part files are until the commit.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|name| self.folder.path().join(name)).collect()
    }

    /// Where the part files will be, relative to the store.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        let place = folder::charges_of(&self.key());
        self.files.iter().map(|name| Path::new(&place).join(name)).collect()
    }
}

#[cfg(test)]
mod tests;
