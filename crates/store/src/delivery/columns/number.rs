//! A column of numbers: the values of a row group once each, and where each row finds its own; or, where hardly a value
//! repeats, the numbers as they come.

use arrow::buffer::NullBuffer;
use parquet::errors::Result;
use sources::places::{Places, hash};

use super::coding::Coding;
use super::pages::{Closed, Pages, Press};

/// Values of a dictionary after which a row group goes on without.
const DICTIONARY_VALUES: usize = 1 << 17;

/// Values that are looked up together.
const AT_ONCE: usize = 16;

/// What a column of numbers holds.
pub(super) trait Number: Copy + PartialEq {
    /// The number, told apart from every other.
    fn wide(self) -> u128;

    /// Appends it as Parquet has it.
    fn put(self, out: &mut Vec<u8>);

    /// It in the order in which a query may skip by it.
    fn ordered(self) -> Option<i64>;
}

/// Money.
impl Number for i128 {
    fn wide(self) -> u128 {
        self.cast_unsigned()
    }

    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_be_bytes());
    }

    fn ordered(self) -> Option<i64> {
        None
    }
}

/// An instant.
impl Number for i64 {
    fn wide(self) -> u128 {
        u128::from(self.cast_unsigned())
    }

    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn ordered(self) -> Option<i64> {
        Some(self)
    }
}

/// The bits of a quantity: they tell every value apart, as its own equality does not.
impl Number for u64 {
    fn wide(self) -> u128 {
        u128::from(self)
    }

    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn ordered(self) -> Option<i64> {
        None
    }
}

/// A column of the row group that is being written.
#[derive(Debug)]
pub(super) struct NumberColumn<T> {
    coding: Coding,
    /// The distinct values in the order of first appearance.
    known: Vec<T>,
    places: Places,
    range: Option<(i64, i64)>,
    /// Where each row that was appended last has its value; of use to the columns that this one leads.
    told: Vec<u32>,
    /// Of the places of the column that leads this one, ours of the same value.
    alike: Vec<u32>,
    /// Of the same, ours of the value that stood last beside it, where that was another: a list price follows from the
    /// cost, and an amount mostly too.
    beside: Vec<u32>,
}

/// Not a place.
const UNKNOWN: u32 = u32::MAX;

/// A column with the same values, or others that follow from them, row by row: where it found one tells where this one has
/// its own. Without values of its own it only leads to such as follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leader<'a, S> {
    values: &'a [S],
    places: &'a [u32],
}

impl<S> Leader<'_, S> {
    /// None.
    pub(super) const NONE: Self = Self { values: &[], places: &[] };

    /// From a later row on.
    fn skip(&self, rows: usize) -> Self {
        Self {
            values: self.values.get(rows..).unwrap_or_default(),
            places: self.places.get(rows..).unwrap_or_default(),
        }
    }
}

