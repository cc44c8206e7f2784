//! FOCUS exports: what they hold, that they sum to what they were made of, and that our own reader reads them back.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture has failed")]
#![expect(clippy::print_stderr, reason = "a skipped sample is said, not hidden")]

#[path = "export/allocated.rs"]
mod allocated;
mod bill;
#[path = "export/generated.rs"]
mod generated;
#[path = "export/support.rs"]
mod support;

use std::path::Path;

use bill::{Reader, Row, shared, testdata};
use money::Amount;
use sources::billing::{BillOptions, BillSummary, aws_cur, azure_cost, focus};
use sources::export::focus::{FOCUS, enriched};
use support::{Exported, Format, batches, export, totals};

const GOLDEN_CUR: &str = "aws_cur/golden_cur2_synthetic.parquet";
const GOLDEN_FOCUS: &str = "focus/golden_focus_1.2_6rows.parquet";

fn golden(reader: Reader, name: &str) -> Exported {
    export(reader, &testdata(name), Format::Csv)
}

fn row<'a>(export: &'a Exported, line_item: &str) -> Vec<&'a Row> {
    export.rows.iter().filter(|row| row.get("x_LineItemId").is_some_and(|id| id == line_item)).collect()
}

fn shown(row: &Row, columns: &[&str]) -> String {
    let part = |name: &&str| row.get(*name).map_or("-", String::as_str);
    columns.iter().map(part).collect::<Vec<_>>().join(" | ")
}

/// What a reading of an export must share with the reading of what it was made of.
fn check_round_trip(reader: Reader, path: &Path) {
    let (_, first) = batches(reader, path);
    for format in [Format::Csv, Format::Parquet] {
        let exported = export(reader, path, format);
        let (_, second) = batches(focus::read, &exported.path);
        assert_eq!(second.rejected, 0, "{:?}", second.rejections);
        assert_eq!(totals(&second), totals(&first), "as {format:?} of {}", path.display());
        assert_eq!(second.accepted, exported.rows.len() as u64);
        // A second export of what was read back sums to the same again, and grows no deeper.
        let again = export(focus::read, &exported.path, format);
        let (_, third) = batches(focus::read, &again.path);
        assert_eq!(totals(&third), totals(&first));
        assert!(
            again.rows.iter().all(|row| !row.get("x_Unmapped").is_some_and(|t| t.contains("x_Unmapped")))
        );
    }
}

#[test]
fn golden_bills_are_read_back_to_the_same_totals() {
    for (reader, name) in [
        (aws_cur::read as Reader, GOLDEN_CUR),
        (aws_cur::read, "aws_cur/aws_July-2026-cur.csv"),
        (focus::read, GOLDEN_FOCUS),
        (focus::read, "focus/golden_focus_1.2_6rows.csv"),
    ] {
        check_round_trip(reader, &testdata(name));
    }
}

#[test]
fn a_charge_comes_back_with_its_words() {
    let before = bill::read_with(aws_cur::read, &testdata(GOLDEN_CUR), &BillOptions::default()).unwrap();
    let after =
        bill::read_with(focus::read, &golden(aws_cur::read, GOLDEN_CUR).path, &BillOptions::default())
            .unwrap();
    // Filled for FOCUS where the bill has nothing, or kept in another form.
    let filled = [
        "capacity_reservation_status",
        "charge_description",
        "contracted_cost",
        "invoice_issuer_name",
        "publisher_name",
        "x_file",
        "x_row",
        "x_unmapped",
    ];
    for row in &before.rows {
        let id = &row["x_line_item_id"];
        let parts: Vec<&Row> = after.rows.iter().filter(|found| found["x_line_item_id"] == *id).collect();
        let costs = ["billed_cost", "effective_cost", "list_cost", "x_marginal_cost"];
        for (column, value) in row.iter().filter(|(column, _)| !filled.contains(&column.as_str())) {
            if costs.contains(&column.as_str()) {
                let sum = Amount::sum(parts.iter().map(|part| part[column].parse().unwrap())).unwrap();
                assert_eq!(sum.to_string(), *value, "{column} of {id}");
            } else if !(id == "li023" && column.starts_with("pricing_")) {
                // FOCUS knows no quantity of tax.
                assert_eq!(parts[0].get(column), Some(value), "{column} of {id}");
            }
        }
    }
}

