//! One Parquet file of a table other than charges while it is written; durable when it is finished.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use crate::StoreError;

pub(super) const BUFFER_BYTES: usize = 1 << 20;

/// A file being written.
#[derive(Debug)]
pub(crate) struct PartWriter {
    path: PathBuf,
    writer: ArrowWriter<BufWriter<File>>,
}

impl PartWriter {
    pub(crate) fn create(
        path: PathBuf,
        schema: SchemaRef,
        properties: WriterProperties,
    ) -> Result<Self, StoreError> {
        let file = File::create_new(&path).map_err(|error| StoreError::io("make", &path, error))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let writer = ArrowWriter::try_new(file, schema, Some(properties))
            .map_err(|error| StoreError::parquet(&path, error))?;
        Ok(Self { path, writer })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.writer.write(batch).map_err(|error| StoreError::parquet(&self.path, error))
    }

    /// Ends the file and makes its bytes durable.
    pub(crate) fn finish(self) -> Result<(), StoreError> {
        let Self { path, writer } = self;
        let file = writer.into_inner().map_err(|error| StoreError::parquet(&path, error))?;
        let file = file.into_inner().map_err(|error| StoreError::io("write", &path, error.into_error()))?;
        file.sync_all().map_err(|error| StoreError::io("sync", &path, error))
    }
}

/// What every table of the store is written with.
pub(crate) fn table_properties(row_group_rows: usize) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by("trainbill".to_owned())
        // Measured on 1.5 M charges: 63 bytes a row, against 109 with Snappy, written and read as fast; level 3 gains
        // nothing.
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(true)
        .set_max_row_group_row_count(Some(row_group_rows))
}
