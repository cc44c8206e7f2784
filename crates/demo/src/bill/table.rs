//! A bill as Snappy-compressed Parquet, costs as doubles and maps as maps.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Builder, MapBuilder, RecordBatch, StringBuilder, TimestampMillisecondBuilder,
};
use arrow::datatypes::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::columns::{COLUMNS, Cell, Column, Kind, Row};
use crate::DemoError;
use crate::files;

/// Writes one file of rows.
pub(crate) fn write(path: &Path, rows: &[Row<'_>]) -> Result<(), DemoError> {
    let arrays = COLUMNS.iter().map(|column| array(column, rows)).collect::<Result<Vec<_>, DemoError>>()?;
    let fields: Vec<Field> = COLUMNS
        .iter()
        .zip(&arrays)
        .map(|(column, array)| Field::new(column.name, array.data_type().clone(), true))
        .collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?;
    let bytes = encoded(&batch).map_err(|source| DemoError::Encode { path: path.to_owned(), source })?;
    files::write(path, &bytes)
}

fn encoded(batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.into_inner()
}

fn array(column: &Column, rows: &[Row<'_>]) -> Result<ArrayRef, DemoError> {
    let cells = rows.iter().map(|row| (column.cell)(*row));
    match column.kind {
        Kind::Text => {
            let mut builder = StringBuilder::new();
            cells.for_each(|cell| match cell {
                Cell::Text(text) => builder.append_value(text),
                Cell::Empty | Cell::Money(_) | Cell::Used(_) | Cell::Time(_) | Cell::Map(_) => {
                    builder.append_null()
                }
            });
            Ok(Arc::new(builder.finish()))
        }
        Kind::Number => {
            let mut builder = Float64Builder::new();
            cells.for_each(|cell| builder.append_option(double(&cell)));
            Ok(Arc::new(builder.finish()))
        }
        Kind::Time => {
            let mut builder = TimestampMillisecondBuilder::new();
            cells.for_each(|cell| match cell {
                Cell::Time(second) => builder.append_value(second * 1000),
                Cell::Empty | Cell::Text(_) | Cell::Money(_) | Cell::Used(_) | Cell::Map(_) => {
                    builder.append_null()
                }
            });
            Ok(Arc::new(builder.finish()))
        }
        Kind::Map => maps(cells),
    }
}

/// The double whose shortest text is the decimal: at most fifteen digits, so nothing is lost.
fn double(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Money(amount) => amount.to_string().parse().ok(),
        Cell::Used(used) => used.to_string().parse().ok(),
        Cell::Empty | Cell::Text(_) | Cell::Time(_) | Cell::Map(_) => None,
    }
}

fn maps<'a>(cells: impl Iterator<Item = Cell<'a>>) -> Result<ArrayRef, DemoError> {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for cell in cells {
        if let Cell::Map(map) = cell {
            for (key, value) in map {
                builder.keys().append_value(key);
                builder.values().append_value(value);
            }
        }
        builder.append(true)?;
    }
    Ok(Arc::new(builder.finish()))
}
