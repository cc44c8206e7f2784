//! The FOCUS reader against a golden file, a dirty sample, the dialects of exporters, and broken inputs.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture has failed")]
#![expect(clippy::print_stderr, reason = "a skipped sample is said, not hidden")]

mod bill;
#[path = "focus/broken.rs"]
mod broken;
#[path = "focus/quality.rs"]
mod quality;
#[path = "focus/split.rs"]
mod split;
#[path = "focus/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use bill::{Bill, amount, shared, testdata, without_place};
use ledger::CostBasis;
use money::Amount;
use support::{USAGE, file, read, read_csv};

fn golden(extension: &str) -> Bill {
    read(&testdata(&format!("focus/golden_focus_1.2_6rows.{extension}"))).unwrap()
}

#[test]
fn the_golden_file_gives_its_totals() {
    let bill = golden("csv");
    let period = bill.period();
    assert_eq!((bill.summary.rows, bill.summary.rejected), (6, 0));
    assert_eq!((period.payer.as_str(), period.period.to_string().as_str()), ("111111111111", "2026-07"));
    // One hour on demand, one covered by a plan of 20 of which 15 are used, a credit and a tax.
    assert_eq!(period.billed_total.to_string(), "43.357642");
    assert_eq!(period.effective_total.to_string(), "43.357642");
    assert_eq!(period.list_total.to_string(), "48.915284");
    assert_eq!(period.marginal_total.to_string(), "21.957642");
    assert_eq!((period.unpriced, period.effective_unknown), (0, 0));
    assert!(period.is_final() && period.has_resource_ids);
    assert_eq!(period.quality, []);
    assert_eq!(bill.warnings(), Vec::<&str>::new());
}

