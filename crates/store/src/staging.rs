//! A folder for what is being written, removed again unless it is moved to its place.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::StoreError;
use crate::folder::{self, STAGING};

/// Numbers the staging folders of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Names in use that are passed over before giving up; leftovers of dead processes with our number are few.
const TRIES_MAX: u32 = 10_000;

/// A staging folder of this process.
///
/// A lock on the file beside it tells the sweep of another process that it is in use; the lock ends with the process.
#[derive(Debug)]
pub(crate) struct StagingFolder {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl StagingFolder {
    /// Makes an empty folder under the store's `staging/`.
    pub(crate) fn make(root: &Path) -> Result<Self, StoreError> {
        folder::make_durable(root, Path::new(STAGING))?;
        for _ in 0..TRIES_MAX {
            let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = root.join(STAGING).join(&name);
            let lock_path = lock_of(&path);
            let created = OpenOptions::new().write(true).create_new(true).open(&lock_path);
            let lock = match created {
                Ok(lock) => lock,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(StoreError::io("make", &lock_path, error)),
            };
            if lock.try_lock().is_ok() && fs::create_dir(&path).is_ok() {
                return Ok(Self { path, lock_path, _lock: lock });
            }
        }
        Err(StoreError::io("make a folder in", &root.join(STAGING), std::io::ErrorKind::AlreadyExists.into()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the folder to its place in the store, relative to `root`, and makes the move durable.
    pub(crate) fn move_to(self, root: &Path, place: &Path) -> Result<(), StoreError> {
        folder::sync(&self.path)?;
        if let Some(parent) = place.parent() {
            folder::make_durable(root, parent)?;
        }
        let destination = root.join(place);
        fs::rename(&self.path, &destination)
            .map_err(|error| StoreError::io("move to", &destination, error))?;
        folder::sync(destination.parent().unwrap_or(root))
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next sweep.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(&self.lock_path);
    }
}

/// Removes the staging folders that no living process uses, and counts them.
pub(crate) fn sweep(root: &Path) -> Result<usize, StoreError> {
    let staging = root.join(STAGING);
    let mut removed = 0;
    for path in folder::subfolders(&staging)? {
        let lock_path = lock_of(&path);
        let lock = OpenOptions::new().write(true).open(&lock_path);
        if lock.as_ref().is_ok_and(|lock| lock.try_lock().is_err()) {
            continue;
        }
        folder::remove(&path)?;
        let _ = fs::remove_file(&lock_path);
        removed += 1;
    }
    Ok(removed)
}

fn lock_of(path: &Path) -> PathBuf {
    path.with_extension("lock")
}
