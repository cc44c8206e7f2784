//! Reads what lies in S3 buckets: inventories, answers of `list-objects-v2`, and plain listings; the checkpoints in them.
//!
//! # What it reads
//!
//! The form is found by content.
//!
//! * An S3 Inventory in CSV: its `manifest.json`, or a folder with manifests, of which the newest of each bucket is taken.
//!   The data files, compressed with gzip, lie in the folder as in the bucket (`data/` beside that of the manifest), or
//!   beside it. All must be there, and of the size that the manifest says. Columns are those of `fileSchema`: `Key` and
//!   `Size` are needed, `LastModifiedDate` and `StorageClass` wanted, `IsLatest` and `IsDeleteMarker` of versions read.
//! * Answers of `list-objects-v2` or `list-object-versions` as JSON, one after another:
//!
//!   ```text
//!   aws s3api list-objects-v2 --bucket ml-runs --prefix vitl/ > listing.json
//!   ```
//!
//! * What `aws s3 ls --recursive` prints, whose times are local and need a declared zone.
//!
//! A listing does not name its bucket, and the user says it.
//!
//! | where | what it becomes |
//! |---|---|
//! | a part of the key `global_step<n>`, `checkpoint-<n>` or `iter_<n>`, or with `step=<n>` or `epoch=<n>` in it | a checkpoint: the folder, or the file |
//! | `.metadata` or `_SUCCESS` in it | it is complete since that was written |
//! | `latest` or `latest_checkpointed_iteration.txt` above it | it is complete if nothing in it is newer |
//! | the newest `LastModified` in it | when it was complete, if there are no such markers |
//! | the folder of `model.safetensors`, `pytorch_model.bin`, their `.index.json`, `….onnx`, `….gguf` | a model |
//! | the first folders of a key, with the storage class | bytes and objects that rest there |
//!
//! # How a record becomes an attempt
//!
//! None does. A complete checkpoint or a model is given to the attempt that ran when it was complete, among those that
//! hold the bucket's prefix or say that something of theirs lies there: give the prefix as a resource of the attempt. A
//! checkpoint without its marker, in a place where others have theirs, is not complete, and nothing restarts from it.
//!
//! Bytes are summed up by storage class and the first two folders; where there are more than 200,000 of these, by fewer
//! folders, so that memory does not follow the size of the inventory. The sums are always those of all rows. Versions
//! that are not the latest are counted apart, since they are billed as well, and are in no checkpoint.
//!
//! # What it cannot tell
//!
//! * When the writing of a checkpoint began; and of an upload in parts only when it began: S3 says no other time.
//! * The step of a checkpoint that is named by its epoch.
//! * What was in the bucket between two listings. Objects that an inventory lists may be gone since.
//! * Inventories in ORC or Parquet: configure CSV.
//!
//! # References
//!
//! * <https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory.html>
//! * <https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory-location.html>
//! * <https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>

mod checkpoint;
mod inventory;
mod listing;
mod manifest;
mod name;
mod tally;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use ledger::{SourceId, Timestamp};

use self::manifest::Manifest;
use self::tally::Tally;
use super::TelemetryRead;
use super::attempts::{Refusal, cannot_read};
use super::shared::folder;
use crate::{SourceError, Zone};

/// Rejections of one import; beyond, the columns are not those of the manifest.
const MAX_REJECTIONS: usize = 100_000;

const CANNOT_READ: &str = "s3_inventory::cannot_read";

/// What the user says beside the place.
#[derive(Debug, Clone)]
pub struct S3InventoryOptions {
    /// The source of the records.
    pub source: SourceId,
    /// The bucket of listings, which do not name theirs.
    pub bucket: Option<String>,
    /// When a listing was made; without it, the newest time in it. An inventory knows its own.
    pub taken_at: Option<Timestamp>,
    /// Zone of times that carry none.
    pub zone: Zone,
}

