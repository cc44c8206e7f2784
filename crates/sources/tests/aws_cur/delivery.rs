//! Deliveries: the newest manifest of each period, exactly its files, all of them or none.

use super::support::{Bill, HEADER, gzip, hour, read, read_files, testdata};
use sources::SourceError;

const EXPORT: &str = "exp";

fn bill(cost: &str) -> Vec<u8> {
    format!("{HEADER}\n{}\n", hour("Usage", cost, "a")).into_bytes()
}

fn manifest(files: &[&str]) -> Vec<u8> {
    let listed: Vec<String> =
        files.iter().map(|file| format!("\"s3://bucket/pre/{EXPORT}/data/{file}\"")).collect();
    let arn = "arn:aws:bcm-data-exports:us-east-1:111111111111:export/exp-1";
    format!(r#"{{"exportArn":"{arn}","dataFiles":[{}]}}"#, listed.join(",")).into_bytes()
}

fn total(bill: &Bill) -> String {
    bill.period().billed_total.to_string()
}

fn refused(outcome: Result<Bill, SourceError>) -> &'static str {
    outcome.map(|_| ()).unwrap_err().code
}

const FIRST: &str = "BILLING_PERIOD=2026-07/2026-07-02T03:04:05.000Z-aa";
const SECOND: &str = "BILLING_PERIOD=2026-07/2026-07-03T03:04:05.000Z-00";

#[test]
fn the_newest_execution_of_a_period_wins() {
    let files = [
        (format!("{EXPORT}/data/{FIRST}/exp-00001.csv"), bill("1")),
        (format!("{EXPORT}/data/{SECOND}/exp-00001.csv"), bill("2")),
        (format!("{EXPORT}/data/{SECOND}/exp-00002.csv.gz"), gzip(&bill("3"))),
        (
            format!("{EXPORT}/metadata/{FIRST}/exp-Manifest.json"),
            manifest(&[&format!("{FIRST}/exp-00001.csv")]),
        ),
        (
            format!("{EXPORT}/metadata/{SECOND}/exp-Manifest.json"),
            manifest(&[&format!("{SECOND}/exp-00001.csv"), &format!("{SECOND}/exp-00002.csv.gz")]),
        ),
    ];
    let named: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let bill = read_files(&named).unwrap();
    assert_eq!(total(&bill), "5");
    assert_eq!(bill.warnings(), Vec::<&str>::new());
    // The folder may also be opened further down.
    let stripped: Vec<(&str, &[u8])> =
        named.iter().map(|(name, bytes)| (&name[EXPORT.len() + 1..], *bytes)).collect();
    assert_eq!(total(&read_files(&stripped).unwrap()), "5");
}

#[test]
fn parts_that_an_overwritten_export_left_behind_are_not_read() {
    let month = "BILLING_PERIOD=2026-07";
    let manifest = manifest(&[&format!("{month}/exp-00001.csv")]);
    let bill = read_files(&[
        (&format!("{month}/../data/{month}/exp-00001.csv").replace(&format!("{month}/../"), ""), &bill("1")),
        (&format!("data/{month}/exp-00002.csv"), &bill("7")),
        (&format!("metadata/{month}/exp-Manifest.json"), &manifest),
    ])
    .unwrap();
    assert_eq!(total(&bill), "1");
    assert_eq!(bill.warnings(), ["bill::stale_parts"]);
}

#[test]
fn a_missing_file_refuses_the_whole_delivery() {
    let month = "BILLING_PERIOD=2026-07";
    let listed = manifest(&[&format!("{month}/exp-00001.csv"), &format!("{month}/exp-00002.csv")]);
    let outcome = read_files(&[
        (&format!("data/{month}/exp-00001.csv"), &bill("1")),
        (&format!("metadata/{month}/exp-Manifest.json"), &listed),
    ]);
    let fault = outcome.map(|_| ()).unwrap_err();
    assert_eq!(fault.code, "bill::incomplete_delivery");
    assert!(fault.expected.unwrap().ends_with("exp-00002.csv"));
}

