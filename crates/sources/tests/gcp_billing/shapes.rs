//! The same export in every shape: JSON lines, CSV, one credit or many, split over files, in any order.

use money::Amount;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{
    Bill, amount, golden_text, golden_values, gzip, hour, lines_of, parts, read_files, read_rows, with,
    without_place,
};

/// Every charge without its place and what has none.
pub(crate) fn charges(bill: &Bill) -> Vec<super::Row> {
    let mut rows = without_place(bill);
    rows.iter_mut().for_each(|row| {
        row.remove("x_unmapped");
    });
    rows.sort();
    rows
}

#[test]
fn gzip_and_a_byte_order_mark_change_nothing() {
    let text = golden_text();
    let plain = read_files(&[("bill.jsonl", text.as_bytes())]).unwrap();
    let packed = read_files(&[("bill.json.gz", &gzip(format!("\u{feff}{text}\n\n").as_bytes()))]).unwrap();
    assert_eq!(without_place(&packed), without_place(&plain));
    assert_eq!(packed.summary.periods, plain.summary.periods);
}

/// The values of a row under dotted names; lists stay JSON.
fn flat(prefix: &str, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                flat(&name, value, out);
            }
        }
        Value::Null => {}
        Value::String(text) => out.push((prefix.to_owned(), text.clone())),
        other => out.push((prefix.to_owned(), other.to_string())),
    }
}

/// The rows as a CSV, with each cell passed through `cell`.
fn csv_of(rows: &[Value], cell: impl Fn(&str, String) -> String) -> Vec<u8> {
    let flat_rows: Vec<Vec<(String, String)>> = rows
        .iter()
        .map(|row| {
            let mut out = Vec::new();
            flat("", row, &mut out);
            out
        })
        .collect();
    let mut names: Vec<&String> = flat_rows.iter().flatten().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&names).unwrap();
    for row in &flat_rows {
        let value = |name: &&String| {
            row.iter().find(|(known, _)| known == *name).map_or(String::new(), |(_, v)| v.clone())
        };
        writer.write_record(names.iter().map(|name| cell(name, value(name)))).unwrap();
    }
    writer.into_inner().unwrap()
}

/// JSON as Python shows the same value.
fn python(json: String) -> String {
    json.replace('"', "'").replace("null", "None").replace("true", "True")
}

#[test]
fn a_csv_gives_the_charges_of_its_json_lines() {
    let rows = golden_values();
    let lines = read_rows(&rows);
    let as_json = csv_of(&rows, |_, value| value);
    let as_python = csv_of(&rows, |name, value| if name == "credits" { python(value) } else { value });
    let zoned = csv_of(&rows, |name, value| match name {
        "usage_start_time" | "usage_end_time" | "export_time" => value.replace(" UTC", "+00:00"),
        _ => value,
    });
    assert_ne!(as_json, as_python);
    for bytes in [as_json, as_python, zoned] {
        let bill = read_files(&[("bill.csv", &bytes)]).unwrap();
        assert_eq!(charges(&bill), charges(&lines));
        assert_eq!(bill.summary.periods, lines.summary.periods);
    }
}

