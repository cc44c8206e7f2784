//! Postings of a delivery at rest: one Parquet file a run of the rules, and the settlement that says which is valid.

mod columns;
mod read;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use ledger::{BillingPeriod, DeliveryId, Posting, SourceId};
use sources::charges;

pub(crate) use read::read_postings;

use crate::delivery::{PartWriter, table_properties};
use crate::folder;
use crate::staging::StagingFolder;
use crate::{DeliveryKey, StoreError};

const ROW_GROUP_ROWS: usize = 1 << 20;
const BATCH_ROWS: usize = 65_536;
const HASH_CHARS_MAX: usize = 128;

/// Which postings stand for the current delivery of a source and period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlementRecord {
    /// Where the bill comes from.
    pub source: SourceId,
    /// The month billed.
    pub period: BillingPeriod,
    /// The delivery that they were made from.
    pub delivery: DeliveryId,
    /// Hash of everything that they were made from.
    pub inputs_hash: String,
    /// Postings.
    pub rows: u64,
    /// Parquet files, relative to the store.
    pub files: Vec<PathBuf>,
}

/// Postings that are written but not yet part of the store; dropped without a commit, they leave nothing.
#[derive(Debug)]
pub struct StagedPostings {
    /// The delivery that they were made from.
    pub key: DeliveryKey,
    /// Hash of everything that they were made from.
    pub inputs_hash: String,
    /// Postings.
    pub rows: u64,
    pub(crate) folder: StagingFolder,
}

impl StagedPostings {
    /// Where the part file is until the commit.
    pub fn paths(&self) -> Vec<PathBuf> {
        vec![self.folder.path().join(folder::part_name(0))]
    }

    /// Where the part file will be, relative to the store.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        vec![folder::postings_of(&self.key, &self.inputs_hash).join(folder::part_name(0))]
    }
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let text = |name: &str| Field::new(name, charges::text_type(), false);
    let optional_text = |name: &str| Field::new(name, charges::text_type(), true);
    let money = |name: &str| Field::new(name, charges::MONEY, false);
    let count = |name: &str| Field::new(name, DataType::Int64, false);
    Arc::new(Schema::new(vec![
        text("source_id"),
        text("billing_period"),
        text("delivery_id"),
        text("step"),
        text("account"),
        optional_text("attempt_id"),
        optional_text("experiment_id"),
        text("rule"),
        text("evidence"),
        text("reason"),
        text("resource_kind"),
        text("service_name"),
        text("sub_account_id"),
        text("line_type"),
        Field::new("usage_day", DataType::Date32, true),
        text("currency"),
        money("billed_cost"),
        money("list_cost"),
        money("effective_cost"),
        money("marginal_cost"),
        count("charges"),
        count("unpriced"),
    ]))
});

/// The Arrow schema of postings at rest.
pub fn postings_schema() -> SchemaRef {
    Arc::clone(&SCHEMA)
}

/// Writes postings to a staging folder of the store.
pub(crate) fn stage(
    root: &Path,
    key: &DeliveryKey,
    inputs_hash: &str,
    postings: &[Posting],
) -> Result<StagedPostings, StoreError> {
    let may_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if inputs_hash.is_empty() || inputs_hash.len() > HASH_CHARS_MAX || !inputs_hash.chars().all(may_name) {
        return Err(StoreError::BadHash { hash: inputs_hash.to_owned() });
    }
    let folder = StagingFolder::make(root)?;
    let path = folder.path().join(folder::part_name(0));
    let mut part = PartWriter::create(path, postings_schema(), table_properties(ROW_GROUP_ROWS).build())?;
    for some in postings.chunks(BATCH_ROWS) {
        part.write(&columns::batch(key, some)?)?;
    }
    part.finish()?;
    let rows = u64::try_from(postings.len()).map_err(|_| StoreError::OutOfRange { what: "count" })?;
    Ok(StagedPostings { key: key.clone(), inputs_hash: inputs_hash.to_owned(), rows, folder })
}

#[cfg(test)]
mod tests;
