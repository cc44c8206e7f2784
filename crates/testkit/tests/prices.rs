//! From the price lists of providers to the estimate of a run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and one that is skipped says so"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use costing::price_book::{Attached, MachineWanted, PriceBook};
use costing::rating::{Machine, MachineState, Outcome, Stay, rate};
use ledger::{GpuSpec, Interval, PurchaseOption, Tenancy, Timestamp};
use money::Quantity;
use sources::prices::{PriceList, PriceOptions, aws_offer, gcp_catalogue, price_table};

fn fixture(name: &str) -> Vec<u8> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata").join(name);
    std::fs::read(path).unwrap()
}

fn aws(name: &str) -> PriceList {
    aws_offer::read(fixture(name).as_slice(), &PriceOptions::new(name, "aws")).unwrap()
}

fn book(lists: Vec<PriceList>) -> PriceBook {
    let order = ["aws", "gcp", "own"].map(str::to_owned).to_vec();
    PriceBook::new(order, lists.into_iter().flat_map(|list| list.prices)).unwrap()
}

/// A machine that ran for some seconds of 1 July 2026, from an hour of it on.
fn ran(wanted: MachineWanted, from_hour: i64, seconds: i64) -> Machine {
    let start = Timestamp::from_seconds(1_782_864_000 + from_hour * 3600);
    let interval = Interval { start, end: Timestamp::from_seconds(start.seconds() + seconds) };
    Machine {
        resource_id: "m".to_owned(),
        wanted: Ok(wanted),
        stays: vec![Stay { state: MachineState::Running, interval }],
        interruptions: Vec::new(),
        holders: Vec::new(),
    }
}

fn wanted(provider: &str, region: &str, machine: &str) -> MachineWanted {
    MachineWanted {
        provider: provider.to_owned(),
        region: region.to_owned(),
        zone: None,
        machine: machine.to_owned(),
        option: PurchaseOption::OnDemand,
        tenancy: Tenancy::Shared,
        operating_system: "linux".to_owned(),
        accelerators: Attached::None,
    }
}

fn cost(book: &PriceBook, machine: Machine) -> String {
    let estimate = rate(book, &[machine], &[]);
    assert_eq!(estimate.unpriced().count(), 0, "{estimate:?}");
    let totals: BTreeMap<_, _> = estimate.totals().unwrap();
    let shown: Vec<String> =
        totals.into_iter().map(|(currency, amount)| format!("{amount} {currency}")).collect();
    shown.join(" + ")
}

#[test]
fn an_hour_of_a_p4d_costs_what_its_list_of_the_day_says() {
    let book = book(vec![aws("aws_offer/offer.json"), aws("aws_offer/get_products.ndjson")]);
    let p4d = || wanted("aws", "us-east-1", "p4d.24xlarge");
    assert_eq!(cost(&book, ran(p4d(), 0, 3600)), "21.957642 USD");
    assert_eq!(cost(&book, ran(p4d(), -1, 3600)), "32.7726 USD");
    assert_eq!(cost(&book, ran(p4d(), -1, 7200)), "54.730242 USD");
    assert_eq!(cost(&book, ran(p4d(), 0, 20)), "0.3659607 USD", "a start costs a minute");
    let dedicated = MachineWanted { tenancy: Tenancy::Dedicated, ..p4d() };
    assert_eq!(cost(&book, ran(dedicated, 0, 3600)), "34.12345 USD");
    let age = |day: i64| book.age("aws", Timestamp::from_seconds(1_782_864_000 + day * 86_400)).unwrap().days;
    assert_eq!((age(0), age(20)), (764, 1), "the list of 28 May 2024, then that of 20 July 2026");
}

#[test]
fn a_machine_of_google_cloud_is_the_sum_of_its_skus() {
    let list = gcp_catalogue::read(
        fixture("gcp_catalogue/pages.json").as_slice(),
        &PriceOptions::new("pages", "gcp"),
    );
    let book = book(vec![list.unwrap()]);
    assert_eq!(cost(&book, ran(wanted("gcp", "us-central1", "a2-highgpu-1g"), 0, 3600)), "3.673385 USD");
    assert_eq!(cost(&book, ran(wanted("gcp", "us-central1", "a2-megagpu-16g"), 0, 3600)), "55.739504 USD");
    let v100 =
        GpuSpec { model: "v100".to_owned(), count: Quantity::from_thousandths(2_000), memory_mib: None };
    let n1 = wanted("gcp", "us-east1", "n1-standard-8");
    assert_eq!(cost(&book, ran(n1.clone(), 0, 3600)), "0.379998 USD");
    let with = MachineWanted { accelerators: Attached::Gpus(v100), ..n1 };
    assert_eq!(cost(&book, ran(with, 0, 3600)), "5.339998 USD");
    let elsewhere = rate(&book, &[ran(wanted("gcp", "europe-west4", "a2-highgpu-1g"), 0, 3600)], &[]);
    assert_eq!(elsewhere.unpriced().count(), 1);
}

#[test]
fn spot_follows_the_history_in_a_list_of_ones_own() {
    let list = price_table::read(
        fixture("price_table/prices.csv").as_slice(),
        &PriceOptions::new("prices.csv", "own"),
    );
    let book = book(vec![list.unwrap()]);
    let spot = MachineWanted {
        option: PurchaseOption::Spot,
        zone: Some("us-east-1a".to_owned()),
        ..wanted("aws", "us-east-1", "p4d.24xlarge")
    };
    let estimate = rate(&book, &[ran(spot, 12, 3600)], &[]);
    let places: Vec<String> = estimate
        .lines
        .iter()
        .map(|line| match &line.outcome {
            Outcome::Priced { rate, amount, .. } => format!("{amount} by {}", rate.parts[0].row.origin),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(places, ["4.55 by prices.csv:5", "4.1 by prices.csv:6"]);
    let lambda = wanted("lambda", "us-west-1", "gpu_8x_h100_sxm5");
    assert_eq!(cost(&book, ran(lambda, 0, 61)), "0.797333333333333333333333 USD", "by the full minute");
}

/// The prices that the guide of prices names for the same machine at two dates.
#[test]
fn real_lists_price_a_p4d_at_their_dates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/billing/pricing");
    let path = folder.join("aws_offer_fragment_2_repaired.json");
    let (Ok(offer), Ok(list)) =
        (std::fs::read(&path), std::fs::read_to_string(folder.join("aws_us-east-1_od_from_karpenter.csv")))
    else {
        eprintln!("skipped: {} is not here", path.display());
        return;
    };
    let offer = aws_offer::read(offer.as_slice(), &PriceOptions::new("offer", "aws")).unwrap();
    let mut table = "provider,region,item,kind,unit,price,currency,effective_from\n".to_owned();
    for line in list.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let row = ["aws", fields[1], fields[0], "bundled_machine", "hour", fields[3], "USD", fields[4]];
        table.push_str(&row.join(","));
        table.push('\n');
    }
    let table = price_table::read(table.as_bytes(), &PriceOptions::new("table", "aws")).unwrap();
    assert_eq!((table.rejected, table.quarantined.len()), (0, 0), "{:?}", table.quarantined.first());
    let book = book(vec![offer, table]);
    let p4d = || wanted("aws", "us-east-1", "p4d.24xlarge");
    assert_eq!(cost(&book, ran(p4d(), 0, 3600)), "32.7726 USD");
    assert_eq!(cost(&book, ran(p4d(), 24 * 20, 3600)), "21.957642 USD");
    assert_eq!(cost(&book, ran(wanted("aws", "us-east-1", "g4dn.xlarge"), 24 * 20, 3600)), "0.526 USD");
}
