//! Places where inputs lie: a file, a folder or an `s3://` URL, brought to local files for reading.
//!
//! Where a place holds manifests of a cost and usage report, exactly the files of the newest manifest of each billing
//! period are read: data files are written before their manifest, and older or larger runs leave parts behind, so a
//! listing counts twice what a manifest counts once. A place without manifests is one delivery of all its data files.
//! Objects are spooled to a temporary folder, which lives as long as the input.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use tempfile::TempDir;

use crate::SourceError;
use crate::billing::{BillFile, BillInput, BillWarning};

mod bucket;
mod delivery;
mod format;
mod local;
mod manifest;

use delivery::Chosen;

/// What a place may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceLimits {
    /// Most files listed.
    pub entries: usize,
    /// Deepest folder.
    pub depth: usize,
    /// Most bytes of objects spooled to disk.
    pub spool_bytes: u64,
    /// Largest manifest.
    pub manifest_bytes: u64,
}

impl Default for PlaceLimits {
    fn default() -> Self {
        Self { entries: 200_000, depth: 16, spool_bytes: 64 << 30, manifest_bytes: 32 << 20 }
    }
}

/// A file or object that a place lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// Path from the root of the place, or the object's key, with `/`.
    key: String,
    bytes: u64,
    /// Seconds since the epoch.
    modified: i64,
}

/// A place that lists and gives files.
trait Place {
    /// Every file, sorted by key.
    fn list(&self) -> Result<Vec<Entry>, SourceError>;

    /// A small file as text.
    fn text(&self, entry: &Entry) -> Result<String, SourceError>;

    /// Local paths of files, fetched if need be.
    fn bring(&self, entries: &[Entry]) -> Result<Vec<PathBuf>, SourceError>;

    /// The name of the bucket, where keys are those of objects.
    fn bucket(&self) -> Option<&str>;

    /// The folder that must outlive the input.
    fn spool(&self) -> Option<Arc<TempDir>>;
}

/// Opens a place: a path or an `s3://bucket/prefix` URL.
///
/// The bucket's endpoint, region and credentials come from the usual `AWS_…` variables.
///
/// # Errors
/// `place::not_found`, `place::unreachable`, `bill::no_files`, `bill::incomplete_delivery`, `bill::hostile_manifest`,
/// `bill::several_reports`, `bill::bad_manifest`, `bill::unsupported_compression` or `bill::too_large`.
pub fn open(location: &str, limits: &PlaceLimits) -> Result<BillInput, SourceError> {
    if let Some(rest) = location.strip_prefix("s3://").or_else(|| location.strip_prefix("s3a://")) {
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        // The runtime of the client must neither start nor end inside a caller's own.
        return std::thread::scope(|scope| {
            let client = AmazonS3Builder::from_env();
            let opened =
                scope.spawn(|| open_place(&bucket::Bucket::new(client, name, prefix, limits)?, limits));
            opened.join().unwrap_or_else(|_| {
                Err(SourceError::new(
                    "place::unreachable",
                    "the client of the bucket ended without an answer",
                ))
            })
        });
    }
    let path = Path::new(location.strip_prefix("file://").unwrap_or(location));
    if path.is_file() {
        return open_file(path);
    }
    if !path.is_dir() {
        return Err(SourceError::new("place::not_found", format!("there is no file or folder `{location}`")));
    }
    open_place(&local::Folder { root: path.to_owned(), limits: *limits }, limits)
}

fn open_file(path: &Path) -> Result<BillInput, SourceError> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if manifest::is_manifest_name(&name) {
        return Err(SourceError::new(
            "bill::no_files",
            format!("`{name}` is the manifest of a bill, not the bill"),
        )
        .help("name the folder of the export, which holds the manifest and the files that it lists"));
    }
    let bytes = path.metadata().map_or(0, |metadata| metadata.len());
    let format = format::of(path, &name)?;
    let file = BillFile { path: path.to_owned(), name, bytes, format, period: None };
    Ok(BillInput { files: vec![file], warnings: Vec::new(), spool: None })
}

fn open_place(place: &dyn Place, limits: &PlaceLimits) -> Result<BillInput, SourceError> {
    let entries = place.list()?;
    let chosen = delivery::choose(place, &entries, limits)?;
    if chosen.files.is_empty() {
        return Err(SourceError::new("bill::no_files", "there is no data file to read")
            .expected(
                "*.csv, *.csv.gz, *.parquet, *.json or *.jsonl",
                format!("{} other file(s)", entries.len()),
            )
            .help("name the folder or prefix of the export"));
    }
    bring(place, chosen)
}

fn bring(place: &dyn Place, chosen: Chosen) -> Result<BillInput, SourceError> {
    let entries: Vec<Entry> = chosen.files.iter().map(|(entry, _)| entry.clone()).collect();
    let paths = place.bring(&entries)?;
    let mut files = Vec::with_capacity(paths.len());
    for ((entry, period), path) in chosen.files.into_iter().zip(paths) {
        let format = format::of(&path, &entry.key)?;
        files.push(BillFile { path, name: entry.key, bytes: entry.bytes, format, period });
    }
    let mut warnings = chosen.warnings;
    let json = files.iter().filter(|file| file.format.is_json()).count();
    if json > 0 && json < files.len() {
        warnings.push(BillWarning::new(
            "bill::mixed_formats",
            format!("{json} JSON file(s) lie beside the tables"),
        ));
    }
    Ok(BillInput { files, warnings, spool: place.spool() })
}
