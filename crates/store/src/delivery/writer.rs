//! Streams the batches of one delivery to Parquet parts in a staging folder and sums them on the way.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use arrow::datatypes::Int32Type;
use ledger::{BillingPeriod, DeliveryId, SourceId};
use money::Currency;
use parquet::basic::Encoding;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use sources::charges;

use super::part::{PartWriter, part_path, table_properties};
use super::pieces::Pieces;
use super::totals::RunningTotals;
use super::{StagedDelivery, Totals};
use crate::StoreError;
use crate::folder::part_name;
use crate::staging::StagingFolder;

/// How many rows a row group and a part file hold; both are multiples of a piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) row_group_rows: usize,
    pub(crate) part_rows: usize,
}

impl Layout {
    /// One row group is what a reader holds of a column at once; a part is what one of its threads takes.
    pub(crate) const CHARGES: Self = Self { row_group_rows: 1 << 20, part_rows: 1 << 23 };
}

/// Writes the rows of a delivery; dropped before `finish`, it leaves nothing.
#[derive(Debug)]
pub struct DeliveryWriter {
    source: SourceId,
    period: BillingPeriod,
    layout: Layout,
    folder: StagingFolder,
    pieces: Pieces,
    part: Option<PartWriter>,
    part_rows: usize,
    part_hashes: Vec<blake3::Hash>,
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
        Ok(Self {
            source: source.clone(),
            period,
            layout,
            folder: StagingFolder::make(root)?,
            pieces: Pieces::default(),
            part: None,
            part_rows: 0,
            part_hashes: Vec::new(),
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
        for piece in self.pieces.push(batch)? {
            self.write(&piece)?;
        }
        Ok(())
    }

    /// Ends the last part; the id follows from source, period and rows.
    ///
    /// # Errors
    /// Of files, or `OutOfRange` if a total leaves the range of an amount.
    pub fn finish(mut self) -> Result<StagedDelivery, StoreError> {
        if let Some(rest) = self.pieces.take()? {
            self.write(&rest)?;
        }
        self.end_part()?;
        let totals: Totals = self.totals.finish()?;
        Ok(StagedDelivery {
            id: self.identity(),
            files: (0..self.part_hashes.len()).map(part_name).collect(),
            source: self.source,
            period: self.period,
            totals,
            currency: self.currency,
            folder: self.folder,
        })
    }

    fn write(&mut self, piece: &RecordBatch) -> Result<(), StoreError> {
        let part = match &mut self.part {
            Some(part) => part,
            None => {
                let path = part_path(self.folder.path(), self.part_hashes.len());
                let properties = properties(self.layout);
                self.part.insert(PartWriter::create(path, charges::schema(), properties)?)
            }
        };
        part.write(piece)?;
        self.part_rows += piece.num_rows();
        if self.part_rows >= self.layout.part_rows {
            self.end_part()?;
        }
        Ok(())
    }

    fn end_part(&mut self) -> Result<(), StoreError> {
        if let Some(part) = self.part.take() {
            self.part_hashes.push(part.finish()?);
        }
        self.part_rows = 0;
        Ok(())
    }

    fn identity(&self) -> DeliveryId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("trainbill delivery v1\n{}\n{}\n", self.period, self.source).as_bytes());
        for hash in &self.part_hashes {
            hasher.update(hash.as_bytes());
        }
        let hex = hasher.finalize().to_hex();
        DeliveryId(hex.as_str().split_at(32).0.to_owned())
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

fn properties(layout: Layout) -> WriterProperties {
    // Row numbers only rise: their differences take a byte or less, a dictionary of them would be as long as they are.
    let row = ColumnPath::from("x_row");
    table_properties(layout.row_group_rows)
        .set_column_dictionary_enabled(row.clone(), false)
        .set_column_encoding(row, Encoding::DELTA_BINARY_PACKED)
        .build()
}

fn must_be_canonical(batch: &RecordBatch) -> Result<(), StoreError> {
    let canonical = charges::schema();
    if Arc::ptr_eq(&canonical, batch.schema_ref()) || canonical.fields() == batch.schema_ref().fields() {
        return Ok(());
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

/// The distinct values that the rows of a text column use.
fn distinct_text<'a>(batch: &'a RecordBatch, name: &str) -> Vec<&'a str> {
    let Some(column) = batch.column_by_name(name).and_then(|c| c.as_dictionary_opt::<Int32Type>()) else {
        return Vec::new();
    };
    let Some(values) = column.values().as_string_opt::<i32>() else { return Vec::new() };
    if column.is_empty() {
        return Vec::new();
    }
    if values.len() == 1 {
        return vec![values.value(0)];
    }
    let mut used = vec![false; values.len()];
    for key in column.keys_iter().flatten() {
        used[key] = true;
    }
    values.iter().zip(used).filter_map(|(value, used)| value.filter(|_| used)).collect()
}
