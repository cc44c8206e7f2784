//! The manifest of an inventory: its bucket, its columns, and its data files.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use ledger::Timestamp;
use serde::Deserialize;

use super::CANNOT_READ;
use crate::SourceError;
use crate::telemetry::attempts::cannot_read;
use crate::telemetry::shared::clock;

/// Largest manifest, in bytes: a hundred thousand data files have less.
const MAX_MANIFEST: u64 = 64 * 1024 * 1024;

/// A manifest.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) bucket: String,
    /// When the inventory was begun.
    pub(super) created: Option<Timestamp>,
    pub(super) columns: Columns,
    files: Vec<(String, Option<u64>)>,
}

/// Where the columns stand that are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Columns {
    pub(super) count: usize,
    pub(super) key: usize,
    pub(super) size: usize,
    pub(super) bucket: Option<usize>,
    pub(super) modified: Option<usize>,
    pub(super) class: Option<usize>,
    pub(super) is_latest: Option<usize>,
    pub(super) is_delete_marker: Option<usize>,
}

/// A data file that is here.
#[derive(Debug)]
pub(super) struct DataFile {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

#[derive(Deserialize)]
struct Text {
    #[serde(rename = "sourceBucket")]
    source_bucket: String,
    #[serde(rename = "fileFormat", default)]
    file_format: String,
    #[serde(rename = "fileSchema")]
    file_schema: String,
    #[serde(rename = "creationTimestamp", default)]
    creation_timestamp: Option<String>,
    files: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    key: String,
    #[serde(default)]
    size: Option<u64>,
}

impl Manifest {
    /// The manifest in a file, or nothing, if the file is none.
    ///
    /// # Errors
    /// The file breaks off, or is a manifest whose inventory cannot be read.
    pub(super) fn of_file(path: &Path, name: &str) -> Result<Option<Self>, SourceError> {
        let file = File::open(path).map_err(|error| cannot_read(CANNOT_READ, name, &error))?;
        let mut start = [0; 1];
        let mut input = BufReader::new(file).take(MAX_MANIFEST);
        // A listing may be large; only a JSON object can be a manifest.
        if input.read(&mut start).map_err(|error| cannot_read(CANNOT_READ, name, &error))? == 0
            || &start != b"{"
        {
            return Ok(None);
        }
        let text = serde_json::from_reader::<_, Text>(start.as_slice().chain(input));
        let Ok(text) = text else { return Ok(None) };
        if !text.file_format.is_empty() && !text.file_format.eq_ignore_ascii_case("CSV") {
            return Err(SourceError::new("s3_inventory::not_csv", "the inventory is not in CSV")
                .at(name)
                .expected("`\"fileFormat\" : \"CSV\"`", text.file_format)
                .help("configure an inventory with the output format CSV"));
        }
        let columns = Columns::of(&text.file_schema).map_err(|error| error.at(name))?;
        let created = text.creation_timestamp.and_then(|millis| millis.trim().parse().ok());
        Ok(Some(Self {
            bucket: text.source_bucket,
            created: created.and_then(clock::of_millis),
            columns,
            files: text.files.into_iter().map(|file| (file.key, file.size)).collect(),
        }))
    }

    /// The data files, where they lie beside the manifest.
    ///
    /// # Errors
    /// One is missing, or is not of its size.
    pub(super) fn data_files(&self, manifest: &Path) -> Result<Vec<DataFile>, SourceError> {
        let here = manifest.parent().unwrap_or_else(|| Path::new("."));
        let above = here.parent().unwrap_or(here);
        let mut found = Vec::with_capacity(self.files.len());
        for (key, size) in &self.files {
            // Only its name: what a manifest says of other folders is of a bucket.
            let name = key.rsplit('/').next().unwrap_or(key);
            let places = [above.join("data"), here.join("data"), here.to_owned()];
            let path = places.iter().map(|place| place.join(name)).find(|path| path.is_file());
            let Some(path) = path.filter(|_| !matches!(name, "" | "." | "..")) else {
                return Err(SourceError::new(
                    "s3_inventory::missing_file",
                    "a data file of the inventory is not here",
                )
                .at(key.as_str())
                .expected("it beside the manifest, or in `data/` beside its folder", "none")
                .help("copy the whole folder of the inventory's configuration"));
            };
            let length = path.metadata().map(|metadata| metadata.len());
            let length = length.map_err(|error| cannot_read(CANNOT_READ, name, &error))?;
            if let Some(size) = size.filter(|size| *size != length) {
                return Err(SourceError::new("s3_inventory::wrong_size", "a data file is not of its size")
                    .at(name)
                    .expected(format!("{size} bytes, as the manifest says"), format!("{length}"))
                    .help("copy it again; a copy that broke off is shorter"));
            }
            found.push(DataFile { name: name.to_owned(), path });
        }
        Ok(found)
    }
}

impl Columns {
    fn of(schema: &str) -> Result<Self, SourceError> {
        let names: Vec<&str> = schema.split(',').map(str::trim).collect();
        let at = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let (Some(key), Some(size)) = (at("Key"), at("Size")) else {
            return Err(SourceError::new("s3_inventory::missing_column", "the inventory lacks a column")
                .expected("`Key` and `Size`", schema)
                .help("add Size, and LastModifiedDate and StorageClass, to the inventory's fields"));
        };
        Ok(Self {
            count: names.len(),
            key,
            size,
            bucket: at("Bucket"),
            modified: at("LastModifiedDate"),
            class: at("StorageClass"),
            is_latest: at("IsLatest"),
            is_delete_marker: at("IsDeleteMarker"),
        })
    }
}
