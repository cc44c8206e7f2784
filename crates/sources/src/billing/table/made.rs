//! A text that is made of a row's cells, and found again where a later row has the same cells by their symbols.

use std::ops::Range;

use crate::places::{Places, hash_numbers};
use crate::text::{Symbol, Text};

/// A text made of a row, with what was made of rows before.
#[derive(Debug, Default)]
pub(in crate::billing) struct Made {
    /// The text of the row read last, unless it is a known one.
    pub(in crate::billing) text: String,
    known: Known,
    /// What the row's cells are, in numbers; empty if they have none.
    key: Vec<u64>,
    /// The row's place among the known ones.
    at: Option<usize>,
    luck: Luck,
}

/// Texts by the numbers that they were made of.
#[derive(Debug, Default)]
struct Known {
    places: Places,
    entries: Vec<Entry>,
    numbers: Vec<u64>,
    text: String,
    /// How often all were forgotten.
    age: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    symbol: Symbol,
    numbers: (usize, usize),
    text: (usize, usize),
}

/// Texts kept; past them all are forgotten, since rows long gone made most of them.
const ENTRIES: usize = 1 << 15;
const TEXT_BYTES: usize = 8 << 20;
const NUMBERS: usize = 1 << 20;

/// Rows that are looked for together.
pub(in crate::billing) const AT_ONCE: usize = 16;

/// Whether looking is worth its while: of rows that all differ nothing is found.
#[derive(Debug, Default)]
struct Luck {
    asked: u32,
    found: u32,
    paused: u32,
}

/// Rows after which it is decided anew, and rows for which one does not look then.
const TRIED: u32 = 4096;
const PAUSE: u32 = 1 << 16;

impl Made {
    /// Begins a row: true if what `identify` tells of it is known, and the text needs not be made.
    ///
    /// `identify` appends numbers that two rows have alike only if the same text is made of them; it gives false where
    /// there are none.
    pub(in crate::billing) fn recall(&mut self, identify: impl FnOnce(&mut Vec<u64>) -> bool) -> bool {
        self.text.clear();
        self.key.clear();
        self.at = None;
        if !self.luck.is_worth_it() {
            return false;
        }
        if !identify(&mut self.key) {
            self.key.clear();
        }
        self.at = if self.key.is_empty() { None } else { self.known.find(&self.key) };
        self.luck.found += u32::from(self.at.is_some());
        self.at.is_some()
    }

    /// The places among the known ones of up to sixteen rows, of those that are easily found. The memory answers for all of
    /// them at once.
    pub(in crate::billing) fn recall_some(
        &mut self,
        rows: Range<usize>,
        identify: impl Fn(usize, &mut Vec<u64>) -> bool,
    ) -> [Option<usize>; AT_ONCE] {
        let mut found = [None; AT_ONCE];
        if self.luck.paused > 0 {
            return found;
        }
        self.key.clear();
        let mut keys: [Range<usize>; AT_ONCE] = std::array::from_fn(|_| 0..0);
        let mut likely = [None; AT_ONCE];
        for ((row, key), likely) in rows.zip(&mut keys).zip(&mut likely) {
            let start = self.key.len();
            if identify(row, &mut self.key) {
                *key = start..self.key.len();
                *likely = self.known.likely(self.key.get(key.clone()).unwrap_or_default());
            }
        }
        for ((key, likely), found) in keys.into_iter().zip(likely).zip(&mut found) {
            let key = self.key.get(key).unwrap_or_default();
            *found = likely.filter(|at| self.known.is(*at, key));
            self.luck.count(found.is_some());
        }
        self.key.clear();
        found
    }

    /// The text of a place among the known ones.
    #[inline]
    pub(in crate::billing) fn known(&self, at: usize) -> Option<Text<'_>> {
        self.known.text(at)
    }

    /// Changes when places among the known ones have lost their meaning.
    pub(in crate::billing) const fn age(&self) -> u64 {
        self.known.age
    }

    /// Keeps the text made of the row for the next one that is the same.
    pub(in crate::billing) fn keep(&mut self) {
        if !self.key.is_empty() {
            self.at = Some(self.known.add(&self.key, &self.text));
        }
    }

    /// The text of the row read last; an empty one is none.
    #[inline]
    pub(in crate::billing) fn get(&self) -> Option<Text<'_>> {
        match self.at {
            Some(at) => self.known.text(at),
            None => (!self.text.is_empty()).then_some(Text::from(self.text.as_str())),
        }
    }

    /// Forgets all rows: what comes next numbers its cells otherwise.
    pub(in crate::billing) fn forget(&mut self) {
        *self = Self { text: std::mem::take(&mut self.text), ..Self::default() };
        self.text.clear();
    }
}

