//! Distinct texts of the dimensions by which postings are kept, interned over all threads of a run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxBuildHasher;

use crate::EngineError;

/// Texts with their numbers in order of arrival; bounded, since every distinct value costs memory.
#[derive(Debug)]
pub(crate) struct Interner {
    column: &'static str,
    limit: usize,
    texts: Mutex<Texts>,
}

#[derive(Debug)]
struct Texts {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Interner {
    /// An interner in which number 0 is the empty text, for rows that tell nothing.
    pub(crate) fn new(column: &'static str, limit: usize) -> Self {
        let texts = Texts { numbers: HashMap::from([(String::new(), 0)]), texts: vec![String::new()] };
        Self { column, limit, texts: Mutex::new(texts) }
    }

    /// The number of a text.
    pub(crate) fn number(&self, text: &str) -> Result<u32, EngineError> {
        let mut held = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = held.numbers.get(text) {
            return Ok(*number);
        }
        if held.texts.len() >= self.limit {
            return Err(EngineError::TooManyValues { column: self.column, limit: self.limit });
        }
        let number = u32::try_from(held.texts.len())
            .map_err(|_| EngineError::TooManyValues { column: self.column, limit: self.limit })?;
        held.texts.push(text.to_owned());
        held.numbers.insert(text.to_owned(), number);
        Ok(number)
    }

    /// All texts by number.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).texts.clone()
    }
}

/// The interners of a run.
#[derive(Debug)]
pub(crate) struct Dimensions {
    pub(crate) services: Interner,
    pub(crate) sub_accounts: Interner,
    pub(crate) line_types: Interner,
    /// Experiments that only tags name; counted behind those of the plan.
    pub(crate) experiments: Interner,
}

const KIND_BITS: u32 = 5;
const SERVICE_BITS: u32 = 12;
const ACCOUNT_BITS: u32 = 17;
const LINE_BITS: u32 = 9;
const DAY_BITS: u32 = 21;

impl Dimensions {
    pub(crate) fn new() -> Self {
        Self {
            services: Interner::new("service_name", 1 << SERVICE_BITS),
            sub_accounts: Interner::new("sub_account_id", 1 << ACCOUNT_BITS),
            line_types: Interner::new("x_line_type", 1 << LINE_BITS),
            experiments: Interner::new("tags", 1 << 24),
        }
    }
}

/// The dimensions of a group, each as its number; day 0 means that the row spans more than a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dims {
    pub(crate) kind: u32,
    pub(crate) service: u32,
    pub(crate) sub_account: u32,
    pub(crate) line_type: u32,
    pub(crate) day: u32,
}

impl Dims {
    /// Sixty-four bits that are equal exactly if the dimensions are, and ordered by day, kind, service, account and line
    /// type.
    pub(crate) fn pack(self) -> u64 {
        let mut packed = u64::from(self.day & ((1 << DAY_BITS) - 1));
        for (value, bits) in [
            (self.kind, KIND_BITS),
            (self.service, SERVICE_BITS),
            (self.sub_account, ACCOUNT_BITS),
            (self.line_type, LINE_BITS),
        ] {
            packed = packed << bits | u64::from(value);
        }
        packed
    }

    pub(crate) fn unpack(mut packed: u64) -> Self {
        let mut take = |bits: u32| {
            let value = u32::try_from(packed & ((1 << bits) - 1)).unwrap_or(0);
            packed >>= bits;
            value
        };
        let line_type = take(LINE_BITS);
        let sub_account = take(ACCOUNT_BITS);
        let service = take(SERVICE_BITS);
        let kind = take(KIND_BITS);
        Self { kind, service, sub_account, line_type, day: take(DAY_BITS) }
    }
}

/// Small numbers for packed dimensions, made by one thread: a bill has few distinct ones, and they come in runs.
#[derive(Debug)]
pub(crate) struct Numbers {
    packed: Vec<u64>,
    index: HashMap<u64, u32, FxBuildHasher>,
    /// The number last found for dimensions with these low hash bits.
    recent: [(u64, u32); RECENT],
}

const RECENT: usize = 64;

impl Numbers {
    pub(crate) fn new() -> Self {
        Self { packed: Vec::new(), index: HashMap::default(), recent: [(u64::MAX, 0); RECENT] }
    }

    /// The number of these dimensions.
    #[inline]
    pub(crate) fn number(&mut self, packed: u64) -> u32 {
        // Fibonacci hashing: the top bits of a product with 2⁶⁴/φ.
        let slot = usize::try_from(packed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58).unwrap_or(0);
        let (held, number) = self.recent[slot];
        if held == packed {
            return number;
        }
        let number = self.search(packed);
        self.recent[slot] = (packed, number);
        number
    }

    fn search(&mut self, packed: u64) -> u32 {
        let next = u32::try_from(self.packed.len()).unwrap_or(u32::MAX);
        let number = *self.index.entry(packed).or_insert(next);
        if number == next {
            self.packed.push(packed);
        }
        number
    }

    /// The dimensions of a number.
    pub(crate) fn packed(&self, number: u32) -> u64 {
        self.packed.get(number as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_survive_packing() {
        let dims = Dims { kind: 10, service: 4095, sub_account: 131_071, line_type: 511, day: 2_000_000 };
        assert_eq!(Dims::unpack(dims.pack()), dims);
        let nothing = Dims { kind: 0, service: 0, sub_account: 0, line_type: 0, day: 0 };
        assert_eq!(Dims::unpack(nothing.pack()), nothing);
        assert!(dims.pack() > nothing.pack());
        let later = Dims { day: 2, ..nothing };
        let other_kind = Dims { day: 1, kind: 1, ..nothing };
        let other_line = Dims { day: 1, line_type: 511, ..nothing };
        assert!(later.pack() > other_kind.pack() && other_kind.pack() > other_line.pack());
    }

    #[test]
    fn a_number_stands_for_the_same_dimensions_whatever_came_between() {
        let mut numbers = Numbers::new();
        let first: Vec<u32> = (0..1000).map(|packed| numbers.number(packed * packed)).collect();
        let again: Vec<u32> = (0..1000).map(|packed| numbers.number(packed * packed)).collect();
        assert_eq!(first, again);
        assert!(first.iter().zip(0..).all(|(number, packed)| numbers.packed(*number) == packed * packed));
    }

    #[test]
    fn too_many_values_are_refused_by_name() {
        let interner = Interner::new("service_name", 3);
        assert_eq!(interner.number("a").unwrap(), 1);
        assert_eq!(interner.number("b").unwrap(), 2);
        assert_eq!(interner.number("a").unwrap(), 1);
        assert_eq!(interner.number("").unwrap(), 0);
        let error = interner.number("c").unwrap_err();
        assert_eq!(error.to_string(), "more than 3 distinct values of `service_name`");
    }
}
