//! Price lists: what is read exactly, what is refused with both places, what is kept apart.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and one that is skipped says so"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ledger::{PriceKind, PurchaseOption, Timestamp};
use proptest::prelude::*;
use sources::SourceError;
use sources::prices::{
    Doubt, PriceList, PriceOptions, aws_offer, aws_spot_history, gcp_catalogue, price_table, skypilot,
};

#[path = "prices/hostile.rs"]
mod hostile;
#[path = "prices/lists.rs"]
mod lists;
#[path = "prices/shared.rs"]
mod shared;

fn testdata(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)).unwrap()
}

/// A sample that is kept beside the repository, not in it.
fn sample(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/billing/pricing");
    let path: PathBuf = folder.join(name);
    if path.is_file() {
        return Some(std::fs::read(path).unwrap());
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

fn options() -> PriceOptions {
    PriceOptions::new("list", "test")
}

/// 2026-01-01.
fn since() -> Timestamp {
    Timestamp::from_seconds(1_767_225_600)
}

fn sky(provider: &str) -> PriceOptions {
    PriceOptions { provider: Some(provider.to_owned()), in_force_from: Some(since()), ..options() }
}

/// The list, after the law that nothing is lost.
fn whole(list: Result<PriceList, SourceError>) -> PriceList {
    let list = list.unwrap();
    let passed_over: u64 = list.passed_over.values().sum();
    let known = (list.prices.len() + list.quarantined.len()) as u64 + list.rejected + passed_over;
    assert_eq!(list.rows, known, "prices + quarantined + rejected + passed over = rows");
    list
}

/// One line a price: `item kind option unit price currency region[/zone] from …`.
fn shown(list: &PriceList) -> String {
    let mut text = String::new();
    for row in &list.prices {
        let key = &row.key;
        write!(text, "{} {} {} {} ", key.item, key.kind, key.option, key.unit).unwrap();
        write!(text, "{} {} {}", row.price, key.currency, key.region).unwrap();
        if let Some(zone) = &key.zone {
            write!(text, "/{zone}").unwrap();
        }
        write!(text, " {} {} {}", key.tenancy, key.operating_system, key.effective_from).unwrap();
        if let Some(end) = row.effective_to {
            write!(text, "..{end}").unwrap();
        }
        if let Some(software) = &key.software {
            write!(text, " with {software}").unwrap();
        }
        if let Some(gpus) = &row.gpus {
            write!(text, " {} x {}", gpus.count, gpus.model).unwrap();
        }
        writeln!(text, " {}+{}", row.increment.minimum_seconds, row.increment.seconds).unwrap();
    }
    for one in &list.quarantined {
        writeln!(text, "apart: {} {} {} {}", one.row.key.item, one.row.key.option, one.row.price, one.doubt)
            .unwrap();
    }
    for one in &list.rejections {
        let column = one.column.as_deref().unwrap_or("-");
        writeln!(
            text,
            "{}:{} {} {column}: `{}`, expected {}",
            one.file, one.row, one.code, one.found, one.expected
        )
        .unwrap();
    }
    for (why, count) in &list.passed_over {
        writeln!(text, "passed over: {count} {why}").unwrap();
    }
    for warning in &list.warnings {
        writeln!(text, "{}: {}", warning.code, warning.message).unwrap();
    }
    text
}

/// Compares with a golden file; the failure shows the whole new text.
fn check(golden: &str, list: &PriceList) {
    let shown = shown(list);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(golden);
    let expect = std::fs::read_to_string(path).unwrap_or_default();
    assert!(shown == expect, "{golden} should be:\n{shown}");
}
