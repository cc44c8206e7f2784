//! A column of text whose values are kept in the order of first appearance, each once where they repeat at all.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::error::ArrowError;

mod run;

pub(super) use run::Mapped;

use super::sparse::Sparse;
use crate::places::{Places, hash, same};
use crate::text::{Dictionary, Symbol, Text};

/// A column that grows row by row.
///
/// Looking every value up is what a batch spends most of its time on. A column of ids hardly has a value twice, so
/// after a batch of such the next ones keep each value as it comes, and now and then one looks again.
#[derive(Debug, Default)]
pub(super) struct TextColumn {
    keys: Sparse<i32>,
    text: Vec<u8>,
    /// Where each value ends.
    ends: Vec<i32>,
    places: Places,
    /// The keys of symbols met in this column, each at the place that its symbol falls on.
    symbols: Vec<Met>,
    /// Counts the columns begun, so that what was met before this one is not believed.
    age: u32,
    /// The value set last.
    last: Option<Last>,
    /// Batches, this one included, that keep each value as it comes.
    unlooked: u32,
    /// The dictionary whose places the keys are, while there are no other values.
    adopted: Option<Dictionary>,
}

/// The value set last: its symbol and key, and where it starts and ends.
#[derive(Debug, Clone, Copy)]
struct Last {
    symbol: Option<Symbol>,
    key: i32,
    start: usize,
    end: usize,
}

/// A symbol with the key of its text in the column of this age.
#[derive(Debug, Clone, Copy, Default)]
struct Met {
    symbol: u64,
    age: u32,
    key: i32,
}

/// Symbols remembered of a column: a power of two above the different values that most columns have in a batch.
const MET: usize = 4096;

/// Batches that follow one of distinct values before one looks again.
const UNLOOKED_BATCHES: u32 = 31;

impl TextColumn {
    /// Gives the row of this number, from 0 and rising, a value; gives the bytes by which the distinct text grew.
    ///
    /// # Errors
    /// If the keys or the text leave the range of 32 bits.
    #[inline]
    pub(super) fn set(&mut self, row: usize, text: Text<'_>) -> Result<usize, ArrowError> {
        // Nor is an id that of the row before.
        if self.unlooked > 0 && text.symbol().is_none() {
            self.settle()?;
            let key = self.add(text.as_str().as_bytes())?;
            self.keys.set(row, key);
            self.last = None;
            return Ok(text.as_str().len() + 8);
        }
        // Most columns repeat the value of the row before.
        if let Some(last) = self.last
            && self.is_last(last, text)
        {
            self.keys.set(row, last.key);
            return Ok(0);
        }
        self.settle()?;
        let (key, grown) = self.key_of_text(text)?;
        self.keys.set(row, key);
        let place = self.value(key).map(|(_, place)| place);
        self.last = place.map(|(start, end)| Last { symbol: text.symbol(), key, start, end });
        Ok(grown)
    }

    #[inline]
    fn is_last(&self, last: Last, text: Text<'_>) -> bool {
        if let (Some(symbol), Some(known)) = (text.symbol(), last.symbol) {
            // Other symbols may be the same text, which the table of symbols knows as fast.
            return symbol == known;
        }
        self.text.get(last.start..last.end).is_some_and(|known| same(known, text.as_str().as_bytes()))
    }

    /// As [`TextColumn::key_of`]; a symbol met before spares the look at the text.
    #[inline]
    fn key_of_symbol(&mut self, symbol: Symbol, text: &str) -> Result<(i32, usize), ArrowError> {
        if self.symbols.is_empty() {
            self.symbols.resize(MET, Met::default());
            self.age = 1;
        }
        let at = symbol.place(MET);
        if let Some(met) = self.symbols.get(at)
            && met.symbol == symbol.key()
            && met.age == self.age
        {
            return Ok((met.key, 0));
        }
        let (key, grown) = self.key_of(text.as_bytes())?;
        if let Some(met) = self.symbols.get_mut(at) {
            *met = Met { symbol: symbol.key(), age: self.age, key };
        }
        Ok((key, grown))
    }

    /// The key of a value, and the bytes by which the text grew.
    fn key_of(&mut self, text: &[u8]) -> Result<(i32, usize), ArrowError> {
        let grown = text.len() + 8;
        if self.unlooked > 0 {
            return Ok((self.add(text)?, grown));
        }
        let hash = hash(text);
        let is = |key| self.value(key).is_some_and(|(known, _)| same(known, text));
        if let Some(key) = self.places.find(hash, is) {
            return Ok((key, 0));
        }
        let key = self.add(text)?;
        self.places.add(hash, key);
        Ok((key, grown))
    }

    /// A value and where it lies.
    #[inline]
    fn value(&self, key: i32) -> Option<(&[u8], (usize, usize))> {
        let at = usize::try_from(key).ok()?;
        let end = usize::try_from(*self.ends.get(at)?).ok()?;
        let start = match at.checked_sub(1) {
            Some(before) => usize::try_from(*self.ends.get(before)?).ok()?,
            None => 0,
        };
        Some((self.text.get(start..end)?, (start, end)))
    }

    fn forget_symbols(&mut self) {
        self.age = self.age.wrapping_add(1);
        if self.age == 0 {
            self.symbols.clear();
        }
    }

