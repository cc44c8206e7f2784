//! Tests of rating: the providers' rules with their figures, and the laws that hold for any use.

use ledger::{Day, Evidence};
use ledger::{
    Increment, PriceKey, PriceKind, PriceOrigin, PriceRow, PriceUnit, PurchaseOption, ResourceKind, Rule,
    ShareDriver, Tenancy, Timestamp,
};
use proptest::prelude::*;

use super::*;
use crate::attribution::Holder;
use crate::price_book::{Attached, ComponentWanted, MachineWanted};

mod bindings;
mod laws;
mod rules;

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3600 * SECOND;

/// The first instant of a day of 2026.
fn day(month: u32, day: u32) -> Timestamp {
    Day::from_civil(2026, month, day).start()
}

/// Seconds after the first instant of July.
fn span(start: i64, end: i64) -> Interval {
    let july = day(7, 1).0;
    Interval { start: Timestamp(july + start * SECOND), end: Timestamp(july + end * SECOND) }
}

fn price(item: &str, (kind, option, unit): (PriceKind, PurchaseOption, PriceUnit), price: &str) -> PriceRow {
    PriceRow {
        key: PriceKey {
            provider: "aws".to_owned(),
            region: "r".to_owned(),
            zone: None,
            item: item.to_owned(),
            kind,
            option,
            unit,
            currency: "USD".parse().unwrap(),
            tenancy: Tenancy::Shared,
            operating_system: "linux".to_owned(),
            software: None,
            effective_from: day(1, 1),
        },
        effective_to: None,
        price: price.parse().unwrap(),
        sku: None,
        resource_kind: ResourceKind::Compute,
        increment: Increment::SECOND,
        gpus: None,
        origin: PriceOrigin {
            source: "list".to_owned(),
            file: "list.csv".to_owned(),
            row: 1,
            published_at: None,
        },
    }
}

fn on_demand(item: &str, text: &str) -> PriceRow {
    price(item, (PriceKind::BundledMachine, PurchaseOption::OnDemand, PriceUnit::Hour), text)
}

fn spot(text: &str, from: i64) -> PriceRow {
    let mut row = price("box", (PriceKind::BundledMachine, PurchaseOption::Spot, PriceUnit::Hour), text);
    row.key.effective_from = Timestamp(day(7, 1).0 + from * SECOND);
    row
}

fn gp3() -> PriceRow {
    price("gp3", (PriceKind::Component, PurchaseOption::OnDemand, PriceUnit::GibibyteMonth), "0.08")
}

fn book(rows: Vec<PriceRow>) -> PriceBook {
    PriceBook::new(vec!["list".to_owned()], rows).unwrap()
}

fn holder(index: u32, (start, end): (i64, i64), (weight, capacity): (u64, u64)) -> Holder {
    let interval = span(start, end);
    Holder {
        start: interval.start.0,
        end: interval.end.0,
        landing: Landing::of(Place::Attempt {
            index,
            rule: Rule::ResourceTime,
            evidence: Evidence::Modelled,
        }),
        experiment: 0,
        weight: weight * 1_000,
        capacity: Some(capacity * 1_000),
        driver: ShareDriver::Gpu,
    }
}

/// A machine `box` that ran, held whole by attempt 0 while it ran.
fn machine(option: PurchaseOption, runs: &[(i64, i64)]) -> Machine {
    let wanted = MachineWanted {
        provider: "aws".to_owned(),
        region: "r".to_owned(),
        zone: None,
        machine: "box".to_owned(),
        option,
        tenancy: Tenancy::Shared,
        operating_system: "linux".to_owned(),
        accelerators: Attached::None,
    };
    let stay =
        |(start, end): &(i64, i64)| Stay { state: MachineState::Running, interval: span(*start, *end) };
    Machine {
        resource_id: "i-1".to_owned(),
        wanted: Ok(wanted),
        stays: runs.iter().map(stay).collect(),
        interruptions: Vec::new(),
        holders: runs.iter().map(|run| holder(0, *run, (8, 8))).collect(),
    }
}

fn volume(gib: u64, interval: Interval) -> Volume {
    Volume {
        resource_id: "vol-1".to_owned(),
        wanted: ComponentWanted {
            provider: "aws".to_owned(),
            region: "r".to_owned(),
            item: "gp3".to_owned(),
        },
        bytes: gib << 30,
        interval,
        holders: Vec::new(),
        owner: Some(0),
    }
}

fn usd(estimate: &Estimate<'_>) -> String {
    let totals = estimate.totals().unwrap();
    totals.get(&"USD".parse().unwrap()).map_or_else(|| "none".to_owned(), ToString::to_string)
}

fn borne(estimate: &Estimate<'_>) -> Vec<(Payer, String)> {
    let payers = estimate.by_payer().unwrap();
    payers.into_iter().map(|((payer, _), amount)| (payer, amount.to_string())).collect()
}
