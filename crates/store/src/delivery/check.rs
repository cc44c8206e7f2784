//! Sums of a delivery made again from the Parquet that rests, to be set beside the catalog's.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::Totals;
use super::totals::{RunningTotals, SUMMED};
use crate::StoreError;

const BATCH_ROWS: usize = 65_536;

/// The totals of part files, in bounded memory.
pub(crate) fn totals_at_rest(root: &Path, files: &[PathBuf]) -> Result<Totals, StoreError> {
    let mut totals = RunningTotals::default();
    for file in files {
        let path = root.join(file);
        let opened = File::open(&path).map_err(|error| StoreError::io("open", &path, error))?;
        let failed = |error| StoreError::parquet(&path, error);
        let builder = ParquetRecordBatchReaderBuilder::try_new(opened).map_err(failed)?;
        let summed = ProjectionMask::columns(builder.parquet_schema(), SUMMED);
        let reader = builder.with_projection(summed).with_batch_size(BATCH_ROWS).build().map_err(failed)?;
        for batch in reader {
            totals.add(&batch?)?;
        }
    }
    totals.finish()
}
