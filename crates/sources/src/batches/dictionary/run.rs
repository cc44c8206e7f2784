//! A run of rows in a column of text. A batch that has its texts of one dictionary alone adopts that; else a value of the
//! run's dictionary is looked up once, and rows only by its place.

use std::ops::Range;

use arrow::array::{Array as _, Int32Array};
use arrow::error::ArrowError;

use super::TextColumn;
use crate::batches::RunText;
use crate::text::{Dictionary, Text};

/// Where the values of the run's dictionary are in the batch that is built.
#[derive(Debug, Default)]
pub(in crate::batches) struct Mapped {
    batch: u64,
    /// The symbol of the dictionary's first value.
    first: u64,
    keys: Vec<i32>,
}

/// Not looked up yet.
const UNKNOWN: i32 = -1;
/// An empty text, which is none.
const BLANK: i32 = -2;

impl Mapped {
    /// What was mapped for another batch is forgotten.
    pub(in crate::batches) fn belong_to(&mut self, batch: u64) {
        if self.batch != batch {
            self.batch = batch;
            self.keys.clear();
        }
    }

    fn look_at(&mut self, dictionary: &Dictionary) {
        let values = dictionary.values().len();
        if self.first != dictionary.first() || self.keys.len() != values {
            self.first = dictionary.first();
            self.keys.clear();
            self.keys.resize(values, UNKNOWN);
        }
    }

    #[inline]
    fn key(&self, place: i32) -> i32 {
        let key = usize::try_from(place).ok().and_then(|place| self.keys.get(place));
        key.copied().unwrap_or(BLANK)
    }
}

impl TextColumn {
    /// Gives rows of a run, from the row of this number on, their values; gives the bytes by which the distinct text grew.
    ///
    /// # Errors
    /// If the keys or the text leave the range of 32 bits.
    pub(in crate::batches) fn set_run(
        &mut self,
        row: usize,
        (text, range): (&RunText<'_>, Range<usize>),
        mapped: &mut Mapped,
    ) -> Result<usize, ArrowError> {
        match text {
            RunText::None => Ok(0),
            RunText::Same(text) => {
                self.settle()?;
                let (key, grown) = self.key_of_text(*text)?;
                self.keys.set_all(row, range.len(), key);
                Ok(grown)
            }
            RunText::Coded(keys, dictionary) => {
                let places = keys.slice(range.start, range.len());
                if self.adopts(dictionary) {
                    return Ok(self.adopt(row, &places, dictionary));
                }
                self.settle()?;
                mapped.look_at(dictionary);
                self.set_coded(row, &places, (dictionary, mapped))
            }
            RunText::Own(values) => {
                let text = |at| values.is_valid(at).then(|| values.value(at)).filter(|text| !text.is_empty());
                self.set_each(row, range.map(|at| text(at).map(Text::from)))
            }
            RunText::Chosen(numbers, texts) => {
                self.settle()?;
                self.set_chosen(row, (numbers.get(range).unwrap_or_default(), texts))
            }
            RunText::Gathered(texts) => self.set_each(row, range.map(|at| texts.get(at))),
        }
    }

    /// True if the dictionary can be that of the batch.
    fn adopts(&self, dictionary: &Dictionary) -> bool {
        match &self.adopted {
            Some(adopted) => adopted.first() == dictionary.first(),
            // What has a text that is none needs a look at each row.
            None => self.keys.is_empty() && self.ends.is_empty() && !dictionary.has_blank(),
        }
    }

    fn adopt(&mut self, row: usize, places: &Int32Array, dictionary: &Dictionary) -> usize {
        match places.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => self.keys.set_each(row, places.values()),
            Some(nulls) => {
                for at in nulls.valid_indices() {
                    self.keys.set(row + at, places.value(at));
                }
            }
        }
        if self.adopted.is_some() {
            return 0;
        }
        self.adopted = Some(dictionary.clone());
        // The batch holds all of it.
        dictionary.bytes() + dictionary.values().len() * 8
    }

