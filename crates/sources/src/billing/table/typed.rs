//! A column of a record batch under the few types that a reader tells apart.

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int64Array,
    ListArray, MapArray, StringArray, StringBuilder, StructArray, TimestampMicrosecondArray,
};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};
use arrow::error::ArrowError;
use arrow::util::display::array_value_to_string;

use super::cell::{Cell, mark};
use super::dictionaries::{Coded, Dictionaries};
use crate::text::Symbol;

/// A column with its values at hand.
#[derive(Debug)]
pub(in crate::billing) enum Typed {
    /// Not read.
    Absent,
    Text(StringArray),
    /// Text by its place in a dictionary whose values have symbols.
    Coded(Coded),
    Int(Int64Array),
    Double(Float64Array),
    Single(Float32Array),
    Decimal(Decimal128Array, i8),
    Instant(TimestampMicrosecondArray),
    Bool(BooleanArray),
    /// A map or a list of structures.
    Records(Box<Records>),
    /// A structure, whose fields are keys.
    Fields(StructArray, Vec<(String, Typed)>),
}

/// Records of each row: the pairs of a map, or the structures of a list.
#[derive(Debug)]
pub(in crate::billing) struct Records {
    rows: RecordRows,
    /// Which records of a list are there at all.
    present: Option<NullBuffer>,
    fields: Vec<(String, Typed)>,
    /// Positions of key and value among the fields.
    pair: Option<(usize, usize)>,
}

/// Where the records of a row lie.
#[derive(Debug)]
enum RecordRows {
    Map(MapArray),
    List(ListArray),
}

