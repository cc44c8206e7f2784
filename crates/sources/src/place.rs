//! A bill lies in a file, a folder, or below an `s3://bucket/prefix` or `gs://bucket/prefix` URL.
//!
//! # Object stores
//!
//! Objects are listed, and those that are read are fetched to a temporary folder (`TMPDIR`) first. An object that changes
//! in between is refused. Endpoint, region and credentials come from the variables that the providers' own tools take:
//!
//! * `s3://`: `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, the variables of web
//!   identities and containers, else the role of the machine; `AWS_ENDPOINT_URL` and `AWS_ALLOW_HTTP` for another server.
//! * `gs://`: `GOOGLE_APPLICATION_CREDENTIALS`, `GOOGLE_SERVICE_ACCOUNT` (a path) or `GOOGLE_SERVICE_ACCOUNT_KEY`, the
//!   application default credentials of `gcloud`, else the account of the machine; `GOOGLE_SKIP_SIGNATURE=true` for a
//!   public bucket; `GOOGLE_BASE_URL` for another server, `STORAGE_EMULATOR_HOST` for one that asks for no credentials.
//!
//! # Manifests
//!
//! Where a place holds manifests of a cost and usage report, exactly the files of the newest manifest of each billing
//! period are read: data files are written before their manifest, and older or larger runs leave parts behind, so a
//! listing counts twice what a manifest counts once. A place without manifests is one delivery of all its data files.
//! A manifest that names another bucket, or an object above its report's folder, is refused.
//!
//! # What is not read again
//!
//! An import remembers the name, size and version of every file that it read: the tag of an object, the exact times of a
//! local file. A place that lists the same as before is not read at all, not even its manifests. Where manifests tell the
//! billing periods, only those are read of which a file changed, or whose delivery has been replaced by another import; a
//! place without manifests is read as a whole. So is one whose rows stand in other billing periods than its manifests
//! say, or of which the reader has anything to warn. Warnings are repeated without reading.
//!
//! Read again, in doubt: rows that could not be read; a local file that was written less than two seconds before the
//! import, since no time would tell if it were written again at once; objects that are listed without a tag; everything,
//! after a new release of trainbill, under another `--source`, or with `--replace`. Charges that are not read again are
//! attributed anew where the runs or the rules changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ledger::BillingPeriod;
use tempfile::TempDir;

use crate::SourceError;
use crate::billing::{BillFile, BillInput, BillWarning};

mod bucket;
mod client;
mod delivery;
mod format;
mod known;
mod local;
mod manifest;
mod stated;

use client::Scheme;
use delivery::Chosen;
pub use known::{Known, Part};
pub use stated::StatedPeriods;

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
    /// What changes whenever the content may have: the tag of an object, the exact times of a file. `None` if nothing
    /// tells it.
    version: Option<String>,
}

/// A place that lists and gives files.
trait Place {
    /// Every file, sorted by key.
    fn list(&self) -> Result<Vec<Entry>, SourceError>;

    /// A small file as text.
    fn text(&self, entry: &Entry) -> Result<String, SourceError>;

    /// Local paths of files, fetched if need be.
    fn bring(&self, entries: &[Entry]) -> Result<Vec<PathBuf>, SourceError>;

    /// The scheme and name of the bucket, where keys are those of objects.
    fn bucket(&self) -> Option<(Scheme, &str)>;

    /// The folder that must outlive the input.
    fn spool(&self) -> Option<Arc<TempDir>>;
}

/// A place that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The files to read; none if nothing changed.
    pub input: BillInput,
    /// All its parts, or those that are known if it lists the same as before.
    pub parts: Vec<Part>,
    /// What changes whenever anything in the place does, if it tells.
    pub listing: Option<String>,
    /// What there is to say of the place itself; part of the input's warnings too.
    pub warnings: Vec<BillWarning>,
}

/// Opens a place to read all of it: a path, or an `s3://bucket/prefix` or `gs://bucket/prefix` URL.
///
/// A bucket's endpoint, region and credentials come from the usual `AWS_…` or `GOOGLE_…` variables.
///
/// # Errors
/// `place::not_found`, `place::unreachable`, `bill::no_files`, `bill::incomplete_delivery`, `bill::hostile_manifest`,
/// `bill::several_reports`, `bill::bad_manifest`, `bill::unsupported_compression` or `bill::too_large`.
pub fn open(location: &str, limits: &PlaceLimits) -> Result<BillInput, SourceError> {
    Ok(open_changed(location, limits, &Known::default())?.input)
}

