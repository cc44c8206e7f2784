//! Tests of the look-up: what is in force, what is added up, and what is missing.

use ledger::{Increment, PriceKey, PriceOrigin, ResourceKind};
use money::Amount;

use super::*;

/// A time on 2026-07-01 and later.
fn at(text: &str) -> Timestamp {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
    let number = |text: &str| text.parse::<u32>().unwrap();
    let date: Vec<u32> = date.split('-').map(number).collect();
    let time: Vec<u32> = time.split(':').map(number).collect();
    let day = Day::from_civil(date[0].cast_signed(), date[1], date[2]);
    Timestamp(day.start().0 + i64::from(time[0] * 3600 + time[1] * 60) * 1_000_000)
}

/// A row: `source provider region/zone item kind option unit price currency from [to]`.
fn row(text: &str) -> PriceRow {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let (region, zone) = parts[2].split_once('/').map_or((parts[2], None), |(r, z)| (r, Some(z)));
    PriceRow {
        key: PriceKey {
            provider: parts[1].to_owned(),
            region: region.to_owned(),
            zone: zone.map(str::to_owned),
            item: parts[3].to_owned(),
            kind: PriceKind::from_word(parts[4]).unwrap(),
            option: PurchaseOption::from_word(parts[5]).unwrap(),
            unit: PriceUnit::from_word(parts[6]).unwrap(),
            currency: parts[8].parse().unwrap(),
            tenancy: Tenancy::Shared,
            operating_system: "linux".to_owned(),
            software: None,
            effective_from: at(parts[9]),
        },
        effective_to: parts.get(10).map(|text| at(text)),
        price: parts[7].parse().unwrap(),
        sku: None,
        resource_kind: ResourceKind::Compute,
        increment: Increment::SECOND,
        gpus: None,
        origin: PriceOrigin {
            source: parts[0].to_owned(),
            file: format!("{}.csv", parts[0]),
            row: 1,
            published_at: Some(at(parts[9])),
        },
    }
}

fn book(precedence: &[&str], rows: &[&str]) -> PriceBook {
    let precedence = precedence.iter().map(ToString::to_string).collect();
    PriceBook::new(precedence, rows.iter().map(|text| row(text))).unwrap()
}

fn wanted(provider: &str, machine: &str) -> MachineWanted {
    MachineWanted {
        provider: provider.to_owned(),
        region: "r".to_owned(),
        zone: None,
        machine: machine.to_owned(),
        option: PurchaseOption::OnDemand,
        tenancy: Tenancy::Shared,
        operating_system: "linux".to_owned(),
        accelerators: Attached::None,
    }
}

/// What an hour costs at an instant, or why that is not known.
fn hour(book: &PriceBook, wanted: &MachineWanted, instant: &str) -> String {
    let instant = Interval { start: at(instant), end: at(instant) };
    let rates = book.machine_rates(wanted, instant);
    let (_, rate) = rates.first().unwrap();
    match rate {
        Ok(rate) => {
            let parts = rate.parts.iter().map(|part| part.row.price.times(part.count).unwrap());
            Amount::sum(parts).unwrap().to_string()
        }
        Err(reason) => reason.to_string(),
    }
}

const A2: [&str; 3] = [
    "g gcp r a100 accelerator on_demand hour 2.933908 USD 2023-03-24",
    "g gcp r a2-core component on_demand hour 0.031611 USD 2023-03-24",
    "g gcp r a2-ram component on_demand gib_hour 0.004237 USD 2023-03-24",
];

#[test]
fn an_a2_costs_the_sum_of_its_processors_memory_and_gpus() {
    let book = book(&["g"], &A2);
    let hour = |machine| hour(&book, &wanted("gcp", machine), "2026-07-01");
    assert_eq!(hour("a2-highgpu-1g"), "3.673385");
    assert_eq!(hour("a2-highgpu-2g"), "7.34677");
    assert_eq!(hour("a2-highgpu-8g"), "29.38708");
    assert_eq!(hour("a2-megagpu-16g"), "55.739504");
    assert_eq!(hour("a2-ultragpu-1g"), "no price of `local-ssd` in `r`, on_demand, at 2026-07-01T00:00:00Z");
}

