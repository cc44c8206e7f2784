//! Helpers of the tests of bill readers: places to read from, and the canonical rows that come of a bill.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow::array::{Array, AsArray};
use arrow::datatypes::TimestampMicrosecondType;
use arrow::util::display::array_value_to_string;
use money::Amount;
use sources::billing::{BillBatch, BillInput, BillOptions, BillSummary, PeriodSummary};
use sources::place::{self, PlaceLimits};
use sources::{SourceError, charges};

/// One canonical row by column; a null is absent, and money has no trailing zeros.
pub(crate) type Row = BTreeMap<String, String>;

/// A reader of bills.
pub(crate) type Reader = fn(
    &BillInput,
    &BillOptions,
    &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
) -> Result<BillSummary, SourceError>;

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

    /// The warnings' codes.
    pub(crate) fn warnings(&self) -> Vec<&'static str> {
        self.summary.warnings.iter().map(|warning| warning.code).collect()
    }

    /// The rows without the file and place that they came from, sorted.
    pub(crate) fn without_place(&self) -> Vec<Row> {
        let mut rows = self.rows.clone();
        for row in &mut rows {
            row.remove("x_file");
            row.remove("x_row");
        }
        rows.sort();
        rows
    }
}

/// Reads a bill; what holds for every reader and every bill is checked here.
pub(crate) fn read_bill(reader: Reader, path: &Path, options: &BillOptions) -> Result<Bill, SourceError> {
    let input = open(path)?;
    let mut rows = Vec::new();
    let summary = reader(&input, options, &mut |batch| {
        rows.extend(canonical_rows(&batch));
        Ok(())
    })?;
    assert_eq!(summary.accepted + summary.rejected, summary.rows);
    assert_eq!(summary.rejected, summary.rejected_by_code.values().sum::<u64>());
    assert_eq!(summary.periods.iter().map(|period| period.rows).sum::<u64>(), rows.len() as u64);
    for period in &summary.periods {
        assert_eq!(period.billed_total.checked_add(period.rejected_total).unwrap(), period.source_total);
    }
    Ok(Bill { summary, rows })
}

/// Reads files of the given names and content as one folder.
pub(crate) fn read_folder(reader: Reader, files: &[(&str, &[u8])]) -> Result<Bill, SourceError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    read_bill(reader, folder.path(), &BillOptions::default())
}

/// Reads one file with other limits, and gives the code of what comes of it.
pub(crate) fn code_with(reader: Reader, options: &BillOptions, (name, bytes): (&str, &[u8])) -> &'static str {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    read_bill(reader, folder.path(), options).map_or_else(|fault| fault.code, |_| "read")
}

pub(crate) fn open(path: &Path) -> Result<BillInput, SourceError> {
    place::open(path.to_str().unwrap(), &PlaceLimits::default())
}

/// A fixture.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// A sample that is kept beside the repository, not in it.
pub(crate) fn beside(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/billing").join(name);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

/// A file of Parquet.
pub(crate) fn parquet_file(columns: Vec<(&str, arrow::array::ArrayRef)>) -> Vec<u8> {
    let batch = arrow::array::RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
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