    /// Gives the column a dictionary of its own, since other values follow than those of the adopted one.
    pub(super) fn settle(&mut self) -> Result<(), ArrowError> {
        let Some(dictionary) = self.adopted.take() else { return Ok(()) };
        let mut keys = std::mem::take(&mut self.keys);
        let mut mapped = Mapped::default();
        mapped.look_at(&dictionary);
        keys.try_change(|place| {
            // Its bytes are counted already.
            *place = self.key_at(*place, (&dictionary, &mut mapped), &mut 0)?;
            Ok::<(), ArrowError>(())
        })?;
        self.keys = keys;
        Ok(())
    }

    fn set_each<'t>(
        &mut self,
        row: usize,
        texts: impl Iterator<Item = Option<Text<'t>>>,
    ) -> Result<usize, ArrowError> {
        let mut grown = 0;
        for (row, text) in (row..).zip(texts) {
            if let Some(text) = text {
                grown += self.set(row, text)?;
            }
        }
        Ok(grown)
    }

    fn set_coded(
        &mut self,
        row: usize,
        places: &Int32Array,
        (dictionary, mapped): (&Dictionary, &mut Mapped),
    ) -> Result<usize, ArrowError> {
        let mut grown = 0;
        let nulls = places.nulls().filter(|nulls| nulls.null_count() > 0);
        if nulls.is_none()
            && let Some((first, rest)) = places.values().split_first()
            && rest.iter().all(|other| other == first)
        {
            let key = self.key_at(*first, (dictionary, mapped), &mut grown)?;
            if key >= 0 {
                self.keys.set_all(row, places.len(), key);
            }
            return Ok(grown);
        }
        for (at, place) in places.values().iter().enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(at)) {
                continue;
            }
            let key = self.key_at(*place, (dictionary, mapped), &mut grown)?;
            if key >= 0 {
                self.keys.set(row + at, key);
            }
        }
        Ok(grown)
    }

    /// The key of a value of the run's dictionary; negative if it is none.
    #[inline]
    fn key_at(
        &mut self,
        place: i32,
        (dictionary, mapped): (&Dictionary, &mut Mapped),
        grown: &mut usize,
    ) -> Result<i32, ArrowError> {
        match mapped.key(place) {
            UNKNOWN => self.map(place, (dictionary, mapped), grown),
            key => Ok(key),
        }
    }

    #[cold]
    fn map(
        &mut self,
        place: i32,
        (dictionary, mapped): (&Dictionary, &mut Mapped),
        grown: &mut usize,
    ) -> Result<i32, ArrowError> {
        let Ok(at) = usize::try_from(place) else { return Ok(BLANK) };
        let Some(known) = mapped.keys.get_mut(at) else { return Ok(BLANK) };
        *known = match dictionary.get(at) {
            Some(text) => {
                let (key, more) = self.key_of_text(text)?;
                *grown += more;
                key
            }
            None => BLANK,
        };
        Ok(*known)
    }

    fn set_chosen(
        &mut self,
        row: usize,
        (numbers, texts): (&[u32], &[Option<Text<'_>>]),
    ) -> Result<usize, ArrowError> {
        let mut grown = 0;
        let mut keys = vec![UNKNOWN; texts.len()];
        for (row, number) in (row..).zip(numbers) {
            let number = *number as usize;
            let Some((key, Some(text))) = keys.get_mut(number).zip(texts.get(number)) else { continue };
            if *key == UNKNOWN {
                let (found, more) = self.key_of_text(*text)?;
                *key = found;
                grown += more;
            }
            self.keys.set(row, *key);
        }
        Ok(grown)
    }

    pub(super) fn key_of_text(&mut self, text: Text<'_>) -> Result<(i32, usize), ArrowError> {
        match text.symbol() {
            Some(symbol) => self.key_of_symbol(symbol, text.as_str()),
            None => self.key_of(text.as_str().as_bytes()),
        }
    }
}
