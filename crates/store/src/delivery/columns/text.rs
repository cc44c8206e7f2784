//! A column of text: the values of a row group once each, and where each row finds its own; or, where hardly a value
//! repeats, the texts as they come.

use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, AsArray as _, DictionaryArray, StringArray};
use arrow::datatypes::Int32Type;
use parquet::errors::Result;
use sources::places::{Places, hash, same};

use super::PAGE_BYTES;
use super::coding::Coding;
use super::pages::{Closed, Pages, Press};

/// Bytes of a dictionary after which a row group goes on without.
const DICTIONARY_BYTES: usize = 1 << 23;

/// A column of the row group that is being written.
#[derive(Debug)]
pub(super) struct TextColumn {
    coding: Coding,
    words: Words,
    seen: Seen,
}

/// The distinct values in the order of first appearance, as a dictionary page holds them.
#[derive(Debug, Default)]
struct Words {
    body: Vec<u8>,
    /// Where each begins, its length before it.
    starts: Vec<usize>,
    places: Places,
}

/// The dictionary that came last with a batch, and where its values are in ours.
#[derive(Debug, Default)]
struct Seen {
    values: Option<ArrayRef>,
    places: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

/// Values that are looked up together.
const AT_ONCE: usize = 16;

/// Rows whose places are told together.
const TOLD_AT_ONCE: usize = 64;

/// The length before each text.
const LENGTH_BYTES: usize = 4;

impl TextColumn {
    pub(super) fn new(pages: Pages) -> Self {
        Self { coding: Coding::new(pages), words: Words::default(), seen: Seen::default() }
    }

    /// Appends rows of a batch's column.
    pub(super) fn append(
        &mut self,
        press: &mut Press,
        column: &DictionaryArray<Int32Type>,
        (offset, length): (usize, usize),
    ) -> Result<()> {
        let values = column.values().as_string::<i32>();
        if !self.coding.is_plain() && self.seen.look_at(column.values()) && values.len() <= length {
            self.words.find_all(values, &mut self.seen.places);
        }
        let logical = if values.null_count() > 0 { column.logical_nulls() } else { None };
        let nulls = logical.as_ref().or(column.nulls());
        let keys = column.keys().values();
        super::for_each_run(nulls, offset, length, |present, rows| {
            if present {
                return self.add(press, &keys[rows], values);
            }
            self.coding.rows.add_nulls(rows.len());
            Ok(())
        })
    }

    /// Bytes of the dictionary so far.
    pub(super) const fn dictionary_bytes(&self) -> usize {
        self.words.body.len()
    }

    /// Between two pages: goes on without the dictionary, for the rest of the row group.
    pub(super) const fn leave(&mut self) {
        self.coding.leave();
    }

    /// Ends the page, if it has rows.
    pub(super) fn end_page(&mut self, press: &mut Press) -> Result<()> {
        if self.coding.is_undecided() && self.hardly_repeats() {
            self.leave_dictionary();
        }
        self.coding.end_page(press, self.words.is_full(), None)
    }

    /// Ends the row group; the next one begins.
    pub(super) fn close(&mut self, press: &mut Press) -> Result<Closed> {
        self.end_page(press)?;
        press.body.clear();
        press.body.extend_from_slice(&self.words.body);
        let closed = self.coding.close(press, self.words.starts.len());
        self.words.clear();
        self.seen = Seen::default();
        closed
    }

    /// Adds rows that have a value.
    fn add(&mut self, press: &mut Press, mut keys: &[i32], values: &StringArray) -> Result<()> {
        while !keys.is_empty() {
            let (added, ends) = if self.coding.is_plain() {
                let added = self.add_texts(keys, values);
                (added, self.coding.values.len() >= PAGE_BYTES)
            } else {
                let added = self.add_places(keys, values);
                (added, self.words.is_full())
            };
            self.coding.rows.add_present(added);
            keys = &keys[added..];
            if ends {
                self.end_page(press)?;
            }
        }
        Ok(())
    }

