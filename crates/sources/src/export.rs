//! Writes for other tools: charges, and where they were allocated, as FOCUS 1.2 in Parquet or CSV; attempts as run events.
//!
//! [`focus`] turns canonical batches into FOCUS batches; [`ParquetWriter`] and [`CsvWriter`] write such batches one
//! after another, so memory is that of a batch, and for Parquet of a row group.

mod csv;
pub mod focus;
pub mod openlineage;
mod parquet;

pub use csv::CsvWriter;
pub use parquet::ParquetWriter;

use crate::SourceError;

/// The output could not be written.
fn not_written(fault: impl std::fmt::Display) -> SourceError {
    SourceError::new("export::not_written", format!("the export could not be written: {fault}"))
        .help("check the place of the output and its free space, and export again")
}
