//! The Google Cloud reader against a golden export, generated and real exports, and every way in which one may be broken.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture has failed")]
#![expect(clippy::print_stderr, reason = "a skipped sample is said, not hidden")]

mod bill;
#[path = "gcp_billing/support.rs"]
mod support;

#[path = "gcp_billing/broken.rs"]
mod broken;
#[path = "gcp_billing/credits.rs"]
mod credits;
#[path = "gcp_billing/parquet.rs"]
mod parquet_form;
#[path = "gcp_billing/shapes.rs"]
mod shapes;

use std::collections::BTreeMap;

use ledger::CostBasis;
use money::Amount;
use serde_json::{Value, json};
use support::{
    Bill, Row, amount, amount_of, golden_text, golden_values, hour, read, read_rows, shared, testdata, with,
};

fn golden() -> Bill {
    read(&testdata("golden_gcp_detailed_synthetic.jsonl")).unwrap()
}

/// Σ of the costs and of some of the credits of rows, by this test's own reading.
fn net(rows: &[Value], counts: impl Fn(&Value, usize) -> bool) -> Amount {
    let of_row = |row: &Value| {
        let none = Vec::new();
        let credits = row["credits"].as_array().unwrap_or(&none).clone();
        let counted: Vec<Amount> = credits
            .iter()
            .enumerate()
            .filter(|(at, _)| counts(row, *at))
            .map(|(_, c)| amount_of(&c["amount"]))
            .collect();
        amount_of(&row["cost"]).checked_add(Amount::sum(counted).unwrap()).unwrap()
    };
    Amount::sum(rows.iter().map(of_row)).unwrap()
}