#[test]
fn a_credit_or_a_label_may_stand_alone_and_numbers_may_be_text() {
    let expect = read_rows(&[with(
        hour("1.50"),
        json!({"labels": [{"key": "team", "value": "ml"}], "credits": [{"type": "PROMOTION", "amount": "-0.5"}]}),
    )]);
    for others in [
        json!({"labels": {"key": "team", "value": "ml"}, "credits": {"type": "PROMOTION", "amount": -0.5}}),
        json!({"labels": {"team": "ml"}, "credits": "[{'type': 'PROMOTION', 'amount': Decimal('-0.5')}]"}),
        json!({"labels": r#"[{"key": "team", "value": "ml"}]"#, "credits": r#"{"type": "PROMOTION", "amount": "-0.50"}"#}),
        json!({"labels": [{"value": "ml", "key": "team"}], "invoice.month": 202_607, "invoice": null,
            "cost": 1.5, "credits": [{"amount": -5e-1, "type": "PROMOTION"}, {}, null]}),
    ] {
        let bill = read_rows(&[with(hour("1.50"), others.clone())]);
        assert_eq!(charges(&bill), charges(&expect), "for {others}");
    }
    let none = read_rows(&[with(hour("1"), json!({"credits": {}, "labels": []}))]);
    assert_eq!(charges(&none), charges(&read_rows(&[hour("1")])));
}

#[test]
fn a_number_keeps_every_digit() {
    let text = hour("1").to_string().replace(r#""cost":"1""#, r#""cost":0.123456789012345678901234"#);
    let bill = read_files(&[("bill.jsonl", text.as_bytes())]).unwrap();
    assert_eq!(bill.period().billed_total.to_string(), "0.123456789012345678901234");
}

#[test]
fn a_column_that_comes_late_is_read_from_there_on() {
    let bill = read_rows(&[
        hour("1"),
        with(hour("2"), json!({"cost_at_list": "5", "new": {"of": "2027"}})),
        hour("3"),
    ]);
    assert_eq!(bill.column("list_cost"), ["", "5", ""]);
    assert!(
        bill.rows[1]["x_unmapped"].contains(r#""new.of":"2027""#)
            && !bill.rows[2]["x_unmapped"].contains("new")
    );
}

/// A row, its cost, and its credits by whether they are part of the price.
type Priced = (Value, Amount, Vec<(String, Amount)>);

fn any_row() -> impl Strategy<Value = Priced> {
    let types = ["DISCOUNT", "COMMITTED_USAGE_DISCOUNT", "PROMOTION", "FREE_TIER", "OTHER_OF_2027"];
    let cost_types = ["regular", "tax", "adjustment", "rounding_error"];
    let decimal =
        || (-9_999_999_i64..9_999_999, 0_u32..18).prop_map(|(units, scale)| format!("{units}e-{scale}"));
    let credits = proptest::collection::vec((0..types.len(), decimal()), 0..4);
    (decimal(), credits, 0..cost_types.len(), (1_u32..29, 6_u32..9, any::<bool>())).prop_map(
        move |(cost, credits, cost_type, (day, month, number))| {
            let credits: Vec<(String, String)> = credits.into_iter().map(|(at, a)| (types[at].to_owned(), a)).collect();
            let listed: Vec<Value> = credits.iter().map(|(kind, a)| json!({"type": kind, "amount": a})).collect();
            let row = json!({
                "usage_start_time": format!("2026-07-{day:02} 00:00:00 UTC"),
                "usage_end_time": format!("2026-07-{day:02} 01:00:00 UTC"),
                "invoice": {"month": if number { json!(202_600 + month) } else { json!(format!("2026{month:02}")) }},
                "cost_type": cost_types[cost_type],
                "credits": listed,
                "export_time": format!("2026-08-{day:02}T00:00:00Z"),
            });
            let amounts = credits.into_iter().map(|(kind, a)| (kind, amount(&a))).collect();
            (with(hour(&cost), row), amount(&cost), amounts)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_net_is_the_cost_and_every_credit(rows in proptest::collection::vec(any_row(), 1..20)) {
        let values: Vec<Value> = rows.iter().map(|(row, _, _)| row.clone()).collect();
        let bill = read_rows(&values);
        prop_assert_eq!(bill.summary.accepted, rows.len() as u64);
        let costs = rows.iter().map(|(_, cost, _)| *cost);
        let given = || rows.iter().flat_map(|(_, _, credits)| credits.iter().cloned());
        let expect = Amount::sum(costs.chain(given().map(|(_, amount)| amount))).unwrap();
        let billed = Amount::sum(bill.rows.iter().map(|row| amount(&row["billed_cost"]))).unwrap();
        prop_assert_eq!(billed, expect);
        let apart = given().filter(|(kind, _)| !kind.ends_with("DISCOUNT")).count();
        prop_assert_eq!(bill.rows.len(), rows.len() + apart);
        for kind in ["DISCOUNT", "PROMOTION", "OTHER_OF_2027"] {
            let of_kind = Amount::sum(given().filter(|(k, _)| k == kind).map(|(_, a)| a)).unwrap();
            let told = bill.summary.periods.iter().filter_map(|period| period.credits_by_type.get(kind)).copied();
            prop_assert_eq!(Amount::sum(told).unwrap(), of_kind);
        }
    }

    #[test]
    fn order_and_split_over_files_change_nothing(
        rows in proptest::collection::vec(any_row(), 1..40), seed in 0_usize..1000, files in 1_usize..5,
    ) {
        let values: Vec<Value> = rows.into_iter().map(|(row, _, _)| row).collect();
        let whole = read_rows(&values);
        let parts: Vec<(String, String)> = parts(&values, (seed, files))
            .iter()
            .enumerate()
            .map(|(at, part)| (format!("part-{at}.jsonl"), lines_of(part)))
            .collect();
        let named: Vec<(&str, &[u8])> = parts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        let split = read_files(&named).unwrap();
        prop_assert_eq!(&split.summary.periods, &whole.summary.periods);
        prop_assert_eq!(without_place(&split), without_place(&whole));
    }
}