#[test]
fn a_gpu_is_added_to_a_host_and_never_to_a_bundled_machine() {
    let v100 = "g gcp r v100 accelerator on_demand hour 2.48 USD 2023-03-24";
    let host = "g gcp r n1-standard-8 host_only on_demand hour 0.38 USD 2023-03-24";
    let bundle = "g aws r p3.2xlarge bundled_machine on_demand hour 3.06 USD 2023-03-24";
    let book = book(&["g"], &[&A2[..], &[v100, host, bundle]].concat());
    let gpu = |count| GpuSpec { model: "v100".to_owned(), count, memory_mib: None };
    let with = |provider: &str, machine: &str, count| {
        let accelerators = Attached::Gpus(gpu(money::Quantity::from_thousandths(count)));
        hour(&book, &MachineWanted { accelerators, ..wanted(provider, machine) }, "2026-07-01")
    };
    assert_eq!(with("gcp", "n1-standard-8", 1_000), "2.86");
    assert_eq!(with("gcp", "n1-standard-8", 4_000), "10.3");
    assert_eq!(hour(&book, &wanted("gcp", "n1-standard-8"), "2026-07-01"), "0.38");
    let refused = "is priced with its accelerators: adding the price of `v100` is refused";
    assert_eq!(with("aws", "p3.2xlarge", 1_000), format!("`p3.2xlarge` {refused}"));
    assert_eq!(with("gcp", "a2-highgpu-1g", 1_000), format!("`a2-highgpu-1g` {refused}"));
    let (bundle, v100) = (row(bundle), row(v100));
    assert!(matches!(compose(&bundle, &v100, Ratio::ONE), Err(Unpriced::AcceleratorOnBundledMachine { .. })));
}

#[test]
fn the_price_of_a_host_alone_is_not_that_of_a_gpu_machine() {
    let host = "s gcp r a2-highgpu-1g host_only on_demand hour 0.739477 USD 2026-01-01";
    let gpu = "s gcp r a100 accelerator on_demand hour 2.933908 USD 2026-01-01";
    let alone = book(&["s"], &[host]);
    let missing = "no price of `a100` in `r`, on_demand, at 2026-07-01T00:00:00Z";
    assert_eq!(hour(&alone, &wanted("gcp", "a2-highgpu-1g"), "2026-07-01"), missing);
    let both = book(&["s"], &[host, gpu]);
    assert_eq!(hour(&both, &wanted("gcp", "a2-highgpu-1g"), "2026-07-01"), "3.673385");
    let unknown = MachineWanted { accelerators: Attached::Unknown, ..wanted("other", "box") };
    let host = "s other r box host_only on_demand hour 1 USD 2026-01-01";
    let expect = "`box` is priced without its accelerators, and which it has is not known";
    assert_eq!(hour(&book(&["s"], &[host]), &unknown, "2026-07-01"), expect);
}

#[test]
fn prices_have_dates() {
    let rows = [
        "a aws r p4d.24xlarge bundled_machine on_demand hour 32.7726 USD 2024-05-01",
        "a aws r p4d.24xlarge bundled_machine on_demand hour 21.957642 USD 2026-07-20",
        "a aws r old bundled_machine on_demand hour 1 USD 2024-05-01 2025-01-01",
    ];
    let book = book(&["a"], &rows);
    let p4d = |instant| hour(&book, &wanted("aws", "p4d.24xlarge"), instant);
    assert_eq!(p4d("2026-07-19T23:59"), "32.7726");
    assert_eq!(p4d("2026-07-20"), "21.957642");
    assert_eq!(p4d("2024-04-30"), "no price of `p4d.24xlarge` in `r`, on_demand, at 2024-04-30T00:00:00Z");
    assert_eq!(hour(&book, &wanted("aws", "old"), "2024-12-31T23:59"), "1");
    assert!(hour(&book, &wanted("aws", "old"), "2025-01-01").starts_with("no price"));
    let july = Interval { start: at("2026-07-01"), end: at("2026-08-01") };
    let pieces: Vec<String> = book
        .machine_rates(&wanted("aws", "p4d.24xlarge"), july)
        .iter()
        .map(|(interval, rate)| format!("{} {}", interval.end, rate.as_ref().unwrap().parts[0].row.price))
        .collect();
    assert_eq!(pieces, ["2026-07-20T00:00:00Z 32.7726", "2026-08-01T00:00:00Z 21.957642"]);
}

