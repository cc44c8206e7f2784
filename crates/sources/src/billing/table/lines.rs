//! Reads JSON lines, plain or under gzip: one object a line, whose nested objects become columns with dotted names.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::rc::Rc;

use super::bounded::{BUFFER_BYTES, Meter, plain, unpacked, unsound};
use super::cell::{Cell, Cells};
use super::json::read_map;
use super::records::{Leaf, members, read_records};
use super::{BrokenRow, DEPTH, PROGRESS_ROWS, Visitor};
use crate::SourceError;
use crate::billing::{BillFile, BillLimits};

/// Bytes of all column names of a file at most: they are held for as long as the file is read.
const NAMES_BYTES: usize = 1 << 18;

/// Reads plain text.
pub(super) fn visit_plain(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let meter = Meter::new(limits);
    let input = plain(open, &meter);
    Lines { file, limits, meter }.visit(input, visitor)
}

/// Reads text under gzip.
pub(super) fn visit_gzip(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let meter = Meter::new(limits);
    let input = unpacked(open, &meter);
    Lines { file, limits, meter }.visit(input, visitor)
}

struct Lines<'a> {
    file: &'a BillFile,
    limits: &'a BillLimits,
    meter: Rc<Meter>,
}

impl Lines<'_> {
    fn visit(&self, input: impl Read, visitor: &mut impl Visitor) -> Result<(), SourceError> {
        let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
        if visitor.header(self.file, &[])?.is_none() {
            return Ok(());
        }
        let mut table = Table::default();
        let mut bytes = Vec::new();
        let mut row = 0_u64;
        loop {
            self.meter.start_row();
            bytes.clear();
            let read = input.read_until(b'\n', &mut bytes).map_err(|fault| unsound(self.file, &fault))?;
            if read == 0 {
                break;
            }
            let line = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii();
            if line.is_empty() {
                continue;
            }
            row += 1;
            if row == 1 && line.first() == Some(&b'[') {
                return Err(self.no_lines("an array"));
            }
            self.visit_line(line, row, (&mut table, visitor))?;
            if row.is_multiple_of(PROGRESS_ROWS) {
                visitor.progress(row, self.meter.packed());
            }
        }
        if row > 0 && table.headers.is_empty() {
            return Err(self.no_lines("no object in any line"));
        }
        if row == 0 {
            visitor.note("bill::empty_file", format!("{} holds no rows", self.file.name));
        }
        visitor.progress(row, self.file.bytes);
        Ok(())
    }

    fn visit_line<V: Visitor>(
        &self,
        line: &[u8],
        row: u64,
        (table, visitor): (&mut Table, &mut V),
    ) -> Result<(), SourceError> {
        let known = table.headers.len();
        let filled = match std::str::from_utf8(line) {
            Ok(text) => table.fill(text, self.limits.columns, &|path| visitor.keeps_whole(path)),
            Err(fault) => Err(Broken::Row(BrokenRow {
                code: "row::not_utf8",
                found: fault.to_string(),
                expected: "UTF-8 text".to_owned(),
            })),
        };
        if let Err(Broken::TooManyColumns) = filled {
            let most = self.limits.columns;
            let message = format!("the file has more than {most} columns, or longer names than any export");
            return Err(SourceError::new("bill::too_large", message).at(&self.file.name));
        }
        if table.headers.len() > known {
            visitor.wider(self.file, &table.headers)?;
        }
        match filled {
            Err(Broken::Row(broken)) => {
                visitor.broken(row, broken);
                Ok(())
            }
            Ok(()) | Err(Broken::TooManyColumns) => visitor.row(row, &JsonRow(table)),
        }
    }

    fn no_lines(&self, found: &str) -> SourceError {
        SourceError::new("bill::not_json_lines", "the file does not hold one JSON object a line")
            .at(&self.file.name)
            .expected("one JSON object a line", found)
            .help("export as newline-delimited JSON; `jq -c '.[]'` makes lines of an array")
    }
}

