//! The Azure reader against the two exports of one spend, real exports of every account type, and broken inputs.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture has failed")]
#![expect(clippy::print_stderr, reason = "a skipped sample is said, not hidden")]

mod bill;

use std::path::Path;

use bill::{Bill, amount, shared, shuffled, testdata, without_place};
use ledger::CostBasis;
use money::Amount;
use proptest::prelude::*;
use sources::SourceError;
use sources::billing::{BillOptions, azure_cost};

fn read(path: &Path) -> Result<Bill, SourceError> {
    bill::read_with(azure_cost::read, path, &BillOptions::default())
}

fn read_files(files: &[(&str, &str)]) -> Result<Bill, SourceError> {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    bill::read_files(azure_cost::read, &files)
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(testdata(&format!("azure_cost/{name}"))).unwrap()
}

fn withheld(bill: &Bill) -> Vec<&'static str> {
    CostBasis::ALL
        .iter()
        .filter(|basis| !bill.period().is_usable(**basis))
        .map(|basis| basis.word())
        .collect()
}

#[test]
fn the_export_of_actual_cost_gives_billed_and_withholds_effective_cost() {
    let bill = read(&testdata("azure_cost/actual.csv")).unwrap();
    let period = bill.period();
    assert_eq!((bill.summary.rows, bill.summary.rejected), (7, 0));
    assert_eq!((period.payer.as_str(), period.currency.code()), ("99999999", "EUR"));
    assert_eq!(period.billed_total.to_string(), "440.008");
    assert_eq!(period.marginal_total.to_string(), "206.988");
    // 24 hours at 76.8 for ten, 20 at 22.03, 1024.5 GB at 0.0184; spot and the operations have no public price.
    assert_eq!((period.list_total.to_string().as_str(), period.unpriced), ("643.7708", 2));
    assert_eq!(period.effective_unknown, 2);
    assert_eq!(withheld(&bill), ["effective"]);
    assert!(bill.warnings().contains(&"bill::effective_unknown"));
}

#[test]
fn the_export_of_amortised_cost_gives_effective_and_withholds_billed_cost() {
    let bill = read(&testdata("azure_cost/amortised.csv")).unwrap();
    let period = bill.period();
    // The month of a reservation that is bought and amortised in it costs the same in both exports.
    assert_eq!(period.effective_total.to_string(), "440.008");
    assert_eq!(period.marginal_total.to_string(), "206.988");
    assert_eq!(period.list_total.to_string(), "643.7708");
    assert_eq!(withheld(&bill), ["billed"]);
    assert_eq!(bill.warnings(), ["quality::amortised_export"]);
}