/// Opens a place to read what of it is not known already.
///
/// # Errors
/// As [`open`].
pub fn open_changed(location: &str, limits: &PlaceLimits, known: &Known) -> Result<Opened, SourceError> {
    if let Some((scheme, rest)) = Scheme::of_url(location) {
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(SourceError::new("place::not_found", format!("`{location}` names no bucket")));
        }
        // The runtime of the client must neither start nor end inside a caller's own.
        return std::thread::scope(|scope| {
            let opened = scope
                .spawn(|| open_place(&bucket::Bucket::open(scheme, (name, prefix), limits)?, limits, known));
            opened.join().unwrap_or_else(|_| {
                Err(SourceError::new(
                    "place::unreachable",
                    "the client of the bucket ended without an answer",
                ))
            })
        });
    }
    let path = local_path(location);
    if path.is_file() {
        return open_file(path, known);
    }
    if !path.is_dir() {
        return Err(SourceError::new("place::not_found", format!("there is no file or folder `{location}`")));
    }
    open_place(&local::Folder { root: path.to_owned(), limits: *limits, now: known.now }, limits, known)
}

/// One name for a place, from whatever folder a path is given.
pub fn name(location: &str) -> String {
    if let Some((scheme, rest)) = Scheme::of_url(location) {
        return format!("{}://{}", scheme.word(), rest.trim_end_matches('/'));
    }
    let path = local_path(location);
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

fn local_path(location: &str) -> &Path {
    Path::new(location.strip_prefix("file://").unwrap_or(location))
}

fn open_file(path: &Path, known: &Known) -> Result<Opened, SourceError> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if manifest::is_manifest_name(&name) {
        return Err(SourceError::new(
            "bill::no_files",
            format!("`{name}` is the manifest of a bill, not the bill"),
        )
        .help("name the folder of the export, which holds the manifest and the files that it lists"));
    }
    let entry = path.metadata().map_or_else(
        |_| Entry { key: name.clone(), bytes: 0, modified: 0, version: None },
        |metadata| local::entry(name.clone(), &metadata, known.now),
    );
    let bytes = entry.bytes;
    let parts = known.parts_of(&Chosen { files: vec![(entry, None)], warnings: Vec::new() });
    let mut files = Vec::new();
    if parts.iter().any(|part| part.changed) {
        let format = format::of(path, &name)?;
        files.push(BillFile { path: path.to_owned(), name, bytes, format, period: None });
    }
    let input = BillInput { files, warnings: Vec::new(), spool: None };
    Ok(Opened { input, parts, listing: None, warnings: Vec::new() })
}

fn open_place(place: &dyn Place, limits: &PlaceLimits, known: &Known) -> Result<Opened, SourceError> {
    let entries = place.list()?;
    let listing = known.listing_of(&entries);
    if listing.is_some() && listing == known.listing {
        let input = BillInput { files: Vec::new(), warnings: Vec::new(), spool: None };
        return Ok(Opened { input, parts: known.unchanged(), listing, warnings: Vec::new() });
    }
    let chosen = delivery::choose(place, &entries, limits)?;
    if chosen.files.is_empty() {
        return Err(SourceError::new("bill::no_files", "there is no data file to read")
            .expected(
                "*.csv, *.csv.gz, *.parquet, *.json or *.jsonl",
                format!("{} other file(s)", entries.len()),
            )
            .help("name the folder or prefix of the export"));
    }
    let parts = known.parts_of(&chosen);
    let stands =
        |period: &Option<BillingPeriod>| parts.iter().any(|part| part.period == *period && !part.changed);
    let mut changed = chosen.files;
    changed.retain(|(_, period)| !stands(period));
    let warnings = chosen.warnings;
    let input = bring(place, Chosen { files: changed, warnings: warnings.clone() })?;
    Ok(Opened { input, parts, listing, warnings })
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