#[test]
fn a_manifest_that_names_files_elsewhere_is_refused() {
    let month = "BILLING_PERIOD=2026-07";
    let elsewhere = format!(r#"{{"dataFiles":["s3://bucket/pre/other/data/{month}/x.csv"]}}"#);
    let outcome = read_files(&[
        (&format!("pre/other/data/{month}/x.csv"), &bill("1")),
        (&format!("pre/exp/metadata/{month}/exp-Manifest.json"), elsewhere.as_bytes()),
    ]);
    assert_eq!(refused(outcome), "bill::hostile_manifest");
    for key in ["../x.csv", "s3://bucket/a/../../x.csv", "http://host/x.csv"] {
        let text = format!(r#"{{"dataFiles":["{key}"]}}"#);
        let manifest = format!("metadata/{month}/exp-Manifest.json");
        let outcome = read_files(&[("x.csv", &bill("1")), (&manifest, text.as_bytes())]);
        assert_eq!(refused(outcome), "bill::hostile_manifest", "for {key}");
    }
}

#[test]
fn a_legacy_layout_with_two_equal_manifests_is_read_once() {
    let layout = read(&testdata("aws_s3_layout")).unwrap();
    let file = read(&testdata("aws_July-2026-cur.csv")).unwrap();
    assert_eq!(layout.summary.rows, file.summary.rows);
    assert_eq!(total(&layout), total(&file));
    let deeper = read(&testdata("aws_s3_layout/p/cur/20260701-20260801")).unwrap();
    assert_eq!(total(&deeper), total(&file));
}

fn legacy(assembly: &str) -> Vec<u8> {
    format!(
        r#"{{"assemblyId":"{assembly}","account":"1","reportName":"cur","bucket":"b",
            "billingPeriod":{{"start":"20260701T000000.000Z","end":"20260801T000000.000Z"}},
            "reportKeys":["p/cur/20260701-20260801/{assembly}/cur-1.csv"]}}"#
    )
    .into_bytes()
}

#[test]
fn the_manifest_of_the_period_names_the_current_assembly() {
    let month = "p/cur/20260701-20260801";
    let bill = read_files(&[
        (&format!("{month}/a1/cur-1.csv"), &bill("1")),
        (&format!("{month}/a1/cur-Manifest.json"), &legacy("a1")),
        (&format!("{month}/a2/cur-1.csv"), &bill("2")),
        (&format!("{month}/a2/cur-Manifest.json"), &legacy("a2")),
        (&format!("{month}/cur-Manifest.json"), &legacy("a1")),
    ])
    .unwrap();
    assert_eq!(total(&bill), "1");
    assert_eq!(bill.warnings(), Vec::<&str>::new());
}

#[test]
fn two_reports_of_one_account_are_not_added_up() {
    let month = "20260701-20260801";
    let other = String::from_utf8(legacy("a1")).unwrap().replace("p/cur/", "p/two/");
    let outcome = read_files(&[
        (&format!("p/cur/{month}/a1/cur-1.csv"), &bill("1")),
        (&format!("p/cur/{month}/cur-Manifest.json"), &legacy("a1")),
        (&format!("p/two/{month}/a1/cur-1.csv"), &bill("2")),
        (&format!("p/two/{month}/cur-Manifest.json"), other.as_bytes()),
    ]);
    assert_eq!(refused(outcome), "bill::several_reports");
}

#[test]
fn a_folder_without_manifest_is_one_delivery_of_all_its_parts() {
    let parts = [
        ("july/part-1.csv", bill("1")),
        ("july/part-2.csv.gz", gzip(&bill("2"))),
        ("july/deep/part-3.csv", bill("3")),
        ("july/notes.txt", b"not a bill".to_vec()),
    ];
    let named: Vec<(&str, &[u8])> = parts.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    let bill = read_files(&named).unwrap();
    assert_eq!(total(&bill), "6");
    assert_eq!(bill.column("x_file"), ["july/deep/part-3.csv", "july/part-1.csv", "july/part-2.csv.gz"]);
}

#[test]
fn a_place_that_is_not_there_and_a_manifest_alone_say_so() {
    assert_eq!(refused(read(std::path::Path::new("/nowhere/at/all"))), "place::not_found");
    let manifest = testdata("aws_s3_layout/p/cur/20260701-20260801/cur-Manifest.json");
    assert_eq!(refused(read(&manifest)), "bill::no_files");
}
