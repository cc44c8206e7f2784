//! The import benchmark's own side: `write FILE FOLDER` reads an AWS report and writes the canonical Parquet as the store
//! does, `read FILE` only reads it; each prints a JSON line. `generate FOLDER HOURS` makes the report, packed both ways.
//!
//! `cargo xtask bench import` runs these in turn with the peers and prints the ratios.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panic")]

mod generate;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;
use money::Amount;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use sources::billing::{BillBatch, BillOptions, BillSummary, aws_cur};
use sources::place::{self, PlaceLimits};
use sources::{SourceError, charges};
use testkit::measure::report;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["write", bill, folder] => write(bill, Path::new(folder)),
        ["generate", folder, hours] => generate::generate(Path::new(folder), hours.parse().unwrap()),
        ["read", bill] => tell("trainbill, reading only", &read(bill, &mut |_| Ok(()))),
        _ => panic!("usage: import_speed generate FOLDER HOURS | write FILE FOLDER | read FILE"),
    }
}

fn write(bill: &str, folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let mut tables: BTreeMap<(String, String), Table> = BTreeMap::new();
    let summary = read(bill, &mut |batch| {
        let key = (batch.payer, batch.period.to_string());
        let table = tables.entry(key).or_insert_with_key(|(payer, period)| Table::new(folder, payer, period));
        table.append(&batch.batch);
        Ok(())
    });
    tables.into_values().for_each(Table::finish);
    tell("trainbill", &summary);
}

fn read(bill: &str, sink: &mut dyn FnMut(BillBatch) -> Result<(), SourceError>) -> BillSummary {
    let input = place::open(bill, &PlaceLimits::default()).unwrap();
    aws_cur::read(&input, &BillOptions::default(), sink).unwrap()
}

fn tell(engine: &str, summary: &BillSummary) {
    let billed = Amount::sum(summary.periods.iter().map(|period| period.billed_total)).unwrap();
    report(engine, &[("rows", summary.accepted.to_string()), ("billed_total", billed.to_string())]);
}

/// The Parquet parts of one payer's billing period.
struct Table {
    stem: PathBuf,
    parts: usize,
    rows: usize,
    writer: Option<ArrowWriter<BufWriter<File>>>,
}

/// As the store has them: what it cuts batches into, and the rows of a part.
const PIECE_ROWS: usize = 8192;
const PART_ROWS: usize = 1 << 23;

impl Table {
    fn new(folder: &Path, payer: &str, period: &str) -> Self {
        Self { stem: folder.join(format!("{payer}-{period}")), parts: 0, rows: 0, writer: None }
    }

    fn append(&mut self, batch: &RecordBatch) {
        for from in (0..batch.num_rows()).step_by(PIECE_ROWS) {
            let piece = batch.slice(from, PIECE_ROWS.min(batch.num_rows() - from));
            let path = self.stem.with_extension(format!("{:05}.parquet", self.parts));
            let writer = self.writer.get_or_insert_with(|| {
                let file = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
                ArrowWriter::try_new(file, charges::schema(), Some(properties())).unwrap()
            });
            writer.write(&piece).unwrap();
            self.rows += piece.num_rows();
            if self.rows >= PART_ROWS {
                self.end_part();
            }
        }
    }

    fn end_part(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.into_inner().unwrap().into_inner().unwrap();
            self.parts += 1;
        }
        self.rows = 0;
    }

    fn finish(mut self) {
        self.end_part();
    }
}

/// Those of the store's tables of charges.
fn properties() -> WriterProperties {
    let row = ColumnPath::from("x_row");
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by("trainbill".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(true)
        .set_max_row_group_row_count(Some(1 << 20))
        .set_column_dictionary_enabled(row.clone(), false)
        .set_column_encoding(row, Encoding::DELTA_BINARY_PACKED)
        .build()
}
