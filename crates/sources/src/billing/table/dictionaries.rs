//! Columns of text by places in a dictionary, and the dictionaries of a file.

use std::collections::VecDeque;

use arrow::array::{Array as _, Int32Array, StringArray};

use crate::text::{Dictionary, Symbol, Text};

/// A column of text by places in a dictionary.
#[derive(Debug)]
pub(in crate::billing) struct Coded {
    pub(in crate::billing) keys: Int32Array,
    pub(in crate::billing) dictionary: Dictionary,
}

/// The dictionaries of a file met last, one or two of each of its columns.
#[derive(Debug, Default)]
pub(in crate::billing) struct Dictionaries {
    known: VecDeque<Dictionary>,
}

/// Dictionaries held of a file: more than the columns of text that a bill fills.
const DICTIONARIES: usize = 128;

impl Dictionaries {
    /// The dictionary of these values with its symbols: the batches of a row group share one.
    pub(in crate::billing) fn of(&mut self, values: &StringArray) -> Dictionary {
        // What is held stays where it is, so equal places are equal texts.
        let place = |array: &StringArray| {
            (array.value_data().as_ptr(), array.value_offsets().as_ptr(), array.len(), array.null_count())
        };
        if let Some(known) = self.known.iter().find(|known| place(known.values()) == place(values)) {
            return known.clone();
        }
        let dictionary = Dictionary::new(values);
        if self.known.len() >= DICTIONARIES {
            self.known.pop_front();
        }
        self.known.push_back(dictionary.clone());
        dictionary
    }
}

impl Coded {
    #[inline]
    fn place(&self, row: usize) -> Option<usize> {
        self.keys.is_valid(row).then(|| usize::try_from(self.keys.value(row)).ok()).flatten()
    }

    /// The text of a row; an empty one is none.
    #[inline]
    pub(in crate::billing) fn text(&self, row: usize) -> Option<Text<'_>> {
        self.dictionary.get(self.place(row)?)
    }

    /// The symbol of a row's text.
    #[inline]
    pub(in crate::billing) fn symbol(&self, row: usize) -> Option<Symbol> {
        self.dictionary.symbol(self.place(row)?)
    }
}