#[test]
fn bills_of_others_are_read_back_to_the_same_totals() {
    for (reader, name) in [
        (aws_cur::read as Reader, "aws_cur/focus_converters_sample-anonymous-aws-export-dataset.csv"),
        (aws_cur::read, "aws_cur/koku_test_cur.csv"),
        (focus::read, "focus/focus_1.0_sample_1000.csv"),
        (azure_cost::read, "azure/focus_converters_sample-anonymous-ea-export-dataset.csv"),
    ] {
        let Some(path) = shared(name) else { continue };
        check_round_trip(reader, &path);
    }
}

#[test]
fn an_export_sums_to_the_totals_of_its_bill() {
    let cur = golden(aws_cur::read, GOLDEN_CUR);
    let sum = |column: &str| {
        let costs = cur.rows.iter().map(|row| row.get(column).map_or(Amount::ZERO, |t| t.parse().unwrap()));
        Amount::sum(costs).unwrap().to_string()
    };
    assert_eq!(sum("BilledCost"), "42624.745642");
    assert_eq!(sum("EffectiveCost"), "3580.745642");
    assert_eq!(sum("x_ListCost"), "72.423284");
    let unpriced = cur.rows.iter().filter(|row| !row.contains_key("x_ListCost"));
    assert_eq!(unpriced.count(), 3);
    assert!(cur.rows.iter().all(|row| row.contains_key("ListCost") && row.contains_key("ContractedCost")));
    // 26 charges; three fees carry amortised cost, and are two rows each.
    assert_eq!(cur.rows.len(), 29);
}

#[test]
fn a_fee_and_the_amortised_cost_that_it_carries_are_two_rows() {
    let cur = golden(aws_cur::read, GOLDEN_CUR);
    let columns = [
        "ChargeCategory",
        "BilledCost",
        "EffectiveCost",
        "ChargeFrequency",
        "CommitmentDiscountStatus",
        "PricingCategory",
        "PricingQuantity",
    ];
    let rows = |id: &str| row(&cur, id).into_iter().map(|row| shown(row, &columns)).collect::<Vec<_>>();
    assert_eq!(
        rows("li005"),
        [
            "Purchase | 16 | 0 | Recurring | - | Standard | 1",
            "Usage | 0 | 5 | Usage-Based | Unused | Committed | -"
        ]
    );
    assert_eq!(rows("li008")[1], "Usage | 0 | 1114.5 | Usage-Based | Unused | Committed | -");
    assert_eq!(rows("li019")[0], "Purchase | 2400 | 0 | One-Time | - | Standard | 1");
    assert_eq!(rows("li019")[1], "Usage | 0 | 2400 | Usage-Based | - | Standard | -");
    assert_eq!(rows("li006"), ["Purchase | 35040 | 0 | One-Time | - | Standard | 1"]);
    assert_eq!(rows("li003"), ["Usage | 21.957642 | 15 | Usage-Based | Used | Committed | 1"]);
    assert_eq!(rows("li004"), ["Usage | -21.957642 | 0 | Usage-Based | Used | Committed | 1"]);
    assert_eq!(rows("li002"), ["Usage | 2.25 | 2.25 | Usage-Based | - | Dynamic | 1"]);
    assert_eq!(rows("li023"), ["Tax | 2 | 2 | One-Time | - | - | -"]);
    assert_eq!(rows("li022"), ["Adjustment | -1.25 | -1.25 | One-Time | - | - | 1"]);
}

