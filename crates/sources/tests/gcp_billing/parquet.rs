//! The golden export as Parquet, with structures, lists, decimals and timestamps, gives the same charges.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, ListArray, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use money::Amount;
use serde_json::{Value, json};

use super::shapes::charges;
use super::support::{amount_of, golden_values, parquet_file, read_files, read_rows};

fn at<'a>(row: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(row, |value, key| &value[key])
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn texts<'a>(rows: impl Iterator<Item = &'a Value>) -> ArrayRef {
    Arc::new(StringArray::from_iter(rows.map(text_of)))
}

/// Amounts as BigQuery writes a NUMERIC.
fn numerics<'a>(rows: impl Iterator<Item = &'a Value>) -> ArrayRef {
    let units = |amount: Amount| amount.units() / 10_i128.pow(money::SCALE - 9);
    let amounts = rows.map(|value| (!value.is_null()).then(|| units(amount_of(value))));
    Arc::new(Decimal128Array::from_iter(amounts).with_precision_and_scale(38, 9).unwrap())
}

fn floats<'a>(rows: impl Iterator<Item = &'a Value>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(
        rows.map(|value| text_of(value).map(|text| text.parse::<f64>().unwrap())),
    ))
}

fn instants<'a>(rows: impl Iterator<Item = &'a Value>) -> ArrayRef {
    let micros = |text: String| sources::instant(&text, &sources::Zone::Undeclared).unwrap().0;
    let times = TimestampMicrosecondArray::from_iter(rows.map(|value| text_of(value).map(micros)));
    Arc::new(times.with_timezone("UTC"))
}

fn structure(fields: Vec<(&str, ArrayRef)>, nulls: Option<NullBuffer>) -> StructArray {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = fields
        .into_iter()
        .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array))
        .unzip();
    StructArray::new(fields.into(), arrays, nulls)
}

/// A structure of text fields that is missing where its row has none.
fn record(rows: &[Value], name: &str, fields: &[&str]) -> ArrayRef {
    let columns = fields.iter().map(|field| (*field, texts(rows.iter().map(|row| &row[name][*field]))));
    let present: Vec<bool> = rows.iter().map(|row| row[name].is_object()).collect();
    Arc::new(structure(columns.collect(), Some(NullBuffer::from(present))))
}

/// A list of structures; `amount` is a NUMERIC and every other field text.
fn list(rows: &[Value], path: &str, fields: &[&'static str]) -> ArrayRef {
    let none = Vec::new();
    let of_row = |row| at(row, path).as_array().unwrap_or(&none).clone();
    let lists: Vec<Vec<Value>> = rows.iter().map(of_row).collect();
    let column = |field: &&'static str| -> (&'static str, ArrayRef) {
        let values = lists.iter().flatten().map(|record| &record[*field]);
        (*field, if *field == "amount" { numerics(values) } else { texts(values) })
    };
    let records = structure(fields.iter().map(column).collect(), None);
    let item = Arc::new(Field::new("element", records.data_type().clone(), true));
    Arc::new(ListArray::new(
        item,
        OffsetBuffer::from_lengths(lists.iter().map(Vec::len)),
        Arc::new(records),
        None,
    ))
}

