//! A column of a record batch under the few types that a reader tells apart.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int64Array,
    ListArray, MapArray, StringArray, StringBuilder, StructArray, TimestampMicrosecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use arrow::error::ArrowError;

use super::cell::Cell;

/// A column with its values at hand.
#[derive(Debug)]
pub(in crate::billing) enum Typed {
    /// Not read.
    Absent,
    Text(StringArray),
    Int(Int64Array),
    Double(Float64Array),
    Single(Float32Array),
    Decimal(Decimal128Array, i8),
    Instant(TimestampMicrosecondArray),
    Bool(BooleanArray),
    /// A map or a list of pairs: where each row's pairs lie, and the pairs.
    Pairs(PairRows, Box<(Typed, Typed)>),
    /// A structure, whose fields are keys.
    Fields(StructArray, Vec<(String, Typed)>),
}

/// Where the pairs of a row lie.
#[derive(Debug)]
pub(in crate::billing) enum PairRows {
    Map(MapArray),
    List(ListArray),
}

impl Typed {
    /// Gives an array the nearest of these types; nothing is lost.
    pub(in crate::billing) fn of(array: &ArrayRef) -> Result<Self, ArrowError> {
        match array.data_type() {
            DataType::Utf8 => Ok(Self::Text(array.as_string::<i32>().clone())),
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::Int64 => {
                Ok(Self::Int(cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone()))
            }
            DataType::Float64 => Ok(Self::Double(array.as_primitive::<Float64Type>().clone())),
            DataType::Float16 | DataType::Float32 => {
                Ok(Self::Single(cast(array, &DataType::Float32)?.as_primitive::<Float32Type>().clone()))
            }
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale) => {
                let wide = cast(array, &DataType::Decimal128(38, *scale))?;
                Ok(Self::Decimal(wide.as_primitive::<Decimal128Type>().clone(), *scale))
            }
            DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
                // The zone stays: it only says how the instants are shown.
                let zone = match array.data_type() {
                    DataType::Timestamp(_, zone) => zone.clone(),
                    _ => None,
                };
                let micros = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, zone))?;
                Ok(Self::Instant(micros.as_primitive::<TimestampMicrosecondType>().clone()))
            }
            DataType::Boolean => Ok(Self::Bool(array.as_boolean().clone())),
            DataType::Map(..) => Self::of_map(array),
            DataType::List(field) if matches!(field.data_type(), DataType::Struct(_)) => Self::of_list(array),
            DataType::Struct(_) => Self::of_struct(array),
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => Ok(Self::Absent),
            _ => Ok(Self::Text(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())),
        }
    }

    fn of_map(array: &ArrayRef) -> Result<Self, ArrowError> {
        let map = array.as_map().clone();
        let (keys, values) = (Self::of(map.keys())?, Self::of(map.values())?);
        Ok(Self::Pairs(PairRows::Map(map), Box::new((keys, values))))
    }

    fn of_list(array: &ArrayRef) -> Result<Self, ArrowError> {
        let list = array.as_list::<i32>().clone();
        let pairs = list.values().as_struct();
        let (Some(keys), Some(values)) = (pairs.columns().first(), pairs.columns().get(1)) else {
            return Ok(Self::Absent);
        };
        let typed = (Self::of(keys)?, Self::of(values)?);
        Ok(Self::Pairs(PairRows::List(list), Box::new(typed)))
    }

    fn of_struct(array: &ArrayRef) -> Result<Self, ArrowError> {
        let fields = array.as_struct().clone();
        let mut typed = Vec::with_capacity(fields.num_columns());
        for (name, column) in fields.column_names().iter().zip(fields.columns()) {
            typed.push(((*name).to_owned(), Self::of(&Arc::clone(column))?));
        }
        Ok(Self::Fields(fields, typed))
    }

    /// The same values as text; nested values stay as they are.
    pub(in crate::billing) fn into_text(self) -> Self {
        let rows = match &self {
            Self::Int(array) => array.len(),
            Self::Double(array) => array.len(),
            Self::Single(array) => array.len(),
            Self::Decimal(array, _) => array.len(),
            Self::Instant(array) => array.len(),
            Self::Bool(array) => array.len(),
            Self::Absent | Self::Text(_) | Self::Pairs(..) | Self::Fields(..) => return self,
        };
        let mut scratch = String::new();
        let mut texts = StringBuilder::with_capacity(rows, rows * 8);
        for row in 0..rows {
            texts.append_option(self.cell(row).text(&mut scratch));
        }
        Self::Text(texts.finish())
    }

    /// The value of a row; a nested value is none.
    pub(in crate::billing) fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Text(array) if array.is_valid(row) => match array.value(row) {
                "" => Cell::Null,
                text => Cell::Text(text),
            },
            Self::Int(array) if array.is_valid(row) => Cell::Int(array.value(row)),
            Self::Double(array) if array.is_valid(row) => Cell::Double(array.value(row)),
            Self::Single(array) if array.is_valid(row) => Cell::Single(array.value(row)),
            Self::Decimal(array, scale) if array.is_valid(row) => Cell::Decimal(array.value(row), *scale),
            Self::Instant(array) if array.is_valid(row) => Cell::Instant(array.value(row)),
            Self::Bool(array) if array.is_valid(row) => Cell::Bool(array.value(row)),
            Self::Absent
            | Self::Text(_)
            | Self::Int(_)
            | Self::Double(_)
            | Self::Single(_)
            | Self::Decimal(..)
            | Self::Instant(_)
            | Self::Bool(_)
            | Self::Pairs(..)
            | Self::Fields(..) => Cell::Null,
        }
    }

    /// Calls back with every key and value of a row; false if the column holds no map.
    pub(in crate::billing) fn entries(&self, row: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool {
        match self {
            Self::Pairs(rows, pairs) => {
                let mut scratch = String::new();
                for at in rows.range(row) {
                    if let Some(key) = pairs.0.cell(at).text(&mut scratch) {
                        each(key, pairs.1.cell(at));
                    }
                }
                true
            }
            Self::Fields(fields, typed) => {
                if fields.is_valid(row) {
                    typed.iter().for_each(|(name, column)| each(name, column.cell(row)));
                }
                true
            }
            Self::Absent => true,
            Self::Text(_) => match self.cell(row) {
                Cell::Text(text) => {
                    super::json::read_map(text, &mut |key, value| each(key, Cell::Text(value)))
                }
                _ => true,
            },
            Self::Int(_)
            | Self::Double(_)
            | Self::Single(_)
            | Self::Decimal(..)
            | Self::Instant(_)
            | Self::Bool(_) => false,
        }
    }
}

impl PairRows {
    fn range(&self, row: usize) -> std::ops::Range<usize> {
        let (valid, offsets) = match self {
            Self::Map(map) => (map.is_valid(row), map.value_offsets()),
            Self::List(list) => (list.is_valid(row), list.value_offsets()),
        };
        let at = |index: usize| offsets.get(index).and_then(|o| usize::try_from(*o).ok()).unwrap_or(0);
        if valid { at(row)..at(row + 1) } else { 0..0 }
    }
}
