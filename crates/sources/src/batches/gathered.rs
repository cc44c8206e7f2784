//! The texts of a column whose value is worked out row by row.

use crate::text::{Symbol, Text};

/// One text for each row of a run, or none.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    text: String,
    rows: Vec<Option<Place>>,
}

/// Where a row's text lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    start: usize,
    end: usize,
    symbol: Option<Symbol>,
}

impl Gathered {
    /// No rows yet, and room for about as much as another has.
    pub(crate) fn like((rows, bytes): (usize, usize)) -> Self {
        Self { text: String::with_capacity(bytes + bytes / 8), rows: Vec::with_capacity(rows) }
    }

    /// Adds a row.
    #[inline]
    pub(crate) fn push(&mut self, text: Option<Text<'_>>) {
        let place = text.map(|text| self.keep(text));
        self.rows.push(place);
    }

    /// Adds a text that no row has yet.
    pub(crate) fn keep(&mut self, text: Text<'_>) -> Place {
        let start = self.text.len();
        self.text.push_str(text.as_str());
        Place { start, end: self.text.len(), symbol: text.symbol() }
    }

    /// Adds a row with a text that has been kept.
    #[inline]
    pub(crate) fn push_kept(&mut self, kept: Option<Place>) {
        self.rows.push(kept);
    }

    /// Adds a row with the text that `write` appends, which is none if it appends nothing.
    #[inline]
    pub(crate) fn push_written(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        let end = self.text.len();
        self.rows.push((start < end).then_some(Place { start, end, symbol: None }));
    }

    /// The text of a row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<Text<'_>> {
        let place = (*self.rows.get(row)?)?;
        Some(Text::known(self.text.get(place.start..place.end)?, place.symbol))
    }

    /// Rows and bytes of text.
    pub(crate) const fn size(&self) -> (usize, usize) {
        (self.rows.len(), self.text.len())
    }
}
