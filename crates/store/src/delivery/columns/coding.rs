//! How the pages of a column are written: by the places of values in a dictionary of the row group, or, once that gains
//! nothing, by the values as they come.

use parquet::basic::Encoding;
use parquet::errors::Result;

use super::pages::{Closed, PageFacts, Pages, Press};
use super::rows::PageRows;

/// The pages of a column with a dictionary.
#[derive(Debug)]
pub(super) struct Coding {
    pages: Pages,
    /// The rows of the page that is being made.
    pub(super) rows: PageRows,
    /// Some page finds its values in the dictionary.
    uses_dictionary: bool,
    /// The rest of the row group is written without the dictionary.
    plain: bool,
    /// The values of a page without dictionary, as Parquet has them.
    pub(super) values: Vec<u8>,
}

impl Coding {
    pub(super) fn new(pages: Pages) -> Self {
        Self { pages, rows: PageRows::default(), uses_dictionary: false, plain: false, values: Vec::new() }
    }

    /// True if the rest of the row group is written without the dictionary.
    pub(super) const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Goes on without the dictionary, for the rest of the row group; of a page that has begun, the values must be told.
    pub(super) const fn leave(&mut self) {
        self.plain = true;
    }

    /// True while the first page with rows is being made, which decides whether there is a dictionary at all.
    pub(super) const fn is_undecided(&self) -> bool {
        !self.plain && !self.uses_dictionary && self.rows.rows() > 0
    }

    /// Ends the page, if it has rows; no page after it finds its values in a dictionary that is full.
    pub(super) fn end_page(
        &mut self,
        press: &mut Press,
        is_full: bool,
        range: Option<(i64, i64)>,
    ) -> Result<()> {
        let (rows, nulls) = (self.rows.rows(), self.rows.nulls());
        if rows == 0 {
            return Ok(());
        }
        press.body.clear();
        if self.pages.has_levels() {
            self.rows.put_levels(&mut press.body, &mut press.levels);
        }
        let encoding = if self.plain {
            press.body.extend_from_slice(&self.values);
            // Packed lengths of texts would be shorter by a byte or two a row, but pyarrow does not read them into a
            // dictionary.
            Encoding::PLAIN
        } else {
            self.rows.put_places(&mut press.body);
            self.uses_dictionary = true;
            self.plain = is_full;
            Encoding::RLE_DICTIONARY
        };
        self.pages.add(press, PageFacts { rows, nulls, encoding, range })?;
        self.rows.clear();
        self.values.clear();
        Ok(())
    }

    /// Ends the row group, whose pages have ended; the press holds the body of a dictionary of so many values.
    pub(super) fn close(&mut self, press: &mut Press, values: usize) -> Result<Closed> {
        let closed = self.pages.close(press, self.uses_dictionary.then_some(values));
        (self.uses_dictionary, self.plain) = (false, false);
        closed
    }
}