    /// Adds rows up to the one whose value fills the dictionary.
    fn add_places(&mut self, keys: &[i32], values: &StringArray) -> usize {
        let mut added = 0;
        for keys in keys.chunks(TOLD_AT_ONCE) {
            let mut places = [UNSEEN; TOLD_AT_ONCE];
            let (mut found, mut is_full) = (0, false);
            for (key, place) in keys.iter().zip(&mut places) {
                let slot = usize::try_from(*key).unwrap_or(usize::MAX);
                *place = self.seen.places[slot];
                if *place == UNSEEN {
                    *place = self.words.place(text_of(values, slot));
                    self.seen.places[slot] = *place;
                    is_full = self.words.is_full();
                }
                found += 1;
                if is_full {
                    break;
                }
            }
            self.coding.rows.tell_each(&places[..found]);
            added += found;
            if is_full {
                break;
            }
        }
        added
    }

    /// Adds rows up to the one whose text fills the page.
    fn add_texts(&mut self, keys: &[i32], values: &StringArray) -> usize {
        for (at, key) in keys.iter().enumerate() {
            put_text(&mut self.coding.values, text_of(values, usize::try_from(*key).unwrap_or(usize::MAX)));
            if self.coding.values.len() >= PAGE_BYTES {
                return at + 1;
            }
        }
        keys.len()
    }

    /// True if the dictionary of the first page is hardly shorter than its texts.
    fn hardly_repeats(&self) -> bool {
        let distinct = self.words.starts.len();
        let bytes = |(place, count): (u32, usize)| (self.words.text(place).len() + LENGTH_BYTES) * count;
        super::hardly_repeat(distinct, self.coding.rows.values())
            && self.coding.rows.told().map(bytes).sum::<usize>() <= self.words.body.len() * 2
    }

    /// Takes the first page's texts out of the dictionary.
    fn leave_dictionary(&mut self) {
        for (place, count) in self.coding.rows.told() {
            let text = self.words.text(place);
            (0..count).for_each(|_| put_text(&mut self.coding.values, text));
        }
        self.words.clear();
        self.coding.leave();
    }
}

/// Appends a text as a page holds it.
fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text);
}

fn text_of(values: &StringArray, at: usize) -> &[u8] {
    let offset = |at: usize| usize::try_from(values.value_offsets()[at]).unwrap_or(usize::MAX);
    &values.value_data()[offset(at)..offset(at + 1)]
}

impl Seen {
    /// True if this is another dictionary than before; none of its values has been looked up then.
    fn look_at(&mut self, values: &ArrayRef) -> bool {
        if self.values.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, values)) {
            return false;
        }
        self.places.clear();
        self.places.resize(values.len(), UNSEEN);
        self.values = Some(Arc::clone(values));
        true
    }
}

impl Words {
    /// Tells of each value that is here already where it is.
    fn find_all(&self, values: &StringArray, places: &mut [u32]) {
        for (first, places) in (0..).step_by(AT_ONCE).zip(places.chunks_mut(AT_ONCE)) {
            let mut likely = [None; AT_ONCE];
            for (at, likely) in (first..).zip(&mut likely[..places.len()]) {
                *likely = self.places.likely(hash(text_of(values, at))).map(i32::cast_unsigned);
            }
            let ours = likely.map(|place| place.map_or(&[][..], |place| self.text(place)));
            let head = |text: &[u8]| text.first().copied();
            let same_head: [bool; AT_ONCE] = std::array::from_fn(|at| {
                at < places.len()
                    && likely[at].is_some()
                    && head(ours[at]) == head(text_of(values, first + at))
            });
            for at in 0..places.len() {
                if let Some(place) =
                    likely[at].filter(|_| same_head[at] && same(ours[at], text_of(values, first + at)))
                {
                    places[at] = place;
                }
            }
        }
    }

    /// Where a value is, which is added if it is new.
    fn place(&mut self, text: &[u8]) -> u32 {
        let hash = hash(text);
        let is = |key: i32| same(self.text(key.cast_unsigned()), text);
        if let Some(key) = self.places.find(hash, is) {
            return key.cast_unsigned();
        }
        let key = i32::try_from(self.starts.len()).unwrap_or(i32::MAX);
        self.starts.push(self.body.len());
        put_text(&mut self.body, text);
        self.places.add(hash, key);
        key.cast_unsigned()
    }

    fn text(&self, place: u32) -> &[u8] {
        let place = place as usize;
        let end = self.starts.get(place + 1).copied().unwrap_or(self.body.len());
        &self.body[self.starts[place] + LENGTH_BYTES..end]
    }

    const fn is_full(&self) -> bool {
        self.body.len() >= DICTIONARY_BYTES
    }

    fn clear(&mut self) {
        self.body.clear();
        self.starts.clear();
        self.places.clear();
    }
}