impl<T: Number> NumberColumn<T> {
    /// As the leader of a column of another kind.
    pub(super) fn lead_beside<S>(&self) -> Leader<'_, S> {
        Leader { values: &[], places: &self.told }
    }

    /// As the leader of a column whose values of the same rows are appended next.
    pub(super) fn lead<'a, S>(&'a self, values: &'a [S], (offset, length): (usize, usize)) -> Leader<'a, S> {
        Leader { values: &values[offset..offset + length], places: &self.told }
    }

    pub(super) fn new(pages: Pages) -> Self {
        Self {
            coding: Coding::new(pages),
            known: Vec::new(),
            places: Places::default(),
            range: None,
            told: Vec::new(),
            alike: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Appends rows of a batch's column, whose values `of` makes ours.
    pub(super) fn append<S: Copy>(
        &mut self,
        press: &mut Press,
        (values, nulls): (&[S], Option<&NullBuffer>),
        (offset, length): (usize, usize),
        (of, leader): (impl Fn(S) -> T, Leader<'_, S>),
    ) -> Result<()> {
        self.told.clear();
        super::for_each_run(nulls, offset, length, |present, rows| {
            if present {
                let leader = leader.skip(rows.start - offset);
                return self.add(press, &values[rows], (&of, leader));
            }
            self.coding.rows.add_nulls(rows.len());
            self.told.resize(self.told.len() + rows.len(), UNKNOWN);
            Ok(())
        })
    }

    /// Ends the page, if it has rows.
    pub(super) fn end_page(&mut self, press: &mut Press) -> Result<()> {
        if self.coding.is_undecided() && self.hardly_repeats() {
            self.leave_dictionary();
        }
        let range = self.range.take();
        self.coding.end_page(press, self.is_full(), range)
    }

    /// Ends the row group; the next one begins.
    pub(super) fn close(&mut self, press: &mut Press) -> Result<Closed> {
        self.end_page(press)?;
        press.body.clear();
        self.known.iter().for_each(|value| value.put(&mut press.body));
        let closed = self.coding.close(press, self.known.len());
        self.known.clear();
        self.places.clear();
        self.alike.clear();
        self.beside.clear();
        closed
    }

    /// Adds rows that have a value.
    fn add<S: Copy>(
        &mut self,
        press: &mut Press,
        mut values: &[S],
        (of, mut leader): (&impl Fn(S) -> T, Leader<'_, S>),
    ) -> Result<()> {
        while !values.is_empty() {
            let added = if self.coding.is_plain() {
                self.add_numbers(values, of)
            } else {
                self.add_places(values, (of, leader))
            };
            self.coding.rows.add_present(added);
            values = &values[added..];
            leader = leader.skip(added);
            if !self.coding.is_plain() && self.is_full() {
                self.end_page(press)?;
            }
        }
        Ok(())
    }

    /// Adds rows up to the one whose value fills the dictionary.
    fn add_places<S: Copy>(
        &mut self,
        values: &[S],
        (of, leader): (&impl Fn(S) -> T, Leader<'_, S>),
    ) -> usize {
        let mut at = 0;
        while at < values.len() {
            let value = of(values[at]);
            let run = values[at..].iter().take_while(|other| of(**other) == value).count();
            let some = values[at..].len().min(AT_ONCE);
            let known = self.known.len();
            if run < some {
                at += self.add_some(&values[at..at + some], (of, leader.skip(at)));
            } else {
                let place = self.place(value);
                self.widen(value);
                let run = if self.known.len() > known && self.is_full() { 1 } else { run };
                self.tell(place, run);
                at += run;
            }
            if self.known.len() > known && self.is_full() {
                break;
            }
        }
        at
    }

    /// As [`Self::add_places`], for a few values that differ.
    fn add_some<S: Copy>(&mut self, values: &[S], (of, leader): (&impl Fn(S) -> T, Leader<'_, S>)) -> usize {
        let mut same = [false; AT_ONCE];
        for (same, (lead, value)) in same.iter_mut().zip(leader.values.iter().zip(values)) {
            *same = of(*lead) == of(*value);
        }
        let lead = |at: usize| leader.places.get(at).copied().unwrap_or(UNKNOWN);
        let mut likely = [UNKNOWN; AT_ONCE];
        for (at, likely) in likely.iter_mut().enumerate().take(values.len()) {
            let known = if same[at] { &self.alike } else { &self.beside };
            *likely = known.get(lead(at) as usize).copied().unwrap_or(UNKNOWN);
        }
        // Of the same value it is surely there.
        let sure: [bool; AT_ONCE] = std::array::from_fn(|at| same[at] && likely[at] != UNKNOWN);
        for (at, value) in values.iter().enumerate() {
            if likely[at] == UNKNOWN {
                let found = self.places.likely(hash(&of(*value).wide().to_le_bytes()));
                likely[at] = found.map_or(UNKNOWN, i32::cast_unsigned);
            }
        }
        let mut added = 0;
        for (at, value) in values.iter().enumerate() {
            let value = of(*value);
            self.widen(value);
            added += 1;
            if sure[at] {
                continue;
            }
            let known = self.known.len();
            if self.known.get(likely[at] as usize).is_none_or(|known| *known != value) {
                likely[at] = self.place(value);
            }
            self.learn((lead(at), same[at]), likely[at]);
            if self.known.len() > known && self.is_full() {
                break;
            }
        }
        self.coding.rows.tell_each(&likely[..added]);
        self.told.extend_from_slice(&likely[..added]);
        added
    }

    fn tell(&mut self, place: u32, count: usize) {
        self.coding.rows.tell(place, count);
        if count == 1 {
            self.told.push(place);
        } else {
            self.told.resize(self.told.len() + count, place);
        }
    }

    /// Remembers where the value is that stands beside one of the leading column.
    fn learn(&mut self, (lead, same): (u32, bool), place: u32) {
        if lead != UNKNOWN {
            let (lead, known) = (lead as usize, if same { &mut self.alike } else { &mut self.beside });
            if known.len() <= lead {
                known.resize(lead + 1, UNKNOWN);
            }
            known[lead] = place;
        }
    }

    fn add_numbers<S: Copy>(&mut self, values: &[S], of: &impl Fn(S) -> T) -> usize {
        for value in values {
            let value = of(*value);
            self.widen(value);
            value.put(&mut self.coding.values);
        }
        self.told.resize(self.told.len() + values.len(), UNKNOWN);
        values.len()
    }

    fn widen(&mut self, value: T) {
        if let Some(value) = value.ordered() {
            let (least, greatest) = self.range.unwrap_or((value, value));
            self.range = Some((least.min(value), greatest.max(value)));
        }
    }

    /// Where a value is, which is added if it is new.
    fn place(&mut self, value: T) -> u32 {
        let hash = hash(&value.wide().to_le_bytes());
        let is = |key: i32| self.known[key.cast_unsigned() as usize] == value;
        if let Some(key) = self.places.find(hash, is) {
            return key.cast_unsigned();
        }
        let key = i32::try_from(self.known.len()).unwrap_or(i32::MAX);
        self.known.push(value);
        self.places.add(hash, key);
        key.cast_unsigned()
    }

    fn is_full(&self) -> bool {
        self.known.len() >= DICTIONARY_VALUES
    }

    /// True if the dictionary of the first page is hardly shorter than its numbers.
    fn hardly_repeats(&self) -> bool {
        super::hardly_repeat(self.known.len(), self.coding.rows.values())
    }

    /// Takes the first page's numbers out of the dictionary.
    fn leave_dictionary(&mut self) {
        for (place, count) in self.coding.rows.told() {
            let value = self.known[place as usize];
            (0..count).for_each(|_| value.put(&mut self.coding.values));
        }
        self.known.clear();
        self.places.clear();
        self.coding.leave();
    }
}
