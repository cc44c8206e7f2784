//! The bills: identities, expected sums and the rows that a reader must cope with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use demo::{ExpectedBill, ImportKind};
use money::Amount;

use crate::reading::{Row, amount, cell, deliveries, sum};
use crate::{WRITTEN, paths};

/// Period and rows of each delivery, in the order of import.
pub(crate) static DELIVERIES: LazyLock<Vec<(String, Vec<Row>)>> =
    LazyLock::new(|| paths(ImportKind::AwsCur).into_iter().flat_map(|folder| deliveries(folder)).collect());

fn line_type(row: &Row) -> &str {
    cell(row, "line_item_line_item_type")
}

fn billed(row: &Row) -> Amount {
    amount(row, "line_item_unblended_cost")
}

fn is_split(row: &Row) -> bool {
    cell(row, "line_item_operation") == "EKSPod-EC2"
}

/// Amortised cost by the formula of the provider's own dashboards.
fn effective(row: &Row) -> Amount {
    let column = |name: &str| amount(row, name);
    match line_type(row) {
        "SavingsPlanCoveredUsage" => column("savings_plan_savings_plan_effective_cost"),
        "SavingsPlanRecurringFee" => {
            let total = column("savings_plan_total_commitment_to_date");
            total.checked_sub(column("savings_plan_used_commitment")).unwrap()
        }
        "SavingsPlanNegation" | "SavingsPlanUpfrontFee" => Amount::ZERO,
        "DiscountedUsage" => column("reservation_effective_cost"),
        "RIFee" => sum([
            column("reservation_unused_amortized_upfront_fee_for_billing_period"),
            column("reservation_unused_recurring_fee"),
        ]),
        "Fee" if !cell(row, "reservation_reservation_a_r_n").is_empty() => Amount::ZERO,
        _ => billed(row),
    }
}

fn expected() -> Vec<&'static ExpectedBill> {
    let expected = &WRITTEN.1.expected;
    expected.restated.iter().chain(&expected.bills).collect()
}

#[test]
fn every_delivery_comes_to_what_was_counted_while_writing() {
    assert_eq!(DELIVERIES.len(), 5);
    let mut all = 0;
    for ((period, rows), bill) in DELIVERIES.iter().zip(expected()) {
        assert_eq!(*period, bill.period.to_string());
        assert_eq!(u64::try_from(rows.len()).unwrap(), bill.rows);
        assert!(rows.iter().all(|row| cell(row, "bill_payer_account_id") == bill.payer));
        assert_eq!(sum(rows.iter().map(billed)), bill.billed, "billed, {} {period}", bill.payer);
        assert_eq!(sum(rows.iter().map(effective)), bill.effective, "effective, {} {period}", bill.payer);
        all += rows.len();
    }
    assert!((8_000..60_000).contains(&all), "{all} rows");
}

#[test]
fn amortised_cost_is_billed_cost_less_upfront_fees_plus_their_amortisation() {
    for (period, rows) in DELIVERIES.iter() {
        let upfront = |row: &&Row| {
            line_type(row) == "SavingsPlanUpfrontFee"
                || line_type(row) == "Fee" && !cell(row, "reservation_reservation_a_r_n").is_empty()
        };
        let fees = sum(rows.iter().filter(upfront).map(billed));
        let amortised = sum(rows.iter().flat_map(|row| {
            [
                "savings_plan_amortized_upfront_commitment_for_billing_period",
                "reservation_amortized_upfront_fee_for_billing_period",
            ]
            .map(|name| amount(row, name))
        }));
        let left = sum(rows.iter().map(effective));
        let right = sum([sum(rows.iter().map(billed)), fees.negated(), amortised]);
        assert_eq!(left, right, "{period}");
    }
}

