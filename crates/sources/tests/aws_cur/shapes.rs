//! The same bill in every shape: spellings, order, subsets, types of columns, forms of maps, split over files.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Decimal128Array, Int64Array, ListBuilder, MapBuilder, StringArray, StringBuilder,
    StructArray, StructBuilder, TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Fields};
use proptest::prelude::*;

use super::support::{HEADER, hour, parquet_file, read_csv, read_files, shuffled, without_place};

#[test]
fn every_spelling_and_order_of_the_columns_gives_the_same_charges() {
    let spellings = [
        HEADER.to_owned(),
        HEADER.to_uppercase(),
        "lineItem/LineItemType,lineItem/UnblendedCost,lineItem/UsageStartDate,lineItem/UsageEndDate,\
         lineItem/ProductCode,lineItem/CurrencyCode,lineItem/UsageType,lineItem/Operation,lineItem/ResourceId,\
         identity/LineItemId,bill/PayerAccountId,lineItem/UsageAmount".to_owned(),
        "line_item_type,unblended_cost,usage_start,usage_end,product_code,currency_code,usage_type,operation,\
         resource_id,line_item_id,payer_account_id,usage_amount".to_owned(),
        format!("\u{feff}{HEADER}"),
    ];
    let row = hour("Usage", "4.0E-7", "a");
    let first = without_place(&read_csv(&format!("{HEADER}\n{row}\n")).unwrap());
    assert_eq!(first[0]["billed_cost"], "0.0000004");
    for header in &spellings {
        let bill = read_csv(&format!("{header}\n{row}\n")).unwrap();
        assert_eq!(without_place(&bill), first, "for {header}");
    }
    let turned = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",");
    let bill = read_csv(&format!("{}\n{}\n", turned(HEADER), turned(&row))).unwrap();
    assert_eq!(without_place(&bill), first);
}

#[test]
fn the_needed_columns_alone_are_enough() {
    let bill = read_csv(
        "product_code,currency_code,unblended_cost,line_item_type,identity_time_interval,usage_start\n\
         AmazonEC2,USD,1.5,Usage,2026-07-01T00:00:00Z/2026-07-01T01:00:00Z,2026-07-01\n",
    )
    .unwrap();
    let row = &bill.rows[0];
    assert_eq!(row["charge_period_end"], "2026-07-01T01:00:00Z");
    assert_eq!(row["billing_period_end"], "2026-08-01T00:00:00Z");
    assert_eq!(row["billing_account_id"], "unknown");
    assert!(!row.contains_key("list_cost") && !row.contains_key("x_unmapped"));
    assert_eq!(bill.warnings(), ["bill::no_resource_ids"]);
}

