//! What is rented elsewhere: the bill in euros, the export of the Google Cloud project, the prices and the rates.

use std::collections::BTreeSet;

use demo::ImportKind;
use money::Amount;
use serde_json::Value;

use crate::reading::{Row, amount, cell, csv_text, sum};
use crate::runs::rented;
use crate::{WRITTEN, paths};

fn text(kind: ImportKind) -> String {
    let [path] = paths(kind)[..] else { panic!("one file of {kind:?}") };
    std::fs::read_to_string(path).unwrap()
}

fn invoice() -> Vec<Row> {
    csv_text(&text(ImportKind::Focus))
}

fn export() -> Vec<Value> {
    text(ImportKind::GcpBilling).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value) -> Amount {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn the_bills_come_to_what_was_counted_while_writing() {
    let [euros, google] = &WRITTEN.1.expected.others[..] else { panic!("two bills") };
    let rows = invoice();
    assert_eq!(u64::try_from(rows.len()).unwrap(), euros.rows);
    assert!(rows.iter().all(|row| cell(row, "BillingCurrency") == "EUR"));
    assert_eq!(sum(rows.iter().map(|row| amount(row, "BilledCost"))), euros.billed);
    assert_eq!(sum(rows.iter().map(|row| amount(row, "EffectiveCost"))), euros.effective);
    let rows = export();
    let credits = || rows.iter().flat_map(|row| row["credits"].as_array().unwrap());
    assert_eq!(u64::try_from(rows.len() + credits().count()).unwrap(), google.rows);
    let gross = sum(rows.iter().map(|row| number(&row["cost"])));
    let given = sum(credits().map(|credit| number(&credit["amount"])));
    assert_eq!(gross.checked_add(given).unwrap(), google.billed);
    assert!(given < Amount::ZERO);
}

#[test]
fn the_bill_in_euros_lacks_the_last_two_days_of_its_machines() {
    let rows = invoice();
    let billed: BTreeSet<&str> = rows.iter().map(|row| cell(row, "ResourceId")).collect();
    let rented = rented();
    let (here, not_yet): (Vec<_>, Vec<_>) = rented
        .iter()
        .filter(|run| run["instance_type"] == "fl-h100x8")
        .partition(|run| billed.contains(run["resource_ids"].as_str()));
    let days = |runs: &[&crate::runs::Record]| {
        runs.iter().map(|run| run["started"][..10].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(days(&not_yet), ["2026-10-29", "2026-10-30"]);
    assert!(here.len() == 4 && days(&here).contains(&"2026-10-04".to_owned()), "one is of a Sunday");
    let last = rows
        .iter()
        .filter(|row| cell(row, "ChargeCategory") == "Usage")
        .map(|row| cell(row, "ChargePeriodEnd"));
    assert_eq!(last.max(), Some("2026-10-29T00:00:00Z"));
    for category in ["Usage", "Credit", "Tax"] {
        assert!(rows.iter().any(|row| cell(row, "ChargeCategory") == category), "{category}");
    }
    assert!(text(ImportKind::PriceTable).contains(",fl-h100x8,bundled_machine,on_demand,hour,"));
}

#[test]
fn every_machine_of_the_project_has_cores_memory_and_accelerator_by_the_hour() {
    let rows = export();
    for run in rented().iter().filter(|run| run["resource_ids"].starts_with("//compute")) {
        let of = rows.iter().filter(|row| row["resource"]["global_name"] == run["resource_ids"].as_str());
        let skus: BTreeSet<&str> = of.map(|row| row["sku"]["description"].as_str().unwrap()).collect();
        assert_eq!(skus.len(), 3, "{run:?}");
    }
}

#[test]
fn rates_are_published_on_working_days_only() {
    let rates = text(ImportKind::Rates);
    let days: Vec<&str> = rates.lines().skip(1).map(|line| &line[..10]).collect();
    assert_eq!((days.len(), days.first(), days.last()), (45, Some(&"2026-10-30"), Some(&"2026-08-31")));
    assert!(!days.contains(&"2026-10-03") && !days.contains(&"2026-10-04"), "a weekend");
    assert!(rates.lines().skip(1).all(|line| line[11..].starts_with("1.0") || line[11..].starts_with("1.1")));
}
