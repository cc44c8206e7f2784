//! Inventories and listings of S3: bytes, checkpoints and models, and what is refused.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;

use ledger::{Checkpoint, RunRecord, SourceId, StoredBytes, Timestamp};
use proptest::prelude::*;
use sources::telemetry::TelemetryRead;
use sources::telemetry::s3_inventory::{S3InventoryOptions, read, read_place};
use sources::{SourceError, Zone};

fn options() -> S3InventoryOptions {
    S3InventoryOptions {
        source: SourceId("s3-inventory".to_owned()),
        bucket: Some("ml-runs".to_owned()),
        taken_at: None,
        zone: Zone::Undeclared,
    }
}

fn typed(text: &str) -> Result<TelemetryRead, SourceError> {
    read(text.as_bytes(), "listing", &options())
}

fn inventory() -> TelemetryRead {
    read_place(&golden::testdata("s3_inventory/synthetic_inventory"), &options()).unwrap()
}

fn checkpoints(read: &TelemetryRead) -> Vec<&Checkpoint> {
    let found = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Checkpoint(checkpoint) => Some(checkpoint),
        _ => None,
    });
    found.collect()
}

fn stored(read: &TelemetryRead) -> Vec<&StoredBytes> {
    let found = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Stored(stored) => Some(stored),
        _ => None,
    });
    found.collect()
}

fn codes(read: &TelemetryRead) -> Vec<&str> {
    read.warnings.iter().map(|warning| warning.code).collect()
}

