//! Typed views of the columns of a batch of charges, and numbers for dictionary values that are made once.

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Int32Array, RecordBatch, TimestampMicrosecondArray,
};
use arrow::buffer::NullBuffer;
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

    /// The meanings of a column's rows. A column that says the same in every row, as most of a bill do, is found here
    /// at the cost of one comparison a row, and then costs nothing more.
    pub(crate) fn rows<'a>(&'a self, text: Text<'a>) -> Rows<'a, T> {
        let keys = text.keys;
        let Some(first) = keys.values().first().copied() else { return Rows::Same(self.absent) };
        match keys.null_count() {
            0 if keys.values().iter().all(|key| *key == first) => Rows::Same(self.of_key(first)),
            nulls if nulls == keys.len() => Rows::Same(self.absent),
            _ => Rows::Each(self, keys.values(), keys.nulls().filter(|nulls| nulls.null_count() > 0)),
        }
    }

    /// How many values the dictionary has.
    pub(crate) fn len(&self) -> usize {
        self.meanings.len()
    }

    #[inline(always)]
    fn of_key(&self, key: i32) -> T {
        let key = usize::try_from(key).unwrap_or(usize::MAX);
        self.meanings.get(key).copied().unwrap_or(self.absent)
    }
}

/// What the rows of a column mean.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a, T> {
    /// All the same.
    Same(T),
    /// By their keys, of which some may be null.
    Each(&'a Meanings<T>, &'a [i32], Option<&'a NullBuffer>),
}

impl<T> Rows<'_, T> {
    pub(crate) fn is_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }
}

impl<T: Copy> Rows<'_, T> {
    /// The meaning of a row.
    #[inline(always)]
    pub(crate) fn of(&self, row: usize) -> T {
        match self {
            Self::Same(meaning) => *meaning,
            Self::Each(meanings, _, Some(nulls)) if nulls.is_null(row) => meanings.absent,
            Self::Each(meanings, keys, _) => meanings.of_key(keys[row]),
        }
    }
}
