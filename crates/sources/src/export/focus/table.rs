//! Builds a batch of an export row by row, each column by its rule.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Builder, Float64Builder, Int64Builder, StringDictionaryBuilder,
    TimestampMicrosecondBuilder, new_null_array,
};
use arrow::datatypes::{DataType, Int32Type, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use ledger::Timestamp;
use money::Amount;

use crate::SourceError;
use crate::charges::MONEY;

/// How a column is filled from rows of one kind.
pub(super) enum Rule<R> {
    /// With an array that is there already.
    Copy(ArrayRef),
    /// With text.
    Text(fn(&R) -> Option<Cow<'_, str>>),
    /// With money.
    Money(fn(&R) -> Option<Amount>),
    /// With a quantity.
    Quantity(fn(&R) -> Option<f64>),
    /// With an instant.
    Instant(fn(&R) -> Option<Timestamp>),
    /// With a count.
    Count(fn(&R) -> Option<u64>),
    /// With nothing.
    Null,
}

/// A column that grows.
enum Growing<R> {
    Ready(ArrayRef),
    Text(fn(&R) -> Option<Cow<'_, str>>, StringDictionaryBuilder<Int32Type>),
    Money(fn(&R) -> Option<Amount>, Decimal128Builder),
    Quantity(fn(&R) -> Option<f64>, Float64Builder),
    Instant(fn(&R) -> Option<Timestamp>, TimestampMicrosecondBuilder),
    Count(fn(&R) -> Option<u64>, Int64Builder),
    Null(DataType),
}

/// A batch of the rows, with the column of each field filled by its rule.
///
/// # Errors
/// That of a row, and `export::batch` if a rule gives nothing, or something else, where the schema does not allow it.
pub(super) fn build<R>(
    schema: SchemaRef,
    rule: impl Fn(&str) -> Rule<R>,
    rows: impl IntoIterator<Item = Result<R, SourceError>>,
) -> Result<RecordBatch, SourceError> {
    let mut columns: Vec<Growing<R>> =
        schema.fields().iter().map(|field| Growing::of(rule(field.name()), field.data_type())).collect();
    let mut count = 0;
    for row in rows {
        let row = row?;
        columns.iter_mut().try_for_each(|column| column.push(&row)).map_err(not_built)?;
        count += 1;
    }
    let arrays = columns.into_iter().map(|column| column.finish(count)).collect();
    RecordBatch::try_new(schema, arrays).map_err(not_built)
}

/// A batch of the export that does not come together.
pub(super) fn not_built(fault: ArrowError) -> SourceError {
    SourceError::new("export::batch", format!("a batch of the export could not be built: {fault}"))
}

impl<R> Growing<R> {
    fn of(rule: Rule<R>, kind: &DataType) -> Self {
        match rule {
            Rule::Copy(array) => Self::Ready(array),
            Rule::Text(rule) => Self::Text(rule, StringDictionaryBuilder::new()),
            Rule::Money(rule) => Self::Money(rule, Decimal128Builder::new().with_data_type(MONEY)),
            Rule::Quantity(rule) => Self::Quantity(rule, Float64Builder::new()),
            Rule::Instant(rule) => Self::Instant(rule, TimestampMicrosecondBuilder::new()),
            Rule::Count(rule) => Self::Count(rule, Int64Builder::new()),
            Rule::Null => Self::Null(kind.clone()),
        }
    }

    fn push(&mut self, row: &R) -> Result<(), ArrowError> {
        match self {
            Self::Ready(_) | Self::Null(_) => {}
            Self::Text(rule, builder) => match rule(row) {
                Some(text) => {
                    builder.append(text)?;
                }
                None => builder.append_null(),
            },
            Self::Money(rule, builder) => builder.append_option(rule(row).map(Amount::units)),
            Self::Quantity(rule, builder) => builder.append_option(rule(row)),
            Self::Instant(rule, builder) => builder.append_option(rule(row).map(|at| at.0)),
            Self::Count(rule, builder) => {
                builder.append_option(rule(row).map(|count| i64::try_from(count).unwrap_or(i64::MAX)));
            }
        }
        Ok(())
    }

    fn finish(self, rows: usize) -> ArrayRef {
        match self {
            Self::Ready(array) => array,
            Self::Text(_, mut builder) => Arc::new(builder.finish()),
            Self::Money(_, mut builder) => Arc::new(builder.finish()),
            Self::Quantity(_, mut builder) => Arc::new(builder.finish()),
            Self::Instant(_, mut builder) => Arc::new(builder.finish().with_timezone("UTC")),
            Self::Count(_, mut builder) => Arc::new(builder.finish()),
            Self::Null(kind) => new_null_array(&kind, rows),
        }
    }
}