#[test]
fn spot_is_never_priced_on_demand() {
    let book =
        book(&["a"], &["a aws r p4d.24xlarge bundled_machine on_demand hour 21.957642 USD 2026-01-01"]);
    let spot = MachineWanted { option: PurchaseOption::Spot, ..wanted("aws", "p4d.24xlarge") };
    assert_eq!(
        hour(&book, &spot, "2026-07-01"),
        "no price of `p4d.24xlarge` in `r`, spot, at 2026-07-01T00:00:00Z"
    );
    let windows = MachineWanted { operating_system: "windows".to_owned(), ..wanted("aws", "p4d.24xlarge") };
    assert!(hour(&book, &windows, "2026-07-01").starts_with("no price"));
    let dedicated = MachineWanted { tenancy: Tenancy::Dedicated, ..wanted("aws", "p4d.24xlarge") };
    assert!(hour(&book, &dedicated, "2026-07-01").starts_with("no price"));
}

#[test]
fn the_first_source_of_the_declared_order_that_prices_the_machine_whole_is_taken() {
    let rows = [
        "own gcp r a2-highgpu-1g bundled_machine on_demand hour 3 USD 2026-01-01",
        "list gcp r a2-highgpu-1g host_only on_demand hour 0.739477 USD 2026-06-01",
        "list gcp r a100 accelerator on_demand hour 2.933908 USD 2026-06-01",
    ];
    let hour = |precedence: &[&str], rows: &[&str]| {
        hour(&book(precedence, rows), &wanted("gcp", "a2-highgpu-1g"), "2026-07-01")
    };
    assert_eq!(hour(&["own", "list"], &rows), "3");
    assert_eq!(hour(&["list", "own"], &rows), "3.673385");
    assert_eq!(hour(&["list", "own"], &rows[..2]), "3");
    let undeclared = PriceBook::new(vec!["own".to_owned()], rows.iter().map(|text| row(text))).unwrap_err();
    assert_eq!(undeclared.to_string(), "the price list `list` has no place in the order of sources: own");
}

#[test]
fn a_zone_goes_before_its_region_and_an_unknown_zone_needs_one_price() {
    let spot = |zone: &str, price: &str, from: &str| {
        format!("a aws r{zone} g5.xlarge bundled_machine spot hour {price} USD {from}")
    };
    let rows =
        [spot("", "0.5", "2026-01-01"), spot("/a", "0.4", "2026-01-01"), spot("/b", "0.3", "2026-06-01")];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let book = |count: usize| book(&["a"], &rows[..count]);
    let in_zone = |zone: Option<&str>| MachineWanted {
        option: PurchaseOption::Spot,
        zone: zone.map(str::to_owned),
        ..wanted("aws", "g5.xlarge")
    };
    assert_eq!(hour(&book(3), &in_zone(Some("a")), "2026-07-01"), "0.4");
    assert_eq!(hour(&book(3), &in_zone(Some("b")), "2026-07-01"), "0.3");
    assert_eq!(hour(&book(3), &in_zone(Some("c")), "2026-07-01"), "0.5");
    assert_eq!(hour(&book(1), &in_zone(None), "2026-07-01"), "0.5");
    let differ = "`g5.xlarge` has different prices at a.csv:1 and a.csv:1";
    assert_eq!(hour(&book(3), &in_zone(None), "2026-07-01"), differ);
}

#[test]
fn parts_in_two_currencies_are_no_price() {
    let host = "s gcp r n1-standard-8 host_only on_demand hour 0.38 USD 2026-01-01";
    let gpu = "s gcp r v100 accelerator on_demand hour 2.48 EUR 2026-01-01";
    let gpus = GpuSpec {
        model: "v100".to_owned(),
        count: money::Quantity::from_thousandths(1_000),
        memory_mib: None,
    };
    let with = MachineWanted { accelerators: Attached::Gpus(gpus), ..wanted("gcp", "n1-standard-8") };
    let expect = "the parts of `n1-standard-8` are priced in USD and EUR";
    assert_eq!(hour(&book(&["s"], &[host, gpu]), &with, "2026-07-01"), expect);
}

#[test]
fn a_list_has_an_age_at_a_date() {
    let rows = [
        "a aws r x bundled_machine on_demand hour 1 USD 2026-01-01",
        "a aws r x bundled_machine on_demand hour 2 USD 2026-06-01",
    ];
    let book = book(&["a"], &rows);
    let days = |instant| book.age("a", at(instant)).map(|age| age.days);
    assert_eq!(days("2025-12-31T23:59"), None);
    assert_eq!(days("2026-01-31"), Some(30));
    assert_eq!(days("2026-06-11T23:00"), Some(10));
    assert_eq!(book.age("b", at("2026-06-11")), None);
}
