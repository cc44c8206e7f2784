//! The Parquet files of a delivery while they are written; each is durable when it is finished.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::TypePtr;
use sources::charges;

use super::columns::RowGroup;
use super::part::{BUFFER_BYTES, table_properties};
use super::writer::Layout;
use crate::StoreError;
use crate::folder::part_name;

/// The files of one delivery.
#[derive(Debug)]
pub(super) struct ChargesFiles {
    folder: PathBuf,
    layout: Layout,
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    group: RowGroup,
    file: Option<(PathBuf, SerializedFileWriter<BufWriter<File>>)>,
    /// Rows of the row groups that are in the file.
    file_rows: usize,
    written: Written,
}

/// What has been written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Files.
    pub(super) parts: usize,
    /// Of the rows of each row group, over all files.
    pub(super) hashes: Vec<blake3::Hash>,
}

impl ChargesFiles {
    /// No file yet.
    pub(super) fn new(folder: &Path, layout: Layout) -> Result<Self, StoreError> {
        let canonical = charges::schema();
        let failed = |error| StoreError::parquet(folder, error);
        let schema = ArrowSchemaConverter::new().convert(&canonical).map_err(failed)?;
        let mut properties = table_properties(layout.row_group_rows).build();
        add_encoded_arrow_schema_to_metadata(&canonical, &mut properties);
        let group = RowGroup::new(&schema).map_err(|error| StoreError::io("compress for", folder, error))?;
        Ok(Self {
            folder: folder.to_owned(),
            layout,
            schema: schema.root_schema_ptr(),
            properties: Arc::new(properties),
            group,
            file: None,
            file_rows: 0,
            written: Written::default(),
        })
    }

    /// Appends the rows of a canonical batch.
    pub(super) fn append(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        let mut offset = 0;
        while offset < batch.num_rows() {
            let room = self.layout.row_group_rows - self.group.rows();
            let end = batch.num_rows().min(offset + room);
            let appended = self.group.append(batch, offset..end);
            appended.map_err(|error| StoreError::parquet(&self.folder, error))?;
            if end - offset == room {
                self.end_group()?;
            }
            offset = end;
        }
        Ok(())
    }

    /// Ends the last file.
    pub(super) fn finish(mut self) -> Result<Written, StoreError> {
        if self.group.rows() > 0 {
            self.end_group()?;
        }
        self.end_file()?;
        Ok(self.written)
    }

    fn end_group(&mut self) -> Result<(), StoreError> {
        let (path, file) = match &mut self.file {
            Some(file) => file,
            None => {
                let file = self.begin_file()?;
                self.file.insert(file)
            }
        };
        self.file_rows += self.group.rows();
        let hash = self.group.close(file).map_err(|error| StoreError::parquet(path, error))?;
        self.written.hashes.push(hash);
        if self.file_rows >= self.layout.part_rows {
            self.end_file()?;
        }
        Ok(())
    }

    fn begin_file(&self) -> Result<(PathBuf, SerializedFileWriter<BufWriter<File>>), StoreError> {
        let path = self.folder.join(part_name(self.written.parts));
        let file = File::create_new(&path).map_err(|error| StoreError::io("make", &path, error))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let writer = SerializedFileWriter::new(file, Arc::clone(&self.schema), Arc::clone(&self.properties))
            .map_err(|error| StoreError::parquet(&path, error))?;
        Ok((path, writer))
    }

    fn end_file(&mut self) -> Result<(), StoreError> {
        let Some((path, file)) = self.file.take() else { return Ok(()) };
        let file = file.into_inner().map_err(|error| StoreError::parquet(&path, error))?;
        let file = file.into_inner().map_err(|error| StoreError::io("write", &path, error.into_error()))?;
        file.sync_all().map_err(|error| StoreError::io("sync", &path, error))?;
        self.written.parts += 1;
        self.file_rows = 0;
        Ok(())
    }
}
