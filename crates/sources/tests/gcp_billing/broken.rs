//! Broken and hostile exports: each has its code, none panics, and a single bad row is rejected alone.

use proptest::prelude::*;
use serde_json::{Value, json};
use sources::billing::BillLimits;

use super::support::{golden_text, gzip, hour, limited, lines_of, read_files, read_rows, with};

fn code(name: &str, bytes: &[u8]) -> &'static str {
    match read_files(&[(name, bytes)]) {
        Ok(_) => "read",
        Err(fault) => fault.code,
    }
}

#[test]
fn every_broken_file_has_its_code() {
    let packed = gzip(golden_text().repeat(20).as_bytes());
    assert_eq!(code("bill.json.gz", &packed), "read");
    assert_eq!(code("bill.json.gz", &packed[..packed.len() / 2]), "bill::truncated_gzip");
    assert_eq!(code("bill.jsonl.gz", &packed[..packed.len() - 4]), "bill::truncated_gzip");
    assert_eq!(code("bill.json.gz", b"no gzip at all"), "bill::bad_gzip");
    assert_eq!(code("bill.json", b"hello\nworld\n"), "bill::not_json_lines");
    assert_eq!(code("bill.json", b"[{\"cost\": 1}]"), "bill::not_json_lines");
    assert_eq!(code("bill.json", b"{}\n{}\n"), "bill::not_json_lines");
    assert_eq!(code("bill.json", b"{\"a\": 1}\n"), "bill::missing_column");
    assert_eq!(code("bill.csv", b"cost,currency\n1,USD\n"), "bill::missing_column");
    assert_eq!(code("bill.csv", b""), "bill::empty_file");
    assert_eq!(code("readme.txt", b"hello"), "bill::no_files");
    assert_eq!(code("bill.parquet", b"PAR1"), "bill::truncated_parquet");
}

#[test]
fn an_empty_part_is_noted_and_the_others_are_read() {
    let bill = read_files(&[("part-0.json", b""), ("part-1.json", golden_text().as_bytes())]).unwrap();
    assert_eq!((bill.summary.rows, bill.warnings()), (12, vec!["bill::empty_file"]));
}

