//! A bill in Parquet reads the same whether its text lies in dictionaries or not, and however its rows are grouped.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, MapBuilder, RecordBatch, StringArray, StringBuilder};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use super::support::{Bill, read_files};

/// One row, by the places of its values among few.
#[derive(Debug, Clone)]
struct Drawn {
    line_type: usize,
    usage: usize,
    resource: Option<usize>,
    cost: i32,
    payer: usize,
    rate: Option<f64>,
    term: Option<usize>,
    tags: Option<Vec<(usize, Option<usize>)>>,
    product: Vec<(usize, usize)>,
}

const TYPES: [&str; 4] = ["Usage", "Tax", "SavingsPlanCoveredUsage", "EdpDiscount"];
const USAGES: [&str; 4] = ["BoxUsage:p4d.24xlarge", "EBS:VolumeUsage.gp3", "SpotUsage:g5.xlarge", ""];
const WORDS: [&str; 5] = ["a", "b", "é \"quoted\"", "", "team a"];
const KEYS: [&str; 4] = ["region_code", "instanceType", "user_team", "user_experiment"];

fn drawn() -> impl Strategy<Value = Drawn> {
    let pairs = || proptest::collection::vec((0..KEYS.len(), 0..WORDS.len()), 0..3);
    let tags = proptest::collection::vec((0..KEYS.len(), proptest::option::of(0..WORDS.len())), 0..3);
    let of = |n: usize| proptest::option::of(0..n);
    (
        (0..TYPES.len(), 0..USAGES.len(), of(3), -500_i32..500, 0_usize..2),
        (proptest::option::of(prop_oneof![Just(0.0), Just(-0.0), Just(0.25)]), of(WORDS.len())),
        proptest::option::of(tags),
        pairs(),
    )
        .prop_map(|((line_type, usage, resource, cost, payer), (rate, term), tags, product)| Drawn {
            line_type,
            usage,
            resource,
            cost,
            payer,
            rate,
            term,
            tags,
            product,
        })
}

type Pairs<'a> = Option<Vec<(&'a str, Option<&'a str>)>>;

fn map<'a>(rows: impl Iterator<Item = Pairs<'a>>) -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for row in rows {
        for (key, value) in row.iter().flatten() {
            builder.keys().append_value(key);
            builder.values().append_option(*value);
        }
        builder.append(row.is_some()).unwrap();
    }
    Arc::new(builder.finish())
}

fn table(rows: &[Drawn]) -> RecordBatch {
    let texts = |of: &dyn Fn(&Drawn) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let fixed = |text: &'static str| texts(&|_| Some(text.to_owned()));
    let costs: Float64Array = rows.iter().map(|row| Some(f64::from(row.cost) / 64.0)).collect();
    let rates: Float64Array = rows.iter().map(|row| row.rate).collect();
    let tags = rows.iter().map(|row| {
        let pairs = row.tags.as_ref()?.iter();
        Some(pairs.map(|(key, value)| (KEYS[*key], value.map(|value| WORDS[value]))).collect())
    });
    let product =
        rows.iter().map(|row| Some(row.product.iter().map(|(k, v)| (KEYS[*k], Some(WORDS[*v]))).collect()));
    RecordBatch::try_from_iter([
        ("line_item_line_item_type", texts(&|row| Some(TYPES[row.line_type].to_owned()))),
        ("line_item_unblended_cost", Arc::new(costs) as ArrayRef),
        ("line_item_usage_start_date", fixed("2026-07-01T00:00:00Z")),
        ("line_item_usage_end_date", fixed("2026-07-01T01:00:00Z")),
        ("line_item_product_code", fixed("AmazonEC2")),
        ("line_item_currency_code", fixed("USD")),
        ("line_item_usage_type", texts(&|row| Some(USAGES[row.usage].to_owned()))),
        ("line_item_resource_id", texts(&|row| row.resource.map(|n| format!("i-{n}")))),
        ("bill_payer_account_id", texts(&|row| Some(format!("11111111111{}", row.payer)))),
        ("savings_plan_savings_plan_rate", Arc::new(rates)),
        ("pricing_term", texts(&|row| row.term.map(|term| WORDS[term].to_owned()))),
        ("line_item_line_item_description", texts(&|row| row.term.map(|term| WORDS[term].to_owned()))),
        ("product", map(product)),
        ("resource_tags", map(tags)),
    ])
    .unwrap()
}

/// The table as Parquet, in row groups of so many rows.
fn file(table: &RecordBatch, dictionaries: bool, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(dictionaries)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Bill {
    read_files(&[("bill.parquet", bytes)]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dictionaries_change_nothing(
        rows in proptest::collection::vec(drawn(), 1..60), group in 1_usize..40,
    ) {
        let table = table(&rows);
        let plain = read(&file(&table, false, 1000));
        for (dictionaries, group) in [(true, 1000), (true, group), (false, group)] {
            let other = read(&file(&table, dictionaries, group));
            prop_assert_eq!(&other.summary.periods, &plain.summary.periods);
            prop_assert_eq!(&other.rows, &plain.rows, "dictionaries {} in groups of {}", dictionaries, group);
        }
    }
}

#[test]
fn rows_that_repeat_far_apart_and_in_two_files_are_the_same() {
    let one = |n: usize| Drawn {
        line_type: 0,
        usage: n % 3,
        resource: Some(n % 3),
        cost: 1,
        payer: 0,
        rate: Some(0.25),
        term: Some(n % 5),
        tags: Some(vec![(2, Some(n % 5))]),
        product: vec![(0, n % 4), (1, n % 3)],
    };
    let rows: Vec<Drawn> = (0..9_000).map(one).collect();
    let table = table(&rows);
    let bytes = file(&table, true, 5_000);
    let reversed: Vec<u64> = (0..9_000).rev().collect();
    let other =
        arrow::compute::take_record_batch(&table, &arrow::array::UInt64Array::from(reversed)).unwrap();
    let both = read_files(&[("a.parquet", &bytes), ("b.parquet", &file(&other, true, 4_000))]).unwrap();
    let plain =
        read_files(&[("a.parquet", &file(&table, false, 9_000)), ("b.parquet", &file(&other, false, 9_000))]);
    let plain = plain.unwrap();
    assert_eq!(both.summary.periods, plain.summary.periods);
    assert!(both.rows == plain.rows, "rows differ");
    assert_eq!(both.rows[7]["tags"], r#"{"user_team":"é \"quoted\""}"#);
}
