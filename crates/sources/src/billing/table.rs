//! One file as rows of cells, whatever its format, within limits.

pub(in crate::billing) mod alike;
mod bounded;
pub(in crate::billing) mod cell;
pub(in crate::billing) mod column;
pub(in crate::billing) mod columns;
mod csv;
pub(in crate::billing) mod dictionaries;
pub(in crate::billing) mod extra;
pub(in crate::billing) mod json;
pub(in crate::billing) mod layout;
mod lines;
pub(in crate::billing) mod made;
pub(in crate::billing) mod memo;
mod parquet;
pub(in crate::billing) mod reader;
mod records;
pub(in crate::billing) mod row;
mod typed;

use std::fs::File;
use std::io;

use cell::Cells;
use columns::Columns;

use crate::SourceError;
use crate::billing::{BillFile, BillLimits, FileFormat};

/// A row that cannot be told apart into its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::billing) struct BrokenRow {
    pub(in crate::billing) code: &'static str,
    pub(in crate::billing) found: String,
    pub(in crate::billing) expected: String,
}

/// A column that a visitor wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::billing) struct Wanted {
    /// Position in the file.
    pub(in crate::billing) column: usize,
    /// In which form.
    pub(in crate::billing) form: Form,
}

/// In which form a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::billing) enum Form {
    /// As text, whatever the file holds.
    Text,
    /// As the file holds it.
    AsIs,
}

/// Takes the rows of a file in order.
pub(in crate::billing) trait Visitor {
    /// The names of the columns; gives the columns that the visitor wants to see, or `None` to skip the rows.
    fn header(&mut self, file: &BillFile, headers: &[String]) -> Result<Option<Vec<Wanted>>, SourceError>;

    /// The names of the columns once more, after a row brought new ones behind those known. Only JSON lines do so: their
    /// header is empty, and each key is a column from the row on that has it first.
    fn wider(&mut self, file: &BillFile, headers: &[String]) -> Result<(), SourceError> {
        self.header(file, headers).map(|_| ())
    }

    /// True if the structure under this dotted name is one column; else each of its fields is.
    fn keeps_whole(&self, _path: &str) -> bool {
        true
    }

    /// Which columns the next rows have any value in; until then, and without it, any.
    fn block(&mut self, _occupied: &dyn Fn(usize) -> bool) {}

    /// Rows that lie column by column, the first of this number; true if they are taken, else each is shown as a row.
    fn run(&mut self, _first: u64, _columns: &Columns<'_>) -> Result<bool, SourceError> {
        Ok(false)
    }

    /// A row, counted from 1.
    fn row(&mut self, row: u64, cells: &impl Cells) -> Result<(), SourceError>;

    /// A row without cells; a visitor that only looks ahead leaves it to the one that reads.
    fn broken(&mut self, _row: u64, _broken: BrokenRow) {}

    /// Something to tell the user about the file.
    fn note(&mut self, _code: &'static str, _message: String) {}

    /// Bytes of the file consumed after `rows` rows.
    fn progress(&mut self, _rows: u64, _bytes: u64) {}
}

/// Rows between two calls of the progress callback.
pub(in crate::billing) const PROGRESS_ROWS: u64 = 65_536;

/// Deepest structure that is taken apart into columns; what lies deeper stays whole.
const DEPTH: usize = 8;

/// Shows every row of a file to a visitor.
///
/// # Errors
/// Faults of the file as a whole, and what the visitor returns.
pub(in crate::billing) fn visit(
    file: &BillFile,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let open = File::open(&file.path).map_err(|fault| unreadable(file, &fault))?;
    match file.format {
        FileFormat::Csv => csv::visit_plain(file, open, limits, visitor),
        FileFormat::CsvGz => csv::visit_gzip(file, open, limits, visitor),
        FileFormat::Parquet => parquet::visit(file, open, limits, visitor),
        FileFormat::Json => lines::visit_plain(file, open, limits, visitor),
        FileFormat::JsonGz => lines::visit_gzip(file, open, limits, visitor),
    }
}

/// A file that the operating system does not give.
pub(in crate::billing) fn unreadable(file: &BillFile, fault: &io::Error) -> SourceError {
    SourceError::new("bill::unreadable", format!("the file cannot be read: {fault}")).at(&file.name)
}
