//! The allocated form sums to the parts that it was made of.

use arrow::record_batch::RecordBatch;
use ledger::{Account, AttemptId, CreditTreatment, Day, Evidence, ExperimentId, ResourceKind, Rule};
use money::Amount;
use proptest::prelude::*;
use sources::export::CsvWriter;
use sources::export::focus::{AllocatedBill, AllocatedPart, allocated, allocated_schema};

use super::Row;

const BILL: AllocatedBill<'static> = AllocatedBill {
    billing_account_id: "111111111111",
    billing_account_name: None,
    provider_name: "AWS",
    invoice_issuer_name: None,
    period: ledger::BillingPeriod { year: 2026, month: 7 },
    credits: CreditTreatment::BeforeCredits,
};

fn part(account: Account, units: [i128; 4]) -> AllocatedPart<'static> {
    let [billed_cost, list_cost, effective_cost, marginal_cost] =
        units.map(|units| Amount::from_units(units).unwrap());
    AllocatedPart {
        experiment: None,
        attempt: None,
        account,
        reason: "",
        rule: Rule::None,
        evidence: Evidence::Modelled,
        resource_kind: ResourceKind::Compute,
        service_name: "AmazonEC2",
        sub_account_id: "222222222222",
        line_type: "Usage",
        day: None,
        currency: "USD".parse().unwrap(),
        billed_cost,
        list_cost,
        effective_cost,
        marginal_cost,
        charges: 3,
        unpriced: 1,
    }
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let mut writer = CsvWriter::create(Vec::new(), allocated_schema()).unwrap();
    writer.write(batch).unwrap();
    let text = writer.finish().unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_slice());
    let rows = reader.deserialize::<Row>().map(Result::unwrap);
    rows.map(|row| row.into_iter().filter(|(_, value)| !value.is_empty()).collect()).collect()
}

fn sum(rows: &[Row], column: &str) -> Amount {
    Amount::sum(rows.iter().map(|row| row[column].parse().unwrap())).unwrap()
}

#[test]
fn a_part_of_an_attempt_names_it_and_how_it_was_got() {
    let experiment = ExperimentId("exp-001".to_owned());
    let attempt = AttemptId::of_key("slurm:train:42:1795998677");
    let one = AllocatedPart {
        experiment: Some(&experiment),
        attempt: Some(attempt),
        rule: Rule::ResourceTime,
        day: Some(Day::from_civil(2026, 7, 31)),
        ..part(Account::Attempt, [1, 2, 3, 4])
    };
    let rows = rows(&allocated(&BILL, &[one]).unwrap());
    let row = &rows[0];
    for (column, expect) in [
        ("x_ExperimentId", "exp-001"),
        ("x_AttemptId", attempt.to_string().as_str()),
        ("x_Account", "attempt"),
        ("x_AllocationRule", "resource_time"),
        ("x_Evidence", "modelled"),
        ("x_CreditTreatment", "before credits"),
        ("ChargePeriodStart", "2026-07-31T00:00:00Z"),
        ("ChargePeriodEnd", "2026-08-01T00:00:00Z"),
        ("BillingPeriodStart", "2026-07-01T00:00:00Z"),
        ("ChargeCategory", "Usage"),
        ("BilledCost", "0.000000000000000000000001"),
        ("x_MarginalCost", "0.000000000000000000000004"),
        ("x_Charges", "3"),
    ] {
        assert_eq!(row[column], expect, "for {column}");
    }
    assert!(!row.contains_key("ResourceId") && !row.contains_key("x_AllocationReason"));
}

#[test]
fn a_fee_and_what_nothing_used_are_a_purchase_and_usage() {
    let parts =
        [part(Account::UnusedCommitment, [16, 0, 5, 0]), part(Account::UnusedCommitment, [0, 0, 5, 0])];
    let rows = rows(&allocated(&BILL, &parts).unwrap());
    let shown: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {} {}", row["ChargeCategory"], row["EffectiveCost"] != "0", row["x_Charges"]))
        .collect();
    assert_eq!(shown, ["Purchase false 3", "Usage true 0", "Usage true 3"]);
}

#[test]
fn the_counter_account_is_refused() {
    let fault = allocated(&BILL, &[part(Account::Bill, [1, 1, 1, 1])]).unwrap_err();
    assert_eq!(fault.code, "export::counter_account");
}

proptest! {
    #[test]
    fn an_allocated_export_sums_to_its_parts(
        drawn in proptest::collection::vec(
            (1..Account::ALL.len(), [-10_i128.pow(34)..10_i128.pow(34), 0..2_i128, -3..3_i128, 0..2_i128]),
            0..20,
        ),
    ) {
        let parts: Vec<AllocatedPart<'_>> =
            drawn.iter().map(|(account, units)| part(Account::ALL[*account], *units)).collect();
        let rows = rows(&allocated(&BILL, &parts).unwrap());
        let of = |cost: fn(&AllocatedPart<'_>) -> Amount| Amount::sum(parts.iter().map(cost)).unwrap();
        prop_assert_eq!(sum(&rows, "BilledCost"), of(|part| part.billed_cost));
        prop_assert_eq!(sum(&rows, "ListCost"), of(|part| part.list_cost));
        prop_assert_eq!(sum(&rows, "EffectiveCost"), of(|part| part.effective_cost));
        prop_assert_eq!(sum(&rows, "x_MarginalCost"), of(|part| part.marginal_cost));
        let count = |column: &str| rows.iter().map(|row| row[column].parse::<usize>().unwrap()).sum::<usize>();
        prop_assert_eq!(count("x_Charges"), parts.len() * 3);
        prop_assert_eq!(count("x_UnpricedCharges"), parts.len());
    }
}
