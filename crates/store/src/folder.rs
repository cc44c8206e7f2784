//! The names of a store's files and folders, and moves of folders that survive a power cut.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::{DeliveryKey, StoreError};

pub(crate) const CATALOG: &str = "catalog.db";
pub(crate) const WRITE_LOCK: &str = "write.lock";
pub(crate) const STAGING: &str = "staging";
pub(crate) const CHARGES: &str = "charges";
pub(crate) const POSTINGS: &str = "postings";

/// The folder of a delivery's charges, relative to the store.
pub(crate) fn charges_of(key: &DeliveryKey) -> PathBuf {
    partition(CHARGES, key)
}

/// The folder of a delivery's postings that were made from the inputs of this hash, relative to the store.
pub(crate) fn postings_of(key: &DeliveryKey, inputs_hash: &str) -> PathBuf {
    partition(POSTINGS, key).join(format!("run={inputs_hash}"))
}

/// The name of the part file at an index.
pub(crate) fn part_name(index: usize) -> String {
    format!("part-{index:05}.parquet")
}

/// A path as the catalog keeps it, with `/` on every system.
pub(crate) fn as_text(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn partition(table: &str, key: &DeliveryKey) -> PathBuf {
    let source = format!("source={}", url_encoded(&key.source.0));
    let period = format!("billing_period={}", key.period);
    PathBuf::from(table).join(source).join(period).join(format!("delivery={}", url_encoded(&key.delivery.0)))
}

/// Text with every byte but letters, digits, `-`, `_` and `.` as `%XX`, as readers of partitioned tables expect it.
fn url_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Makes a folder and those above it, and makes their names durable down from `root`.
pub(crate) fn make_durable(root: &Path, folder: &Path) -> Result<(), StoreError> {
    let mut made = root.to_owned();
    for part in folder {
        let parent = made.clone();
        made.push(part);
        match fs::create_dir(&made) {
            Ok(()) => sync(&parent)?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("make", &made, error)),
        }
    }
    Ok(())
}

/// Makes the names in a folder durable.
pub(crate) fn sync(folder: &Path) -> Result<(), StoreError> {
    let opened = File::open(folder).map_err(|error| StoreError::io("open", folder, error))?;
    opened.sync_all().map_err(|error| StoreError::io("sync", folder, error))
}

/// Removes a folder with all that it holds; one that is not there is fine.
pub(crate) fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", folder, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The folders inside a folder, in order of name; none if it is not there.
pub(crate) fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("list", folder, error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| StoreError::io("list", folder, error))?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::{DeliveryId, SourceId};

    #[test]
    fn a_partition_is_named_as_readers_of_partitioned_tables_expect() {
        let key = DeliveryKey {
            source: SourceId("aws_cur:1111/éa b".to_owned()),
            period: "2026-07".parse().unwrap(),
            delivery: DeliveryId("ab12".to_owned()),
        };
        assert_eq!(
            as_text(&charges_of(&key)),
            "charges/source=aws_cur%3A1111%2F%C3%A9a%20b/billing_period=2026-07/delivery=ab12"
        );
        assert!(as_text(&postings_of(&key, "ff")).ends_with("/delivery=ab12/run=ff"));
        assert_eq!(part_name(7), "part-00007.parquet");
    }
}
