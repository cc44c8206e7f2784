//! Exports of a bill, and what they and the bill hold.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::array::Array;
use arrow::record_batch::RecordBatch;
use money::Amount;
use sources::billing::{BillOptions, BillSummary};
use sources::export::focus::{enriched, enriched_schema};
use sources::export::{CsvWriter, ParquetWriter};
use tempfile::TempDir;

use super::bill::{Reader, Row, open};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Parquet,
}

/// A written export, and its rows as text; a null is absent.
pub(crate) struct Exported {
    pub(crate) path: PathBuf,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    _folder: TempDir,
}

/// The canonical batches of a bill.
pub(crate) fn batches(reader: Reader, path: &Path) -> (Vec<RecordBatch>, BillSummary) {
    let mut batches = Vec::new();
    let summary = reader(&open(path).unwrap(), &BillOptions::default(), &mut |batch| {
        batches.push(batch.batch);
        Ok(())
    });
    (batches, summary.unwrap())
}

/// A bill's enriched export.
pub(crate) fn export(reader: Reader, path: &Path, format: Format) -> Exported {
    write(&batches(reader, path).0, format)
}

pub(crate) fn write(batches: &[RecordBatch], format: Format) -> Exported {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(if format == Format::Csv { "export.csv" } else { "export.parquet" });
    let focus = batches.iter().map(|batch| enriched(batch).unwrap());
    let file = File::create(&path).unwrap();
    match format {
        Format::Csv => {
            let mut writer = CsvWriter::create(file, enriched_schema()).unwrap();
            focus.for_each(|batch| writer.write(&batch).unwrap());
            writer.finish().unwrap();
        }
        Format::Parquet => {
            let mut writer = ParquetWriter::create(file, enriched_schema()).unwrap();
            focus.for_each(|batch| writer.write(&batch).unwrap());
            writer.finish().unwrap();
        }
    }
    let text = match format {
        Format::Csv => std::fs::read(&path).unwrap(),
        Format::Parquet => csv_of_parquet(&path),
    };
    let (columns, rows) = parse(&text);
    Exported { path, columns, rows, _folder: folder }
}

/// What a Parquet export holds, through Arrow's own reader, as CSV.
fn csv_of_parquet(path: &Path) -> Vec<u8> {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    assert!(builder.schema().field_with_name("BilledCost").unwrap().data_type().is_decimal());
    let mut writer = CsvWriter::create(Vec::new(), enriched_schema()).unwrap();
    for batch in builder.build().unwrap() {
        writer.write(&typed(&batch.unwrap())).unwrap();
    }
    writer.finish().unwrap()
}

/// A batch with text as dictionaries, as exports have it before they are written.
fn typed(batch: &RecordBatch) -> RecordBatch {
    let schema = enriched_schema();
    let columns = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| arrow::compute::cast(column, field.data_type()).unwrap());
    let columns: Vec<_> = columns.collect();
    assert!(columns.iter().zip(batch.columns()).all(|(a, b)| a.null_count() == b.null_count()));
    RecordBatch::try_new(schema, columns).unwrap()
}

fn parse(csv: &[u8]) -> (Vec<String>, Vec<Row>) {
    let mut reader = ::csv::Reader::from_reader(csv);
    let headers: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |record: ::csv::StringRecord| {
        let cells = headers.iter().zip(&record).filter(|(_, value)| !value.is_empty());
        cells.map(|(name, value)| (name.clone(), value.to_owned())).collect()
    };
    let rows = reader.records().map(|record| row(record.unwrap())).collect();
    (headers, rows)
}

/// Billed, effective, list and marginal total and unpriced charges of every payer's period.
pub(crate) fn totals(summary: &BillSummary) -> BTreeMap<String, ([Amount; 5], u64)> {
    let of = |period: &sources::billing::PeriodSummary| {
        let costs = [
            period.source_total.checked_sub(period.rejected_total).unwrap(),
            period.billed_total,
            period.effective_total,
            period.list_total,
            period.marginal_total,
        ];
        (format!("{} {} {}", period.payer, period.period, period.currency), (costs, period.unpriced))
    };
    summary.periods.iter().map(of).collect()
}