#[test]
fn columns_without_a_place_are_kept() {
    let bill = read_csv(&format!(
        "{HEADER},product/gpu,extra,costCategory/Team,resourceTags/user:Team,lineItem/BlendedCost\n{},8,\"a\"\"b\",ml,x,9\n",
        hour("Usage", "1", "a")
    ))
    .unwrap();
    assert_eq!(bill.rows[0]["x_unmapped"], r#"{"costCategory/Team":"ml","extra":"a\"b","product/gpu":"8"}"#);
    assert_eq!(bill.rows[0]["tags"], r#"{"user:Team":"x"}"#);
}

#[test]
fn a_map_of_text_is_read_in_every_notation() {
    for text in [
        r#"{""user_b"":""2"",""user_a"":""1""}"#,
        "{'user_b': '2', 'user_a': '1'}",
        "[('user_b', '2'), ('user_a', '1')]",
        "{user_b=2, user_a=1}",
    ] {
        let header = format!("{HEADER},resource_tags,product");
        let row = format!("{},\"{text}\",\"{{\"\"region\"\":\"\"eu-west-1\"\"}}\"", hour("Usage", "1", "a"));
        let bill = read_csv(&format!("{header}\n{row}\n")).unwrap();
        assert_eq!(bill.rows[0]["tags"], r#"{"user_a":"1","user_b":"2"}"#, "for {text}");
        assert_eq!(bill.rows[0]["region_id"], "eu-west-1");
        assert_eq!(bill.rows[0]["x_unmapped"], r#"{"product":{"region":"eu-west-1"}}"#);
    }
    let bill = read_csv(&format!("{HEADER},resource_tags\n{},team a\n", hour("Usage", "1", "a"))).unwrap();
    assert_eq!(bill.warnings(), ["bill::unreadable_maps"]);
    assert_eq!(bill.rows[0]["x_unmapped"], r#"{"resource_tags":"team a"}"#);
}

fn map_column() -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    builder.keys().append_value("user_a");
    builder.values().append_value("1");
    builder.append(true).unwrap();
    Arc::new(builder.finish())
}

fn list_column() -> ArrayRef {
    let fields = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    let mut builder = ListBuilder::new(StructBuilder::from_fields(fields, 1));
    let pair = builder.values();
    pair.field_builder::<StringBuilder>(0).unwrap().append_value("user_a");
    pair.field_builder::<StringBuilder>(1).unwrap().append_value("1");
    pair.append(true);
    builder.append(true);
    Arc::new(builder.finish())
}

fn struct_column() -> ArrayRef {
    let field = Arc::new(Field::new("user_a", DataType::Utf8, true));
    Arc::new(StructArray::from(vec![(field, text("1"))]))
}

fn text(value: &str) -> ArrayRef {
    Arc::new(StringArray::from(vec![value]))
}

#[test]
fn a_parquet_column_may_have_any_type() {
    let start = 1_782_864_000_000;
    let hour = 3_600_000;
    let costs: [ArrayRef; 4] = [
        text("12.5"),
        Arc::new(arrow::array::Float64Array::from(vec![12.5])),
        Arc::new(arrow::array::Float32Array::from(vec![12.5])),
        Arc::new(Decimal128Array::from(vec![12_500]).with_precision_and_scale(20, 3).unwrap()),
    ];
    let times: [(ArrayRef, ArrayRef); 3] = [
        (text("2026-07-01 00:00:00"), text("2026-07-01T01:00:00.000Z")),
        (
            Arc::new(TimestampMillisecondArray::from(vec![start])),
            Arc::new(TimestampMillisecondArray::from(vec![start + hour])),
        ),
        (
            Arc::new(TimestampMillisecondArray::from(vec![start]).with_timezone("UTC")),
            Arc::new(TimestampMillisecondArray::from(vec![start + hour]).with_timezone("UTC")),
        ),
    ];
    for cost in &costs {
        for (from, to) in &times {
            for tags in [map_column(), list_column(), struct_column(), text(r#"{"user_a": "1"}"#)] {
                let shown = format!("{} {} {}", cost.data_type(), from.data_type(), tags.data_type());
                let bytes = parquet_file(vec![
                    ("line_item_line_item_type", text("Usage")),
                    ("line_item_unblended_cost", Arc::clone(cost)),
                    ("line_item_usage_start_date", Arc::clone(from)),
                    ("line_item_usage_end_date", Arc::clone(to)),
                    ("line_item_product_code", text("AmazonEC2")),
                    ("line_item_currency_code", text("USD")),
                    ("bill_payer_account_id", Arc::new(Int64Array::from(vec![111_111_111_111]))),
                    ("resource_tags", tags),
                ]);
                let bill = read_files(&[("bill.parquet", &bytes)]).unwrap();
                let row = &bill.rows[0];
                assert_eq!(row["billed_cost"], "12.5", "for {shown}");
                assert_eq!(row["charge_period_end"], "2026-07-01T01:00:00Z", "for {shown}");
                assert_eq!(row["billing_account_id"], "111111111111", "for {shown}");
                assert_eq!(row["tags"], r#"{"user_a":"1"}"#, "for {shown}");
            }
        }
    }
}

#[test]
fn a_bill_of_several_payers_and_months_comes_apart() {
    let july = hour("Usage", "1", "a");
    let august = july.replace("2026-07-01", "2026-08-02");
    let other = july.replace("111111111111", "222222222222").replace("USD", "EUR");
    let bill = read_csv(&format!("{HEADER}\n{july}\n{august}\n{other}\n")).unwrap();
    let periods: Vec<String> = bill
        .summary
        .periods
        .iter()
        .map(|p| format!("{} {} {} {}", p.payer, p.period, p.billed_total, p.currency))
        .collect();
    assert_eq!(
        periods,
        ["111111111111 2026-07 1 USD", "111111111111 2026-08 1 USD", "222222222222 2026-07 1 EUR"]
    );
}

fn any_row() -> impl Strategy<Value = String> {
    let types = ["Usage", "Tax", "Credit", "SavingsPlanCoveredUsage", "Fee", "EdpDiscount"];
    (0..types.len(), -9_999_999_i64..9_999_999, 0_u32..20, 0_u32..3, 1_u32..29).prop_map(move |row| {
        let (line_type, units, exponent, payer, day) = row;
        format!(
            "{},{units}e-{exponent},2026-07-{day:02}T00:00:00Z,2026-07-{day:02}T01:00:00Z,AmazonEC2,USD,\
             BoxUsage:p4d.24xlarge,RunInstances,i-{day},id,11111111111{payer},1",
            types[line_type]
        )
    })
}

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
}