/// A listing of objects that are one byte each.
fn listing(objects: &[(&str, &str)]) -> TelemetryRead {
    let object = |(key, time): &(&str, &str)| {
        format!(r#"{{"Key":"{key}","Size":1,"LastModified":"2026-07-01T{time}:00Z"}}"#)
    };
    let objects: Vec<String> = objects.iter().map(object).collect();
    typed(&format!(r#"{{"Contents":[{}]}}"#, objects.join(","))).unwrap()
}

/// The checkpoints by name, with the time when each was complete.
fn completed(read: &TelemetryRead) -> Vec<(String, Option<String>)> {
    let name = |uri: &str| uri.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    let time = |at: Timestamp| at.to_string().get(11..16).unwrap().to_owned();
    let told = |c: &&Checkpoint| (name(c.uri.as_deref().unwrap()), c.completed_at.map(time));
    checkpoints(read).iter().map(told).collect()
}

#[test]
fn the_newest_inventory_of_a_folder_is_read_whole() {
    let read = inventory();
    golden::check("s3_inventory/synthetic_inventory.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (16, 16));
    let manifest = golden::testdata("s3_inventory/synthetic_inventory/2026-07-02T01-00Z/manifest.json");
    assert_eq!(read_place(&manifest, &options()).unwrap(), read, "the manifest alone says the same");
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read =
        read_place(&golden::testdata("s3_inventory/synthetic_broken/manifest.json"), &options()).unwrap();
    golden::check("s3_inventory/synthetic_broken.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (7, 2));
}

#[test]
fn an_answer_of_the_api_is_read_whole() {
    let read = documents::file("s3_inventory/synthetic_listing.json", |bytes| {
        read(bytes, "listing.json", &options())
    });
    assert_eq!((read.rows, read.accepted), (6, 4));
}

#[test]
fn a_printed_listing_has_local_times() {
    let text = std::fs::read_to_string(golden::testdata("s3_inventory/synthetic_ls.txt")).unwrap();
    assert_eq!(typed(&text).unwrap_err().code, "s3_inventory::no_time_zone");
    let berlin = S3InventoryOptions { zone: Zone::declared("Europe/Berlin").unwrap(), ..options() };
    let read = read(text.as_bytes(), "ls.txt", &berlin).unwrap();
    golden::check("s3_inventory/synthetic_ls.expected.txt", &read);
    assert_eq!(completed(&read), [("checkpoint-500".to_owned(), Some("10:31".to_owned()))]);
}

#[test]
fn the_bytes_of_all_prefixes_are_those_of_all_rows() {
    let read = inventory();
    let sum: u64 = stored(&read).iter().map(|stored| stored.bytes).sum();
    let objects: u64 = stored(&read).iter().map(|stored| stored.objects).sum();
    // Twenty-four GiB of the run, with one version that is gone, six of the others, and small files.
    let small = 16 + 16 + 4_096 + 1_000 + 10;
    assert_eq!((sum, objects), (((6 * 4) + 2 + 2 + 2) * (1 << 30) + small, 15));
    let gone: Vec<_> = stored(&read).into_iter().filter(|stored| !stored.is_current).collect();
    assert_eq!(
        gone.iter().map(|stored| (stored.objects, stored.bytes)).collect::<Vec<_>>(),
        [(2, (4 << 30) + 16)]
    );
}

#[test]
fn a_checkpoint_is_complete_by_its_marker_or_its_newest_object() {
    let some = |name: &str, time: &str| (name.to_owned(), Some(time.to_owned()));
    let none = |name: &str| (name.to_owned(), None);
    // No markers at all: the newest object.
    let plain = listing(&[("r/checkpoint-1/a", "10:00"), ("r/checkpoint-1/b", "10:05")]);
    assert_eq!(completed(&plain), [some("checkpoint-1", "10:05")]);
    // A marker of its own tells when; what is written later changes nothing.
    let own = listing(&[
        ("r/checkpoint-1/a", "10:00"),
        ("r/checkpoint-1/.metadata", "10:02"),
        ("r/checkpoint-1/notes", "12:00"),
        ("r/checkpoint-2/a", "11:00"),
    ]);
    assert_eq!(completed(&own), [some("checkpoint-1", "10:02"), none("checkpoint-2")]);
    // A marker above them tells of those that are older than it.
    let above = listing(&[
        ("r/global_step1/a", "10:00"),
        ("r/global_step2/a", "11:00"),
        ("r/global_step3/a", "12:00"),
        ("r/latest", "11:01"),
    ]);
    let expect = [some("global_step1", "10:00"), some("global_step2", "11:00"), none("global_step3")];
    assert_eq!(completed(&above), expect);
    assert!(codes(&above).contains(&"s3_inventory::incomplete_checkpoint"));
    assert!(checkpoints(&above).iter().all(|c| c.durable == c.completed_at.is_some()));
}

#[test]
fn a_listing_again_says_the_same_and_more_of_a_checkpoint_is_newer() {
    let first = listing(&[("r/checkpoint-1/a", "10:00")]);
    assert_eq!(first, listing(&[("r/checkpoint-1/a", "10:00")]));
    let later = listing(&[("r/checkpoint-1/a", "10:00"), ("r/checkpoint-1/b", "10:05")]);
    let told = |read: &TelemetryRead| {
        let seen =
            read.observations.iter().find(|seen| matches!(seen.record, RunRecord::Checkpoint(_))).unwrap();
        (seen.key.clone(), seen.modified_at)
    };
    assert_eq!(told(&first).0, "s3://ml-runs/r");
    assert!(told(&first).0 == told(&later).0 && told(&first).1 < told(&later).1);
}

#[test]
fn the_columns_of_an_inventory_may_be_few_and_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "10,r/checkpoint-1/a\n20,r/b\n";
    std::fs::write(folder.path().join("x.csv"), rows).unwrap();
    let manifest = |schema: &str, format: &str, size: u64| {
        let text = format!(
            r#"{{"sourceBucket":"b","fileFormat":"{format}","fileSchema":"{schema}","files":[{{"key":"p/data/x.csv","size":{size}}}]}}"#
        );
        let path = folder.path().join("manifest.json");
        std::fs::write(&path, text).unwrap();
        read_place(&path, &options())
    };
    let read = manifest("Size, Key", "CSV", rows.len() as u64).unwrap();
    assert_eq!((read.accepted, checkpoints(&read)[0].completed_at), (2, None));
    assert!(!checkpoints(&read)[0].durable && codes(&read).contains(&"s3_inventory::without_time"));
    for (schema, format, size, code) in [
        ("Bucket, Key", "CSV", 27, "s3_inventory::missing_column"),
        ("Size, Key", "ORC", 27, "s3_inventory::not_csv"),
        ("Size, Key", "CSV", 9, "s3_inventory::wrong_size"),
    ] {
        assert_eq!(manifest(schema, format, size).unwrap_err().code, code, "for {schema} {format} {size}");
    }
    std::fs::remove_file(folder.path().join("x.csv")).unwrap();
    assert_eq!(manifest("Size, Key", "CSV", 27).unwrap_err().code, "s3_inventory::missing_file");
    std::fs::remove_file(folder.path().join("manifest.json")).unwrap();
    assert_eq!(read_place(folder.path(), &options()).unwrap_err().code, "s3_inventory::no_manifest");
}

#[test]
fn a_data_file_that_is_cut_off_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let from = golden::testdata("s3_inventory/synthetic_broken");
    let bytes = std::fs::read(from.join("bad.csv.gz")).unwrap();
    std::fs::write(folder.path().join("bad.csv.gz"), &bytes[..bytes.len() - 20]).unwrap();
    let text = std::fs::read_to_string(from.join("manifest.json")).unwrap();
    let size = |bytes: usize| format!("\"size\": {bytes}");
    let text = text.replace(&size(bytes.len()), &size(bytes.len() - 20));
    std::fs::write(folder.path().join("manifest.json"), text).unwrap();
    let refused = read_place(&folder.path().join("manifest.json"), &options()).unwrap_err();
    assert_eq!(refused.code, "s3_inventory::cannot_read");
}

#[test]
fn a_file_that_is_no_listing_is_refused() {
    for (text, code) in [
        ("", "s3_inventory::not_a_listing"),
        ("hello, world of many words", "s3_inventory::not_a_listing"),
        (r#"{"jobs":[]}"#, "s3_inventory::not_a_listing"),
        ("[7]", "s3_inventory::not_a_listing"),
        (r#"{"Contents":["#, "s3_inventory::not_json"),
    ] {
        assert_eq!(typed(text).unwrap_err().code, code, "for {text}");
    }
    let nameless = S3InventoryOptions { bucket: None, ..options() };
    for text in [r#"{"Contents":[]}"#, "2026-07-01 10:00:00 1 a"] {
        assert_eq!(read(text.as_bytes(), "l", &nameless).unwrap_err().code, "s3_inventory::no_bucket");
    }
    let named = r#"{"Name":"other","IsTruncated":true,"Contents":[{"Key":"a","Size":1}]}"#;
    let read = read(named.as_bytes(), "l", &S3InventoryOptions { taken_at: Some(Timestamp(1)), ..nameless })
        .unwrap();
    assert_eq!((stored(&read)[0].bucket.as_str(), codes(&read)[0]), ("other", "s3_inventory::more_pages"));
}

#[test]
fn many_objects_of_few_prefixes_take_no_memory_of_their_own() {
    // Nothing is kept of an object but its sums: a million of them are two records.
    let mut text = String::new();
    for n in 0..200_000 {
        text.push_str(&format!("2026-07-01 10:00:00 7 data/shard/{n}\n"));
    }
    let utc = S3InventoryOptions { zone: Zone::Utc, ..options() };
    let read = read(text.as_bytes(), "ls.txt", &utc).unwrap();
    assert_eq!((read.accepted, read.observations.len()), (200_000, 1));
    assert_eq!(stored(&read)[0].bytes, 1_400_000);
}

proptest! {
    #[test]
    fn no_change_of_a_good_listing_makes_it_panic(change in documents::changes()) {
        let utc = S3InventoryOptions { zone: Zone::Utc, ..options() };
        documents::survives("s3_inventory/synthetic_listing.json", change, |bytes| read(bytes, "l", &utc))?;
        documents::survives("s3_inventory/synthetic_ls.txt", change, |bytes| read(bytes, "l", &utc))?;
    }

    #[test]
    fn the_order_of_objects_does_not_matter(
        objects in proptest::collection::vec((0_usize..6, 0_u32..60), 1..20).prop_shuffle(),
    ) {
        const KEYS: [&str; 6] =
            ["r/checkpoint-1/a", "r/checkpoint-1/.metadata", "r/checkpoint-2/a", "r/latest", "r/m/net.onnx", "x"];
        let told = |order: &[(usize, u32)]| {
            let objects: Vec<(&str, String)> =
                order.iter().map(|(key, minute)| (KEYS[*key], format!("10:{minute:02}"))).collect();
            let objects: Vec<(&str, &str)> = objects.iter().map(|(key, time)| (*key, time.as_str())).collect();
            listing(&objects).observations
        };
        let reversed: Vec<(usize, u32)> = objects.iter().rev().copied().collect();
        prop_assert_eq!(told(&objects), told(&reversed));
    }
}
