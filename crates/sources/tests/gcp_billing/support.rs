//! Helpers of the tests of the Google Cloud reader: the golden export, and small exports from text.

use std::path::{Path, PathBuf};

use money::Amount;
use serde_json::{Value, json};
use sources::SourceError;
use sources::billing::{BillLimits, BillOptions, gcp_billing};

use super::bill;
pub(crate) use super::bill::{Bill, Row, amount, gzip, parquet_file, parts, without_place};

pub(crate) fn testdata(name: &str) -> PathBuf {
    bill::testdata(&format!("gcp_billing/{name}"))
}

pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    bill::shared(&format!("gcp/{name}"))
}

pub(crate) fn golden_text() -> String {
    std::fs::read_to_string(testdata("golden_gcp_detailed_synthetic.jsonl")).unwrap()
}

/// The rows of the golden export, by this test's own reading.
pub(crate) fn golden_values() -> Vec<Value> {
    golden_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn read(path: &Path) -> Result<Bill, SourceError> {
    bill::read_with(gcp_billing::read, path, &BillOptions::default())
}

pub(crate) fn read_files(files: &[(&str, &[u8])]) -> Result<Bill, SourceError> {
    bill::read_files(gcp_billing::read, files)
}

/// Values as JSON lines.
pub(crate) fn lines_of(rows: &[Value]) -> String {
    rows.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

/// Reads values as JSON lines.
pub(crate) fn read_rows(rows: &[Value]) -> Bill {
    read_files(&[("bill.jsonl", lines_of(rows).as_bytes())]).unwrap()
}

/// The code of what comes of a file under other limits.
pub(crate) fn limited(limits: BillLimits, name: &str, bytes: &[u8]) -> &'static str {
    bill::limited(gcp_billing::read, limits, (name, bytes))
}

/// An amount as the files hold it: a number or a text.
pub(crate) fn amount_of(value: &Value) -> Amount {
    value.as_str().map_or_else(|| amount(&value.to_string()), amount)
}

/// An hour of a GPU at a cost.
pub(crate) fn hour(cost: &str) -> Value {
    json!({
        "billing_account_id": "0AAAAA-111111-222222",
        "service": {"id": "6F81-5844-456A", "description": "Compute Engine"},
        "sku": {"id": "039F-D0DA-4055", "description": "Nvidia Tesla A100 GPU running in Americas"},
        "usage_start_time": "2026-07-01 00:00:00 UTC",
        "usage_end_time": "2026-07-01 01:00:00 UTC",
        "project": {"id": "train-proj", "name": "train"},
        "resource": {"name": "train-0"},
        "cost": cost,
        "currency": "USD",
        "usage": {"amount": "3600", "unit": "seconds"},
        "invoice": {"month": "202607"},
        "cost_type": "regular",
    })
}

/// The row with other values for some of its keys.
pub(crate) fn with(mut row: Value, others: Value) -> Value {
    for (key, value) in others.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}