#[test]
fn negations_take_back_exactly_what_the_savings_plan_covers() {
    for (period, rows) in DELIVERIES.iter() {
        let kinds = ["SavingsPlanCoveredUsage", "SavingsPlanNegation"];
        let taken = rows.iter().filter(|row| kinds.contains(&line_type(row))).map(billed);
        assert_eq!(sum(taken), Amount::ZERO, "{period}");
        let used = sum(rows.iter().map(|row| amount(row, "savings_plan_used_commitment")));
        let covered = sum(rows.iter().map(|row| amount(row, "savings_plan_savings_plan_effective_cost")));
        assert_eq!(used, covered, "{period}");
    }
}

#[test]
fn split_rows_of_a_node_hour_sum_to_its_cost() {
    let mut found = 0;
    for (_, rows) in DELIVERIES.iter() {
        let mut split: BTreeMap<(&str, &str), Vec<Amount>> = BTreeMap::new();
        for row in rows.iter().filter(|row| is_split(row)) {
            assert!(billed(row).is_zero());
            let key =
                (cell(row, "split_line_item_parent_resource_id"), cell(row, "line_item_usage_start_date"));
            let parts =
                ["split_line_item_split_cost", "split_line_item_unused_cost"].map(|name| amount(row, name));
            split.entry(key).or_default().extend(parts);
        }
        for ((node, hour), parts) in split {
            let own = rows.iter().filter(|row| {
                cell(row, "line_item_resource_id") == node && cell(row, "line_item_usage_start_date") == hour
            });
            assert_eq!(sum(parts), sum(own.map(billed)), "{node} {hour}");
            found += 1;
        }
    }
    assert!(found > 10, "{found} node-hours");
}

#[test]
fn the_final_delivery_has_an_invoice_and_the_days_that_the_early_one_lacks() {
    let [(_, early), (_, last), (_, open), ..] = DELIVERIES.as_slice() else { panic!("too few deliveries") };
    assert!(early.iter().chain(open).all(|row| cell(row, "bill_invoice_id").is_empty()));
    assert!(last.iter().all(|row| !cell(row, "bill_invoice_id").is_empty()));
    let days = |rows: &[Row]| {
        let usage = rows.iter().filter(|row| line_type(row) == "Usage");
        usage.map(|row| cell(row, "line_item_usage_start_date")[..10].to_owned()).collect::<BTreeSet<_>>()
    };
    let missing: Vec<String> = days(last).difference(&days(early)).cloned().collect();
    assert_eq!(missing, ["2026-09-29", "2026-09-30"]);
    let late = |rows: &[Row]| {
        rows.iter().filter(|row| cell(row, "line_item_usage_type").contains("-AWS-Out-")).count()
    };
    assert!(late(last) >= late(early) + 4, "transfer of the days before is restated");
    let id = |row: &Row| cell(row, "identity_line_item_id").to_owned();
    let ids = |rows: &[Row]| rows.iter().map(id).collect::<BTreeSet<_>>();
    assert_eq!(ids(last).len(), last.len());
    assert!(ids(last).is_disjoint(&ids(early)));
}

/// A row that must occur, by what its cells contain.
fn find(wanted: &[(&str, &str)], more: impl Fn(&Row) -> bool) {
    let holds =
        |row: &&Row| wanted.iter().all(|(column, part)| cell(row, column).contains(part)) && more(row);
    let count = DELIVERIES.iter().flat_map(|(_, rows)| rows).filter(holds).count();
    assert!(count > 0, "no row with {wanted:?}");
}

