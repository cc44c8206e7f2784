//! Rows of text in blocks: split into fields in one thread, looked at in another, in buffers that go to and fro.

use std::io::{self, BufRead};

use ::csv::{ByteRecord, StringRecord};
use ::csv_core::{ReadRecordResult, Reader};

use super::super::BrokenRow;
use super::super::cell::{Cell, Cells};
use super::super::json::read_map;
use super::super::records::read_records;

/// Rows of a block.
const BLOCK_ROWS: usize = 1024;
/// Bytes from which a block is full, however few its rows.
const BLOCK_BYTES: usize = 1 << 20;

/// Rows that follow one another in a file.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The fields of all rows without anything between them; the buffer is longer than what is filled.
    bytes: Vec<u8>,
    filled: usize,
    /// Where each field of a row ends, counted from where the row starts.
    ends: Vec<usize>,
    ended: usize,
    pub(super) lines: Vec<Line>,
    /// For each column whether any row has a value in it.
    occupied: Vec<bool>,
    /// Bytes of the file consumed so far.
    pub(super) packed: u64,
    /// Something to tell the user about the file.
    pub(super) note: Option<String>,
}

/// A row, as far as it could be told apart.
#[derive(Debug)]
pub(super) enum Line {
    /// Where its text and its ends lie in the block.
    Row {
        text: usize,
        ends: usize,
        fields: usize,
    },
    Broken(BrokenRow),
}

impl Block {
    /// Forgets the rows and keeps the buffers.
    pub(super) fn clear(&mut self) {
        (self.filled, self.ended) = (0, 0);
        self.lines.clear();
        self.occupied.clear();
        self.note = None;
    }

    pub(super) fn is_full(&self) -> bool {
        self.lines.len() >= BLOCK_ROWS || self.filled >= BLOCK_BYTES
    }

    /// True if any row has a value in a column.
    pub(super) fn is_occupied(&self, column: usize) -> bool {
        self.occupied.get(column).copied().unwrap_or(false)
    }

    /// The text of all rows.
    pub(super) fn text(&self) -> Result<&str, std::str::Utf8Error> {
        std::str::from_utf8(self.bytes.get(..self.filled).unwrap_or_default())
    }

    /// A row of the block's text, if the line is one.
    pub(super) fn row<'b>(&'b self, text: &'b str, line: &'b Line) -> Result<CsvRow<'b>, &'b BrokenRow> {
        match line {
            Line::Row { text: start, ends, fields } => Ok(CsvRow {
                text: text.get(*start..).unwrap_or(""),
                ends: self.ends.get(*ends..ends + fields).unwrap_or_default(),
            }),
            Line::Broken(broken) => Err(broken),
        }
    }

    /// The fields of the only row.
    pub(super) fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.fields_of(0, 0, self.ended)
    }

    fn fields_of(&self, text: usize, ends: usize, fields: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        let bytes = self.bytes.get(text..).unwrap_or_default();
        let ends = self.ends.get(ends..ends + fields).unwrap_or_default();
        let mut start = 0;
        ends.iter().map(move |end| bytes.get(std::mem::replace(&mut start, *end)..*end).unwrap_or_default())
    }

    /// Replaces the rows that are no UTF-8 by what is wrong with them.
    pub(super) fn check_text(&mut self) {
        if self.bytes.get(..self.filled).is_none_or(<[u8]>::is_ascii) {
            return;
        }
        let mut lines = std::mem::take(&mut self.lines);
        for line in &mut lines {
            let Line::Row { text, ends, fields } = *line else { continue };
            if self.fields_of(text, ends, fields).all(|field| std::str::from_utf8(field).is_ok()) {
                continue;
            }
            let record: ByteRecord = self.fields_of(text, ends, fields).collect();
            let found = StringRecord::from_byte_record(record)
                .map_or_else(|fault| fault.utf8_error().to_string(), |_| String::new());
            // What is left of the block is then text as a whole.
            let last = self.ends.get(ends + fields - 1).copied().unwrap_or(0);
            self.bytes.get_mut(text..text + last).unwrap_or_default().fill(b'?');
            *line =
                Line::Broken(BrokenRow { code: "row::not_utf8", found, expected: "UTF-8 text".to_owned() });
        }
        self.lines = lines;
    }
}

/// Splits text into rows.
pub(super) struct Splitter<R> {
    input: R,
    core: Reader,
}

/// Where a row was put.
pub(super) struct Placed {
    text: usize,
    ends: usize,
    /// How many fields it has.
    pub(super) fields: usize,
}