impl Typed {
    /// Gives an array the nearest of these types; nothing is lost.
    pub(in crate::billing) fn of(array: &ArrayRef, known: &mut Dictionaries) -> Result<Self, ArrowError> {
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
            DataType::Map(..) => Self::of_map(array, known),
            DataType::List(field) if matches!(field.data_type(), DataType::Struct(_)) => {
                Self::of_list(array, known)
            }
            DataType::Struct(_) => Self::of_struct(array, known),
            DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Utf8 => {
                let array = array.as_dictionary::<Int32Type>();
                let dictionary = known.of(array.values().as_string::<i32>());
                Ok(Self::Coded(Coded { keys: array.keys().clone(), dictionary }))
            }
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => Self::of_shown(array),
            _ => Ok(Self::Text(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())),
        }
    }

    fn of_map(array: &ArrayRef, known: &mut Dictionaries) -> Result<Self, ArrowError> {
        let map = array.as_map().clone();
        let fields = vec![
            ("key".to_owned(), Self::of(map.keys(), known)?),
            ("value".to_owned(), Self::of(map.values(), known)?),
        ];
        let rows = RecordRows::Map(map);
        Ok(Self::Records(Box::new(Records { rows, present: None, fields, pair: Some((0, 1)) })))
    }

    fn of_list(array: &ArrayRef, known: &mut Dictionaries) -> Result<Self, ArrowError> {
        let list = array.as_list::<i32>().clone();
        let records = list.values().as_struct();
        let fields = typed_fields(records, known)?;
        let at = |name: &str| fields.iter().position(|(field, _)| field == name);
        let pair = at("key").zip(at("value")).or_else(|| (fields.len() > 1).then_some((0, 1)));
        let present = records.nulls().cloned();
        Ok(Self::Records(Box::new(Records { rows: RecordRows::List(list), present, fields, pair })))
    }

    /// A list of plain values, as text.
    fn of_shown(array: &ArrayRef) -> Result<Self, ArrowError> {
        let mut texts = StringBuilder::new();
        for row in 0..array.len() {
            let shown = array.is_valid(row).then(|| array_value_to_string(array, row)).transpose()?;
            texts.append_option(shown);
        }
        Ok(Self::Text(texts.finish()))
    }

    fn of_struct(array: &ArrayRef, known: &mut Dictionaries) -> Result<Self, ArrowError> {
        let fields = array.as_struct().clone();
        let typed = typed_fields(&fields, known)?;
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
            Self::Absent | Self::Text(_) | Self::Coded(_) | Self::Records(_) | Self::Fields(..) => {
                return self;
            }
        };
        let mut scratch = String::new();
        let mut texts = StringBuilder::with_capacity(rows, rows * 8);
        for row in 0..rows {
            texts.append_option(self.cell(row).text(&mut scratch));
        }
        Self::Text(texts.finish())
    }

    /// The value of a row; a nested value is none.
    #[inline]
    pub(in crate::billing) fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Text(array) if array.is_valid(row) => match array.value(row) {
                "" => Cell::Null,
                text => Cell::Text(text),
            },
            Self::Coded(coded) => coded.text(row).map_or(Cell::Null, |text| Cell::Text(text.as_str())),
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
            | Self::Records(_)
            | Self::Fields(..) => Cell::Null,
        }
    }

    /// True if its values are no cells.
    pub(in crate::billing) const fn is_nested(&self) -> bool {
        matches!(self, Self::Records(_) | Self::Fields(..))
    }

    /// The symbol of a row's text, if the file tells texts apart by number.
    #[inline]
    pub(in crate::billing) fn symbol(&self, row: usize) -> Option<Symbol> {
        let Self::Coded(coded) = self else { return None };
        coded.symbol(row)
    }

    /// Appends numbers that two rows have alike only if their values are the same; false if there are none.
    pub(in crate::billing) fn identify(&self, row: usize, out: &mut Vec<u64>) -> bool {
        if let Self::Records(records) = self {
            return records.identify(row, out);
        }
        if matches!(self, Self::Fields(..)) {
            return false;
        }
        let Some(symbol) = self.symbol(row) else { return self.cell(row).identify(out) };
        out.push(symbol.key());
        true
    }

    /// Calls back with every key and value of a row; false if the column holds no map.
    pub(in crate::billing) fn entries(&self, row: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool {
        match self {
            Self::Records(records) => {
                records.entries(row, each);
                true
            }
            Self::Fields(fields, typed) => {
                if fields.is_valid(row) {
                    typed.iter().for_each(|(name, column)| each(name, column.cell(row)));
                }
                true
            }
            Self::Absent => true,
            Self::Text(_) | Self::Coded(_) => match self.cell(row) {
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

    /// Calls back with the position, field name and value of every record of a row; false if it holds none.
    pub(in crate::billing) fn records(
        &self,
        row: usize,
        each: &mut dyn FnMut(usize, &str, Cell<'_>),
    ) -> bool {
        match self {
            Self::Records(records) => {
                records.each(row, each);
                true
            }
            Self::Fields(..) => self.entries(row, &mut |name, value| {
                if !value.is_null() {
                    each(0, name, value);
                }
            }),
            Self::Absent => true,
            Self::Text(_) | Self::Coded(_) => match self.cell(row) {
                Cell::Text(text) => super::records::read_records(text, each),
                _ => true,
            },
            Self::Int(_)
            | Self::Double(_)
            | Self::Single(_)
            | Self::Decimal(..)
            | Self::Instant(_)
            | Self::Bool(_) => self.cell(row).is_null(),
        }
    }
}

fn typed_fields(fields: &StructArray, known: &mut Dictionaries) -> Result<Vec<(String, Typed)>, ArrowError> {
    let named = fields.column_names().into_iter().zip(fields.columns());
    named.map(|(name, column)| Ok((name.to_owned(), Typed::of(column, known)?))).collect()
}

impl Records {
    fn entries(&self, row: usize, each: &mut dyn FnMut(&str, Cell<'_>)) {
        let pair = self.pair.and_then(|(key, value)| self.fields.get(key).zip(self.fields.get(value)));
        let Some(((_, keys), (_, values))) = pair else { return };
        let mut scratch = String::new();
        for at in self.range(row).filter(|at| self.is_present(*at)) {
            if let Some(key) = keys.cell(at).text(&mut scratch) {
                each(key, values.cell(at));
            }
        }
    }

    fn each(&self, row: usize, each: &mut dyn FnMut(usize, &str, Cell<'_>)) {
        for (position, at) in self.range(row).enumerate() {
            for (name, column) in self.fields.iter().filter(|_| self.is_present(at)) {
                match column.cell(at) {
                    Cell::Null => {}
                    cell => each(position, name, cell),
                }
            }
        }
    }

    fn identify(&self, row: usize, out: &mut Vec<u64>) -> bool {
        for at in self.range(row) {
            // Each field tells where it ends, so that only a record which is not there needs a mark.
            if !self.is_present(at) {
                out.push(mark::NO_RECORD);
            }
            if !self.fields.iter().all(|(_, column)| column.identify(at, out)) {
                return false;
            }
        }
        out.push(mark::END);
        true
    }

    fn is_present(&self, at: usize) -> bool {
        self.present.as_ref().is_none_or(|present| present.is_valid(at))
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        let (valid, offsets) = match &self.rows {
            RecordRows::Map(map) => (map.is_valid(row), map.value_offsets()),
            RecordRows::List(list) => (list.is_valid(row), list.value_offsets()),
        };
        let at = |index: usize| offsets.get(index).and_then(|o| usize::try_from(*o).ok()).unwrap_or(0);
        if valid { at(row)..at(row + 1) } else { 0..0 }
    }
}
