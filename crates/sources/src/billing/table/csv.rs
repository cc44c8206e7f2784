//! Reads CSV, plain or under gzip, with bounds on row length and on what a small file may unpack to.

use std::fs::File;
use std::io::Read;
use std::rc::Rc;

use ::csv::{ByteRecord, ReaderBuilder, StringRecord};

use super::bounded::{BUFFER_BYTES, Meter, plain, unpacked, unsound};
use super::cell::{Cell, Cells};
use super::json::read_map;
use super::records::read_records;
use super::{BrokenRow, PROGRESS_ROWS, Visitor};
use crate::SourceError;
use crate::billing::{BillFile, BillLimits};

/// Reads plain text.
pub(in crate::billing) fn visit_plain(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let meter = Meter::new(limits);
    let input = plain(open, &meter);
    Table { file, limits, meter }.visit(input, visitor)
}

/// Reads text under gzip, several members in one file included.
pub(in crate::billing) fn visit_gzip(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let meter = Meter::new(limits);
    let input = unpacked(open, &meter);
    Table { file, limits, meter }.visit(input, visitor)
}

struct Table<'a> {
    file: &'a BillFile,
    limits: &'a BillLimits,
    meter: Rc<Meter>,
}

impl Table<'_> {
    fn visit(&self, input: impl Read, visitor: &mut impl Visitor) -> Result<(), SourceError> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(input);
        let mut bytes = ByteRecord::new();
        let more = reader.read_byte_record(&mut bytes).map_err(|fault| self.fault(fault))?;
        let headers = self.headers(&bytes, more)?;
        if visitor.header(self.file, &headers)?.is_none() {
            return Ok(());
        }
        let mut widths = Widths { header: headers.len(), short: None };
        let mut row = 0_u64;
        loop {
            self.meter.start_row();
            if !reader.read_byte_record(&mut bytes).map_err(|fault| self.fault(fault))? {
                break;
            }
            row += 1;
            if row == 1 && bytes.len() < headers.len() {
                widths.short = Some(bytes.len());
                visitor.note("bill::short_rows", widths.note(&self.file.name));
            }
            bytes = visit_row(visitor, &widths, row, bytes)?;
            if row.is_multiple_of(PROGRESS_ROWS) {
                visitor.progress(row, self.meter.packed());
            }
        }
        visitor.progress(row, self.file.bytes);
        Ok(())
    }

    fn headers(&self, bytes: &ByteRecord, more: bool) -> Result<Vec<String>, SourceError> {
        if !more {
            return Err(SourceError::new("bill::empty_file", "the file is empty").at(&self.file.name));
        }
        if bytes.len() > self.limits.columns {
            let message = format!("the file has {} columns, more than {}", bytes.len(), self.limits.columns);
            return Err(SourceError::new("bill::too_large", message).at(&self.file.name));
        }
        let text =
            |field: &[u8]| String::from_utf8_lossy(field).trim_start_matches('\u{feff}').trim().to_owned();
        Ok(bytes.iter().map(text).collect())
    }

    fn fault(&self, fault: ::csv::Error) -> SourceError {
        let shown = fault.to_string();
        let ::csv::ErrorKind::Io(fault) = fault.into_kind() else {
            return SourceError::new("bill::bad_csv", shown).at(&self.file.name);
        };
        unsound(self.file, &fault)
    }
}

/// How many fields a row may have: as many as the header, or as few as the first row has.
struct Widths {
    header: usize,
    short: Option<usize>,
}

impl Widths {
    fn fit(&self, fields: usize) -> bool {
        fields == self.header || self.short == Some(fields)
    }

    fn note(&self, file: &str) -> String {
        let short = self.short.unwrap_or(0);
        format!(
            "{file}: rows have {short} fields where the header has {}; the last columns are empty",
            self.header
        )
    }
}

/// Shows one row and gives its buffer back.
fn visit_row(
    visitor: &mut impl Visitor,
    widths: &Widths,
    row: u64,
    bytes: ByteRecord,
) -> Result<ByteRecord, SourceError> {
    if !widths.fit(bytes.len()) {
        let found = format!("{} fields", bytes.len());
        visitor.broken(
            row,
            BrokenRow { code: "row::field_count", found, expected: format!("{}", widths.header) },
        );
        return Ok(bytes);
    }
    match StringRecord::from_byte_record(bytes) {
        Ok(record) => {
            visitor.row(row, &CsvRow(&record))?;
            Ok(record.into_byte_record())
        }
        Err(fault) => {
            let found = fault.utf8_error().to_string();
            visitor
                .broken(row, BrokenRow { code: "row::not_utf8", found, expected: "UTF-8 text".to_owned() });
            Ok(fault.into_byte_record())
        }
    }
}

struct CsvRow<'a>(&'a StringRecord);

impl Cells for CsvRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.0.get(column) {
            Some("") | None => Cell::Null,
            Some(text) => Cell::Text(text),
        }
    }

    fn entries(&self, column: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool {
        self.0.get(column).is_none_or(|text| read_map(text, &mut |key, value| each(key, Cell::Text(value))))
    }

    fn records(&self, column: usize, each: &mut dyn FnMut(usize, &str, Cell<'_>)) -> bool {
        self.0.get(column).is_none_or(|text| read_records(text, each))
    }
}
