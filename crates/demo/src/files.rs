//! Files and their folders, with the path in every error.

use std::fs;
use std::path::Path;

use crate::DemoError;

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), DemoError> {
    let fault = |source| DemoError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fault)?;
    }
    fs::write(path, bytes).map_err(fault)
}
