//! Reads CSV, plain or under gzip, with bounds on row length and on what a small file may unpack to.

use std::cell::Cell as Shared;
use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;

use ::csv::{ByteRecord, ReaderBuilder, StringRecord};
use flate2::read::MultiGzDecoder;

use super::cell::{Cell, Cells};
use super::json::read_map;
use super::{BrokenRow, PROGRESS_ROWS, Visitor, unreadable};
use crate::SourceError;
use crate::billing::{BillFile, BillLimits};

const BUFFER_BYTES: usize = 1 << 17;

/// Reads plain text.
pub(in crate::billing) fn visit_plain(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let meter = Meter::new(limits);
    let bounded =
        Bounded { inner: Counted { inner: open, meter: Rc::clone(&meter) }, meter: Rc::clone(&meter) };
    Table { file, limits, meter }.visit(bounded, visitor)
}

/// Reads text under gzip, several members in one file included.
pub(in crate::billing) fn visit_gzip(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let meter = Meter::new(limits);
    let packed =
        io::BufReader::with_capacity(BUFFER_BYTES, Counted { inner: open, meter: Rc::clone(&meter) });
    let bounded = Bounded { inner: MultiGzDecoder::new(packed), meter: Rc::clone(&meter) };
    Table { file, limits, meter }.visit(bounded, visitor)
}

/// What has gone through the readers of one file.
struct Meter {
    packed: Shared<u64>,
    unpacked: Shared<u64>,
    /// Value of `unpacked` when the last row ended.
    row_start: Shared<u64>,
    limits: BillLimits,
}

impl Meter {
    fn new(limits: &BillLimits) -> Rc<Self> {
        Rc::new(Self {
            packed: Shared::new(0),
            unpacked: Shared::new(0),
            row_start: Shared::new(0),
            limits: *limits,
        })
    }
}

/// Counts the bytes of the file itself.
struct Counted<R> {
    inner: R,
    meter: Rc<Meter>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.meter.packed.set(self.meter.packed.get() + read as u64);
        Ok(read)
    }
}

/// Counts unpacked bytes and refuses a row or a file that is too large.
struct Bounded<R> {
    inner: R,
    meter: Rc<Meter>,
}

/// Which bound an input broke.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum Bound {
    #[error("a row is longer than {0} bytes")]
    Row(u64),
    #[error("the file unpacks to more than {0} times its size")]
    Ratio(u64),
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let (meter, limits) = (&self.meter, &self.meter.limits);
        let unpacked = meter.unpacked.get() + read as u64;
        meter.unpacked.set(unpacked);
        if unpacked - meter.row_start.get() > limits.row_bytes + BUFFER_BYTES as u64 {
            return Err(io::Error::other(Bound::Row(limits.row_bytes)));
        }
        let allowed = meter.packed.get().saturating_mul(limits.unpack_ratio).max(limits.unpack_floor_bytes);
        if unpacked > allowed {
            return Err(io::Error::other(Bound::Ratio(limits.unpack_ratio)));
        }
        Ok(read)
    }
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
            self.meter.row_start.set(self.meter.unpacked.get());
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
                visitor.progress(row, self.meter.packed.get());
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
        if let Some(bound) = fault.get_ref().and_then(|inner| inner.downcast_ref::<Bound>()) {
            return SourceError::new("bill::too_large", bound.to_string()).at(&self.file.name).help(
                "check that the file is a bill; raise the limit in the source's configuration if it is",
            );
        }
        let again = "fetch the file again; the copy is damaged";
        match fault.kind() {
            io::ErrorKind::UnexpectedEof => {
                SourceError::new("bill::truncated_gzip", "the file ends before its content does")
                    .at(&self.file.name)
                    .help(again)
            }
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                SourceError::new("bill::bad_gzip", format!("the file is no sound gzip: {fault}"))
                    .at(&self.file.name)
                    .help(again)
            }
            _ => unreadable(self.file, &fault),
        }
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
}
