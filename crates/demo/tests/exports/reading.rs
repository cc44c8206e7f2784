//! Reads the written files with nothing of the demo's own code.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use arrow::util::display::array_value_to_string;
use flate2::read::GzDecoder;
use money::Amount;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// A row of a bill: text by column, absent where it is empty.
pub(crate) type Row = BTreeMap<String, String>;

/// Every file under a folder.
pub(crate) fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_under(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// A cell as text; empty if it is absent.
pub(crate) fn cell<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).map_or("", String::as_str)
}

/// A cell as an amount; zero if it is absent.
pub(crate) fn amount(row: &Row, column: &str) -> Amount {
    row.get(column).map_or(Amount::ZERO, |text| text.parse().unwrap())
}

/// The sum over rows.
pub(crate) fn sum(amounts: impl IntoIterator<Item = Amount>) -> Amount {
    Amount::sum(amounts).unwrap()
}

/// The rows of the data files that the manifests under a folder name, by period.
pub(crate) fn deliveries(folder: &Path) -> Vec<(String, Vec<Row>)> {
    let manifests = files_under(folder).into_iter().filter(|path| path.ends_with_manifest());
    let mut found: Vec<(String, Vec<Row>)> = manifests
        .map(|path| {
            let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            let period = manifest["billingPeriod"]["start"].as_str().unwrap()[..7].to_owned();
            let keys = manifest["dataFiles"].as_array().unwrap();
            let local =
                |key: &serde_json::Value| folder.join(key.as_str().unwrap().split_once("/cur2/").unwrap().1);
            (period, keys.iter().flat_map(|key| rows(&local(key))).collect())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

trait ManifestName {
    fn ends_with_manifest(&self) -> bool;
}

impl ManifestName for PathBuf {
    fn ends_with_manifest(&self) -> bool {
        self.to_string_lossy().ends_with("-Manifest.json")
    }
}

fn rows(path: &Path) -> Vec<Row> {
    if path.extension().unwrap() == "parquet" { parquet_rows(path) } else { csv_rows(path) }
}

fn parquet_rows(path: &Path) -> Vec<Row> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let schema = batch.schema();
        for index in 0..batch.num_rows() {
            let filled =
                schema.fields().iter().zip(batch.columns()).filter(|(_, column)| column.is_valid(index));
            rows.push(
                filled
                    .map(|(field, column)| {
                        (field.name().clone(), array_value_to_string(column, index).unwrap())
                    })
                    .collect(),
            );
        }
    }
    rows
}

fn csv_rows(path: &Path) -> Vec<Row> {
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    csv_text(&text)
}

/// The rows of a CSV with a header.
pub(crate) fn csv_text(text: &str) -> Vec<Row> {
    let mut lines = text.lines().map(fields);
    let header = lines.next().unwrap();
    let filled =
        |line: Vec<String>| header.iter().cloned().zip(line).filter(|(_, value)| !value.is_empty()).collect();
    lines.map(filled).collect()
}

/// Splits a line of CSV; no field of ours holds a line break.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            // A doubled quote inside a quoted field closes and opens it again; the quote itself is not needed here.
            other => fields.last_mut().unwrap().push(other),
        }
    }
    fields
}