#[test]
fn the_golden_export_gives_its_net() {
    let bill = golden();
    let period = bill.period();
    let text = std::fs::read_to_string(testdata("golden_gcp_detailed_synthetic_expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((bill.summary.rows, bill.summary.rejected), (12, 0));
    assert_eq!(
        (period.payer.as_str(), period.period.to_string().as_str()),
        ("0AAAAA-111111-222222", "2026-07")
    );
    assert_eq!(period.currency.code(), "USD");
    assert_eq!(period.source_total.to_string(), "2.670061");
    assert_eq!(period.billed_total, amount_of(&expected["net"]));
    assert_eq!(period.effective_total, period.billed_total);
    let by_type: BTreeMap<String, Amount> = expected["credits_by_type"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(kind, value)| (kind.clone(), amount_of(value)))
        .collect();
    assert_eq!(period.credits_by_type, by_type);
    let credits = Amount::sum(by_type.into_values()).unwrap();
    assert_eq!(credits.to_string(), "-1.48");
    assert_eq!(period.billed_total.checked_sub(credits).unwrap(), amount_of(&expected["gross_cost"]));
    // Without the tax (0.41) and the rounding (-0.000416), which are no usage.
    assert_eq!(period.list_total.to_string(), "3.874385");
    assert_eq!((period.unpriced, period.rows), (0, 16));
    let (first, last) = period.export_times.unwrap();
    assert_eq!(
        (first.to_string(), last.to_string()),
        ("2026-07-01T05:10:11.123456Z".into(), "2026-08-03T00:00:00Z".into())
    );
    assert!(period.has_resource_ids && !period.is_final());
    assert_eq!(bill.warnings(), Vec::<&str>::new());
}

#[test]
fn the_wrong_answers_of_other_readers_are_not_ours() {
    let (rows, text) = (golden_values(), golden_text());
    let first_only = net(&rows, |_, at| at == 0);
    assert_eq!(first_only.to_string(), "3.120061");
    // A reader that drops what is not regular, or that keeps the newest of alike rows, loses what these rows carry.
    let regular: Vec<&str> = text.lines().filter(|line| line.contains(r#""cost_type": "regular""#)).collect();
    let regular = support::read_files(&[("bill.jsonl", regular.join("\n").as_bytes())]).unwrap();
    assert_eq!(regular.period().billed_total.to_string(), "2.260477");
    let ours = golden().period().billed_total;
    assert_eq!(ours, net(&rows, |_, _| true));
    assert!(ours != first_only && ours != regular.period().billed_total);
}

fn tagged<'a>(bill: &'a Bill, tag: &'a str) -> impl Iterator<Item = &'a Row> {
    bill.rows.iter().filter(move |row| row.get("tags").is_some_and(|tags| tags.contains(tag)))
}

#[test]
fn the_net_of_an_attempt_is_found_by_its_label() {
    let bill = golden();
    let costs: Vec<Amount> =
        tagged(&bill, r#""attempt_id":"exp-001-a1""#).map(|row| amount(&row["billed_cost"])).collect();
    assert_eq!(costs.len(), 8);
    assert_eq!(Amount::sum(costs).unwrap().to_string(), "2.189477");
}

#[test]
fn the_golden_export_is_classed_row_by_row() {
    let bill = golden();
    let shown: Vec<String> = bill
        .rows
        .iter()
        .map(|row| {
            let credit = row.get("x_credit_type").map_or("-", String::as_str);
            format!(
                "{} {} {} {} {} {} {credit}",
                row["x_row"],
                row["x_class"],
                row["x_resource_kind"],
                row["billed_cost"],
                row["list_cost"],
                row["x_marginal_cost"]
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "1 usage compute 0.379332 0.379332 0.379332 -",
            "2 usage compute 0.360145 0.360145 0.360145 -",
            "3 usage compute 1.933908 2.933908 0 -",
            "3 credit compute -0.5 0 0 PROMOTION",
            "4 usage disk 0.011 0.011 0.011 -",
            "5 usage control_plane 0.1 0.1 0 -",
            "5 credit control_plane -0.1 0 0 FREE_TIER",
            "6 usage object_storage 0.02 0.02 0.02 -",
            "7 usage compute -1.933908 -2.933908 0 -",
            "7 credit compute 0.5 0 0 PROMOTION",
            "8 usage compute 1.9 2.933908 0 -",
            "8 credit compute -0.45 0 0 PROMOTION",
            "9 usage transfer 0.07 0.07 0.07 -",
            "10 commitment compute -0.03 0 0 -",
            "11 tax other 0.41 0 0 -",
            "12 other other -0.000416 0 0 -",
        ]
    );
}

#[test]
fn the_golden_export_keeps_ids_labels_and_what_has_no_place() {
    let bill = golden();
    let gpu = &bill.rows[2];
    assert_eq!(
        gpu["tags"],
        r#"{"attempt_id":"exp-001-a1","experiment_id":"exp-001","system:compute.googleapis.com/cores":"12","#
            .to_owned()
            + r#""system:compute.googleapis.com/machine_spec":"a2-highgpu-1g","system:compute.googleapis.com/memory":"87040"}"#
    );
    assert_eq!(gpu["x_instance_type"], "a2-highgpu-1g");
    assert_eq!(
        gpu["resource_id"],
        "//compute.googleapis.com/projects/train-proj/zones/us-central1-a/instances/train-0"
    );
    assert_eq!((gpu["sku_id"].as_str(), gpu["service_name"].as_str()), ("039F-D0DA-4055", "Compute Engine"));
    assert_eq!(
        (gpu["region_id"].as_str(), gpu["availability_zone"].as_str()),
        ("us-central1", "us-central1-a")
    );
    assert_eq!((gpu["sub_account_id"].as_str(), gpu["sub_account_name"].as_str()), ("train-proj", "train"));
    assert_eq!((gpu["pricing_quantity"].as_str(), gpu["pricing_unit"].as_str()), ("1.0", "hour"));
    let unmapped: Value = serde_json::from_str(&gpu["x_unmapped"]).unwrap();
    assert_eq!(unmapped["cost"], "2.933908");
    assert_eq!(unmapped["credits"][1]["type"], "PROMOTION");
    assert_eq!(unmapped["credits"][1]["amount"], "-0.5");
    for (key, value) in [
        ("currency_conversion_rate", "1"),
        ("export_time", "2026-07-01 05:10:11.123456 UTC"),
        ("location.country", "US"),
        ("project.number", "1234567890"),
        ("resource.name", "train-0"),
        ("transaction_type", "GOOGLE"),
        ("usage.amount", "3600"),
    ] {
        assert_eq!(unmapped[key], value, "for {key}");
    }
}

#[test]
fn a_credit_repeats_its_usage_and_a_row_outside_of_a_project_names_none() {
    let bill = golden();
    let (gpu, credit) = (&bill.rows[2], &bill.rows[3]);
    for column in [
        "tags",
        "resource_id",
        "sku_id",
        "charge_period_start",
        "sub_account_id",
        "x_resource_kind",
        "x_line_type",
    ] {
        assert_eq!(credit[column], gpu[column], "for {column}");
    }
    assert_eq!(
        (credit["charge_category"].as_str(), credit["charge_description"].as_str()),
        ("Credit", "Promo")
    );
    assert!(!credit.contains_key("pricing_quantity") && !credit.contains_key("x_unmapped"));
    let negated: Value = serde_json::from_str(&bill.rows[8]["x_unmapped"]).unwrap();
    assert_eq!(negated["adjustment_info.mode"], "COMPLETE_NEGATION_WITH_REMONETIZATION");
    let late = &bill.rows[12];
    assert_eq!(
        (late["charge_period_start"].as_str(), late["billing_period_start"].as_str()),
        ("2026-06-30T23:00:00Z", "2026-07-01T00:00:00Z")
    );
    let tax = &bill.rows[14];
    assert!(
        !tax.contains_key("sub_account_id")
            && !tax.contains_key("resource_id")
            && !tax.contains_key("sku_id")
    );
    assert_eq!(
        (tax["charge_category"].as_str(), bill.rows[15]["charge_category"].as_str()),
        ("Tax", "Adjustment")
    );
}

/// Rows, Σ cost and Σ credits of a CSV, by this test's own reading: amounts of credits are what stands behind their key.
fn plain_sums(path: &std::path::Path) -> (u64, Amount, Amount) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headers = reader.headers().unwrap().clone();
    let at = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (cost, credits) = (at("cost"), at("credits"));
    let (mut rows, mut costs, mut given) = (0, Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.unwrap();
        rows += 1;
        costs.push(amount(record.get(cost).unwrap()));
        let parts = record.get(credits).unwrap().split("'amount': ").skip(1);
        given.extend(parts.map(|part| amount(part.split([',', '}']).next().unwrap())));
    }
    (rows, Amount::sum(costs).unwrap(), Amount::sum(given).unwrap())
}

fn ties_to_its_columns(path: &std::path::Path) -> Bill {
    let bill = read(path).unwrap();
    let (rows, costs, credits) = plain_sums(path);
    assert_eq!((bill.summary.rows, bill.summary.accepted, bill.summary.rejected), (rows, rows, 0));
    let sum = |of: fn(&sources::billing::PeriodSummary) -> Amount| {
        Amount::sum(bill.summary.periods.iter().map(of)).unwrap()
    };
    assert_eq!(sum(|period| period.billed_total), costs.checked_add(credits).unwrap());
    let by_type = bill.summary.periods.iter().flat_map(|period| period.credits_by_type.values().copied());
    assert_eq!(Amount::sum(by_type).unwrap(), credits);
    bill
}

#[test]
fn generated_exports_tie_and_stand_in_the_month_of_their_invoice() {
    for (name, months) in [("nise_2026-06.csv", [216, 24]), ("nise_2026-07.csv", [24, 144])] {
        let bill = ties_to_its_columns(&testdata(name));
        let periods: Vec<String> = bill.summary.periods.iter().map(|p| p.period.to_string()).collect();
        assert_eq!(periods, ["2026-06", "2026-07"], "for {name}");
        let uncredited = |month: &str| {
            bill.rows
                .iter()
                .filter(|r| r["billing_period_start"].starts_with(month) && r["x_class"] != "credit")
                .count()
        };
        assert_eq!([uncredited("2026-06"), uncredited("2026-07")], months, "for {name}");
        let node = bill
            .rows
            .iter()
            .find(|row| row["x_class"] == "usage" && row.contains_key("x_instance_type"))
            .unwrap();
        assert_eq!(node["x_instance_type"], "a2-highgpu-1g");
        assert!(
            node["tags"].contains(r#""attempt_id":"exp-001-a1""#) && node["tags"].contains(r#""team":"ml""#)
        );
        assert!(bill.rows.iter().all(|row| row.contains_key("list_cost") == (row["x_class"] == "credit")));
        // These exports have no `cost_at_list`, which enough rows tell.
        for period in &bill.summary.periods {
            assert_eq!(period.is_usable(CostBasis::List), period.usage_rows < 50, "for {}", period.period);
        }
    }
}

#[test]
fn a_real_export_with_exponents_ties() {
    let Some(path) = shared("koku_2022-08-01_resource.csv") else { return };
    let bill = ties_to_its_columns(&path);
    assert_eq!(bill.summary.rows, 9);
    assert_eq!(bill.period().billed_total.to_string(), "0.000012");
    assert!(
        bill.rows.iter().all(|row| row["x_resource_kind"] == "transfer" && row["resource_id"] == "//example")
    );
}

#[test]
fn a_row_without_an_invoice_month_is_counted_into_the_month_of_its_usage() {
    let bill = read_rows(&[
        hour("1"),
        with(hour("2"), json!({"invoice": null, "usage_start_time": "2026-06-30T23:00:00Z"})),
    ]);
    let periods: Vec<String> =
        bill.summary.periods.iter().map(|p| format!("{} {}", p.period, p.billed_total)).collect();
    assert_eq!(periods, ["2026-06 2", "2026-07 1"]);
    assert_eq!(bill.warnings(), ["bill::no_invoice_month"]);
}

#[test]
fn labels_claim_a_key_before_tags_and_projects() {
    let labels = json!({
        "labels": [{"key": "team", "value": "row"}, {"key": "spot", "value": ""}, {"key": "k8s-namespace", "value": "train"}],
        "tags": [{"key": "team", "value": "tag", "inherited": true, "namespace": "1"}, {"key": "env", "value": "prod"}],
        "project": {"id": "p", "labels": [{"key": "team", "value": "project"}, {"key": "experiment_id", "value": "exp-9"}]},
        "system_labels": [{"key": "compute.googleapis.com/is_unused_reservation", "value": "true"}],
    });
    let bill = read_rows(&[with(hour("1"), labels)]);
    let row = &bill.rows[0];
    assert_eq!(
        row["tags"],
        r#"{"env":"prod","experiment_id":"exp-9","k8s-namespace":"train","project:team":"project","spot":"","#
            .to_owned()
            + r#""system:compute.googleapis.com/is_unused_reservation":"true","tag:team":"tag","team":"row"}"#
    );
    assert!(
        row["x_unmapped"]
            .contains(r#""tags":[{"inherited":"true","key":"team","namespace":"1","value":"tag"},"#)
    );
    assert_eq!((row["x_class"].as_str(), row["x_marginal_cost"].as_str()), ("unused_reservation", "0"));
    assert_eq!(row["capacity_reservation_status"], "Unused");
}

#[test]
fn an_adjustment_corrects_and_the_standard_export_says_what_it_lacks() {
    let given = json!({"cost_type": "adjustment", "resource": null, "adjustment_info": {"type": "GOODWILL"}});
    let moved =
        json!({"cost_type": "adjustment", "resource": null, "adjustment_info": {"type": "BALANCE_TRANSFER"}});
    let old = json!({"resource": null, "usage_start_time": "2026-06-30T00:00:00Z", "adjustment_info": {"type": "USAGE_CORRECTION"}});
    let bill = read_rows(&[with(hour("-1"), given), with(hour("-2"), moved), with(hour("-3"), old)]);
    assert_eq!(bill.column("x_class"), ["refund", "other", "usage"]);
    assert_eq!(bill.column("charge_category"), ["Adjustment", "Adjustment", "Usage"]);
    assert_eq!(bill.column("charge_class"), ["Correction", "Correction", "Correction"]);
    assert_eq!(bill.column("x_marginal_cost"), ["0", "0", "-3"]);
    assert_eq!(bill.warnings(), ["bill::no_resource_ids"]);
}
