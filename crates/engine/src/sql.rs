//! The user's own SQL over the current state of the store: reading only, money as exact decimals.

use std::path::PathBuf;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::execution::context::SQLOptions;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use futures::StreamExt;

use crate::EngineError;
use crate::session::{Limits, session};

/// A table of a query.
#[derive(Debug)]
pub enum Table {
    /// Parquet files of one schema.
    Files {
        /// Name in SQL.
        name: &'static str,
        /// The files.
        files: Vec<PathBuf>,
        /// Their schema.
        schema: SchemaRef,
    },
    /// Rows of text, number and time columns, given as columns of optional text; empty is null.
    Texts {
        /// Name in SQL.
        name: &'static str,
        /// Column names and whether each is a whole number.
        columns: Vec<(&'static str, bool)>,
        /// Rows.
        rows: Vec<Vec<Option<String>>>,
    },
}

/// The answer of a query; a cell is `None` for null, text otherwise, with its JSON form told by `bare`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryResult {
    /// Column names.
    pub columns: Vec<String>,
    /// Whether a column's cells are JSON numbers or booleans, to be written without quotes.
    pub bare: Vec<bool>,
    /// Rows.
    pub rows: Vec<Vec<Option<String>>>,
}

/// Runs one reading statement over the tables.
///
/// # Errors
/// What DataFusion says of the statement; statements that write or define are refused.
pub async fn query(tables: Vec<Table>, statement: &str, limits: Limits) -> Result<QueryResult, EngineError> {
    let context = session(limits)?;
    for table in tables {
        register(&context, table).await?;
    }
    let options = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let frame = context.sql_with_options(statement, options).await?;
    let fields = frame.schema().fields().clone();
    let mut result = QueryResult {
        columns: fields.iter().map(|field| field.name().clone()).collect(),
        bare: fields.iter().map(|field| is_bare(field.data_type())).collect(),
        rows: Vec::new(),
    };
    let mut stream = frame.execute_stream().await?;
    while let Some(batch) = stream.next().await {
        push_rows(&batch?, &mut result.rows)?;
    }
    Ok(result)
}

async fn register(context: &SessionContext, table: Table) -> Result<()> {
    match table {
        Table::Files { name, files, schema } if files.is_empty() => {
            context.register_batch(name, RecordBatch::new_empty(schema)).map(|_| ())
        }
        Table::Files { name, files, schema } => {
            let paths: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
            let options = ParquetReadOptions { schema: Some(&schema), ..ParquetReadOptions::default() };
            let frame = context.read_parquet(paths, options).await?;
            context.register_table(name, frame.into_view()).map(|_| ())
        }
        Table::Texts { name, columns, rows } => {
            context.register_batch(name, text_batch(&columns, &rows)?).map(|_| ())
        }
    }
}

fn text_batch(columns: &[(&'static str, bool)], rows: &[Vec<Option<String>>]) -> Result<RecordBatch> {
    use arrow::array::{Int64Array, StringArray};
    let mut arrays: Vec<(&str, ArrayRef, bool)> = Vec::with_capacity(columns.len());
    for (index, (name, number)) in columns.iter().enumerate() {
        let cells = rows.iter().map(|row| row.get(index).and_then(Option::as_deref));
        let array: ArrayRef = if *number {
            std::sync::Arc::new(
                cells.map(|cell| cell.and_then(|text| text.parse().ok())).collect::<Int64Array>(),
            )
        } else {
            std::sync::Arc::new(cells.collect::<StringArray>())
        };
        arrays.push((name, array, true));
    }
    Ok(RecordBatch::try_from_iter_with_nullable(arrays)?)
}

fn is_bare(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Boolean
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Float32
            | DataType::Float64
    )
}

fn push_rows(batch: &RecordBatch, rows: &mut Vec<Vec<Option<String>>>) -> Result<(), EngineError> {
    let options = FormatOptions::default().with_timestamp_tz_format(Some("%Y-%m-%dT%H:%M:%S%.fZ"));
    let cells =
        batch.columns().iter().map(|column| column_cells(column, &options)).collect::<Result<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        rows.push(cells.iter().map(|column| column[row].clone()).collect());
    }
    Ok(())
}

fn column_cells(column: &ArrayRef, options: &FormatOptions<'_>) -> Result<Vec<Option<String>>> {
    if let Some(doubles) = column.as_primitive_opt::<Float64Type>() {
        // JSON has no NaN or infinity: they become null, as an unknown value must not read as a number.
        return Ok(doubles
            .iter()
            .map(|value| value.filter(|v| v.is_finite()).map(|v| v.to_string()))
            .collect());
    }
    let formatter = ArrayFormatter::try_new(column.as_ref(), options)?;
    let decimal = matches!(column.data_type(), DataType::Decimal128(..) | DataType::Decimal256(..));
    (0..column.len())
        .map(|row| {
            if column.is_null(row) {
                return Ok(None);
            }
            let text = formatter.value(row).try_to_string()?;
            Ok(Some(if decimal { plain_decimal(&text) } else { text }))
        })
        .collect()
}

/// A decimal without trailing zeros, as every face shows exact amounts.
fn plain_decimal(text: &str) -> String {
    if !text.contains('.') {
        return text.to_owned();
    }
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}
