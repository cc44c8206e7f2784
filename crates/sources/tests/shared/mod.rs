//! Samples that are kept beside the repository, not in it.

#![expect(clippy::print_stderr, reason = "a skipped sample is said, not hidden")]

use std::path::{Path, PathBuf};

/// The path of a sample of telemetry, or nothing, if it is not here.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/telemetry").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}
