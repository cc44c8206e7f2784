//! Writes batches as Parquet: decimals for money, timestamps in UTC, no types that only one program knows.

use std::io::Write;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::not_written;
use crate::SourceError;

/// Rows of a row group at most.
const GROUP_ROWS: usize = 1 << 17;

/// Encoded bytes of a row group at which it ends early.
const GROUP_BYTES: usize = 32 << 20;

/// Writes one file.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file of batches with this schema.
    ///
    /// # Errors
    /// `export::not_written`.
    pub fn create(sink: W, schema: SchemaRef) -> Result<Self, SourceError> {
        let properties = WriterProperties::builder()
            .set_created_by("trainbill".to_owned())
            // Every reader of Parquet has it.
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        // Without Arrow's own schema, which would tell readers that text is a dictionary.
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(sink, schema, options).map_err(not_written)?;
        Ok(Self { writer })
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// `export::not_written`, also for a batch of another schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), SourceError> {
        self.writer.write(batch).map_err(not_written)?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush().map_err(not_written)?;
        }
        Ok(())
    }

    /// Ends the file and gives the sink back.
    ///
    /// # Errors
    /// `export::not_written`.
    pub fn finish(self) -> Result<W, SourceError> {
        self.writer.into_inner().map_err(not_written)
    }
}
