//! Every cell of a statement is recomputed from what `why` prints, and each charge is looked up in the store.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use money::Amount;
use serde_json::Value;

fn answer(store: &Path, words: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_trainbill"))
        .args(words)
        .args(["--format", "json", "--store"])
        .arg(store)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on stdout")
}

fn amount(value: &Value) -> Amount {
    value.as_str().expect("an amount is a string").parse().expect("a decimal amount")
}

/// Seconds of an instant of the demo, whose times are whole seconds of 2026.
fn seconds(value: &Value) -> i128 {
    let text = value.as_str().expect("an instant is a string");
    let stamp = sources::instant(text, &sources::Zone::Undeclared).expect("an instant with its offset");
    i128::from(stamp.seconds())
}

/// What the printed intervals and units say that the part of the charge is, in units of 10⁻²⁴.
fn recomputed(line: &Value) -> Option<(i128, usize)> {
    let charge = amount(line.get("charge_cost")?.as_str().map(|_| &line["charge_cost"])?).units();
    let overlaps = line["overlaps"].as_array().expect("a list of overlaps");
    if overlaps.is_empty() {
        return Some((charge, 0));
    }
    let length = i128::from(line["shared_micros"].as_u64().expect("a shared charge says its time"));
    let part = overlaps.iter().map(|overlap| {
        let until = seconds(&overlap["end"]).min(seconds(&line["charge_end"]));
        let held = (until - seconds(&overlap["start"]).max(seconds(&line["charge_start"]))) * 1_000_000;
        let number = |name: &str| i128::from(overlap[name].as_u64().expect("units held"));
        let cut = charge / length * held + charge % length * held / length;
        cut / number("of") * number("weight") + cut % number("of") * number("weight") / number("of")
    });
    Some((part.sum(), overlaps.len()))
}

#[test]
fn every_cell_of_the_demo_is_what_its_charges_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Command::new(env!("CARGO_BIN_EXE_trainbill"))
        .args(["demo", "--no-serve", "--dir"])
        .arg(folder.path())
        .output()
        .expect("the program runs");
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    let store = folder.path().join("store");
    let charges = answer(&store, &["sql", "select x_file, x_row, effective_cost from charges"]);
    let known: BTreeMap<(String, i64), String> = charges["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().expect("text").to_owned();
            ((text("x_file"), row["x_row"].as_i64().expect("a row")), text("effective_cost"))
        })
        .collect();
    let mut cells = 0;
    for experiment in
        ["dino-pre", "llm7b-pre", "lora-13b", "conformer-s", "distill-eks", "moe-8x7b", "moe-sft"]
    {
        let shown = answer(&store, &["show", experiment, "--convert-to", "USD"]);
        let explained = answer(&store, &["why", experiment, "--convert-to", "USD"]);
        assert_eq!(
            amount(&explained["total"]["amount"]),
            amount(&shown["total"]["cost"]["amount"]),
            "{experiment}"
        );
        cells += check(&explained, &known);
    }
    assert!(cells > 200, "only {cells} lines were recomputed");
}

fn check(explained: &Value, known: &BTreeMap<(String, i64), String>) -> usize {
    let lines = explained["rows"].as_array().expect("lines");
    let mut sums: BTreeMap<(String, Option<String>), Amount> = BTreeMap::new();
    let mut count = 0;
    for line in lines {
        let part = amount(&line["amount"]);
        let currency = line["amount_currency"].as_str().expect("a currency").to_owned();
        // These charges begin and end on one day, whose rate they take.
        let day =
            (currency != "USD").then(|| line["charge_start"].as_str().expect("a start")[..10].to_owned());
        let sum = sums.entry((currency, day)).or_default();
        *sum = sum.checked_add(part).expect("in range");
        if line["evidence"] == "estimated" {
            continue;
        }
        let Some((expected, overlaps)) = recomputed(line) else { continue };
        // Truncated divisions here against largest remainders there: two units of 10⁻²⁴ a cut.
        let slack = 2 * i128::try_from(overlaps).expect("few");
        let off = (part.units() - expected).abs();
        assert!(off <= slack, "{line} is off by {off}");
        let place = (line["file"].as_str().expect("a file").to_owned(), line["row"].as_i64().expect("a row"));
        let of_store = known.get(&place).expect("the charge is in the store");
        assert_eq!(of_store.parse::<Amount>().expect("an amount"), amount(&line["charge_cost"]), "{line}");
        count += 1;
    }
    let converted = converted(explained, &sums);
    assert_eq!(converted, amount(&explained["total"]["amount"]));
    count
}

/// The sum of what each currency and day came to, after its amount and its rate were looked at.
fn converted(explained: &Value, sums: &BTreeMap<(String, Option<String>), Amount>) -> Amount {
    let parts = explained["conversions"].as_array().expect("conversions");
    assert_eq!(parts.len(), sums.len(), "{parts:?}");
    let mut total = Amount::ZERO;
    for part in parts {
        let day = part["day"].as_str().map(str::to_owned);
        let given = amount(&part["amount"]);
        assert_eq!(
            Some(&given),
            sums.get(&(part["from"].as_str().expect("a currency").to_owned(), day)),
            "{part}"
        );
        let got = amount(&part["converted"]);
        let expected = match part["times"].as_str() {
            Some(rate) => money::Exchange::Times(rate.parse().expect("a rate")).of(given).expect("in range"),
            None => given,
        };
        // Each place in which money of the day rests is rounded by itself, by half a unit at most.
        let off = (got.units() - expected.units()).unsigned_abs();
        assert!(off <= u128::from(part["roundings"].as_u64().expect("a count")), "{part} is off by {off}");
        total = total.checked_add(got).expect("in range");
    }
    total
}
