//! The spool file of a run: lines are added, never changed; start and end are on disk before one goes on.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A spool file, or the knowledge that there is none.
#[derive(Debug)]
pub(crate) struct Spool {
    file: Option<Open>,
    failed: bool,
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    length: u64,
}

impl Spool {
    /// A new file in a folder, which is made if need be. The name tells processes of one attempt apart.
    pub(crate) fn create(folder: &Path, attempt: &str, warn: &(dyn Fn(String) + Sync)) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = attempt.chars().map(plain).take(100).collect();
        let host: String =
            rustix::system::uname().nodename().to_string_lossy().chars().map(plain).take(64).collect();
        let path = folder.join(format!("{name}.{host}.{}.ndjson", std::process::id()));
        let opened = create_dir_all(folder)
            .and_then(|()| OpenOptions::new().append(true).create_new(true).open(&path));
        match opened {
            Ok(file) => Self { file: Some(Open { file, path, length: 0 }), failed: false },
            Err(error) => {
                warn(format!("the record of this run cannot be kept in {}: {error}", path.display()));
                Self { file: None, failed: true }
            }
        }
    }

    /// Where the program may leave marks, beside the record.
    pub(crate) fn marks(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|open| open.path.with_extension("marks"))
    }

    /// Adds an event; `durable` waits until it is on disk.
    pub(crate) fn write(&mut self, event: &Value, durable: bool, warn: &(dyn Fn(String) + Sync)) {
        let Some(Open { file, path, length }) = &mut self.file else { return };
        let line = format!("{event}\n");
        // One write a line: what a kill cuts off is at most the last line.
        let written = file.write_all(line.as_bytes());
        match &written {
            Ok(()) => *length += line.len() as u64,
            // A full disk takes a part of a line; what is written after it, once there is room, must not join it.
            Err(_) => {
                let _ = file.set_len(*length);
            }
        }
        let written = written.and_then(|()| if durable { file.sync_data() } else { Ok(()) });
        if let Err(error) = written
            && !std::mem::replace(&mut self.failed, true)
        {
            warn(format!("the record of this run is incomplete in {}: {error}", path.display()));
        }
    }

    /// Where the record lies, if it is whole.
    pub(crate) fn close(&mut self) -> Option<PathBuf> {
        let open = self.file.take()?;
        (!self.failed).then_some(open.path)
    }
}
