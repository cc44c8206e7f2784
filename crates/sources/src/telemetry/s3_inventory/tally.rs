//! Sums over objects as they pass: bytes by prefix and class, and the parts of checkpoints.

use std::collections::BTreeMap;

use ledger::{Observation, RunRecord, StoredBytes, Timestamp};

use super::checkpoint::Runs;
use super::{Object, S3InventoryOptions};
use crate::SourceError;
use crate::telemetry::TelemetryRead;

/// Folders of a key by which bytes are summed up.
const DEPTH: usize = 2;

/// Prefixes that are kept apart.
const MAX_PREFIXES: usize = 200_000;

/// What is summed up together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    bucket: String,
    prefix: String,
    class: Option<String>,
    is_current: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    objects: u64,
    bytes: u64,
}

/// All sums of an import.
#[derive(Debug)]
pub(super) struct Tally {
    depth: usize,
    max_prefixes: usize,
    sums: BTreeMap<Place, Sum>,
    runs: Runs,
    newest: Option<Timestamp>,
    without_time: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            depth: DEPTH,
            max_prefixes: MAX_PREFIXES,
            sums: BTreeMap::new(),
            runs: Runs::default(),
            newest: None,
            without_time: 0,
        }
    }
}

impl Tally {
    /// Adds an object.
    ///
    /// # Errors
    /// There are more checkpoints than can be held, or more bytes than can be counted.
    pub(super) fn take(&mut self, object: Object<'_>) -> Result<(), SourceError> {
        self.newest = self.newest.max(object.modified);
        self.without_time += u64::from(object.modified.is_none());
        let place = Place {
            bucket: object.bucket.to_owned(),
            prefix: prefix(object.key, self.depth).to_owned(),
            class: object.class.map(str::to_owned),
            is_current: object.is_current,
        };
        let sum = self.sums.entry(place).or_default();
        sum.objects = sum.objects.saturating_add(1);
        sum.bytes = sum.bytes.checked_add(object.bytes).ok_or_else(|| {
            SourceError::new("s3_inventory::too_many_bytes", "a prefix has more bytes than can be counted")
                .at(format!("s3://{}/{}", object.bucket, object.key))
                .help("check the sizes in the file")
        })?;
        // That a depth has too many prefixes does not depend on the order of the objects.
        while self.sums.len() > self.max_prefixes && self.depth > 0 {
            self.depth -= 1;
            for (mut place, part) in std::mem::take(&mut self.sums) {
                place.prefix = prefix(&place.prefix, self.depth).to_owned();
                let sum = self.sums.entry(place).or_default();
                sum.objects = sum.objects.saturating_add(part.objects);
                sum.bytes = sum.bytes.saturating_add(part.bytes);
            }
        }
        if object.is_current { self.runs.take(object) } else { Ok(()) }
    }

    /// Tells the sums and checkpoints, in order.
    pub(super) fn finish(
        &mut self,
        read: &mut TelemetryRead,
        taken_at: Option<Timestamp>,
        options: &S3InventoryOptions,
    ) {
        if let Some(at) = taken_at.or(self.newest) {
            for (place, sum) in std::mem::take(&mut self.sums) {
                let Place { bucket, prefix, class, is_current } = place;
                let key = format!("s3://{bucket}/{}", prefix.trim_end_matches('/'));
                let Sum { objects, bytes } = sum;
                let stored = StoredBytes { bucket, prefix, class, is_current, objects, bytes, at };
                read.observations.push(Observation {
                    source: options.source.clone(),
                    key: key.trim_end_matches('/').to_owned(),
                    modified_at: Some(at),
                    record: RunRecord::Stored(stored),
                });
            }
        }
        std::mem::take(&mut self.runs).finish(read, &options.source);
        let folded = u64::try_from(DEPTH - self.depth).unwrap_or(0);
        let told = "folder(s) less than usual tell where bytes rest, since there are too many prefixes";
        read.warn_of(folded, "s3_inventory::many_prefixes", (told, "list a prefix at a time for more"));
        let told = "object(s) have no time, so nothing tells when a checkpoint was complete";
        let help = "add `LastModifiedDate` to the inventory's fields";
        read.warn_of(self.without_time, "s3_inventory::without_time", (told, help));
    }
}

/// The first folders of a key, with the last `/`.
fn prefix(key: &str, depth: usize) -> &str {
    let ends = key.match_indices('/').map(|(at, _)| at + 1).take(depth);
    ends.last().and_then(|end| key.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(key: &str) -> Object<'_> {
        Object { bucket: "b", key, bytes: 10, modified: None, class: None, is_current: true }
    }

    fn sums(keys: &[String], max_prefixes: usize) -> (usize, Vec<(String, u64)>) {
        let mut tally = Tally { max_prefixes, ..Tally::default() };
        for key in keys {
            tally.take(object(key)).unwrap();
        }
        (tally.depth, tally.sums.iter().map(|(place, sum)| (place.prefix.clone(), sum.bytes)).collect())
    }

    #[test]
    fn a_prefix_is_the_first_folders_of_a_key() {
        for (key, expect) in
            [("a/b/c/d", "a/b/"), ("a/b/", "a/b/"), ("a/b", "a/"), ("a", ""), ("", ""), ("/a/b", "/a/")]
        {
            assert_eq!(prefix(key, 2), expect, "for {key}");
        }
    }

    #[test]
    fn too_many_prefixes_are_summed_up_by_fewer_folders_and_no_byte_is_lost() {
        let keys: Vec<String> = (0..30).map(|n| format!("r{}/s{n}/x", n % 3)).collect();
        let reversed: Vec<String> = keys.iter().rev().cloned().collect();
        for (limit, depth, count) in [(30, 2, 30), (29, 1, 3), (2, 0, 1)] {
            let (found, sums_of) = sums(&keys, limit);
            assert_eq!((found, sums_of.len()), (depth, count), "for {limit}");
            assert_eq!(sums_of.iter().map(|(_, bytes)| bytes).sum::<u64>(), 300);
            assert_eq!(sums(&reversed, limit), (found, sums_of), "in any order");
        }
    }
}