/// Why a line is no row.
enum Broken {
    Row(BrokenRow),
    TooManyColumns,
}

/// The columns seen so far, and the values of the row read last.
#[derive(Debug, Default)]
struct Table {
    headers: Vec<String>,
    index: BTreeMap<String, usize>,
    /// The column that is likely to come next: rows of a file list their keys in one order.
    next: usize,
    path: String,
    names_bytes: usize,
    text: String,
    /// Where in `text` the value of a column lies; empty where there is none.
    spans: Vec<(usize, usize)>,
}

impl Table {
    /// Takes the values of one line.
    fn fill(&mut self, line: &str, columns: usize, keeps_whole: &dyn Fn(&str) -> bool) -> Result<(), Broken> {
        self.text.clear();
        self.spans.fill((0, 0));
        self.next = 0;
        self.path.clear();
        self.add(line, (columns, DEPTH), keeps_whole)
    }

    fn add(
        &mut self,
        object: &str,
        (columns, depth): (usize, usize),
        keeps_whole: &dyn Fn(&str) -> bool,
    ) -> Result<(), Broken> {
        let Some(members) = members(object) else {
            return Err(broken("row::not_json", object, "one JSON object a line"));
        };
        let base = self.path.len();
        for (key, raw) in &members.0 {
            self.path.truncate(base);
            if base > 0 {
                self.path.push('.');
            }
            self.path.push_str(key);
            match Leaf::of(raw) {
                Leaf::Object(text) if depth > 1 && !keeps_whole(&self.path) => {
                    self.add(text, (columns, depth - 1), keeps_whole)?;
                }
                leaf => {
                    if let Some(text) = leaf.text() {
                        self.set(text, columns)?;
                    }
                }
            }
        }
        self.path.truncate(base);
        Ok(())
    }

    /// Sets the value of the column of the current path.
    fn set(&mut self, value: &str, columns: usize) -> Result<(), Broken> {
        let column = self.column(columns)?;
        let start = self.text.len();
        self.text.push_str(value);
        match self.spans.get_mut(column) {
            Some(span) if *span == (0, 0) => {
                *span = (start, self.text.len());
                Ok(())
            }
            // Two values for one column: which of them is meant cannot be told.
            _ => Err(broken("row::repeated_key", &self.path, "each key once in an object")),
        }
    }

    fn column(&mut self, columns: usize) -> Result<usize, Broken> {
        let likely = self.next;
        let found = match self.headers.get(likely) {
            Some(header) if *header == self.path => Some(likely),
            _ => self.index.get(&self.path).copied(),
        };
        let column = match found {
            Some(column) => column,
            None if self.headers.len() >= columns || self.names_bytes + self.path.len() > NAMES_BYTES => {
                return Err(Broken::TooManyColumns);
            }
            None => {
                self.names_bytes += self.path.len();
                self.headers.push(self.path.clone());
                self.index.insert(self.path.clone(), self.headers.len() - 1);
                self.spans.push((0, 0));
                self.headers.len() - 1
            }
        };
        self.next = column + 1;
        Ok(column)
    }

    fn value(&self, column: usize) -> &str {
        let (start, end) = self.spans.get(column).copied().unwrap_or_default();
        self.text.get(start..end).unwrap_or("")
    }
}

fn broken(code: &'static str, found: &str, expected: &str) -> Broken {
    // A whole line may be long; what is shown of it is not.
    let found = found.chars().take(200).collect();
    Broken::Row(BrokenRow { code, found, expected: expected.to_owned() })
}

struct JsonRow<'a>(&'a Table);

impl Cells for JsonRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.0.value(column) {
            "" => Cell::Null,
            text => Cell::Text(text),
        }
    }

    fn entries(&self, column: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool {
        read_map(self.0.value(column), &mut |key, value| each(key, Cell::Text(value)))
    }

    fn records(&self, column: usize, each: &mut dyn FnMut(usize, &str, Cell<'_>)) -> bool {
        read_records(self.0.value(column), each)
    }
}
