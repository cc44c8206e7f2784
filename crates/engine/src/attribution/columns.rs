//! Typed views of the columns of a batch of charges, and numbers for dictionary values that are made once.

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Int32Array, RecordBatch, TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;

use crate::EngineError;

/// The columns by name.
pub(crate) struct Columns<'a>(pub(crate) &'a RecordBatch);

impl<'a> Columns<'a> {
    fn column(&self, name: &str) -> Result<&'a ArrayRef, EngineError> {
        self.0.column_by_name(name).ok_or_else(|| EngineError::Column { column: name.to_owned() })
    }

    /// An instant column, in microseconds.
    pub(crate) fn instant(&self, name: &str) -> Result<&'a TimestampMicrosecondArray, EngineError> {
        self.column(name)?.as_primitive_opt().ok_or_else(|| EngineError::Column { column: name.to_owned() })
    }

    /// A money column, in units of 10⁻²⁴.
    pub(crate) fn money(&self, name: &str) -> Result<&'a Decimal128Array, EngineError> {
        self.column(name)?.as_primitive_opt().ok_or_else(|| EngineError::Column { column: name.to_owned() })
    }

    /// A column of quantities.
    pub(crate) fn quantity(&self, name: &str) -> Result<&'a arrow::array::Float64Array, EngineError> {
        self.column(name)?.as_primitive_opt().ok_or_else(|| EngineError::Column { column: name.to_owned() })
    }

    /// A row-number column.
    pub(crate) fn row(&self, name: &str) -> Result<&'a arrow::array::Int64Array, EngineError> {
        self.column(name)?.as_primitive_opt().ok_or_else(|| EngineError::Column { column: name.to_owned() })
    }

    /// A text column: keys into its dictionary's values.
    pub(crate) fn text(&self, name: &str) -> Result<Text<'a>, EngineError> {
        let refuse = || EngineError::Column { column: name.to_owned() };
        let array = self.column(name)?.as_dictionary_opt::<Int32Type>().ok_or_else(refuse)?;
        let values = array.values();
        values.as_string_opt::<i32>().ok_or_else(refuse)?;
        Ok(Text { keys: array.keys(), values })
    }
}

/// A dictionary-encoded text column.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) keys: &'a Int32Array,
    values: &'a ArrayRef,
}

impl<'a> Text<'a> {
    /// The value in a row.
    pub(crate) fn get(&self, row: usize) -> Option<&'a str> {
        if self.keys.is_null(row) {
            return None;
        }
        let values = self.values.as_string::<i32>();
        let key = usize::try_from(self.keys.value(row)).ok()?;
        (key < values.len() && !values.is_null(key)).then(|| values.value(key))
    }
}

/// What each value of a dictionary means, worked out once per dictionary.
///
/// Batches of one column chunk share their dictionary, so its address tells whether the meanings still hold; the
/// array is kept so that the address stays taken.
#[derive(Debug)]
pub(crate) struct Meanings<T> {
    dictionary: Option<ArrayRef>,
    meanings: Vec<T>,
    absent: T,
}

impl<T: Copy> Meanings<T> {
    pub(crate) fn new(absent: T) -> Self {
        Self { dictionary: None, meanings: Vec::new(), absent }
    }

    /// Makes the meanings fit this column's dictionary.
    pub(crate) fn fit(
        &mut self,
        text: Text<'_>,
        mut meaning: impl FnMut(&str) -> Result<T, EngineError>,
    ) -> Result<(), EngineError> {
        if self.dictionary.as_ref().is_some_and(|held| held.to_data().ptr_eq(&text.values.to_data())) {
            return Ok(());
        }
        let values = text.values.as_string::<i32>();
        self.meanings.clear();
        for value in values {
            self.meanings.push(value.map_or(Ok(self.absent), &mut meaning)?);
        }
        self.dictionary = Some(ArrayRef::clone(text.values));
        Ok(())
    }

    /// The meaning of a row.
    #[inline]
    pub(crate) fn of(&self, keys: &Int32Array, row: usize) -> T {
        if keys.is_null(row) {
            return self.absent;
        }
        let key = usize::try_from(keys.value(row)).unwrap_or(usize::MAX);
        self.meanings.get(key).copied().unwrap_or(self.absent)
    }
}