#[test]
fn the_golden_file_is_classed_row_by_row() {
    let bill = golden("csv");
    let shown: Vec<String> = bill
        .rows
        .iter()
        .map(|row| {
            let part = |name: &str| row.get(name).cloned().unwrap_or_else(|| "-".to_owned());
            let columns = ["x_class", "charge_category", "list_cost", "effective_cost", "x_marginal_cost"];
            columns.map(part).join(" ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "usage Usage 21.957642 21.957642 21.957642",
            "commitment Purchase 0 0 0",
            "usage Usage 21.957642 15 0",
            "commitment Usage 5 5 0",
            "credit Credit 0 -2.5 0",
            "tax Tax 0 3.9 0",
        ]
    );
    let first = &bill.rows[0];
    for (column, expect) in [
        ("x_instance_type", "p4d.24xlarge"),
        ("tags", r#"{"attempt_id":"exp-001-a1","experiment_id":"exp-001"}"#),
        ("invoice_id", "INV-1"),
        ("availability_zone", "us-east-1a"),
        ("sku_price_id", "P4DSKU.JRTCKXETXF.6YS6EN2CT7"),
        ("sub_account_id", "222222222222"),
        ("x_resource_kind", "compute"),
        ("x_usage_type", "Instance Hours"),
        ("charge_period_end", "2026-07-01T01:00:00Z"),
        ("pricing_quantity", "1.0"),
    ] {
        assert_eq!(first[column], expect, "for {column}");
    }
    assert!(first["x_unmapped"].contains(r#""GpuCount":"8""#), "{}", first["x_unmapped"]);
    assert_eq!(bill.rows[2]["commitment_discount_type"], "Compute Savings Plan");
}

#[test]
fn the_golden_parquet_file_gives_the_same_charges() {
    let (csv, parquet) = (golden("csv"), golden("parquet"));
    assert_eq!(without_place(&parquet), without_place(&csv));
    assert_eq!(parquet.summary.periods, csv.summary.periods);
}

/// The plain sums of four cost columns by provider, list cost of usage alone, by this test's own reading of the file.
fn plain_sums(path: &Path) -> BTreeMap<String, Vec<Amount>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headers = reader.headers().unwrap().clone();
    let at = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let columns = ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost"].map(at);
    let mut sums: BTreeMap<String, Vec<Amount>> = BTreeMap::new();
    for record in reader.records().map(Result::unwrap) {
        let sum = sums.entry(record[at("ProviderName")].to_owned()).or_insert_with(|| vec![Amount::ZERO; 4]);
        for (sum, column) in sum.iter_mut().zip(columns) {
            let text = &record[column];
            let counts =
                text != "NULL" && (column != at("ListCost") || &record[at("ChargeCategory")] == "Usage");
            *sum = sum.checked_add(if counts { amount(text) } else { Amount::ZERO }).unwrap();
        }
    }
    sums
}

#[test]
fn a_dirty_sample_is_read_whole_and_its_rounded_basis_is_withheld() {
    let Some(path) = shared("focus/focus_1.0_sample_1000.csv") else { return };
    let bill = read(&path).unwrap();
    assert_eq!((bill.summary.rows, bill.summary.rejected), (1000, 0), "{:?}", bill.summary.rejections);
    for (provider, expect) in plain_sums(&path) {
        let rows = || bill.rows.iter().filter(|row| row["provider_name"] == provider);
        let sum = |column: &str| {
            Amount::sum(rows().map(|row| row.get(column).map_or(Amount::ZERO, |text| amount(text)))).unwrap()
        };
        let found = ["billed_cost", "effective_cost", "list_cost", "contracted_cost"].map(sum);
        assert_eq!(found.to_vec(), expect, "for {provider}");
    }
    let withheld: Vec<String> = bill
        .summary
        .periods
        .iter()
        .flat_map(|period| {
            let by = |basis: &CostBasis| !period.is_usable(*basis);
            CostBasis::ALL.iter().filter(move |b| by(b)).map(|b| format!("{} {b}", period.payer))
        })
        .collect();
    assert_eq!(withheld, ["1234567890123 effective"]);
    let aws = bill.summary.periods.iter().find(|period| period.payer == "1234567890123").unwrap();
    let rounded = aws.quality.iter().find(|found| found.code == "quality::rounded").unwrap();
    assert!(rounded.message.contains("was rounded"), "{}", rounded.message);
    assert_eq!(aws.billed_total.to_string(), "18.0066386184");
    assert_eq!(aws.effective_total.to_string(), "13");
    assert!(bill.warnings().contains(&"quality::rounded"));
    // The stray column and what FOCUS does not have a canonical place for are kept; the word NULL is not.
    assert!(bill.rows[0]["x_unmapped"].contains(r#""Id":"11472""#));
    assert!(bill.rows.iter().all(|row| row.values().all(|value| value != "NULL")));
    assert!(!bill.rows.iter().any(|row| row["x_unmapped"].contains("NULL")));
}

#[test]
fn an_oci_cost_report_is_no_focus_file() {
    let Some(path) = shared("focus/focus_converters_oci_reports_cost.csv") else { return };
    let fault = read(&path).map(|_| ()).unwrap_err();
    assert_eq!(fault.code, "bill::missing_column");
    assert!(fault.help.unwrap().contains("OCI"));
}

#[test]
fn every_spelling_of_the_columns_gives_the_same_charges() {
    let text = file(&[USAGE]);
    let (header, rows) = text.split_once('\n').unwrap();
    let snake: String = header.chars().fold(String::new(), |mut text, c| {
        if c.is_ascii_uppercase() && text.ends_with(|last: char| last.is_ascii_lowercase()) {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
        text
    });
    assert!(snake.contains("billed_cost"));
    let charges = |text: &str| {
        let mut rows = without_place(&read_csv(text).unwrap());
        // Unmapped columns keep the name that the file gives them.
        assert!(rows[0].remove("x_unmapped").is_some());
        rows
    };
    let first = charges(&text);
    for header in [header.to_lowercase(), header.to_uppercase(), snake, format!("\u{feff}{header}")] {
        assert_eq!(charges(&format!("{header}\n{rows}")), first, "for {header}");
    }
}

#[test]
fn a_file_of_a_later_version_names_its_provider_anew() {
    let row = format!("{USAGE};ProviderName=;ServiceProviderName=Nebula;HostProviderName=AWS");
    let text = file(&[&row]).replace(",ProviderName", ",Other");
    assert_eq!(read_csv(&text).unwrap().rows[0]["provider_name"], "Nebula");
}

#[test]
fn the_words_of_azure_and_aws_tell_kind_and_type() {
    let azure = r#"x_SkuMeterName=NC40ads H100 v5;x_SkuDetails={"ServiceType":"Standard_NC40ads_H100_v5"}"#;
    let aws = "x_ServiceCode=AmazonEC2;x_UsageType=USE1-BoxUsage:p5.48xlarge;x_Operation=RunInstances";
    let nat = "x_ServiceCode=AmazonEC2;x_UsageType=NatGateway-Bytes;ServiceCategory=Networking";
    let shown = |more: &str| {
        let row = format!("{USAGE};{more}");
        let bill = read_csv(&file(&[&row])).unwrap();
        let part = |name: &str| bill.rows[0].get(name).cloned().unwrap_or_default();
        format!("{} {}", part("x_resource_kind"), part("x_instance_type"))
    };
    assert_eq!(shown(azure), "compute Standard_NC40ads_H100_v5");
    assert_eq!(shown(aws), "compute p5.48xlarge");
    assert_eq!(shown(nat), "network ");
}

#[test]
fn a_row_is_classed_and_valued_by_its_columns() {
    let check = |more: &str, expect: &str| {
        let row = format!("{USAGE};{more}");
        let bill = read_csv(&file(&[&row])).unwrap();
        let part = |name: &str| bill.rows[0].get(name).cloned().unwrap_or_else(|| "-".to_owned());
        let columns = ["x_class", "effective_cost", "list_cost", "x_marginal_cost"];
        assert_eq!(columns.map(part).join(" "), expect, "for {more}");
    };
    check("ChargeCategory=Usage", "usage 10 12 10");
    check("ChargeCategory=usage", "usage 10 12 10");
    check("ChargeClass=Correction", "refund 10 0 0");
    check("ChargeCategory=Adjustment", "refund 10 0 0");
    check("PricingCategory=Committed", "usage 10 12 0");
    check("PricingCategory=Dynamic", "usage 10 12 10");
    check("CommitmentDiscountId=sp;CommitmentDiscountStatus=Used", "usage 10 12 0");
    check("CommitmentDiscountId=sp;CommitmentDiscountStatus=Unused", "commitment 10 12 0");
    check("CapacityReservationId=cr;CapacityReservationStatus=Unused", "unused_reservation 10 12 0");
    check("ChargeCategory=Purchase", "other 10 0 0");
    check("ChargeCategory=Purchase;CommitmentDiscountId=sp;EffectiveCost=0", "commitment 0 0 0");
    check("ChargeCategory=Purchase;CapacityReservationId=cr", "commitment 10 0 0");
    check("ChargeCategory=Purchase;ServiceName=AWS Support (Business)", "support 10 0 0");
    check("ServiceName=Amazon Bedrock;ServiceCategory=AI and Machine Learning", "inference 10 12 10");
    check("ListUnitPrice=", "usage 10 - 10");
    check("ListCost=NULL", "usage 10 - 10");
    check("EffectiveCost=", "usage 10 12 10");
}

#[test]
fn dates_without_zone_are_utc_and_a_missing_period_is_the_month_of_the_charge() {
    let row = format!(
        "{USAGE};BillingPeriodStart=;BillingPeriodEnd=NULL;ChargePeriodStart=2026-07-02 00:00:00;\
         ChargePeriodEnd=2026-07-03"
    );
    let bill = read_csv(&file(&[&row])).unwrap();
    assert_eq!(bill.period().period.to_string(), "2026-07");
    assert_eq!(bill.rows[0]["charge_period_start"], "2026-07-02T00:00:00Z");
    assert_eq!(bill.rows[0]["charge_period_end"], "2026-07-03T00:00:00Z");
    assert_eq!(bill.rows[0]["billing_period_end"], "2026-08-01T00:00:00Z");
}
