//! A file that is held in memory as a whole, up to a limit.

use std::io::{BufRead, Read};

use crate::SourceError;
use crate::telemetry::attempts::cannot_read;

/// Largest such file, in bytes.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// What is said of a file that cannot be held.
#[derive(Debug, Clone, Copy)]
pub(in crate::telemetry) struct Unheld {
    /// The code, if it breaks off.
    pub(in crate::telemetry) cannot_read: &'static str,
    /// The code, if it is too large.
    pub(in crate::telemetry) too_large: &'static str,
    /// What helps, if it is too large.
    pub(in crate::telemetry) help: &'static str,
}

/// All bytes of a file.
///
/// # Errors
/// Where it breaks off, or is larger than 256 MiB.
pub(in crate::telemetry) fn read(
    input: impl BufRead,
    file: &str,
    unheld: Unheld,
) -> Result<Vec<u8>, SourceError> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot_read(unheld.cannot_read, file, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(SourceError::new(unheld.too_large, "the file is too large")
            .at(file)
            .expected(format!("at most {MAX_FILE} bytes"), "more")
            .help(unheld.help));
    }
    Ok(bytes)
}