#[test]
fn every_kind_of_row_that_a_reader_must_know_is_there() {
    const TYPE: &str = "line_item_line_item_type";
    const USAGE: &str = "line_item_usage_type";
    let paid = |row: &Row| billed(row) > Amount::ZERO;
    let free = |row: &Row| billed(row).is_zero();
    let back = |row: &Row| billed(row) < Amount::ZERO;
    let unused = |row: &Row| effective(row) > Amount::ZERO;
    find(&[(TYPE, "Usage"), (USAGE, "BoxUsage:p4d.24xlarge")], paid);
    find(&[(TYPE, "Usage"), (USAGE, "SpotUsage:g5.12xlarge")], |row| {
        cell(row, "product_instance_type").is_empty()
    });
    find(&[(TYPE, "SavingsPlanCoveredUsage")], paid);
    find(&[(TYPE, "SavingsPlanNegation")], back);
    find(&[(TYPE, "SavingsPlanRecurringFee")], unused);
    find(&[(TYPE, "DiscountedUsage")], free);
    find(&[(TYPE, "RIFee")], unused);
    find(&[(TYPE, "Fee"), (USAGE, "CapacityBlockFee:p5.48xlarge")], paid);
    find(&[(USAGE, "USE2-BoxUsage:p5.48xlarge"), ("line_item_operation", "RunInstances:CB")], free);
    find(&[(USAGE, "EBS:VolumeUsage.gp3"), ("resource_tags", "unattached")], paid);
    find(&[(USAGE, "EBS:VolumeUsage.gp3"), ("resource_tags", "vitl-tune")], paid);
    find(&[(USAGE, "EBS:SnapshotUsage")], paid);
    find(&[(USAGE, "TimedStorage-ByteHrs")], paid);
    find(&[(USAGE, "Requests-Tier1"), ("line_item_operation", "PutObject")], paid);
    find(&[(USAGE, "USE1-USE2-AWS-Out-Bytes"), ("product_servicecode", "AWSDataTransfer")], paid);
    find(&[(USAGE, "NatGateway-Hours")], paid);
    find(&[(USAGE, "AmazonEKS-Hours:perCluster")], paid);
    find(&[(USAGE, "EKS-EC2-Accelerator-Hours")], is_split);
    find(&[("line_item_product_code", "AmazonCloudWatch")], |row| {
        free(row) && amount(row, "pricing_public_on_demand_cost") > Amount::ZERO
    });
    find(&[("line_item_product_code", "AmazonBedrock")], paid);
    find(&[(TYPE, "Tax")], paid);
    find(&[(TYPE, "Fee"), ("line_item_product_code", "Support")], paid);
    find(&[(TYPE, "Credit"), ("line_item_line_item_description", "Promotional")], back);
    find(&[(TYPE, "Refund"), ("bill_bill_type", "Refund")], back);
    find(&[(USAGE, "Train:ml.p4d.24xlarge"), ("line_item_resource_id", ":training-job/")], paid);
    find(&[(USAGE, "TrSpt:ml.g5.12xlarge"), ("line_item_resource_id", ":training-job/")], paid);
}

#[test]
fn an_hour_is_covered_in_part_and_on_demand_in_part() {
    let rows = || DELIVERIES.iter().flat_map(|(_, rows)| rows);
    let hours = |wanted: &str| {
        let of_type = rows().filter(|row| line_type(row) == wanted);
        of_type
            .map(|row| (cell(row, "line_item_resource_id"), cell(row, "line_item_usage_start_date")))
            .collect::<BTreeSet<_>>()
    };
    assert!(hours("SavingsPlanCoveredUsage").intersection(&hours("Usage")).count() > 20);
}

#[test]
fn the_stopped_workstation_keeps_its_volume() {
    let rows: Vec<&Row> = DELIVERIES.iter().flat_map(|(_, rows)| rows).collect();
    let last = |usage: &str, team: &str| {
        let of_usage = rows.iter().filter(|row| {
            cell(row, "line_item_usage_type").contains(usage)
                && cell(row, "bill_payer_account_id") == "444455556666"
                && cell(row, "resource_tags").contains(team)
        });
        of_usage.map(|row| cell(row, "line_item_usage_start_date")[..10].to_owned()).max().unwrap()
    };
    assert_eq!(last("BoxUsage:g4dn.xlarge", "vision"), "2026-09-21");
    assert_eq!(last("EBS:VolumeUsage.gp3", "vision"), "2026-10-30");
}