/// Reads a manifest with its data files, a folder of manifests, or a file with a listing.
///
/// # Errors
/// A coded error where the place as a whole cannot be read: nothing of the kind is there, a data file is missing or not
/// of its size, an inventory is not CSV, nothing names the bucket, or a bare time has no zone.
pub fn read_place(place: &Path, options: &S3InventoryOptions) -> Result<TelemetryRead, SourceError> {
    if place.is_dir() {
        return read_folder(place, options);
    }
    let name = place.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if let Some(manifest) = Manifest::of_file(place, &name)? {
        return inventories(vec![(place.to_owned(), manifest)], options);
    }
    let file = File::open(place).map_err(|error| cannot_read(CANNOT_READ, &name, &error))?;
    read(BufReader::new(file), &name, options)
}

/// Reads a file with a listing.
///
/// # Errors
/// As [`read_place`].
pub fn read(
    input: impl BufRead,
    file: &str,
    options: &S3InventoryOptions,
) -> Result<TelemetryRead, SourceError> {
    let mut import = Import::new();
    listing::read(input, (file, options), &mut import)?;
    Ok(import.finished(options.taken_at, options))
}

fn read_folder(root: &Path, options: &S3InventoryOptions) -> Result<TelemetryRead, SourceError> {
    let found = folder::files(root, CANNOT_READ)?;
    let mut newest: Vec<(PathBuf, Manifest)> = Vec::new();
    for file in found.iter().filter(|file| file.last() == "manifest.json") {
        let Some(manifest) = Manifest::of_file(&file.path, &file.name)? else { continue };
        match newest.iter_mut().find(|(_, known)| known.bucket == manifest.bucket) {
            Some(known) if known.1.created < manifest.created => *known = (file.path.clone(), manifest),
            Some(_) => {}
            None => newest.push((file.path.clone(), manifest)),
        }
    }
    if newest.is_empty() {
        return Err(SourceError::new(
            "s3_inventory::no_manifest",
            "the folder has no manifest of an inventory",
        )
        .at(root.display().to_string())
        .expected("a file `manifest.json` with `fileSchema`", "none")
        .help("copy the folder of the inventory's configuration, with its dates and `data/`"));
    }
    inventories(newest, options)
}

fn inventories(
    manifests: Vec<(PathBuf, Manifest)>,
    options: &S3InventoryOptions,
) -> Result<TelemetryRead, SourceError> {
    let mut all = TelemetryRead::default();
    for (path, manifest) in manifests {
        let mut import = Import::new();
        for file in manifest.data_files(&path)? {
            inventory::read(&file, &manifest, &mut import)?;
        }
        let read = import.finished(manifest.created.or(options.taken_at), options);
        all.observations.extend(read.observations);
        all.rejections.extend(read.rejections);
        all.warnings.extend(read.warnings);
        all.rows += read.rows;
        all.accepted += read.accepted;
    }
    Ok(all)
}

/// One object, or one version of it.
#[derive(Debug, Clone, Copy)]
struct Object<'a> {
    bucket: &'a str,
    key: &'a str,
    bytes: u64,
    modified: Option<Timestamp>,
    class: Option<&'a str>,
    is_current: bool,
}

/// What is gathered while rows are read.
struct Import {
    read: TelemetryRead,
    tally: Tally,
}

impl Import {
    fn new() -> Self {
        Self { read: TelemetryRead::default(), tally: Tally::default() }
    }

    /// Counts a row, and what it says: an object, or nothing.
    fn row(
        &mut self,
        (file, number): (&str, u64),
        row: Result<Option<Object<'_>>, Refusal>,
    ) -> Result<(), SourceError> {
        let taken = match row {
            Ok(object) => {
                object.map_or(Ok(()), |object| self.tally.take(object))?;
                Ok(())
            }
            Err(refusal) => Err(refusal),
        };
        self.read.count(taken, file, number);
        if self.read.rejections.len() > MAX_REJECTIONS {
            return Err(SourceError::new("s3_inventory::too_many_rejections", "nearly no row can be read")
                .at(format!("{file}:{number}"))
                .expected("rows with the columns that `fileSchema` names", "other ones")
                .help("check that the data files are those of the manifest"));
        }
        Ok(())
    }

    fn finished(mut self, taken_at: Option<Timestamp>, options: &S3InventoryOptions) -> TelemetryRead {
        self.tally.finish(&mut self.read, taken_at, options);
        self.read
    }
}
