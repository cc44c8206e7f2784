//! Helpers of the tests: files from text, and the canonical rows that come of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow::array::{Array, AsArray};
use arrow::datatypes::TimestampMicrosecondType;
use arrow::util::display::array_value_to_string;
use money::Amount;
use sources::billing::{BillBatch, BillInput, BillOptions, BillSummary, PeriodSummary, aws_cur};
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

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/aws_cur").join(name)
}

/// A sample that is kept beside the repository, not in it.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/billing/aws_cur").join(name);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

pub(crate) fn open(path: &Path) -> Result<BillInput, SourceError> {
    place::open(path.to_str().unwrap(), &PlaceLimits::default())
}

pub(crate) fn read(path: &Path) -> Result<Bill, SourceError> {
    read_with(path, &BillOptions::default())
}

pub(crate) fn read_with(path: &Path, options: &BillOptions) -> Result<Bill, SourceError> {
    let input = open(path)?;
    let mut rows = Vec::new();
    let summary = aws_cur::read(&input, options, &mut |batch| {
        rows.extend(canonical_rows(&batch));
        Ok(())
    })?;
    assert_eq!(summary.accepted + summary.rejected, summary.rows);
    assert_eq!(summary.accepted, rows.len() as u64);
    for period in &summary.periods {
        assert_eq!(period.billed_total.checked_add(period.rejected_total).unwrap(), period.source_total);
    }
    Ok(Bill { summary, rows })
}

/// Reads files of the given names and content as one folder.
pub(crate) fn read_files(files: &[(&str, &[u8])]) -> Result<Bill, SourceError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    read(folder.path())
}

pub(crate) fn read_csv(text: &str) -> Result<Bill, SourceError> {
    read_files(&[("bill.csv", text.as_bytes())])
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

/// The header of the small bills of the tests, in the spelling of CUR 2.0.
pub(crate) const HEADER: &str = "line_item_line_item_type,line_item_unblended_cost,line_item_usage_start_date,\
line_item_usage_end_date,line_item_product_code,line_item_currency_code,line_item_usage_type,line_item_operation,\
line_item_resource_id,identity_line_item_id,bill_payer_account_id,line_item_usage_amount";

/// A row below [`HEADER`]: an hour of a type at a cost, for a line item.
pub(crate) fn hour(line_type: &str, cost: &str, id: &str) -> String {
    format!(
        "{line_type},{cost},2026-07-01T00:00:00Z,2026-07-01T01:00:00Z,AmazonEC2,USD,BoxUsage:p4d.24xlarge,\
         RunInstances,i-0,{id},111111111111,1"
    )
}