/// The golden export as a Parquet file, with costs as NUMERIC or as the FLOAT of older tables.
fn golden_parquet(rows: &[Value], cost: fn(&[Value], &str) -> ArrayRef) -> Vec<u8> {
    let text = |name: &str| texts(rows.iter().map(|row| &row[name]));
    let label = ["key", "value"];
    let project = structure(
        vec![
            ("id", texts(rows.iter().map(|row| &row["project"]["id"]))),
            ("name", texts(rows.iter().map(|row| &row["project"]["name"]))),
            ("labels", list(rows, "project.labels", &label)),
            // Required inside of an optional structure: what stands under a missing project is no value.
            ("active", Arc::new(BooleanArray::from(vec![true; rows.len()]))),
        ],
        Some(NullBuffer::from(rows.iter().map(|row| row["project"].is_object()).collect::<Vec<_>>())),
    );
    let usage = structure(
        vec![
            ("amount", floats(rows.iter().map(|row| &row["usage"]["amount"]))),
            ("unit", texts(rows.iter().map(|row| &row["usage"]["unit"]))),
            (
                "amount_in_pricing_units",
                floats(rows.iter().map(|row| &row["usage"]["amount_in_pricing_units"])),
            ),
            ("pricing_unit", texts(rows.iter().map(|row| &row["usage"]["pricing_unit"]))),
        ],
        None,
    );
    parquet_file(vec![
        ("billing_account_id", text("billing_account_id")),
        ("service", record(rows, "service", &["id", "description"])),
        ("sku", record(rows, "sku", &["id", "description"])),
        ("usage_start_time", instants(rows.iter().map(|row| &row["usage_start_time"]))),
        ("usage_end_time", instants(rows.iter().map(|row| &row["usage_end_time"]))),
        ("project", Arc::new(project)),
        ("labels", list(rows, "labels", &label)),
        ("system_labels", list(rows, "system_labels", &["value", "key"])),
        ("location", record(rows, "location", &["location", "country", "region", "zone"])),
        ("tags", list(rows, "tags", &["key", "value", "inherited", "namespace"])),
        ("resource", record(rows, "resource", &["name", "global_name"])),
        ("cost", cost(rows, "cost")),
        ("currency", text("currency")),
        ("usage", Arc::new(usage)),
        ("credits", list(rows, "credits", &["id", "full_name", "type", "name", "amount"])),
        ("invoice", record(rows, "invoice", &["month", "publisher_type"])),
        ("cost_type", text("cost_type")),
        ("adjustment_info", record(rows, "adjustment_info", &["id", "description", "type", "mode"])),
        ("export_time", instants(rows.iter().map(|row| &row["export_time"]))),
        ("cost_at_list", cost(rows, "cost_at_list")),
        ("seller_name", text("seller_name")),
    ])
}

#[test]
fn a_parquet_export_gives_the_charges_of_its_json_lines() {
    let rows = golden_values();
    let lines = read_rows(&rows);
    let forms: [fn(&[Value], &str) -> ArrayRef; 2] = [
        |rows, name| numerics(rows.iter().map(|row| &row[name])),
        |rows, name| floats(rows.iter().map(|row| &row[name])),
    ];
    for cost in forms {
        let bytes = golden_parquet(&rows, cost);
        let bill = read_files(&[("bill.parquet", &bytes)]).unwrap();
        assert_eq!(charges(&bill), charges(&lines));
        assert_eq!(bill.summary.periods, lines.summary.periods);
        let gpu: Value = serde_json::from_str(&bill.rows[2]["x_unmapped"]).unwrap();
        assert_eq!((&gpu["credits"][0]["amount"], &gpu["credits"][0]["id"]), (&"-1".into(), &"CUD".into()));
        assert_eq!((&gpu["cost"], &gpu["project.active"]), (&"2.933908".into(), &"true".into()));
        let tax: Value = serde_json::from_str(&bill.rows[14]["x_unmapped"]).unwrap();
        assert_eq!((&bill.rows[14]["x_class"], &tax["project.active"]), (&"tax".to_owned(), &Value::Null));
    }
}

#[test]
fn lists_that_are_not_known_are_kept() {
    let rows = golden_values();
    let item = Arc::new(Field::new("element", DataType::Utf8, true));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let lists = ListArray::new(item, OffsetBuffer::from_lengths([2]), names, None);
    let one = &rows[..1];
    let bytes = parquet_file(vec![
        ("cost", numerics(one.iter().map(|row| &row["cost"]))),
        ("currency", texts(one.iter().map(|row| &row["currency"]))),
        ("usage_start_time", texts(one.iter().map(|row| &row["usage_start_time"]))),
        ("usage_end_time", texts(one.iter().map(|row| &row["usage_end_time"]))),
        ("groups", Arc::new(lists)),
        (
            "taxes",
            list(
                &[json!({"taxes": [{"name": "VAT", "amount": 1}, {"name": "GST"}]})],
                "taxes",
                &["name", "amount"],
            ),
        ),
    ]);
    let bill = read_files(&[("bill.parquet", &bytes)]).unwrap();
    assert_eq!(
        bill.rows[0]["x_unmapped"],
        r#"{"groups":"[a, b]","taxes":[{"name":"VAT","amount":"1"},{"name":"GST"}]}"#
    );
}