    fn add(&mut self, text: &[u8]) -> Result<i32, ArrowError> {
        let key = i32::try_from(self.ends.len()).map_err(|_| ArrowError::DictionaryKeyOverflowError)?;
        let end =
            i32::try_from(self.text.len() + text.len()).map_err(|_| ArrowError::OffsetOverflowError(0))?;
        self.text.extend_from_slice(text);
        self.ends.push(end);
        Ok(key)
    }

    /// The column of so many rows; a new one begins in the buffers of this one.
    pub(super) fn finish(&mut self, rows: usize) -> Result<ArrayRef, ArrowError> {
        self.unlooked = match self.unlooked {
            // Three of four: fewer, and looking up costs less than writing again.
            0 if rows >= 1024 && self.ends.len() * 4 >= rows * 3 => UNLOOKED_BATCHES,
            before => before.saturating_sub(1),
        };
        if let Some(dictionary) = self.adopted.take() {
            let (keys, nulls) = self.keys.finish(rows);
            let keys = Int32Array::try_new(ScalarBuffer::from(keys), nulls)?;
            return Ok(Arc::new(DictionaryArray::try_new(
                keys,
                Arc::clone(dictionary.values()) as ArrayRef,
            )?));
        }
        let mut offsets = Vec::with_capacity(self.ends.len() + 1);
        offsets.push(0);
        offsets.append(&mut self.ends);
        let room = self.text.len();
        let text = std::mem::replace(&mut self.text, Vec::with_capacity(room));
        self.places.clear();
        self.forget_symbols();
        self.last = None;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let values = StringArray::try_new(offsets, Buffer::from_vec(text), None)?;
        let (keys, nulls) = self.keys.finish(rows);
        let keys = Int32Array::try_new(ScalarBuffer::from(keys), nulls)?;
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(values))?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arrow::array::{Array, AsArray};
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_column_holds_what_was_set_and_each_value_once(
            columns in proptest::collection::vec(
                proptest::collection::vec(proptest::option::of(("[a-c]{0,20}", 0_u64..3)), 0..200),
                1..4,
            ),
        ) {
            let mut column = TextColumn::default();
            let mut symbols: BTreeMap<(String, u64), Symbol> = BTreeMap::new();
            for rows in columns {
                let mut grown = 0;
                for (row, set) in rows.iter().enumerate() {
                    // A text comes with either of two symbols of its own, or with none.
                    if let Some((text, named)) = set {
                        let symbol = (*named > 0).then(|| {
                            let new = || Symbol::at(Symbol::range(1), 0);
                            *symbols.entry((text.clone(), *named)).or_insert_with(new)
                        });
                        grown += column.set(row, Text::known(text, symbol)).unwrap();
                    }
                }
                let rows: Vec<Option<&str>> = rows.iter().map(|set| set.as_ref().map(|(text, _)| text.as_str())).collect();
                let array = column.finish(rows.len()).unwrap();
                let array = array.as_dictionary::<Int32Type>();
                let values = array.values().as_string::<i32>();
                let mut first: BTreeMap<&str, usize> = BTreeMap::new();
                for (row, text) in rows.iter().enumerate() {
                    prop_assert_eq!(array.key(row).map(|key| values.value(key)), *text);
                    let next = first.len();
                    text.map(|text| *first.entry(text).or_insert(next));
                }
                prop_assert_eq!(values.len(), first.len());
                for (text, key) in &first {
                    prop_assert_eq!(values.value(*key), *text);
                }
                prop_assert_eq!(grown, first.keys().map(|text| text.len() + 8).sum::<usize>());
            }
        }
    }

    #[test]
    fn a_column_of_ids_stops_looking_and_looks_again() {
        let mut column = TextColumn::default();
        let mut distinct = |repeats: bool| {
            for row in 0..2000 {
                let id = if repeats { row % 10 } else { row };
                column.set(row, format!("id-{id}").as_str().into()).unwrap();
            }
            let array = column.finish(2000).unwrap();
            let array = array.as_dictionary::<Int32Type>();
            let values = array.values().as_string::<i32>();
            for row in 0..2000 {
                let id = if repeats { row % 10 } else { row };
                assert_eq!(values.value(array.key(row).unwrap()), format!("id-{id}"));
            }
            values.len()
        };
        assert_eq!(distinct(false), 2000);
        for _ in 0..UNLOOKED_BATCHES {
            assert_eq!(distinct(true), 2000);
        }
        assert_eq!(distinct(true), 10);
    }

    #[test]
    fn many_values_stay_apart() {
        let mut column = TextColumn::default();
        for row in 0..50_000 {
            assert!(
                column.set(row, format!("value-{row}-{}", "x".repeat(row % 40)).as_str().into()).unwrap() > 0
            );
        }
        for row in 0..50_000 {
            let text = format!("value-{row}-{}", "x".repeat(row % 40));
            assert_eq!(column.set(50_000 + row, text.as_str().into()).unwrap(), 0);
        }
        let array = column.finish(100_000).unwrap();
        assert_eq!((array.len(), array.null_count()), (100_000, 0));
        assert_eq!(array.as_dictionary::<Int32Type>().values().len(), 50_000);
    }
}