impl Known {
    fn find(&self, key: &[u64]) -> Option<usize> {
        let is = |at: i32| usize::try_from(at).is_ok_and(|at| self.is(at, key));
        self.places.find(hash_numbers(key), is).and_then(|at| usize::try_from(at).ok())
    }

    /// Where the row of these numbers most likely is.
    #[inline]
    fn likely(&self, key: &[u64]) -> Option<usize> {
        self.places.likely(hash_numbers(key)).and_then(|at| usize::try_from(at).ok())
    }

    /// True if it is the row of these numbers.
    #[inline]
    fn is(&self, at: usize, key: &[u64]) -> bool {
        let numbers =
            self.entries.get(at).and_then(|entry| self.numbers.get(entry.numbers.0..entry.numbers.1));
        numbers.is_some_and(|numbers| {
            numbers.len() == key.len() && numbers.iter().zip(key).all(|(one, other)| one == other)
        })
    }

    fn add(&mut self, key: &[u64], text: &str) -> usize {
        let full = self.entries.len() >= ENTRIES
            || self.text.len() + text.len() > TEXT_BYTES
            || self.numbers.len() + key.len() > NUMBERS;
        if full {
            *self = Self { age: self.age + 1, ..Self::default() };
        }
        let at = self.entries.len();
        let (numbers, start) = (self.numbers.len(), self.text.len());
        self.numbers.extend_from_slice(key);
        self.text.push_str(text);
        self.entries.push(Entry {
            symbol: Symbol::at(Symbol::range(1), 0),
            numbers: (numbers, self.numbers.len()),
            text: (start, self.text.len()),
        });
        if let Ok(place) = i32::try_from(at) {
            self.places.add(hash_numbers(key), place);
        }
        at
    }

    #[inline]
    fn text(&self, at: usize) -> Option<Text<'_>> {
        let entry = self.entries.get(at)?;
        let text = self.text.get(entry.text.0..entry.text.1).filter(|text| !text.is_empty())?;
        Some(Text::known(text, Some(entry.symbol)))
    }
}

impl Luck {
    /// Counts what was found beside the asking; the rest is asked for.
    const fn count(&mut self, found: bool) {
        if found {
            self.asked += 1;
            self.found += 1;
        }
    }

    fn is_worth_it(&mut self) -> bool {
        if self.paused > 0 {
            self.paused -= 1;
            return false;
        }
        if self.asked >= TRIED {
            // Less than half, and keeping costs more than making.
            self.paused = if self.found * 2 < self.asked { PAUSE } else { 0 };
            (self.asked, self.found) = (0, 0);
        }
        self.asked += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(row: &[u64]) -> String {
        row.iter().fold(String::new(), |text, number| text + &number.to_string() + ",")
    }

    /// Makes a text of a row whose cells are these numbers, as a format does.
    fn make(made: &mut Made, row: &[u64]) -> String {
        let known = made.recall(|key| {
            key.extend(row);
            !row.contains(&9)
        });
        if !known {
            made.text = joined(row);
            made.keep();
        }
        made.get().map_or_else(String::new, |text| text.as_str().to_owned())
    }

    proptest! {
        #[test]
        fn a_text_is_that_of_its_own_row(rows in proptest::collection::vec(proptest::collection::vec(0_u64..10, 0..4), 0..300)) {
            let mut made = Made::default();
            for row in &rows {
                prop_assert_eq!(make(&mut made, row), joined(row));
            }
            for start in (0..rows.len()).step_by(AT_ONCE) {
                let some = start..rows.len().min(start + AT_ONCE);
                let found = made.recall_some(some.clone(), |at, key| {
                    key.extend(&rows[at]);
                    !rows[at].contains(&9)
                });
                for (row, found) in rows[some].iter().zip(found) {
                    let text = |at| made.known(at).map_or(String::new(), |text| text.as_str().to_owned());
                    prop_assert!(found.is_none_or(|at| text(at) == joined(row)));
                }
            }
        }
    }

    #[test]
    fn rows_that_differ_stop_the_looking_for_a_while_and_memory_stays_bounded() {
        let mut made = Made::default();
        for number in 10..200_000_u64 {
            assert_eq!(make(&mut made, &[number]), format!("{number},"));
        }
        assert!(made.known.entries.len() <= ENTRIES && made.luck.paused > 0);
        for number in 0..200_000_u64 {
            assert_eq!(make(&mut made, &[number % 7]), format!("{},", number % 7));
        }
        assert!(
            made.luck.paused == 0
                && made.recall(|key| {
                    key.push(3);
                    true
                })
        );
        made.forget();
        assert!(
            !made.recall(|key| {
                key.push(3);
                true
            }) && made.get().is_none()
        );
    }
}