#[test]
fn a_bad_row_is_rejected_alone_and_what_can_be_read_of_it_is_accounted_for() {
    let good = || with(hour("3"), json!({"credits": [{"type": "DISCOUNT", "amount": "-1"}]}));
    let without = |key: &str| {
        let mut row = good();
        row.as_object_mut().unwrap().remove(key);
        row
    };
    let bad = |others: Value| with(good(), others);
    let rows = [
        good(),
        without("cost"),
        without("currency"),
        bad(json!({"cost": "three"})),
        bad(json!({"cost": 1e30})),
        bad(json!({"currency": "$"})),
        bad(json!({"usage_end_time": "yesterday"})),
        bad(json!({"usage_end_time": "2026-06-01"})),
        without("usage_end_time"),
        bad(json!({"usage_start_time": null, "invoice": null})),
        bad(json!({"invoice": {"month": "July"}})),
        bad(json!({"credits": "free trial"})),
        bad(json!({"credits": [7]})),
        bad(json!({"credits": [{"type": "DISCOUNT"}]})),
        bad(json!({"credits": [{"type": "DISCOUNT", "amount": "much"}]})),
    ];
    let mut text = lines_of(&rows);
    text.push_str("{\"cost\": 1, \"cost\": 2}\n{\"cost\": 1\n7\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(b"{\"cost\": \"\xff\"}\n");
    let bill = read_files(&[("bill.jsonl", &bytes)]).unwrap();
    let codes: Vec<&str> = bill.summary.rejections.iter().map(|rejection| rejection.code).collect();
    assert_eq!(
        codes,
        [
            "row::missing_value",
            "row::missing_value",
            "row::not_a_decimal",
            "row::out_of_range",
            "row::not_a_currency",
            "row::not_a_time",
            "row::ends_before_start",
            "row::missing_value",
            "row::missing_value",
            "row::not_a_month",
            "row::not_records",
            "row::not_records",
            "row::missing_value",
            "row::not_a_decimal",
            "row::repeated_key",
            "row::not_json",
            "row::not_json",
            "row::not_utf8",
        ]
    );
    assert_eq!((bill.summary.accepted, bill.summary.rejected), (1, 18));
    let first = &bill.summary.rejections[0];
    assert_eq!((first.row, first.column.as_deref(), first.expected.as_str()), (2, Some("cost"), "a cost"));
    let credits = &bill.summary.rejections[10];
    assert_eq!(
        (credits.row, credits.column.as_deref(), credits.found.as_str()),
        (12, Some("credits"), "free trial")
    );
    // Three rows with a bad end of usage tell cost and credits; of four with bad credits the cost alone is known.
    let period = bill.period();
    assert_eq!(
        (period.billed_total.to_string(), period.rejected_total.to_string()),
        ("2".into(), "18".into())
    );
}

#[test]
fn optional_values_that_cannot_be_read_are_left_out_and_counted() {
    let odd = json!({"cost_at_list": "dear", "export_time": "soon", "labels": "none"});
    let bill = read_rows(&[with(hour("1"), odd)]);
    assert_eq!((bill.summary.rejected, bill.period().unpriced), (0, 1));
    assert_eq!(
        bill.warnings(),
        ["bill::unreadable_maps", "bill::unreadable_values", "bill::unreadable_values"]
    );
    assert!(bill.rows[0]["x_unmapped"].contains(r#""labels":"none""#));
    assert_eq!(bill.period().export_times, None);
}

#[test]
fn an_input_that_costs_too_much_is_refused() {
    let limits = BillLimits::default();
    let line = format!("{}\n", hour("1"));
    let long = format!("{}\n", with(hour("1"), json!({"resource": {"name": "x".repeat(600_000)}})));
    let short = BillLimits { row_bytes: 1000, ..limits };
    assert_eq!(limited(short, "bill.jsonl", long.as_bytes()), "bill::too_large");
    assert_eq!(limited(limits, "bill.jsonl", long.as_bytes()), "read");
    let bomb = gzip(line.repeat(20_000).as_bytes());
    let tight = BillLimits { unpack_ratio: 20, unpack_floor_bytes: 1 << 20, ..limits };
    assert_eq!(limited(tight, "bill.json.gz", &bomb), "bill::too_large");
    assert_eq!(
        limited(BillLimits { columns: 5, ..limits }, "bill.jsonl", line.as_bytes()),
        "bill::too_large"
    );
    let credits: Vec<Value> = (0..1001).map(|_| json!({"type": "PROMOTION", "amount": 0})).collect();
    let labels: Vec<Value> = (0..1001).map(|at| json!({"key": format!("k{at}"), "value": "v"})).collect();
    let fits = with(hour("1"), json!({"credits": credits[1..], "labels": labels[1..]}));
    let (paid, named) = (json!({"credits": credits}), json!({"labels": labels}));
    let bill = read_rows(&[fits, with(hour("1"), paid), with(hour("1"), named)]);
    assert_eq!(bill.summary.rejected_by_code["row::too_many_records"], 2);
    let types: Vec<Value> = (0..300).map(|at| json!({"type": format!("T{at}"), "amount": -1})).collect();
    let many = format!("{}\n", with(hour("1"), json!({"credits": types})));
    assert_eq!(limited(limits, "bill.jsonl", many.as_bytes()), "bill::too_large");
    let named = format!("{{\"cost\": 1, \"{}\": 2}}\n", "x".repeat(300_000));
    assert_eq!(limited(limits, "bill.jsonl", named.as_bytes()), "bill::too_large");
    let deep = format!("{{\"cost\": {}1{}}}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert_eq!(limited(limits, "bill.jsonl", deep.as_bytes()), "bill::missing_column");
}

#[test]
fn two_currencies_in_one_invoice_are_refused() {
    let text = format!("{}\n{}\n", hour("1"), with(hour("1"), json!({"currency": "EUR"})));
    let fault = read_files(&[("bill.jsonl", text.as_bytes())]).map(|_| ()).unwrap_err();
    assert_eq!((fault.code, fault.place.as_deref()), ("bill::mixed_currency", Some("bill.jsonl:2")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), kind in 0_usize..4) {
        let name = ["bill.jsonl", "bill.json.gz", "bill.csv", "bill.parquet"][kind];
        let _ = code(name, &bytes);
    }

    #[test]
    fn no_damage_to_an_export_makes_the_reader_panic(
        hits in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = golden_text().into_bytes();
        let length = bytes.len();
        for (at, value) in hits {
            bytes[at % length] = value;
        }
        let _ = code("bill.jsonl", &bytes);
    }
}
