//! Streams the batches of one delivery to Parquet parts in a staging folder and sums them on the way.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use arrow::datatypes::Int32Type;
use ledger::{BillingPeriod, DeliveryId, SourceId};
use money::Currency;
use sources::charges;

use super::charges_file::ChargesFiles;
use super::totals::RunningTotals;
use super::{StagedDelivery, Totals};
use crate::StoreError;
use crate::folder::part_name;
use crate::staging::StagingFolder;

/// How many rows a row group and a part file hold; a part holds whole row groups, and they whole pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) row_group_rows: usize,
    pub(crate) part_rows: usize,
}

impl Layout {
    /// One row group is what a reader holds of a column at once; a part is what one of its threads takes.
    pub(crate) const CHARGES: Self = Self { row_group_rows: 1 << 18, part_rows: 1 << 23 };
}

/// Writes the rows of a delivery; dropped before `finish`, it leaves nothing.
#[derive(Debug)]
pub struct DeliveryWriter {
    source: SourceId,
    period: BillingPeriod,
    files: ChargesFiles,
    folder: StagingFolder,
    totals: RunningTotals,
    currency: Option<Currency>,
}

impl DeliveryWriter {
    pub(crate) fn begin(
        root: &Path,
        source: &SourceId,
        period: BillingPeriod,
        layout: Layout,
    ) -> Result<Self, StoreError> {
        let folder = StagingFolder::make(root)?;
        Ok(Self {
            source: source.clone(),
            period,
            files: ChargesFiles::new(folder.path(), layout)?,
            folder,
            totals: RunningTotals::default(),
            currency: None,
        })
    }

    /// Appends the rows of a canonical batch of charges.
    ///
    /// # Errors
    /// `Schema` if the batch is not canonical, `MixedCurrency`, `OutOfRange` if a total overflows; else of files.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        must_be_canonical(batch)?;
        self.meet_currencies(batch)?;
        self.totals.add(batch)?;
        self.files.append(batch)
    }

    /// Ends the last part; the id follows from source, period and rows.
    ///
    /// # Errors
    /// Of files, or `OutOfRange` if a total leaves the range of an amount.
    pub fn finish(self) -> Result<StagedDelivery, StoreError> {
        let totals: Totals = self.totals.finish()?;
        let written = self.files.finish()?;
        Ok(StagedDelivery {
            id: identity(&self.source, self.period, &written.hashes),
            files: (0..written.parts).map(part_name).collect(),
            source: self.source,
            period: self.period,
            totals,
            currency: self.currency,
            folder: self.folder,
        })
    }

    /// Learns the delivery's currency and refuses a second one.
    fn meet_currencies(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        for text in distinct_text(batch, "billing_currency") {
            let currency: Option<Currency> = text.parse().ok();
            match (self.currency, currency) {
                (None, Some(currency)) => self.currency = Some(currency),
                (Some(first), Some(currency)) if first == currency => {}
                (Some(first), _) => {
                    return Err(StoreError::MixedCurrency { first, second: text.to_owned() });
                }
                (None, None) => {
                    return Err(StoreError::UnknownWord { kind: "currency", word: text.to_owned() });
                }
            }
        }
        Ok(())
    }
}

/// What names the content: the hashes of its row groups, which follow from the rows and not from how a version of the
/// program compresses them.
fn identity(source: &SourceId, period: BillingPeriod, hashes: &[blake3::Hash]) -> DeliveryId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("trainbill delivery v2\n{period}\n{source}\n").as_bytes());
    for hash in hashes {
        hasher.update(hash.as_bytes());
    }
    let hex = hasher.finalize().to_hex();
    DeliveryId(hex.as_str().split_at(32).0.to_owned())
}

fn must_be_canonical(batch: &RecordBatch) -> Result<(), StoreError> {
    let canonical = charges::schema();
    if Arc::ptr_eq(&canonical, batch.schema_ref()) || canonical.fields() == batch.schema_ref().fields() {
        return must_have_values(batch);
    }
    let (expected, found) = (canonical.fields(), batch.schema_ref().fields());
    let differing = expected.iter().zip(found).find(|(expected, found)| expected != found);
    Err(match differing {
        Some((expected, found)) => {
            StoreError::Schema { expected: format!("{expected:?}"), found: format!("{found:?}") }
        }
        None => StoreError::Schema {
            expected: format!("{} columns", expected.len()),
            found: format!("{} columns", found.len()),
        },
    })
}

/// Refuses a dictionary that says of a value that it is none, where every row must have one.
fn must_have_values(batch: &RecordBatch) -> Result<(), StoreError> {
    let required = batch.schema_ref().fields().iter().zip(batch.columns()).filter(|(f, _)| !f.is_nullable());
    for (field, column) in required {
        let values = column.as_dictionary_opt::<Int32Type>().map(|column| column.values());
        if values.is_some_and(|values| values.null_count() > 0) && column.logical_null_count() > 0 {
            let expected = format!("a value of `{}` in every row", field.name());
            return Err(StoreError::Schema { expected, found: "none".to_owned() });
        }
    }
    Ok(())
}

/// The distinct values that the rows of a text column use.
fn distinct_text<'a>(batch: &'a RecordBatch, name: &str) -> Vec<&'a str> {
    let Some(column) = batch.column_by_name(name).and_then(|c| c.as_dictionary_opt::<Int32Type>()) else {
        return Vec::new();
    };
    let Some(values) = column.values().as_string_opt::<i32>() else { return Vec::new() };
    if column.is_empty() {
        return Vec::new();
    }
    if values.len() == 1 && values.null_count() == 0 {
        return vec![values.value(0)];
    }
    let mut used = vec![false; values.len()];
    for key in column.keys_iter().flatten() {
        used[key] = true;
    }
    values.iter().zip(used).filter_map(|(value, used)| value.filter(|_| used)).collect()
}
