//! Exports a bill as FOCUS Parquet: `cargo run -p sources --example focus_export -- aws-cur BILL OUT.parquet`.

use std::error::Error;
use std::fs::File;

use sources::billing::{BillOptions, READERS};
use sources::export::ParquetWriter;
use sources::export::focus::{enriched, enriched_schema};
use sources::place::{self, PlaceLimits};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, bill, out] = arguments.as_slice() else {
        return Err("usage: focus_export SOURCE BILL OUT.parquet".into());
    };
    let reader = READERS.iter().find(|reader| reader.id == source).ok_or("no such source of bills")?;
    let input = place::open(bill, &PlaceLimits::default())?;
    let mut writer = ParquetWriter::create(File::create(out)?, enriched_schema())?;
    let mut write = |batch: sources::billing::BillBatch| writer.write(&enriched(&batch.batch)?);
    (reader.read)(&input, &BillOptions::default(), &mut write)?;
    writer.finish()?.sync_all()?;
    Ok(())
}
