//! The files under a folder, in one order, within bounds and without following links.

use std::fs;
use std::path::{Path, PathBuf};

use crate::SourceError;

/// Files and folders looked at.
const MAX_ENTRIES: usize = 1_000_000;

/// Folders inside folders.
const MAX_DEPTH: usize = 24;

/// A file, with its path below the root, separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::telemetry) struct Found {
    pub(in crate::telemetry) name: String,
    pub(in crate::telemetry) path: PathBuf,
}

impl Found {
    /// The parts of the name.
    pub(in crate::telemetry) fn parts(&self) -> Vec<&str> {
        self.name.split('/').collect()
    }

    /// The name without folders.
    pub(in crate::telemetry) fn last(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// The folder's name, empty for the root.
    pub(in crate::telemetry) fn folder(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// All files under `root` by name. Symbolic links are not followed: `latest-run` would be read twice.
///
/// # Errors
/// `code`, where a folder cannot be listed or holds too much.
pub(in crate::telemetry) fn files(root: &Path, code: &'static str) -> Result<Vec<Found>, SourceError> {
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), String::new(), 0_usize)];
    let mut entries = 0_usize;
    while let Some((folder, name, depth)) = open.pop() {
        let unreadable = |error: std::io::Error| {
            SourceError::new(code, format!("cannot read the folder: {error}"))
                .at(folder.display().to_string())
                .help("check the path and its permissions")
        };
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            entries = entries.saturating_add(1);
            if entries > MAX_ENTRIES || depth > MAX_DEPTH {
                let limits = format!("at most {MAX_ENTRIES} files and {MAX_DEPTH} folders inside each other");
                return Err(SourceError::new(code, "the folder holds too much for one import")
                    .at(root.display().to_string())
                    .expected(limits, "more")
                    .help("import its sub-folders one by one"));
            }
            let kind = entry.file_type().map_err(unreadable)?;
            let last = entry.file_name().to_string_lossy().into_owned();
            let below = if name.is_empty() { last } else { format!("{name}/{last}") };
            if kind.is_dir() {
                open.push((entry.path(), below, depth + 1));
            } else if kind.is_file() {
                found.push(Found { name: below, path: entry.path() });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
