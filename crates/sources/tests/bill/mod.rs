//! Helpers of the bill readers' tests: files from text, and the canonical rows that come of them.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::TimestampMicrosecondType;
use arrow::util::display::array_value_to_string;
use money::Amount;
use sources::billing::{BillBatch, BillInput, BillLimits, BillOptions, BillSummary, PeriodSummary};
use sources::place::{self, PlaceLimits};
use sources::{SourceError, charges};

/// One canonical row by column; a null is absent, and money has no trailing zeros.
pub(crate) type Row = BTreeMap<String, String>;

/// What a reading gave.
pub(crate) struct Bill {
    pub(crate) summary: BillSummary,
    pub(crate) rows: Vec<Row>,
}

impl Bill {
    /// The only period.
    pub(crate) fn period(&self) -> &PeriodSummary {
        assert_eq!(self.summary.periods.len(), 1, "periods: {:?}", self.summary.periods);
        &self.summary.periods[0]
    }

    /// A column of every row.
    pub(crate) fn column(&self, name: &str) -> Vec<String> {
        self.rows.iter().map(|row| row.get(name).cloned().unwrap_or_default()).collect()
    }

    /// The row of a line item.
    pub(crate) fn line(&self, id: &str) -> &Row {
        self.rows.iter().find(|row| row.get("x_line_item_id").is_some_and(|known| known == id)).unwrap()
    }

    /// The warnings' codes.
    pub(crate) fn warnings(&self) -> Vec<&'static str> {
        self.summary.warnings.iter().map(|warning| warning.code).collect()
    }
}

/// How a format is read.
pub(crate) type Reader = fn(
    &BillInput,
    &BillOptions,
    &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
) -> Result<BillSummary, SourceError>;

/// A file that lies in the repository.
pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// A sample that is kept beside the repository, not in it.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/billing").join(name);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

pub(crate) fn open(path: &Path) -> Result<BillInput, SourceError> {
    place::open(path.to_str().unwrap(), &PlaceLimits::default())
}

/// Reads a place and checks what holds for every reading.
pub(crate) fn read_with(reader: Reader, path: &Path, options: &BillOptions) -> Result<Bill, SourceError> {
    let input = open(path)?;
    let mut rows = Vec::new();
    let summary = reader(&input, options, &mut |batch| {
        rows.extend(canonical_rows(&batch));
        Ok(())
    })?;
    assert_eq!(summary.accepted + summary.rejected, summary.rows);
    assert_eq!(summary.rejected, summary.rejected_by_code.values().sum::<u64>());
    // A row is one charge, and one more for each credit that it carries apart.
    let credits = rows.iter().filter(|row| row.contains_key("x_credit_type")).count();
    assert_eq!(summary.accepted, (rows.len() - credits) as u64);
    assert_eq!(summary.periods.iter().map(|period| period.rows).sum::<u64>(), rows.len() as u64);
    for period in &summary.periods {
        assert_eq!(period.billed_total.checked_add(period.rejected_total).unwrap(), period.source_total);
    }
    Ok(Bill { summary, rows })
}

/// Reads files of the given names and content as one folder.
pub(crate) fn read_files(reader: Reader, files: &[(&str, &[u8])]) -> Result<Bill, SourceError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    read_with(reader, folder.path(), &BillOptions::default())
}

/// The code of what comes of one file under other limits.
pub(crate) fn limited(reader: Reader, limits: BillLimits, (name, bytes): (&str, &[u8])) -> &'static str {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let options = BillOptions { limits, ..BillOptions::default() };
    read_with(reader, folder.path(), &options).map_or_else(|fault| fault.code, |_| "read")
}

/// A file of Parquet.
pub(crate) fn parquet_file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The rows without their place, in an order that does not depend on it.
pub(crate) fn without_place(bill: &Bill) -> Vec<Row> {
    let mut rows = bill.rows.clone();
    for row in &mut rows {
        row.remove("x_file");
        row.remove("x_row");
    }
    rows.sort();
    rows
}

/// The rows in another order, in as many files as asked for, each under the header.
pub(crate) fn shuffled(
    header: &str,
    rows: &[String],
    (seed, files): (usize, usize),
) -> Vec<(String, String)> {
    parts(rows, (seed, files))
        .iter()
        .enumerate()
        .map(|(at, part)| (format!("part-{at}.csv"), format!("{header}\n{}\n", part.join("\n"))))
        .collect()
}

/// The rows in another order, in as many parts as asked for.
pub(crate) fn parts<T: Clone>(rows: &[T], (seed, parts): (usize, usize)) -> Vec<Vec<T>> {
    let mut rows = rows.to_vec();
    for at in 0..rows.len() {
        let other = (at * 7 + seed) % rows.len();
        rows.swap(at, other);
    }
    rows.chunks(rows.len().div_ceil(parts)).map(<[T]>::to_vec).collect()
}

fn canonical_rows(batch: &BillBatch) -> Vec<Row> {
    assert_eq!(batch.batch.schema(), charges::schema());
    let shown = |column: &charges::Column, row: usize| {
        let array = batch.batch.column_by_name(column.name).unwrap();
        if array.is_null(row) {
            return None;
        }
        if column.kind == charges::ColumnType::Instant {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            return Some(ledger::Timestamp(micros).to_string());
        }
        let text = array_value_to_string(array, row).unwrap();
        Some(match column.kind {
            charges::ColumnType::Money => amount(&text).to_string(),
            _ => text,
        })
    };
    (0..batch.batch.num_rows())
        .map(|row| {
            charges::COLUMNS
                .iter()
                .filter_map(|c| shown(c, row).map(|text| (c.name.to_owned(), text)))
                .collect()
        })
        .collect()
}

pub(crate) fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
