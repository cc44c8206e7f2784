//! Rows that lie column by column, as Parquet brings them: a run of them as a whole, and each as a row.

use std::ops::Range;

use arrow::array::Array as _;

use super::cell::{Cell, Cells};
use super::typed::Typed;
use crate::batches::RunText;
use crate::text::{Dictionary, Symbol};

/// Rows shown together: enough that what a run costs by itself is little, few enough that they stay in a near cache.
pub(in crate::billing) const RUN_ROWS: usize = 1024;

/// A run of rows, by the positions of their columns in the file.
#[derive(Debug)]
pub(in crate::billing) struct Columns<'a> {
    columns: &'a [Typed],
    rows: Range<usize>,
}

/// One of the rows.
#[derive(Debug)]
pub(in crate::billing) struct ColumnsRow<'a> {
    columns: &'a [Typed],
    index: usize,
}

impl<'a> Columns<'a> {
    /// Some rows of columns.
    pub(in crate::billing) const fn new(columns: &'a [Typed], rows: Range<usize>) -> Self {
        Self { columns, rows }
    }

    /// Rows.
    pub(in crate::billing) const fn len(&self) -> usize {
        self.rows.end - self.rows.start
    }

    /// A row of the run, from 0.
    pub(in crate::billing) const fn row(&self, row: usize) -> ColumnsRow<'a> {
        ColumnsRow { columns: self.columns, index: self.rows.start + row }
    }

    /// Every row.
    pub(in crate::billing) fn each_row(&self) -> impl Iterator<Item = ColumnsRow<'a>> {
        let columns = self.columns;
        self.rows.clone().map(move |index| ColumnsRow { columns, index })
    }

    /// The values of a column.
    pub(in crate::billing) fn cells(&self, column: usize) -> impl Iterator<Item = Cell<'a>> + Clone {
        let typed = self.columns.get(column).unwrap_or(&Typed::Absent);
        self.rows.clone().map(move |row| typed.cell(row))
    }

    /// The instants of a column that has one in every row.
    pub(in crate::billing) fn instants(&self, column: usize) -> Option<&'a [i64]> {
        let Some(Typed::Instant(array)) = self.columns.get(column) else { return None };
        (array.null_count() == 0).then(|| array.values().get(self.rows.clone())).flatten()
    }

    /// Numbers that differ where the texts of a column do; none if its texts have none.
    pub(in crate::billing) fn codes(&self, column: usize) -> Option<impl Iterator<Item = u32> + Clone> {
        let Some(Typed::Coded(coded)) = self.columns.get(column) else { return None };
        let places = coded.keys.values().get(self.rows.clone())?;
        let nulls = coded.keys.nulls().filter(|nulls| nulls.null_count() > 0);
        let is_none = move |row: usize| nulls.is_some_and(|nulls| nulls.is_null(row));
        let code =
            move |(row, place): (usize, &i32)| if is_none(row) { u32::MAX } else { place.cast_unsigned() };
        Some(self.rows.clone().zip(places).map(code))
    }

    /// True if every row has the same value in a column, and has one.
    pub(in crate::billing) fn is_same(&self, column: usize) -> bool {
        match self.columns.get(column) {
            Some(Typed::Coded(coded)) => {
                let places = coded.keys.values().get(self.rows.clone()).unwrap_or_default();
                self.is_full(column) && places.iter().all(|place| Some(place) == places.first())
            }
            Some(Typed::Instant(_)) => self
                .instants(column)
                .is_some_and(|instants| instants.iter().all(|instant| Some(instant) == instants.first())),
            _ => false,
        }
    }

    /// True if every row surely has a text in a column.
    pub(in crate::billing) fn is_full(&self, column: usize) -> bool {
        match self.columns.get(column) {
            Some(Typed::Coded(coded)) => {
                !coded.dictionary.has_blank()
                    && coded.keys.slice(self.rows.start, self.len()).null_count() == 0
            }
            Some(Typed::Text(texts)) => {
                let texts = texts.slice(self.rows.start, self.len());
                texts.null_count() == 0 && texts.value_offsets().windows(2).all(|ends| ends[0] < ends[1])
            }
            _ => false,
        }
    }

    /// The dictionary of a column's texts, if they are in one.
    pub(in crate::billing) fn dictionary(&self, column: usize) -> Option<&'a Dictionary> {
        let Some(Typed::Coded(coded)) = self.columns.get(column) else { return None };
        Some(&coded.dictionary)
    }

    /// True if a column is nested.
    pub(in crate::billing) fn is_nested(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(Typed::is_nested)
    }

    /// True if the rows have no value in a column.
    pub(in crate::billing) fn is_absent(&self, column: usize) -> bool {
        matches!(self.columns.get(column), Some(Typed::Absent) | None)
    }

    /// A column of text as it is.
    pub(in crate::billing) fn text(&self, column: usize) -> RunText<'a> {
        match self.columns.get(column) {
            Some(Typed::Coded(coded)) => {
                let keys = coded.keys.slice(self.rows.start, self.len());
                RunText::Coded(keys, &coded.dictionary)
            }
            Some(Typed::Text(texts)) => RunText::Own(texts.slice(self.rows.start, self.len())),
            _ => RunText::None,
        }
    }
}

impl Cells for ColumnsRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        self.columns.get(column).map_or(Cell::Null, |typed| typed.cell(self.index))
    }

    fn symbol(&self, column: usize) -> Option<Symbol> {
        self.columns.get(column).and_then(|typed| typed.symbol(self.index))
    }

    fn identify(&self, column: usize, out: &mut Vec<u64>) -> bool {
        self.columns.get(column).is_some_and(|typed| typed.identify(self.index, out))
    }

    fn entries(&self, column: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool {
        self.columns.get(column).is_none_or(|typed| typed.entries(self.index, each))
    }

    fn records(&self, column: usize, each: &mut dyn FnMut(usize, &str, Cell<'_>)) -> bool {
        self.columns.get(column).is_none_or(|typed| typed.records(self.index, each))
    }

    fn is_nested(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(Typed::is_nested)
    }
}
