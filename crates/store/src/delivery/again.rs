//! Reads the charges of deliveries again: for an export, and to add to them what an append-only source brings later.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_null_array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sources::charges;

use super::DeliveryWriter;
use crate::{DeliveryRecord, Store, StoreError};

/// Rows that are read at once.
const BATCH_ROWS: usize = 8192;

impl DeliveryWriter {
    /// Appends the rows of part files of charges, in bounded memory. A part that was written before a column was known
    /// has no value in it.
    ///
    /// # Errors
    /// As [`DeliveryWriter::append`]; else of files.
    pub fn append_parts<'p>(&mut self, parts: impl IntoIterator<Item = &'p Path>) -> Result<(), StoreError> {
        for part in parts {
            for_each(part, &mut |batch| self.append(&batch))?;
        }
        Ok(())
    }
}

impl Store {
    /// Hands every charge of a delivery to `sink` in canonical batches, in the order in which they were written; stops at
    /// what the sink refuses, which is given back inside.
    ///
    /// # Errors
    /// Of files.
    pub fn read_charges<E>(
        &self,
        delivery: &DeliveryRecord,
        sink: &mut dyn FnMut(RecordBatch) -> Result<(), E>,
    ) -> Result<Result<(), E>, StoreError> {
        let mut refused = Ok(());
        for file in &delivery.files {
            let path = self.root().join(file);
            for_each(&path, &mut |batch| {
                if refused.is_ok() {
                    refused = sink(batch);
                }
                Ok(())
            })?;
        }
        Ok(refused)
    }
}

fn for_each(
    part: &Path,
    take: &mut dyn FnMut(RecordBatch) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let opened = File::open(part).map_err(|error| StoreError::io("open", part, error))?;
    let failed = |error| StoreError::parquet(part, error);
    let builder = ParquetRecordBatchReaderBuilder::try_new(opened).map_err(failed)?;
    for batch in builder.with_batch_size(BATCH_ROWS).build().map_err(failed)? {
        take(canonical(&batch?)?)?;
    }
    Ok(())
}

fn canonical(batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
    let schema = charges::schema();
    let columns = schema.fields().iter().map(|field| match batch.column_by_name(field.name()) {
        Some(column) => Arc::clone(column),
        None => new_null_array(field.data_type(), batch.num_rows()) as ArrayRef,
    });
    let columns: Vec<ArrayRef> = columns.collect();
    Ok(RecordBatch::try_new(schema, columns)?)
}
