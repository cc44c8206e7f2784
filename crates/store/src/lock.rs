//! The right to write: an exclusive lock of the operating system on a file of the store.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::folder::WRITE_LOCK;

/// Held by the one process that may change the store; freed when dropped or when the process ends.
#[derive(Debug)]
pub struct WriteLock {
    root: PathBuf,
    /// Commits under one lock take turns; true once leftovers of dead processes were removed.
    pub(crate) swept: tokio::sync::Mutex<bool>,
    _file: File,
}

impl WriteLock {
    pub(crate) fn take(root: &Path) -> Result<Self, StoreError> {
        let path = root.join(WRITE_LOCK);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| StoreError::io("open", &path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { path: root.to_owned(), holder: holder(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path, error)),
        }
        sign(&mut file).map_err(|error| StoreError::io("write", &path, error))?;
        Ok(Self { root: root.to_owned(), swept: tokio::sync::Mutex::new(false), _file: file })
    }

    /// Refuses a lock that was taken on another store.
    pub(crate) fn must_be_of(&self, root: &Path) -> Result<(), StoreError> {
        if self.root == root {
            return Ok(());
        }
        Err(StoreError::ForeignLock { path: self.root.clone() })
    }
}

/// Leaves this process's number for those who find the lock taken.
fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
