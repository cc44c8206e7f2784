//! Broken and hostile FOCUS files, and the same file in another order and split.

use proptest::prelude::*;

use super::bill::{gzip, shuffled, testdata, without_place};
use super::support::{USAGE, file, read_csv, read_files};

fn code(files: &[(&str, &[u8])]) -> &'static str {
    match read_files(files) {
        Ok(_) => "read",
        Err(fault) => fault.code,
    }
}

#[test]
fn every_broken_file_has_its_code() {
    let golden = std::fs::read(testdata("focus/golden_focus_1.2_6rows.parquet")).unwrap();
    let packed = gzip(file(&[USAGE]).as_bytes());
    assert_eq!(code(&[("bill.parquet", &golden)]), "read");
    assert_eq!(code(&[("bill.csv.gz", &packed)]), "read");
    assert_eq!(code(&[("bill.parquet", &golden[..golden.len() / 2])]), "bill::truncated_parquet");
    assert_eq!(code(&[("bill.csv.gz", &packed[..packed.len() - 4])]), "bill::truncated_gzip");
    assert_eq!(code(&[("bill.csv", b"")]), "bill::empty_file");
    assert_eq!(code(&[("bill.json", b"{}")]), "bill::no_files");
    assert_eq!(code(&[("bill.csv", b"a,b\n1,2\n")]), "bill::missing_column");
}

#[test]
fn every_needed_column_is_missed_by_name() {
    for missing in [
        "BilledCost",
        "EffectiveCost",
        "BillingCurrency",
        "ChargeCategory",
        "ChargePeriodStart",
        "ChargePeriodEnd",
    ] {
        let text = file(&[USAGE]).replacen(missing, "x", 1);
        let fault = read_csv(&text).map(|_| ()).unwrap_err();
        assert_eq!((fault.code, fault.expected.as_deref()), ("bill::missing_column", Some(missing)));
    }
}

#[test]
fn another_format_is_sent_to_its_reader() {
    for (header, reader) in [
        ("lineItem/LineItemType,lineItem/UnblendedCost", "import aws-cur"),
        ("MeterCategory,ConsumedService,CostInBillingCurrency", "import azure-cost"),
    ] {
        let help = read_csv(&format!("{header}\n")).map(|_| ()).unwrap_err().help.unwrap();
        assert!(help.contains(reader), "{help}");
    }
}

#[test]
fn a_bad_row_is_rejected_alone_and_its_cost_still_counts() {
    for (more, code, column, counted) in [
        ("BilledCost=", "row::missing_value", "BilledCost", "10"),
        ("BilledCost=abc", "row::not_a_decimal", "BilledCost", "10"),
        ("EffectiveCost=abc", "row::not_a_decimal", "EffectiveCost", "20"),
        ("BillingCurrency=$", "row::not_a_currency", "BillingCurrency", "10"),
        ("ChargeCategory=Gift", "row::unknown_category", "ChargeCategory", "20"),
        ("ChargePeriodEnd=soon", "row::not_a_time", "ChargePeriodEnd", "20"),
        ("ChargePeriodEnd=NULL", "row::missing_value", "ChargePeriodEnd", "20"),
        ("ChargePeriodEnd=2026-06-01T00:00:00Z", "row::ends_before_start", "ChargePeriodEnd", "20"),
    ] {
        let bad = format!("{USAGE};{more}");
        let bill = read_csv(&file(&[USAGE, &bad])).unwrap();
        assert_eq!((bill.summary.accepted, bill.summary.rejected), (1, 1), "for {more}");
        let rejection = &bill.summary.rejections[0];
        assert_eq!((rejection.code, rejection.column.as_deref()), (code, Some(column)), "for {more}");
        assert_eq!((rejection.file.as_str(), rejection.row), ("bill.csv", 2));
        assert_eq!(bill.period().source_total.to_string(), counted, "for {more}");
    }
}

#[test]
fn two_currencies_in_one_period_are_refused() {
    let other = format!("{USAGE};BillingCurrency=EUR");
    assert_eq!(read_csv(&file(&[USAGE, &other])).map(|_| ()).unwrap_err().code, "bill::mixed_currency");
}

fn any_row() -> impl Strategy<Value = String> {
    let categories = ["Usage", "Tax", "Credit", "Purchase", "Adjustment", "Gift"];
    let parts =
        (0..categories.len(), -9_999_999_i64..9_999_999, 0_u32..20, 1_u32..4, 1_u32..29, any::<bool>());
    parts.prop_map(move |(category, units, exponent, payer, day, covered)| {
        let commitment = if covered { "sp" } else { "" };
        format!(
            "{units}e-{exponent},1{payer},USD,{},2026-07-{day:02}T01:00:00Z,2026-07-{day:02},{commitment},{units}e-3,\
             {units},i-{day}",
            categories[category]
        )
    })
}

const HEADER: &str = "BilledCost,BillingAccountId,BillingCurrency,ChargeCategory,ChargePeriodEnd,ChargePeriodStart,\
CommitmentDiscountId,EffectiveCost,ListCost,ResourceId";

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_split_over_files_change_nothing(
        rows in proptest::collection::vec(any_row(), 1..40), seed in 0_usize..1000, files in 1_usize..5,
    ) {
        let whole = read_csv(&format!("{HEADER}\n{}\n", rows.join("\n"))).unwrap();
        let parts = shuffled(HEADER, &rows, (seed, files));
        let named: Vec<(&str, &[u8])> = parts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        let split = read_files(&named).unwrap();
        prop_assert_eq!(&split.summary.periods, &whole.summary.periods);
        prop_assert_eq!(without_place(&split), without_place(&whole));
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "[-A-Za-z0-9,\";\n/{}: ]{0,200}") {
        let _ = read_csv(&format!("{HEADER}\n{text}"));
    }
}
