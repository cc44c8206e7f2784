//! The columns of a row group of charges, encoded while batches arrive.
//!
//! A batch brings the text of its rows as dictionaries. The store looks up each distinct value of a batch once, in a
//! dictionary of the row group, and then only writes down places; a writer of Parquet for everybody would hash every
//! cell. Everything here depends on the rows alone and not on how they were cut into batches: places are given in the
//! order of first appearance, and pages and dictionaries end after a row. Compression, headers and the footer are the
//! library's.

mod coding;
mod delta;
mod hybrid;
mod number;
mod pages;
mod rows;
mod text;

use std::io::Write;
use std::ops::Range;

use arrow::array::{AsArray as _, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use parquet::basic::Encoding;
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;
use sources::charges::{COLUMNS, ColumnType};

use number::{Leader, NumberColumn};
use pages::{Closed, PageFacts, Pages, Press};
use text::TextColumn;

/// Rows after which every column ends its page; a row group holds a multiple.
pub(crate) const PAGE_ROWS: usize = 1 << 14;

/// Bytes of text after which a page ends before it has all its rows.
const PAGE_BYTES: usize = 1 << 20;

/// Bytes that the dictionaries of a row group may hold together; past them the large ones are left.
const DICTIONARIES_BYTES: usize = 1 << 25;

/// Bytes of a dictionary that may always grow on.
const SMALL_DICTIONARY_BYTES: usize = 1 << 19;

/// True if so many values of the first page have so many distinct ones that a dictionary gains nothing. Resources and
/// amounts that return every hour are half of a page and a fiftieth of a row group; ids of rows are all of both.
const fn hardly_repeat(distinct: usize, values: usize) -> bool {
    distinct > FEW_VALUES && distinct * 8 > values * 7
}

/// As many distinct values are worth a dictionary whether they repeat or not.
const FEW_VALUES: usize = 1 << 10;

/// The columns of the row group that is being written.
#[derive(Debug)]
pub(crate) struct RowGroup {
    columns: Vec<Column>,
    press: Press,
    rows: usize,
}

#[derive(Debug)]
enum Column {
    Text(TextColumn),
    Money(NumberColumn<i128>),
    Quantity(NumberColumn<u64>),
    Instant(NumberColumn<i64>),
    Row(RowColumn),
}

/// Row numbers only rise: their differences take a byte or less, a dictionary of them would be as long as they are.
#[derive(Debug)]
struct RowColumn {
    pages: Pages,
    numbers: Vec<i64>,
}

impl RowGroup {
    /// Without rows, for files of this schema, which is that of the canonical batch.
    pub(crate) fn new(schema: &SchemaDescriptor) -> std::io::Result<Self> {
        let columns = COLUMNS.iter().zip(schema.columns()).map(|(column, described)| {
            let pages = Pages::new(described.clone());
            match column.kind {
                ColumnType::Text => Column::Text(TextColumn::new(pages)),
                ColumnType::Money => Column::Money(NumberColumn::new(pages)),
                ColumnType::Quantity => Column::Quantity(NumberColumn::new(pages)),
                ColumnType::Instant => Column::Instant(NumberColumn::new(pages)),
                ColumnType::Row => Column::Row(RowColumn { pages, numbers: Vec::new() }),
            }
        });
        Ok(Self { columns: columns.collect(), press: Press::new()?, rows: 0 })
    }

    /// Rows so far.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Appends rows of a canonical batch.
    pub(crate) fn append(&mut self, batch: &RecordBatch, rows: Range<usize>) -> Result<()> {
        let mut offset = rows.start;
        while offset < rows.end {
            let room = PAGE_ROWS - self.rows % PAGE_ROWS;
            let length = room.min(rows.end - offset);
            self.append_all(batch, (offset, length))?;
            if length == room {
                self.columns.iter_mut().try_for_each(|column| column.end_page(&mut self.press))?;
                self.bound_dictionaries();
            }
            self.rows += length;
            offset += length;
        }
        Ok(())
    }

    fn append_all(&mut self, batch: &RecordBatch, rows: (usize, usize)) -> Result<()> {
        // Most rows cost the same under every basis: the other columns of money follow the first, and amounts as well.
        let mut first: Option<(&NumberColumn<i128>, &[i128])> = None;
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            let leader = first.map_or(Leader::NONE, |(column, values)| column.lead(values, rows));
            let beside = first.map_or(Leader::NONE, |(column, _)| column.lead_beside());
            column.append(&mut self.press, array.as_ref(), (rows, leader, beside))?;
            if let (None, Column::Money(column)) = (first, column) {
                first = Some((column, array.as_primitive::<Decimal128Type>().values()));
            }
        }
        Ok(())
    }

    /// Between two pages: memory is bounded whatever the texts are.
    fn bound_dictionaries(&mut self) {
        let texts = self.columns.iter_mut().filter_map(|column| match column {
            Column::Text(column) => Some(column),
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        if texts.iter().map(|text| text.dictionary_bytes()).sum::<usize>() > DICTIONARIES_BYTES {
            let large = |text: &&mut TextColumn| text.dictionary_bytes() > SMALL_DICTIONARY_BYTES;
            texts.into_iter().filter(large).for_each(TextColumn::leave);
        }
    }

    /// Ends the row group in a file; the next one begins. Gives the hash of its rows.
    pub(crate) fn close<W: Write + Send>(
        &mut self,
        file: &mut SerializedFileWriter<W>,
    ) -> Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        let mut group = file.next_row_group()?;
        for column in &mut self.columns {
            let Closed { bytes, facts, hash } = column.close(&mut self.press)?;
            hasher.update(hash.as_bytes());
            group.append_column(&bytes, facts)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(hasher.finalize())
    }
}

impl Column {
    fn append(
        &mut self,
        press: &mut Press,
        array: &dyn arrow::array::Array,
        (rows, leader, beside): ((usize, usize), Leader<'_, i128>, Leader<'_, f64>),
    ) -> Result<()> {
        let nulls = array.nulls();
        match self {
            Self::Text(column) => column.append(press, array.as_dictionary::<Int32Type>(), rows),
            Self::Money(column) => {
                let values = array.as_primitive::<Decimal128Type>().values();
                column.append(press, (values, nulls), rows, (|value| value, leader))
            }
            Self::Quantity(column) => {
                let values = array.as_primitive::<Float64Type>().values();
                column.append(press, (values, nulls), rows, (f64::to_bits, beside))
            }
            Self::Instant(column) => {
                let values = array.as_primitive::<TimestampMicrosecondType>().values();
                column.append(press, (values, nulls), rows, (|value| value, Leader::NONE))
            }
            Self::Row(column) => {
                let values = array.as_primitive::<Int64Type>().values();
                column.numbers.extend_from_slice(&values[rows.0..rows.0 + rows.1]);
                Ok(())
            }
        }
    }

    fn end_page(&mut self, press: &mut Press) -> Result<()> {
        match self {
            Self::Text(column) => column.end_page(press),
            Self::Money(column) => column.end_page(press),
            Self::Quantity(column) => column.end_page(press),
            Self::Instant(column) => column.end_page(press),
            Self::Row(column) => column.end_page(press),
        }
    }

    fn close(&mut self, press: &mut Press) -> Result<Closed> {
        match self {
            Self::Text(column) => column.close(press),
            Self::Money(column) => column.close(press),
            Self::Quantity(column) => column.close(press),
            Self::Instant(column) => column.close(press),
            Self::Row(column) => {
                column.end_page(press)?;
                column.pages.close(press, None)
            }
        }
    }
}

impl RowColumn {
    fn end_page(&mut self, press: &mut Press) -> Result<()> {
        let numbers = self.numbers.iter().copied();
        let Some(range) = numbers.clone().min().zip(numbers.max()) else { return Ok(()) };
        press.body.clear();
        delta::put(&mut press.body, &self.numbers);
        let facts = PageFacts {
            rows: self.numbers.len(),
            nulls: 0,
            encoding: Encoding::DELTA_BINARY_PACKED,
            range: Some(range),
        };
        self.pages.add(press, facts)?;
        self.numbers.clear();
        Ok(())
    }
}

/// Calls `take` for the runs of rows with and without a value, in order.
fn for_each_run(
    nulls: Option<&NullBuffer>,
    offset: usize,
    length: usize,
    mut take: impl FnMut(bool, Range<usize>) -> Result<()>,
) -> Result<()> {
    let end = offset + length;
    let Some(nulls) = nulls.map(|nulls| nulls.slice(offset, length)).filter(|nulls| nulls.null_count() > 0)
    else {
        return take(true, offset..end);
    };
    let mut at = offset;
    for (from, to) in nulls.valid_slices() {
        let (from, to) = (offset + from, offset + to);
        if at < from {
            take(false, at..from)?;
        }
        take(true, from..to)?;
        at = to;
    }
    if at < end {
        take(false, at..end)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