impl<R: BufRead> Splitter<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, core: Reader::new() }
    }

    /// Puts the next row behind those of a block; `None` at the end of the text.
    pub(super) fn next_row(&mut self, block: &mut Block) -> io::Result<Option<Placed>> {
        let (text, ends) = (block.filled, block.ended);
        loop {
            let input = self.input.fill_buf()?;
            let (bytes, spare) = (block.bytes.get_mut(block.filled..), block.ends.get_mut(block.ended..));
            let (result, read, written, ended) =
                self.core.read_record(input, bytes.unwrap_or_default(), spare.unwrap_or_default());
            self.input.consume(read);
            block.filled += written;
            block.ended += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => block.bytes.resize((block.bytes.len() * 2).max(1 << 16), 0),
                ReadRecordResult::OutputEndsFull => block.ends.resize((block.ends.len() * 2).max(1 << 10), 0),
                ReadRecordResult::Record => {
                    return Ok(Some(Placed { text, ends, fields: block.ended - ends }));
                }
                ReadRecordResult::End => return Ok(None),
            }
        }
    }
}

impl Block {
    /// Takes what was put last as a row.
    pub(super) fn keep(&mut self, placed: Placed) {
        let Placed { text, ends, fields } = placed;
        if self.occupied.len() < fields {
            self.occupied.resize(fields, false);
        }
        let mut start = 0;
        for (occupied, end) in self.occupied.iter_mut().zip(self.ends.get(ends..).unwrap_or_default()) {
            *occupied |= *end != start;
            start = *end;
        }
        self.lines.push(Line::Row { text, ends, fields });
    }

    /// Takes what was put last as a row of which nothing can be used.
    pub(super) fn refuse(&mut self, placed: &Placed, broken: BrokenRow) {
        (self.filled, self.ended) = (placed.text, placed.ends);
        self.lines.push(Line::Broken(broken));
    }
}

/// A row of a block.
pub(super) struct CsvRow<'b> {
    text: &'b str,
    ends: &'b [usize],
}

impl CsvRow<'_> {
    fn field(&self, column: usize) -> &str {
        let Some(end) = self.ends.get(column) else { return "" };
        let start = column.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.text.get(start..*end).unwrap_or("")
    }
}

impl Cells for CsvRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.field(column) {
            "" => Cell::Null,
            text => Cell::Text(text),
        }
    }

    fn entries(&self, column: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool {
        read_map(self.field(column), &mut |key, value| each(key, Cell::Text(value)))
    }

    fn records(&self, column: usize, each: &mut dyn FnMut(usize, &str, Cell<'_>)) -> bool {
        read_records(self.field(column), each)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every row with its fields, or what is wrong with its text.
    fn split(bytes: &[u8], buffer: usize) -> Vec<Result<Vec<String>, String>> {
        let mut splitter = Splitter::new(io::BufReader::with_capacity(buffer, bytes));
        let mut block = Block::default();
        while let Some(placed) = splitter.next_row(&mut block).unwrap() {
            block.keep(placed);
        }
        block.check_text();
        let text = block.text().unwrap();
        let width = |line: &Line| match line {
            Line::Row { fields, .. } => *fields,
            Line::Broken(_) => 0,
        };
        let fields = |row: CsvRow<'_>, width| (0..width).map(|at| row.field(at).to_owned()).collect();
        let shown = |line| match block.row(text, line) {
            Ok(row) => Ok(fields(row, width(line))),
            Err(broken) => Err(broken.found.clone()),
        };
        block.lines.iter().map(shown).collect()
    }

    /// The same by the reader of the csv crate.
    fn by_reader(bytes: &[u8]) -> Vec<Result<Vec<String>, String>> {
        let reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let text = |record: ByteRecord| match StringRecord::from_byte_record(record) {
            Ok(record) => Ok(record.iter().map(str::to_owned).collect()),
            Err(fault) => Err(fault.utf8_error().to_string()),
        };
        reader.into_byte_records().map(|record| text(record.unwrap())).collect()
    }

    proptest! {
        #[test]
        fn rows_are_those_of_the_csv_crate(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    &b","[..], b"\"", b"\n", b"\r\n", b"a", b"bcd", "é".as_bytes(), b"\xff", b"\xc3", b"\xa9",
                ]),
                0..60,
            ),
            buffer in 1_usize..9,
        ) {
            let bytes = pieces.concat();
            prop_assert_eq!(split(&bytes, buffer), by_reader(&bytes));
        }
    }

    #[test]
    fn a_column_is_occupied_where_any_row_has_a_value() {
        let mut splitter = Splitter::new(&b"a,,\n,,c\n"[..]);
        let mut block = Block::default();
        while let Some(placed) = splitter.next_row(&mut block).unwrap() {
            block.keep(placed);
        }
        let occupied: Vec<bool> = (0..4).map(|column| block.is_occupied(column)).collect();
        assert_eq!(occupied, [true, false, true, false]);
    }
}
