//! The import benchmark's own side: `write FILE FOLDER` reads an AWS report and stages its deliveries in a store in that
//! folder, as an import does, `read FILE` only reads it; each prints a JSON line. `generate FOLDER HOURS` makes the
//! report, packed both ways.
//!
//! `cargo xtask bench import` runs these in turn with the peers and prints the ratios.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panic")]

mod generate;

use std::collections::BTreeMap;
use std::path::Path;

use ledger::{BillingPeriod, SourceId};
use money::Amount;
use sources::SourceError;
use sources::billing::{BillBatch, BillOptions, BillSummary, aws_cur};
use sources::place::{self, PlaceLimits};
use store::{DeliveryWriter, Store};
use testkit::measure::report;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["write", bill, folder] => write(bill, Path::new(folder)),
        ["generate", folder, hours] => generate::generate(Path::new(folder), hours.parse().unwrap()),
        ["read", bill] => tell("trainbill, reading only", &read(bill, &mut |_| Ok(()))),
        _ => panic!("usage: import_speed generate FOLDER HOURS | write FILE FOLDER | read FILE"),
    }
}

fn write(bill: &str, folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = runtime.block_on(Store::create(folder)).unwrap();
    let mut writers: BTreeMap<(String, BillingPeriod), DeliveryWriter> = BTreeMap::new();
    let summary = read(bill, &mut |batch| {
        let writer = writers.entry((batch.payer, batch.period)).or_insert_with_key(|(payer, period)| {
            store.begin_delivery(&SourceId(format!("aws_cur:{payer}")), *period).unwrap()
        });
        writer.append(&batch.batch).unwrap();
        Ok(())
    });
    let staged: Vec<_> = writers.into_values().map(|writer| writer.finish().unwrap()).collect();
    tell("trainbill", &summary);
    drop(staged);
}

fn read(bill: &str, sink: &mut dyn FnMut(BillBatch) -> Result<(), SourceError>) -> BillSummary {
    let input = place::open(bill, &PlaceLimits::default()).unwrap();
    aws_cur::read(&input, &BillOptions::default(), sink).unwrap()
}

fn tell(engine: &str, summary: &BillSummary) {
    let billed = Amount::sum(summary.periods.iter().map(|period| period.billed_total)).unwrap();
    report(engine, &[("rows", summary.accepted.to_string()), ("billed_total", billed.to_string())]);
}
