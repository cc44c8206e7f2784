//! The cells of a row in which the word `NULL` is no value.

use std::cell::Cell as Shared;

use crate::billing::table::cell::{Cell, Cells};
use crate::text::Symbol;

/// Cells without the word `NULL`.
#[derive(Debug)]
pub(super) struct Nulls<'c, C> {
    inner: &'c C,
    seen: Shared<bool>,
}

impl<'c, C: Cells> Nulls<'c, C> {
    /// The same cells.
    pub(super) const fn of(inner: &'c C) -> Self {
        Self { inner, seen: Shared::new(false) }
    }

    /// True if a cell that was asked for held the word.
    pub(super) fn seen(&self) -> bool {
        self.seen.get()
    }
}

impl<C: Cells> Cells for Nulls<'_, C> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.inner.cell(column) {
            Cell::Text("NULL") => {
                self.seen.set(true);
                Cell::Null
            }
            cell => cell,
        }
    }

    fn symbol(&self, column: usize) -> Option<Symbol> {
        self.inner.symbol(column)
    }

    fn entries(&self, column: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool {
        self.inner.entries(column, each)
    }

    fn records(&self, column: usize, each: &mut dyn FnMut(usize, &str, Cell<'_>)) -> bool {
        self.inner.records(column, each)
    }

    fn is_nested(&self, column: usize) -> bool {
        self.inner.is_nested(column)
    }
}
