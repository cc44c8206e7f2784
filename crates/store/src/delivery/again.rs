//! Takes rows that rest already into a delivery that is being written: what an append-only export adds to.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_null_array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sources::charges;

use super::DeliveryWriter;
use super::pieces::PIECE_ROWS;
use crate::StoreError;

impl DeliveryWriter {
    /// Appends the rows of part files of charges, in bounded memory. A part that was written before a column was known
    /// has no value in it.
    ///
    /// # Errors
    /// As [`DeliveryWriter::append`]; else of files.
    pub fn append_parts<'p>(&mut self, parts: impl IntoIterator<Item = &'p Path>) -> Result<(), StoreError> {
        for part in parts {
            let opened = File::open(part).map_err(|error| StoreError::io("open", part, error))?;
            let failed = |error| StoreError::parquet(part, error);
            let builder = ParquetRecordBatchReaderBuilder::try_new(opened).map_err(failed)?;
            for batch in builder.with_batch_size(PIECE_ROWS).build().map_err(failed)? {
                self.append(&canonical(&batch?)?)?;
            }
        }
        Ok(())
    }
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
