//! Small bills, records and postings for the tests of this crate.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringDictionaryBuilder,
    TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;
use ledger::{
    Account, AttemptId, Checkpoint, Day, Evidence, ExperimentId, Observation, Posting, ResourceKind, Rule,
    RunRecord, SourceId, Step, Timestamp,
};
use money::Amount;
use sources::charges::{self, COLUMNS, ColumnType};

use crate::{Change, DeliveryFacts, DeliveryKey, ImportRecord, StagedDelivery, StagedPostings, Store};

pub(crate) const PERIOD: &str = "2026-07";

/// A charge: billed cost, and list cost where there is one.
pub(crate) type Row = (&'static str, Option<&'static str>);

pub(crate) fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

pub(crate) fn source() -> SourceId {
    SourceId("aws_cur:111122223333".to_owned())
}

/// A canonical batch in one currency; row `i` has the billed and list cost of `rows[i]`.
pub(crate) fn batch_in(currency: &str, rows: &[Row]) -> RecordBatch {
    let columns = COLUMNS.iter().map(|column| -> ArrayRef {
        match column.kind {
            ColumnType::Text => Arc::new(texts(column.name, currency, rows.len())),
            ColumnType::Money => Arc::new(costs(column.name, column.required, rows)),
            ColumnType::Quantity => Arc::new(Float64Array::from_iter((0..rows.len()).map(|_| None::<f64>))),
            ColumnType::Instant => {
                let micros = (0..rows.len()).map(|row| i64::try_from(row).unwrap() * 3_600_000_000);
                Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone("UTC"))
            }
            ColumnType::Row => Arc::new(Int64Array::from_iter_values(1..=i64::try_from(rows.len()).unwrap())),
        }
    });
    RecordBatch::try_new(charges::schema(), columns.collect()).unwrap()
}

pub(crate) fn batch(rows: &[Row]) -> RecordBatch {
    batch_in("USD", rows)
}

fn texts(name: &str, currency: &str, count: usize) -> arrow::array::DictionaryArray<Int32Type> {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    for row in 0..count {
        match name {
            "billing_currency" => builder.append_value(currency),
            "x_line_item_id" => builder.append_value(format!("item-{row}")),
            "resource_id" if row % 3 == 0 => builder.append_null(),
            _ => builder.append_value(format!("{name}-{}", row % 7)),
        }
    }
    builder.finish()
}

fn costs(name: &str, required: bool, rows: &[Row]) -> Decimal128Array {
    let cost = |row: &Row| match name {
        "list_cost" => row.1.map(|text| amount(text).units()),
        _ if required => Some(amount(row.0).units()),
        _ => None,
    };
    rows.iter().map(cost).collect::<Decimal128Array>().with_data_type(charges::MONEY)
}

/// A folder with a new store in it.
pub(crate) async fn new_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store")).await.unwrap();
    (folder, store)
}

pub(crate) fn staged(store: &Store, rows: &[Row]) -> StagedDelivery {
    let mut writer = store.begin_delivery(&source(), PERIOD.parse().unwrap()).unwrap();
    writer.append(&batch(rows)).unwrap();
    writer.finish().unwrap()
}

pub(crate) fn facts(rows: &[Row]) -> DeliveryFacts {
    let accepted = u64::try_from(rows.len()).unwrap();
    DeliveryFacts {
        arrived_at: Timestamp::from_seconds(1_800_000_000),
        place: "bill.csv".to_owned(),
        currency: "USD".parse().unwrap(),
        rows: accepted + 1,
        accepted,
        rejected: 1,
        source_total: Amount::sum(rows.iter().map(|row| amount(row.0))).unwrap(),
        is_final: true,
        days: vec![Day(20_002), Day(20_000), Day(20_002)],
        split_rows: 2,
        capacity_block_rows: 3,
        reader_version: "aws_cur 1".to_owned(),
        details: crate::DeliveryDetails {
            credits_by_type: [("PROMOTION".to_owned(), "-1.5".parse().unwrap())].into(),
            ..crate::DeliveryDetails::default()
        },
    }
}

/// A change that brings nothing yet.
pub(crate) fn empty_change() -> Change {
    let import = ImportRecord {
        sequence: 0,
        kind: "aws_cur".to_owned(),
        place: "bill.csv".to_owned(),
        arrived_at: Timestamp::from_seconds(1_800_000_000),
        rows: 0,
        accepted: 0,
        rejected: 0,
        rejections: Vec::new(),
        warnings: Vec::new(),
    };
    Change { import, deliveries: Vec::new(), observations: Vec::new(), postings: Vec::new(), read: None }
}

/// A change with one delivery of these rows and its postings.
pub(crate) fn bill(store: &Store, rows: &[Row]) -> Change {
    let delivery = staged(store, rows);
    let postings = staged_postings(store, &delivery.key());
    Change { deliveries: vec![(delivery, facts(rows))], postings: vec![postings], ..empty_change() }
}

pub(crate) fn staged_postings(store: &Store, key: &DeliveryKey) -> StagedPostings {
    store.stage_postings(key, "cafe01", &[posting("5"), posting("-5")]).unwrap()
}

pub(crate) fn posting(billed: &str) -> Posting {
    Posting {
        step: Step::Attribution,
        account: Account::Attempt,
        attempt: Some(AttemptId::of_key("slurm:c:1:0")),
        experiment: Some(ExperimentId("resnet".to_owned())),
        rule: Rule::ResourceTime,
        evidence: Evidence::Modelled,
        reason: String::new(),
        resource_kind: ResourceKind::Compute,
        service_name: "AmazonEC2".to_owned(),
        sub_account_id: "111122223333".to_owned(),
        line_type: "Usage".to_owned(),
        usage_day: Some(Day(20_000)),
        currency: "USD".parse().unwrap(),
        billed_cost: amount(billed),
        list_cost: amount("0.000000000000000000000001"),
        effective_cost: amount("99999999999999"),
        marginal_cost: Amount::ZERO,
        charges: 3,
        unpriced: 1,
    }
}

/// The observation of a checkpoint at a training step.
pub(crate) fn observation(step: u64) -> Observation {
    let checkpoint = Checkpoint {
        step: Some(step),
        started_at: None,
        completed_at: Some(Timestamp(5)),
        durable: true,
        bytes: None,
        uri: None,
    };
    Observation {
        source: SourceId("slurm:gpu26".to_owned()),
        key: format!("slurm:gpu26:{step}:0"),
        modified_at: step.is_multiple_of(2).then_some(Timestamp(7)),
        record: RunRecord::Checkpoint(checkpoint),
    }
}