#[test]
fn what_focus_wants_and_a_cur_lacks_is_derived_or_null() {
    let cur = golden(aws_cur::read, GOLDEN_CUR);
    let columns = [
        "ServiceCategory",
        "ServiceSubcategory",
        "ResourceType",
        "ListUnitPrice",
        "ContractedCost",
        "SkuPriceDetails",
        "x_Class",
        "x_ResourceKind",
        "x_MarginalCost",
    ];
    let shown = |id: &str| shown(row(&cur, id)[0], &columns);
    assert_eq!(
        shown("li001"),
        "Compute | Virtual Machines | instance | 21.957642 | 21.957642 | {\"InstanceType\":\"p4d.24xlarge\"} | usage \
         | compute | 21.957642"
    );
    assert_eq!(
        shown("li011"),
        "Compute | Virtual Machines | snapshot | 0.05 | 0.05 | - | usage | snapshot | 0.05"
    );
    // 0.215 for 2.69 gigabyte-months.
    assert!(shown("li010").contains("| volume | 0.079925650557620817843866 |"), "{}", shown("li010"));
    // No public price of spot is known: what was paid stands in, and `x_ListCost` is null.
    assert!(shown("li002").contains("| instance | - | 2.25 |"), "{}", shown("li002"));
    assert_eq!(
        shown("li018"),
        "AI and Machine Learning | Machine Learning | training-job | 25 | 25 | - | usage | compute | 25"
    );
    assert_eq!(shown("li017"), "Compute | Containers | cluster | 0.1 | 0.1 | - | usage | control_plane | 0");
    let disk = row(&cur, "li010")[0];
    assert_eq!((disk["PricingUnit"].as_str(), disk["x_PricingUnit"].as_str()), ("GB-Months", "GB-Mo"));
    assert_eq!(disk["ChargeDescription"], "AmazonEC2, Usage, EBS:VolumeUsage.gp3");
    let first = row(&cur, "li001")[0];
    assert_eq!(first["ChargePeriodStart"], "2026-07-01T00:00:00Z");
    assert_eq!(first["Tags"], r#"{"user_attempt_id":"exp-001-a1","user_experiment_id":"exp-001"}"#);
    assert!(!first.contains_key("RegionName") && !first.contains_key("InvoiceId"));
}

#[test]
fn what_a_bill_told_in_focus_is_told_again() {
    let exported = golden(focus::read, GOLDEN_FOCUS);
    let mut source = ::csv::Reader::from_path(testdata("focus/golden_focus_1.2_6rows.csv")).unwrap();
    let headers = source.headers().unwrap().clone();
    let mut other = Vec::new();
    for (row, record) in exported.rows.iter().zip(source.records().map(Result::unwrap)) {
        for (column, value) in headers.iter().zip(&record) {
            let found = row.get(column).map_or("", String::as_str);
            let alike = |text: &str| text.replace("\": ", "\":").replace(", \"", ",\"");
            if alike(found) != alike(value) {
                other.push(format!("{column} `{found}` for `{value}`"));
            }
        }
    }
    // Nothing but the spelling and order of maps, and what a file without it would say as well.
    other.retain(|text| !text.starts_with("SkuPriceDetails") && !text.starts_with("Tags `` for `{}`"));
    assert_eq!(other, Vec::<String>::new());
}

#[test]
fn a_batch_that_is_not_canonical_is_refused() {
    let (batches, _) = batches(aws_cur::read, &testdata(GOLDEN_CUR));
    let whole = &batches[0];
    let cut = whole.project(&(1..whole.num_columns()).collect::<Vec<_>>()).unwrap();
    let fault = enriched(&cut).unwrap_err();
    assert_eq!(fault.code, "export::not_canonical");
    assert!(fault.message.contains("`x_row` is missing"), "{}", fault.message);
    let names = whole.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let billed = names.iter().position(|name| name == "billed_cost").unwrap();
    let mut columns = whole.columns().to_vec();
    columns[billed] = arrow::compute::cast(&columns[billed], &arrow::datatypes::DataType::Float64).unwrap();
    let double = arrow::record_batch::RecordBatch::try_from_iter(names.into_iter().zip(columns)).unwrap();
    assert!(enriched(&double).unwrap_err().message.contains("`billed_cost` is of type Float64"));
}

#[test]
fn an_export_has_all_columns_of_focus_in_both_formats() {
    let (csv, parquet) =
        (golden(aws_cur::read, GOLDEN_CUR), export(aws_cur::read, &testdata(GOLDEN_CUR), Format::Parquet));
    for exported in [&csv, &parquet] {
        let names: Vec<&str> = exported.columns.iter().map(String::as_str).collect();
        assert!(FOCUS.iter().all(|column| names.contains(&column.name)));
    }
    assert_eq!(csv.rows, parquet.rows);
}

/// A word of ours that is none is a rejected row, with its place.
#[test]
fn a_changed_export_is_rejected_row_by_row() {
    let cur = golden(aws_cur::read, GOLDEN_CUR);
    let text = std::fs::read_to_string(&cur.path).unwrap();
    let broken = text.replacen(",control_plane,", ",warp_drive,", 1).replacen(",refund,", ",rebate,", 1);
    assert_ne!(broken, text);
    let read = bill::read_files(focus::read, &[("export.csv", broken.as_bytes())]).unwrap();
    let summary: &BillSummary = &read.summary;
    let codes: Vec<_> =
        summary.rejections.iter().map(|one| (one.code, one.column.as_deref().unwrap())).collect();
    assert_eq!(codes, [("row::unknown_kind", "x_ResourceKind"), ("row::unknown_class", "x_Class")]);
    assert_eq!(summary.rejected_by_code.len(), 2);
}
