//! A canonical batch with its columns at hand, checked once.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, DictionaryArray, Float64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type};
use arrow::record_batch::RecordBatch;
use money::Amount;

use crate::SourceError;
use crate::charges::{COLUMNS, Column, ColumnType, arrow_type, schema};

/// The place of a canonical column; a name that is none does not compile.
pub(super) const fn at(name: &str) -> usize {
    let mut place = 0;
    while place < COLUMNS.len() {
        if same(COLUMNS[place].name.as_bytes(), name.as_bytes()) {
            return place;
        }
        place += 1;
    }
    assert!(place < COLUMNS.len(), "no canonical column of this name");
    place
}

/// True for equal bytes; `==` is not to be had in a constant.
pub(super) const fn same(left: &[u8], right: &[u8]) -> bool {
    let mut place = 0;
    while place < left.len() && place < right.len() && left[place] == right[place] {
        place += 1;
    }
    place == left.len() && place == right.len()
}

/// The columns of a canonical batch.
pub(super) struct Batch {
    arrays: Vec<ArrayRef>,
    typed: Vec<Typed>,
}

enum Typed {
    Text(DictionaryArray<Int32Type>, StringArray),
    Money(Decimal128Array),
    Quantity(Float64Array),
    /// Only copied.
    Other,
}

/// The columns of a batch in canonical order and types.
///
/// # Errors
/// `export::not_canonical` if a column is missing, has another type, or is null where it must not be.
pub(super) fn canonical(batch: &RecordBatch) -> Result<RecordBatch, SourceError> {
    let mut arrays = Vec::with_capacity(COLUMNS.len());
    for column in COLUMNS {
        let array = batch.column_by_name(column.name).ok_or_else(|| not_canonical(column, "is missing"))?;
        let kind = arrow_type(column.kind);
        // Only text is cast: a cast of anything else might round.
        let array = match column.kind {
            _ if *array.data_type() == kind => Arc::clone(array),
            ColumnType::Text => cast(array, &kind).map_err(|fault| not_canonical(column, fault))?,
            ColumnType::Money | ColumnType::Quantity | ColumnType::Instant | ColumnType::Row => {
                return Err(not_canonical(column, format!("is of type {}", array.data_type())));
            }
        };
        if let ColumnType::Money = column.kind {
            let amounts = array.as_primitive::<Decimal128Type>();
            amounts.validate_decimal_precision(38).map_err(|fault| not_canonical(column, fault))?;
        }
        arrays.push(array);
    }
    RecordBatch::try_new(schema(), arrays).map_err(|fault| {
        SourceError::new("export::not_canonical", format!("the batch is no batch of charges: {fault}"))
    })
}

fn not_canonical(column: &Column, fault: impl std::fmt::Display) -> SourceError {
    let message = format!("the batch is no batch of charges: column `{}` {fault}", column.name);
    SourceError::new("export::not_canonical", message)
}

impl Batch {
    /// The columns of a batch that [`canonical`] made.
    pub(super) fn of(batch: &RecordBatch) -> Self {
        let typed = |(column, array): (&Column, &ArrayRef)| match column.kind {
            ColumnType::Text => {
                let keys = array.as_dictionary::<Int32Type>().clone();
                let values = keys.values().as_string::<i32>().clone();
                Typed::Text(keys, values)
            }
            ColumnType::Money => Typed::Money(array.as_primitive::<Decimal128Type>().clone()),
            ColumnType::Quantity => Typed::Quantity(array.as_primitive::<Float64Type>().clone()),
            ColumnType::Instant | ColumnType::Row => Typed::Other,
        };
        Self {
            arrays: batch.columns().to_vec(),
            typed: COLUMNS.iter().zip(batch.columns()).map(typed).collect(),
        }
    }

    /// A column as it is.
    pub(super) fn array(&self, column: usize) -> Option<ArrayRef> {
        self.arrays.get(column).map(Arc::clone)
    }

    /// The text of a column of text.
    pub(super) fn text(&self, column: usize, row: usize) -> Option<&str> {
        match self.typed.get(column) {
            Some(Typed::Text(keys, values)) => {
                keys.key(row).filter(|key| values.is_valid(*key)).map(|key| values.value(key))
            }
            _ => None,
        }
    }

    /// The amount of a column of money.
    pub(super) fn money(&self, column: usize, row: usize) -> Option<Amount> {
        match self.typed.get(column) {
            Some(Typed::Money(array)) if array.is_valid(row) => Amount::from_units(array.value(row)).ok(),
            _ => None,
        }
    }

    /// The number of a column of quantities.
    pub(super) fn quantity(&self, column: usize, row: usize) -> Option<f64> {
        match self.typed.get(column) {
            Some(Typed::Quantity(array)) if array.is_valid(row) => Some(array.value(row)),
            _ => None,
        }
    }
}
