//! Text that may be known by a symbol, so that what was made of it once is found again without looking at its bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array as _, StringArray};

/// What names a text: equal symbols are equal texts. Equal texts may have several symbols, and most have none.
///
/// A symbol is an identity and no value: nothing that is written depends on its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol(u64);

/// The bit by which the symbols of words in the program differ from those that are handed out.
const WORD: u64 = 1 << 63;

/// Below it lie the marks of [`Symbol::key`].
const FIRST: u64 = 16;

/// Shared by all imports of the process, so that texts of two of them are never taken for each other.
static NEXT: AtomicU64 = AtomicU64::new(FIRST);

impl Symbol {
    /// As many new symbols as there are texts; gives the first one.
    pub(crate) fn range(texts: usize) -> u64 {
        NEXT.fetch_add(texts as u64, Ordering::Relaxed)
    }

    /// The symbol at a place in a range.
    pub(crate) const fn at(first: u64, place: u64) -> Self {
        Self(first + place)
    }

    /// The symbol of a text that stays where it is as long as the program runs.
    fn of_word(text: &'static str) -> Self {
        // Address and length name a text that never moves; an address has less than 48 bits.
        Self(WORD | ((text.as_ptr() as u64) << 12) | (text.len() as u64 & 0xfff))
    }

    /// A place below a power of two.
    pub(crate) fn place(self, places: usize) -> usize {
        // A range falls on neighbouring places; of words the lengths and the low bits of the address are spread.
        let mixed = if self.0 & WORD == 0 { self.0 } else { (self.0 >> 12) ^ (self.0 >> 17) };
        usize::try_from(mixed & (places as u64 - 1)).unwrap_or(0)
    }

    /// The symbol as a number, which is none below sixteen: those are free for marks.
    pub(crate) const fn key(self) -> u64 {
        self.0
    }
}

/// A text, perhaps with its symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    text: &'a str,
    symbol: Option<Symbol>,
}

impl<'a> Text<'a> {
    /// A text with its symbol.
    pub(crate) const fn known(text: &'a str, symbol: Option<Symbol>) -> Self {
        Self { text, symbol }
    }

    /// A word of the program.
    pub fn word(text: &'static str) -> Self {
        Self { text, symbol: (text.len() < 0x1000).then(|| Symbol::of_word(text)) }
    }

    /// The text itself.
    pub const fn as_str(self) -> &'a str {
        self.text
    }

    pub(crate) const fn symbol(self) -> Option<Symbol> {
        self.symbol
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, symbol: None }
    }
}

/// Texts that rows name by their places, each with a symbol.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    values: Arc<StringArray>,
    first: u64,
    has_blank: bool,
}

impl Dictionary {
    /// The texts of an array; an empty one is none.
    pub(crate) fn new(values: &StringArray) -> Self {
        let is_empty = |ends: &[i32]| ends.first() == ends.last();
        Self {
            values: Arc::new(values.clone()),
            first: Symbol::range(values.len()),
            has_blank: values.null_count() > 0 || values.value_offsets().windows(2).any(is_empty),
        }
    }

    /// The texts as an array.
    pub(crate) const fn values(&self) -> &Arc<StringArray> {
        &self.values
    }

    /// The symbol of the first text, which no other dictionary has.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// True if a text is none.
    pub(crate) const fn has_blank(&self) -> bool {
        self.has_blank
    }

    /// The text of a place.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<Text<'_>> {
        if place >= self.values.len() || (self.has_blank && self.values.is_null(place)) {
            return None;
        }
        let text = Some(self.values.value(place)).filter(|text| !text.is_empty())?;
        Some(Text::known(text, Some(Symbol::at(self.first, place as u64))))
    }

    /// The symbol of a place.
    #[inline]
    pub(crate) fn symbol(&self, place: usize) -> Option<Symbol> {
        if self.has_blank {
            return self.get(place).and_then(Text::symbol);
        }
        (place < self.values.len()).then(|| Symbol::at(self.first, place as u64))
    }

    /// Bytes of the texts.
    pub(crate) fn bytes(&self) -> usize {
        let offsets = self.values.value_offsets();
        let bytes = offsets.first().zip(offsets.last()).map_or(0, |(start, end)| end - start);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_handed_out_once_and_words_keep_theirs() {
        let (first, second) = (Symbol::range(3), Symbol::range(1));
        assert!(first >= FIRST && second >= first + 3);
        let word = "usage";
        assert_eq!(Text::word(word), Text::word(word));
        assert_ne!(Text::word(word).symbol(), Text::word(&word[..2]).symbol());
        assert!(Text::word(word).symbol().is_some_and(|symbol| symbol.key() > second));
        assert_eq!(Text::from("a").symbol(), None);
    }
}
