//! The AWS reader against a golden bill, generated and real bills, and every way in which a bill may be broken.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture has failed")]
#![expect(clippy::print_stderr, reason = "a skipped sample is said, not hidden")]

mod bill;
#[path = "aws_cur/support.rs"]
mod support;

#[path = "aws_cur/broken.rs"]
mod broken;
#[path = "aws_cur/coded.rs"]
mod coded;
#[path = "aws_cur/columns.rs"]
mod columns;
#[path = "aws_cur/delivery.rs"]
mod delivery;
#[path = "aws_cur/shapes.rs"]
mod shapes;
#[path = "aws_cur/threads.rs"]
mod threads;

use money::Amount;
use sources::billing::DiscountMode;
use support::{Bill, HEADER, amount, hour, read, read_csv, shared, testdata};

fn golden() -> Bill {
    read(&testdata("golden_cur2_synthetic.parquet")).unwrap()
}

#[test]
fn the_golden_bill_gives_its_totals() {
    let bill = golden();
    let period = bill.period();
    assert_eq!((bill.summary.rows, bill.summary.rejected), (26, 0));
    assert_eq!((period.payer.as_str(), period.period.to_string().as_str()), ("111111111111", "2026-07"));
    assert_eq!(period.currency.code(), "USD");
    assert_eq!(period.source_total.to_string(), "42624.745642");
    assert_eq!(period.billed_total.to_string(), "42624.745642");
    assert_eq!(period.effective_total.to_string(), "3580.745642");
    // 2472.423684 of public cost, without the fee of the capacity block (2400) and the free tier (0.0004).
    assert_eq!(period.list_total.to_string(), "72.423284");
    assert_eq!(period.unpriced, 3);
    assert_eq!(period.identity_residue, Some(Amount::ZERO));
    assert_eq!(period.split_rows, 2);
    assert_eq!(period.capacity_block_rows, 2);
    assert_eq!(period.discounts, DiscountMode::DiscountRows);
    assert!(period.has_resource_ids && !period.is_final());
    assert_eq!(period.days.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2026-07-01"]);
    assert_eq!(bill.warnings(), Vec::<&str>::new());
}

#[test]
fn the_golden_bill_is_amortised_row_by_row() {
    let bill = golden();
    let text = std::fs::read_to_string(testdata("golden_cur2_synthetic_expected.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = expected["per_row_amortized"].as_object().unwrap();
    assert_eq!(rows.len(), 24);
    for (id, value) in rows {
        let found = amount(&bill.line(id)["effective_cost"]);
        assert_eq!(found, amount(value.as_str().unwrap()), "for {id}");
    }
}

#[test]
fn the_golden_bill_is_classed_row_by_row() {
    let bill = golden();
    let shown = |id: &str| {
        let row = bill.line(id);
        let list = row.get("list_cost").map_or("unpriced", String::as_str);
        format!("{} {} {list} {}", row["x_class"], row["x_resource_kind"], row["x_marginal_cost"])
    };
    assert_eq!(shown("li001"), "usage compute 21.957642 21.957642");
    assert_eq!(shown("li002"), "usage compute unpriced 2.25");
    assert_eq!(shown("li003"), "usage compute 21.957642 0");
    assert_eq!(shown("li004"), "commitment compute 0 0");
    assert_eq!(shown("li005"), "commitment compute 0 0");
    assert_eq!(shown("li007"), "usage compute 3.06 0");
    assert_eq!(shown("li008"), "commitment compute 0 0");
    assert_eq!(shown("li010"), "usage disk 0.215 0.215");
    assert_eq!(shown("li011"), "usage snapshot 0.05 0.05");
    assert_eq!(shown("li012"), "usage object_storage 0.023 0.023");
    assert_eq!(shown("li013"), "usage requests 0.005 0.005");
    assert_eq!(shown("li014"), "usage requests unpriced 0");
    assert_eq!(shown("li015"), "usage network 0.045 0.045");
    assert_eq!(shown("li016"), "usage transfer 0.01 0.01");
    assert_eq!(shown("li017"), "usage control_plane 0.1 0");
    assert_eq!(shown("li018"), "usage compute 25 25");
    assert_eq!(shown("li019"), "capacity_block_fee compute 0 0");
    assert_eq!(shown("li020"), "capacity_block_usage compute unpriced 0");
    assert_eq!(shown("li021"), "credit compute 0 0");
    assert_eq!(shown("li022"), "refund compute 0 0");
    assert_eq!(shown("li023"), "tax other 0 0");
    assert_eq!(shown("li024"), "other compute 0 0");
    assert_eq!(shown("li025"), "split_detail compute 0 0");
}

#[test]
fn the_golden_bill_keeps_ids_tags_and_split_data() {
    let bill = golden();
    let spot = bill.line("li002");
    assert_eq!(spot["tags"], r#"{"user_attempt_id":"exp-001-a2","user_experiment_id":"exp-001"}"#);
    assert_eq!(spot["x_instance_type"], "g5.12xlarge");
    assert_eq!(spot["charge_period_start"], "2026-07-01T00:00:00Z");
    assert_eq!(bill.line("li003")["commitment_discount_type"], "Savings Plan");
    assert_eq!(bill.line("li019")["capacity_reservation_id"], "cr-0cb");
    assert_eq!(bill.line("li022")["charge_class"], "Correction");
    let split = bill.line("li025");
    assert_eq!((split["x_split_role"].as_str(), split["x_parent_resource_id"].as_str()), ("child", "i-0od"));
    assert_eq!((split["x_split_cost"].as_str(), split["x_split_unused_cost"].as_str()), ("16", "1"));
    assert_eq!(split["billed_cost"], "0");
    assert!(split["x_unmapped"].contains(r#""split_line_item_split_usage_ratio":"0.5""#));
    assert!(bill.line("li008")["x_unmapped"].contains(r#""reservation_unused_recurring_fee":"743""#));
}

/// The plain sum of a cost column, by this test's own reading of the file.
fn plain_sum(path: &std::path::Path) -> (u64, Amount) {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).unwrap();
    let at = reader.headers().unwrap().iter().position(|h| h == "lineItem/UnblendedCost").unwrap();
    let costs: Vec<Amount> = reader.records().map(|r| amount(r.unwrap().get(at).unwrap())).collect();
    (costs.len() as u64, Amount::sum(costs).unwrap())
}

fn ties_to_its_cost_column(path: &std::path::Path) -> Bill {
    let bill = read(path).unwrap();
    let (rows, total) = plain_sum(path);
    assert_eq!(bill.summary.rows, rows);
    let billed = Amount::sum(bill.summary.periods.iter().map(|period| period.source_total)).unwrap();
    assert_eq!(billed, total, "for {}", path.display());
    assert_eq!(bill.summary.rejected, 0, "{:?}", bill.summary.rejections);
    bill
}

#[test]
fn a_generated_legacy_bill_ties_to_its_cost_column() {
    let bill = ties_to_its_cost_column(&testdata("aws_July-2026-cur.csv"));
    let period = bill.period();
    let tagged = bill.rows.iter().find(|row| row.contains_key("tags")).unwrap();
    assert_eq!(tagged["tags"], r#"{"user:attempt_id":"exp-001-a1","user:experiment_id":"exp-001"}"#);
    assert_eq!(tagged["x_instance_type"], "p4d.24xlarge");
    assert_eq!(tagged["region_id"], "us-east-1");
    // The tool that made it writes words into the public cost of reserved usage, and no commitment totals.
    assert!(bill.warnings().contains(&"bill::effective_unknown"));
    assert!(period.identity_residue.is_none());
}

#[test]
fn a_real_bill_without_resource_ids_says_so() {
    let Some(path) = shared("focus_converters_sample-anonymous-aws-export-dataset.csv") else { return };
    let bill = ties_to_its_cost_column(&path);
    let period = bill.period();
    assert_eq!(bill.summary.rows, 1281);
    assert_eq!(bill.warnings(), ["bill::no_resource_ids"]);
    // Free tiers are unpriced; what was paid for is close to what the public column says.
    assert!(period.unpriced >= 446, "{}", period.unpriced);
    assert_eq!(period.effective_total, period.billed_total);
    let file_systems: Vec<_> = bill.rows.iter().filter(|row| row["service_name"] == "AmazonEFS").collect();
    assert!(file_systems.iter().all(|row| row["x_resource_kind"] == "disk"));
}

#[test]
fn an_invoice_makes_a_bill_final_and_a_currency_is_kept() {
    let (Some(open), Some(closed)) = (shared("koku_2023-06-01-not-final.csv"), shared("koku_2023-06-01.csv"))
    else {
        return;
    };
    let (open, closed) = (ties_to_its_cost_column(&open), ties_to_its_cost_column(&closed));
    assert_eq!(open.period().currency.code(), "NOK");
    assert!(!open.period().is_final() && closed.period().is_final());
    assert_eq!(closed.period().payer, "0099999999999");
    assert_eq!(closed.period().effective_total.to_string(), "0.3");
    assert_eq!(closed.period().marginal_total, Amount::ZERO);
}

#[test]
fn a_real_bill_with_short_rows_is_read() {
    let Some(path) = shared("koku_test_cur.csv") else { return };
    let bill = ties_to_its_cost_column(&path);
    assert!(bill.warnings().contains(&"bill::short_rows"));
    assert!(bill.rows.iter().all(|row| row["x_resource_kind"] == "transfer"));
}

const NET: &str = "line_item_net_unblended_cost,savings_plan_savings_plan_effective_cost,\
savings_plan_net_savings_plan_effective_cost";

#[test]
fn net_columns_are_used_for_all_rows_or_none() {
    let rows = format!(
        "{HEADER},{NET}\n{},8,,\n{},,,\n{},,6,5\n",
        hour("Usage", "10", "a"),
        hour("Usage", "3", "b"),
        hour("SavingsPlanCoveredUsage", "9", "c")
    );
    let net = read_csv(&rows).unwrap();
    assert_eq!(net.column("effective_cost"), ["8", "3", "5"]);
    assert_eq!(net.period().discounts, DiscountMode::NetColumns);
    let gross = read_csv(&format!("{rows}{},,,\n", hour("EdpDiscount", "-2", "d"))).unwrap();
    assert_eq!(gross.column("effective_cost"), ["10", "3", "6", "-2"]);
    assert_eq!(gross.period().discounts, DiscountMode::DiscountRows);
}

#[test]
fn a_commitments_fee_without_what_amortises_it_stands_as_billed() {
    let columns = "savings_plan_savings_plan_effective_cost,savings_plan_total_commitment_to_date,\
                   savings_plan_used_commitment,reservation_effective_cost,\
                   reservation_unused_amortized_upfront_fee_for_billing_period,reservation_unused_recurring_fee";
    let told = |line_type: &str, values: &str| {
        let row = hour(line_type, "10", "li");
        let bill = read_csv(&format!("{HEADER},{columns}\n{row},{values}\n")).unwrap();
        (bill.line("li")["effective_cost"].clone(), bill.period().effective_unknown)
    };
    let check = |line_type, values, effective: &str, unknown| {
        assert_eq!(told(line_type, values), (effective.to_owned(), unknown), "for {line_type} {values}");
    };
    check("SavingsPlanRecurringFee", ",10,7,,,", "3", 0);
    check("SavingsPlanRecurringFee", ",10,,,,", "10", 0);
    check("SavingsPlanRecurringFee", ",,7,,,", "10", 1);
    check("SavingsPlanRecurringFee", ",,,,,", "10", 1);
    check("RIFee", ",,,,2,1", "3", 0);
    check("RIFee", ",,,,,1", "1", 0);
    check("RIFee", ",,,,,", "10", 1);
}

#[test]
fn a_row_without_dates_covers_its_billing_period() {
    let bill = read_csv(&format!(
        "{HEADER},bill_billing_period_start_date,bill_billing_period_end_date\n\
         Credit,-5,,,AmazonEC2,USD,,,,a,111111111111,,2026-07-01T00:00:00Z,2026-08-01T00:00:00Z\n"
    ))
    .unwrap();
    let row = &bill.rows[0];
    assert_eq!(row["charge_period_start"], "2026-07-01T00:00:00Z");
    assert_eq!(row["charge_period_end"], "2026-08-01T00:00:00Z");
    assert_eq!(bill.period().billed_total.to_string(), "-5");
}

#[test]
fn a_plan_that_covers_half_an_hour_leaves_the_rest_on_demand() {
    let bill = read_csv(&format!(
        "{HEADER},savings_plan_savings_plan_effective_cost\n{},6\n{},\n{},\n",
        hour("SavingsPlanCoveredUsage", "10", "a"),
        hour("Usage", "10", "b"),
        hour("SavingsPlanNegation", "-10", "c")
    ))
    .unwrap();
    assert_eq!(bill.period().effective_total.to_string(), "16");
    assert_eq!(bill.period().billed_total.to_string(), "10");
    assert_eq!(bill.period().marginal_total.to_string(), "10");
}

#[test]
fn an_unknown_line_type_is_kept_as_it_is() {
    let bill = read_csv(&format!("{HEADER}\n{}\n", hour("QuantumUsage", "10", "a"))).unwrap();
    assert_eq!(bill.rows[0]["x_line_type"], "QuantumUsage");
    assert_eq!((bill.rows[0]["x_class"].as_str(), bill.rows[0]["effective_cost"].as_str()), ("usage", "10"));
}
