//! How far an import has come, over all of its files.

use crate::billing::BillOptions;

/// Rows and bytes of the files read so far.
#[derive(Debug, Default)]
pub(in crate::billing) struct Advance {
    rows_before: u64,
    bytes_before: u64,
    /// Rows and bytes of the file read now.
    at: (u64, u64),
}

impl Advance {
    /// Says that another file starts.
    pub(in crate::billing) const fn next_file(&mut self) {
        self.rows_before += self.at.0;
        self.bytes_before += self.at.1;
        self.at = (0, 0);
    }

    /// Tells the caller of the import about rows and bytes of the file read now.
    pub(in crate::billing) fn tell(&mut self, options: &BillOptions, rows: u64, bytes: u64) {
        self.at = (rows, bytes);
        if let Some(progress) = &options.progress {
            progress(self.rows_before + rows, self.bytes_before + bytes);
        }
    }
}