#[test]
fn rows_are_classed_and_carry_what_names_them() {
    let bill = read(&testdata("azure_cost/actual.csv")).unwrap();
    let shown: Vec<String> = bill
        .rows
        .iter()
        .map(|row| format!("{} {} {}", row["x_class"], row["x_resource_kind"], row["charge_category"]))
        .collect();
    assert_eq!(
        shown,
        [
            "usage compute Usage",
            "usage compute Usage",
            "usage compute Usage",
            "commitment compute Purchase",
            "usage object_storage Usage",
            "usage requests Usage",
            "refund compute Adjustment",
        ]
    );
    let first = &bill.rows[0];
    for (column, expect) in [
        ("tags", r#"{"attempt_id":"exp-001-a1","experiment_id":"exp-001"}"#),
        ("x_instance_type", "Standard_NC40ads_H100_v5"),
        ("resource_id", "/subscriptions/sub-1/vm/gpu-1"),
        ("sub_account_id", "sub-1"),
        ("region_id", "westeurope"),
        ("availability_zone", "1"),
        ("sku_id", "meter-1"),
        ("charge_period_start", "2026-07-02T00:00:00Z"),
        ("charge_period_end", "2026-07-03T00:00:00Z"),
        ("billing_period_end", "2026-08-01T00:00:00Z"),
    ] {
        assert_eq!(first[column], expect, "for {column}");
    }
    assert!(first["x_unmapped"].contains(r#""CostCenter":"research""#), "{}", first["x_unmapped"]);
    assert_eq!(bill.rows[2]["commitment_discount_id"], "res-1");
    assert_eq!(bill.rows[2]["commitment_discount_type"], "Reservation");
}

#[test]
fn both_exports_in_one_import_are_refused() {
    let (actual, amortised) = (fixture("actual.csv"), fixture("amortised.csv"));
    let header = actual.lines().next().unwrap();
    let covered = actual.lines().find(|line| line.contains(",Usage,Reservation,")).unwrap();
    let covered_alone = format!("{header}\n{covered}\n");
    let plain = format!("{header}\n{}\n", actual.lines().nth(1).unwrap());
    let check = |files: &[(&str, &str)], expect: &str| {
        let found = read_files(files).map_or_else(|fault| fault.code, |_| "read");
        assert_eq!(found, expect, "for {:?}", files.iter().map(|(name, _)| name).collect::<Vec<_>>());
    };
    check(&[("a.csv", &actual), ("b.csv", &amortised)], "bill::mixed_amortisation");
    check(&[("a.csv", &amortised), ("b.csv", &actual)], "bill::mixed_amortisation");
    check(&[("a.csv", &amortised), ("b.csv", &covered_alone)], "bill::mixed_amortisation");
    check(&[("ActualCost_1.csv", &plain), ("AmortizedCost_1.csv", &plain)], "bill::mixed_amortisation");
    check(&[("a.csv", &actual), ("b.csv", &plain)], "read");
    check(&[("a.csv", &amortised), ("b.csv", &plain)], "read");
    let fault = read_files(&[("a.csv", &actual), ("b.csv", &amortised)]).map(|_| ()).unwrap_err();
    assert_eq!(fault.found.as_deref(), Some("actual cost at a.csv:4, amortised cost at b.csv:3"));
    let plain = read_files(&[("a.csv", &plain)]).unwrap();
    assert_eq!(withheld(&plain), Vec::<&str>::new());
    assert_eq!(plain.period().effective_total, plain.period().billed_total);
}

/// Rows and the plain sum of the cost column, by this test's own reading of the file.
fn plain_sum(path: &Path) -> (u64, Amount) {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).unwrap();
    let is_cost = |header: &str| {
        let header = header.to_ascii_lowercase();
        header == "costinbillingcurrency" || header == "pretaxcost"
    };
    let at = reader.headers().unwrap().iter().position(is_cost).unwrap();
    let costs: Vec<Amount> =
        reader.records().map(|record| amount(record.unwrap().get(at).unwrap())).collect();
    (costs.len() as u64, Amount::sum(costs).unwrap())
}

#[test]
fn real_exports_of_every_account_type_tie_to_their_cost_column() {
    for name in [
        "focus_converters_sample-anonymous-ea-export-dataset.csv",
        "koku_azure_camelCased.csv",
        "koku_camel_azure_version_2.csv",
        "koku_costreport_a243c6f2-199f-4074-9a2c-40e671cf1584.csv",
        "opencost_Enterprise.csv",
        "opencost_EnterpriseCamel.csv",
        "opencost_PayAsYouGo.csv",
    ] {
        let Some(path) = shared(&format!("azure/{name}")) else { continue };
        let bill = read(&path).unwrap();
        let (rows, total) = plain_sum(&path);
        assert_eq!((bill.summary.rows, bill.summary.rejected), (rows, 0), "for {name}: {:?}", bill.summary);
        let billed = Amount::sum(bill.summary.periods.iter().map(|period| period.source_total)).unwrap();
        assert_eq!(billed, total, "for {name}");
        assert!(bill.rows.iter().all(|row| row.contains_key("resource_id")), "for {name}");
    }
}

#[test]
fn a_real_export_with_an_unknown_currency_is_rejected_row_by_row() {
    let Some(path) = shared("azure/koku_azure_version_2.csv") else { return };
    let bill = read(&path).unwrap();
    assert_eq!((bill.summary.rows, bill.summary.accepted), (5, 0));
    assert_eq!(bill.summary.rejected_by_code["row::not_a_currency"], 5);
}

#[test]
fn a_real_export_without_currency_is_refused() {
    for name in ["opencost_Template.csv", "opencost_VirtualMachine.csv"] {
        let Some(path) = shared(&format!("azure/{name}")) else { continue };
        let fault = read(&path).map(|_| ()).unwrap_err();
        assert_eq!(fault.code, "bill::missing_column", "for {name}");
        assert!(fault.message.contains("BillingCurrency"), "{}", fault.message);
    }
}

#[test]
fn a_real_enterprise_export_without_pricing_model_shows_its_reservation() {
    let Some(path) = shared("azure/opencost_Enterprise.csv") else { return };
    let bill = read(&path).unwrap();
    assert_eq!(bill.rows[0]["x_instance_type"], "Standard_E4s_v3");
    assert_eq!(bill.rows[0]["commitment_discount_type"], "Reservation");
    assert_eq!(withheld(&bill), ["effective"]);
}

const HEADER: &str = "BillingAccountId,BillingCurrency,Date,ChargeType,PricingModel,MeterCategory,UnitOfMeasure,Quantity,\
PayGPrice,UnitPrice,EffectivePrice,PricingCurrency,CostInBillingCurrency,ResourceId";

#[test]
fn a_list_cost_needs_a_price_whose_unit_is_clear() {
    let check = |cells: &str, expect: &str| {
        let text = format!("{HEADER}\n1,EUR,07/01/2026,Usage,OnDemand,Virtual Machines,{cells},vm\n");
        let bill = read_files(&[("a.csv", &text)]).unwrap();
        let found = bill.rows[0].get("list_cost").map_or("unpriced", String::as_str);
        assert_eq!(found, expect, "for {cells}");
    };
    check("1 Hour,3,2.5,2,2,EUR,6", "7.5");
    check("1 Hour,3,2.5,2,2,,6", "7.5");
    check("1 Hour,3,2.5,2,2,USD,6", "unpriced");
    check("10 Hours,3,25,20,2,EUR,6", "7.5");
    check("10 Hours,3,2.5,2,2,EUR,6", "7.5");
    check("10 Hours,3,2.5,5,2,EUR,6", "unpriced");
    check("10 Hours,3,2.5,,,EUR,6", "unpriced");
    check("744 Hours,3,2.5,2,2,EUR,6", "unpriced");
    check(",3,2.5,2,2,EUR,6", "unpriced");
    check("1 Hour,3,,2,2,EUR,6", "unpriced");
    check("1 Hour,3,0,2,2,EUR,6", "unpriced");
    check("1 Hour,3,0,0,0,EUR,0", "0");
    check("1 Hour,,2.5,2,2,EUR,6", "unpriced");
}

#[test]
fn a_bad_row_is_rejected_alone() {
    let good = "1,EUR,07/01/2026,Usage,OnDemand,Virtual Machines,1 Hour,3,,,,,6,vm";
    for (bad, code) in [
        (good.replace("07/01/2026", "13/01/2026"), "row::not_a_time"),
        (good.replace("07/01/2026", ""), "row::missing_value"),
        (good.replace(",6,", ",six,"), "row::not_a_decimal"),
        (good.replace(",6,", ",,"), "row::missing_value"),
        (good.replace("EUR", "euro"), "row::not_a_currency"),
        (good.replace(",vm", ""), "row::field_count"),
    ] {
        let bill = read_files(&[("a.csv", &format!("{HEADER}\n{good}\n{bad}\n"))]).unwrap();
        assert_eq!((bill.summary.accepted, bill.summary.rejected), (1, 1), "for {bad}");
        assert_eq!((bill.summary.rejections[0].code, bill.summary.rejections[0].row), (code, 2));
    }
}

#[test]
fn every_needed_column_is_missed_by_name() {
    for missing in ["CostInBillingCurrency", "Date", "BillingCurrency", "MeterCategory"] {
        let header = HEADER.replacen(missing, "x", if missing == "BillingCurrency" { 1 } else { 9 });
        let fault = read_files(&[("a.csv", &format!("{header}\n"))]).map(|_| ()).unwrap_err();
        assert_eq!(fault.code, "bill::missing_column");
        assert!(fault.message.contains(missing), "{}", fault.message);
    }
    let fault = read_files(&[("a.csv", "BilledCost,ChargeCategory\n")]).map(|_| ()).unwrap_err();
    assert!(fault.help.unwrap().contains("import focus"));
}

fn any_row() -> impl Strategy<Value = String> {
    let types = ["Usage", "Purchase", "Refund", "Tax", "Novelty", ""];
    let parts = (0..types.len(), -9_999_999_i64..9_999_999, 0_u32..20, 1_u32..4, 1_u32..29);
    parts.prop_map(move |(kind, units, exponent, payer, day)| {
        format!(
            "{payer},EUR,07/{day}/2026,{},OnDemand,Storage,10K,{units},0.5,0.4,0.4,EUR,{units}e-{exponent},disk-{day}",
            types[kind]
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_split_over_files_change_nothing(
        rows in proptest::collection::vec(any_row(), 1..40), seed in 0_usize..1000, files in 1_usize..5,
    ) {
        let whole = read_files(&[("a.csv", &format!("{HEADER}\n{}\n", rows.join("\n")))]).unwrap();
        let parts = shuffled(HEADER, &rows, (seed, files));
        let named: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let split = read_files(&named).unwrap();
        prop_assert_eq!(&split.summary.periods, &whole.summary.periods);
        prop_assert_eq!(without_place(&split), without_place(&whole));
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "[-A-Za-z0-9,\";\n/{}: ]{0,200}") {
        let _ = read_files(&[("a.csv", &format!("{HEADER}\n{text}"))]);
    }
}
