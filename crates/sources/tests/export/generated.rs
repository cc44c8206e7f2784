//! Generated charges, whatever their class and costs, come back from an export to the last digit.

use ledger::{BillingPeriod, ChargeCategory, Interval, LineClass, ResourceKind, SplitRole, Timestamp};
use money::Amount;
use proptest::prelude::*;
use sources::Text;
use sources::batches::{Batches, ChargeRow, Unstored};
use sources::billing::{BillLimits, BillSummary, focus};

use super::support::{Format, batches, totals, write};

/// What of a charge is generated.
#[derive(Debug, Clone)]
struct Drawn {
    words: (usize, usize, usize),
    costs: [i128; 4],
    list: Option<i128>,
    contracted: Option<i128>,
    commitment: Option<String>,
    quantity: Option<f64>,
    text: Option<String>,
    correction: bool,
    day: i64,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let units = || prop_oneof![Just(0_i128), -(10_i128.pow(33))..10_i128.pow(33)];
    let text = || proptest::option::of("[a-z,\"{}' \n;=-]{0,6}[a-z]");
    let words = (0..LineClass::ALL.len(), 0..ChargeCategory::ALL.len(), 0..ResourceKind::ALL.len());
    let costs = [units(), units(), units(), units()];
    let quantity = proptest::option::of(prop_oneof![Just(0.0), -1e6..1e6_f64]);
    let optional = (proptest::option::of(units()), proptest::option::of(units()), text(), quantity, text());
    (words, costs, optional, any::<bool>(), 0_i64..60).prop_map(
        |(words, costs, (list, contracted, commitment, quantity, text), correction, day)| Drawn {
            words,
            costs,
            list,
            contracted,
            commitment,
            quantity,
            text,
            correction,
            day,
        },
    )
}

fn canonical(drawn: &[Drawn]) -> (Vec<arrow::record_batch::RecordBatch>, BillSummary) {
    let mut made = Vec::new();
    let mut summary = BillSummary::default();
    let limits = BillLimits { batch_rows: 3, ..BillLimits::default() };
    let mut sink = |batch: sources::billing::BillBatch| {
        made.push(batch.batch);
        Ok(())
    };
    let mut rows = Batches::new(&limits, Box::new(&mut sink));
    for (number, one) in drawn.iter().enumerate() {
        let row = charge(number as u64 + 1, one);
        let group = rows.push(&row).unwrap();
        let period = rows.summary_mut(group).unwrap();
        period.source_total = period.source_total.checked_add(row.billed_cost).unwrap();
    }
    summary.periods = rows.finish().unwrap();
    (made, summary)
}

fn charge(number: u64, drawn: &Drawn) -> ChargeRow<'_> {
    let amount = |units: i128| Amount::from_units(units).unwrap();
    let start = Timestamp(1_782_864_000_000_000 + drawn.day * 86_400_000_000);
    let charge_period = Interval { start, end: Timestamp(start.0 + 3_600_000_000) };
    let period = BillingPeriod::of(start);
    let text = drawn.text.as_deref().map(Text::from);
    let class = LineClass::ALL[drawn.words.0];
    ChargeRow {
        row: number,
        file: "bill.csv".into(),
        line_item_id: text,
        payer: "1".into(),
        payer_name: text,
        currency: "USD".parse().unwrap(),
        period,
        billing_period: period.interval(),
        charge_period,
        category: ChargeCategory::ALL[drawn.words.1],
        correction: drawn.correction.then(|| Text::word("Correction")),
        description: text,
        billed_cost: amount(drawn.costs[0]),
        effective_cost: amount(drawn.costs[1]),
        list_cost: drawn.list.map(amount),
        contracted_cost: drawn.contracted.map(amount),
        marginal_cost: amount(drawn.costs[2]),
        pricing_quantity: drawn.quantity,
        pricing_unit: text,
        commitment_id: drawn.commitment.as_deref().map(Text::from),
        commitment_type: text,
        capacity_reservation_id: text,
        capacity_reservation_status: text,
        invoice_id: text,
        invoice_issuer: text,
        provider: Text::word("AWS"),
        publisher: text,
        region: text,
        zone: text,
        resource_id: text,
        service: text.unwrap_or(Text::word("AmazonEC2")),
        sku: text,
        sku_price: text,
        sub_account: text,
        sub_account_name: text,
        tags: None,
        line_type: Text::word("Usage"),
        class,
        resource_kind: ResourceKind::ALL[drawn.words.2],
        usage_type: text,
        operation: text,
        instance_type: text,
        credit_type: text,
        split_role: if class == LineClass::SplitDetail { SplitRole::Child } else { SplitRole::None },
        parent_resource_id: text,
        split_cost: (class == LineClass::SplitDetail).then(|| amount(drawn.costs[3])),
        split_unused_cost: None,
        unmapped: None,
        unstored: Unstored::default(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn generated_charges_are_read_back_to_the_same_totals(
        drawn in proptest::collection::vec(drawn(), 1..12),
    ) {
        let (made, first) = canonical(&drawn);
        for format in [Format::Csv, Format::Parquet] {
            let exported = write(&made, format);
            let (_, second) = batches(focus::read, &exported.path);
            prop_assert_eq!(second.rejected, 0, "{:?}", second.rejections);
            prop_assert_eq!(totals(&second), totals(&first));
            for column in ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "x_MarginalCost"] {
                prop_assert!(exported.rows.iter().all(|row| row.contains_key(column)), "{}", column);
            }
            let bought = |row: &&super::Row| row["ChargeCategory"] == "Purchase" && row["x_Class"] == "commitment";
            let carries = |row: &super::Row| row["EffectiveCost"] != "0" && row.contains_key("CommitmentDiscountId");
            prop_assert!(!exported.rows.iter().filter(bought).any(carries));
        }
    }
}
