//! A folder on the local disk.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use ledger::Timestamp;
use tempfile::TempDir;

use super::client::Scheme;
use super::{Entry, Place, PlaceLimits};
use crate::SourceError;

/// A file may be written again, to the same size, until the clock of its disk goes on, and no time of the file would
/// tell. The coarsest such clocks go by two seconds.
const TICK: Duration = Duration::from_secs(2);

/// A folder; links to folders are not followed and hidden files are not listed.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) root: PathBuf,
    pub(super) limits: PlaceLimits,
    /// When it is listed.
    pub(super) now: Timestamp,
}

/// The entry of a file that is looked at `now`.
pub(super) fn entry(key: String, metadata: &Metadata, now: Timestamp) -> Entry {
    let age = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = age.map_or(0, |age| i64::try_from(age.as_secs()).unwrap_or(0));
    let now = Duration::from_micros(u64::try_from(now.0).unwrap_or(0));
    let settled = age.filter(|age| age.saturating_add(TICK) < now);
    let version = settled.map(|age| format!("{} {}", age.as_nanos(), changed_at(metadata)));
    Entry { key, bytes: metadata.len(), modified, version }
}

/// When the file or what is known of it changed last: unlike the time of its content, no program can set it back.
#[cfg(unix)]
fn changed_at(metadata: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!("{}.{:09}", metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed_at(_metadata: &Metadata) -> String {
    String::new()
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

    fn bucket(&self) -> Option<(Scheme, &str)> {
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
                out.push(entry(key, &metadata, self.now));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The versions of a file that was changed at this second, looked at this many microseconds later.
    fn version(path: &Path, later: i64) -> Option<String> {
        let time = UNIX_EPOCH + Duration::from_secs(1_000);
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        entry("x".to_owned(), &path.metadata().unwrap(), Timestamp(1_000_000_000 + later)).version
    }

    #[test]
    fn a_file_that_changed_just_now_has_no_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bill.csv");
        fs::write(&path, "a,b").unwrap();
        for (later, told) in [(-1, false), (0, false), (2_000_000, false), (2_000_001, true)] {
            assert_eq!(version(&path, later).is_some(), told, "after {later} microseconds");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_gets_its_old_time_back_is_still_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bill.csv");
        fs::write(&path, "a,b").unwrap();
        let first = version(&path, 10_000_000);
        let mut second = first.clone();
        // The clock of the disk goes in steps.
        while second == first {
            fs::write(&path, "c,d").unwrap();
            second = version(&path, 10_000_000);
        }
        assert!(first.is_some() && second.is_some());
    }
}
