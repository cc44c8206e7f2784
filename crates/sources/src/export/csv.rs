//! Writes batches as CSV: exact decimals, times in ISO 8601 with `Z`, a null as nothing.

use std::fmt::Write as _;
use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Float64Type, Int32Type, Int64Type, SchemaRef, TimestampMicrosecondType,
};
use arrow::record_batch::RecordBatch;
use ledger::Timestamp;
use money::Amount;

use super::not_written;
use crate::SourceError;
use crate::charges::{MONEY, instant_type, text_type};

/// Writes one file.
pub struct CsvWriter<W: Write> {
    writer: ::csv::Writer<W>,
    schema: SchemaRef,
    text: String,
}

impl<W: Write> CsvWriter<W> {
    /// Begins a file with the names of the columns.
    ///
    /// # Errors
    /// `export::not_written`.
    pub fn create(sink: W, schema: SchemaRef) -> Result<Self, SourceError> {
        let mut writer = ::csv::Writer::from_writer(sink);
        writer.write_record(schema.fields().iter().map(|field| field.name())).map_err(not_written)?;
        Ok(Self { writer, schema, text: String::new() })
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// `export::not_written`, also for a batch of another schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), SourceError> {
        if batch.schema() != self.schema {
            return Err(not_written("a batch has other columns than the file"));
        }
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                self.text.clear();
                push_value(&mut self.text, column, row)?;
                self.writer.write_field(&self.text).map_err(not_written)?;
            }
            self.writer.write_record(None::<&[u8]>).map_err(not_written)?;
        }
        Ok(())
    }

    /// Ends the file and gives the sink back.
    ///
    /// # Errors
    /// `export::not_written`.
    pub fn finish(self) -> Result<W, SourceError> {
        self.writer.into_inner().map_err(|fault| not_written(fault.error()))
    }
}

/// Appends the text of a value; nothing for a null.
fn push_value(out: &mut String, column: &ArrayRef, row: usize) -> Result<(), SourceError> {
    if column.is_null(row) {
        return Ok(());
    }
    let pushed = match column.data_type() {
        kind if *kind == text_type() => {
            let column = column.as_dictionary::<Int32Type>();
            let values = column.values().as_string::<i32>();
            column.key(row).map_or(Ok(()), |key| out.write_str(values.value(key)))
        }
        kind if *kind == MONEY => {
            let units = column.as_primitive::<Decimal128Type>().value(row);
            write!(out, "{}", Amount::from_units(units).map_err(not_written)?)
        }
        kind if *kind == instant_type() => {
            write!(out, "{}", Timestamp(column.as_primitive::<TimestampMicrosecondType>().value(row)))
        }
        // Never in scientific notation, and the shortest text that reads back as the same number.
        DataType::Float64 => write!(out, "{}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Int64 => write!(out, "{}", column.as_primitive::<Int64Type>().value(row)),
        other => return Err(not_written(format!("no text for a column of type {other}"))),
    };
    pushed.map_err(not_written)
}
