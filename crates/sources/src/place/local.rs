//! A folder on the local disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use tempfile::TempDir;

use super::{Entry, Place, PlaceLimits};
use crate::SourceError;

/// A folder; links to folders are not followed and hidden files are not listed.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) root: PathBuf,
    pub(super) limits: PlaceLimits,
}

impl Place for Folder {
    fn list(&self) -> Result<Vec<Entry>, SourceError> {
        let mut entries = Vec::new();
        self.walk(&self.root, "", 0, &mut entries)?;
        entries.sort();
        Ok(entries)
    }

    fn text(&self, entry: &Entry) -> Result<String, SourceError> {
        if entry.bytes > self.limits.manifest_bytes {
            return Err(SourceError::new("bill::too_large", "the manifest is too large").at(&entry.key));
        }
        fs::read_to_string(self.root.join(&entry.key)).map_err(|fault| unreadable(&entry.key, &fault))
    }

    fn bring(&self, entries: &[Entry]) -> Result<Vec<PathBuf>, SourceError> {
        Ok(entries.iter().map(|entry| self.root.join(&entry.key)).collect())
    }

    fn bucket(&self) -> Option<&str> {
        None
    }

    fn spool(&self) -> Option<Arc<TempDir>> {
        None
    }
}

impl Folder {
    fn walk(
        &self,
        folder: &Path,
        prefix: &str,
        depth: usize,
        out: &mut Vec<Entry>,
    ) -> Result<(), SourceError> {
        let shown = if prefix.is_empty() { "." } else { prefix };
        if depth > self.limits.depth {
            let message = format!("folders are nested deeper than {}", self.limits.depth);
            return Err(SourceError::new("bill::too_large", message).at(shown));
        }
        for item in fs::read_dir(folder).map_err(|fault| unreadable(shown, &fault))? {
            let item = item.map_err(|fault| unreadable(shown, &fault))?;
            let Ok(name) = item.file_name().into_string() else { continue };
            if name.starts_with('.') {
                continue;
            }
            let key = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            if item.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.walk(&item.path(), &key, depth + 1, out)?;
                continue;
            }
            let Ok(metadata) = fs::metadata(item.path()) else { continue };
            if metadata.is_file() {
                let age = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let modified = age.map_or(0, |age| i64::try_from(age.as_secs()).unwrap_or(0));
                out.push(Entry { key, bytes: metadata.len(), modified });
            }
            if out.len() > self.limits.entries {
                let message = format!("the folder holds more than {} files", self.limits.entries);
                return Err(SourceError::new("bill::too_large", message).help("name a folder further down"));
            }
        }
        Ok(())
    }
}

fn unreadable(key: &str, fault: &std::io::Error) -> SourceError {
    SourceError::new("place::not_found", format!("cannot be read: {fault}")).at(key)
}
