//! Splits the input into rows: CSV with a header, or JSON lines; and any input into lines of bounded length.

use std::io::{BufRead, Read};

use serde_json::Value;

use super::cell::Row;
use super::refusal::{Refusal, cannot_read};
use super::{Import, column};
use crate::SourceError;
use crate::telemetry::Warning;

/// Longest line, in bytes; a longer one is rejected and skipped.
pub(in crate::telemetry) const MAX_LINE: usize = 4 * 1024 * 1024;

/// Largest file, in bytes: an unclosed quote would otherwise take all of a CSV into one cell.
const MAX_FILE: u64 = 512 * 1024 * 1024;

/// Reads every row of the input.
pub(super) fn rows(mut input: impl BufRead, import: &mut Import<'_>) -> Result<(), SourceError> {
    let file = import.options.file.clone();
    let start =
        first_byte(&mut input).map_err(|error| cannot_read("attempts::cannot_read", &file, &error))?;
    match start {
        None => Err(SourceError::new("attempts::no_header", "the file is empty")
            .at(file)
            .expected(column::REQUIRED.join(", "), "nothing")
            .help("write a header with at least these columns")),
        Some(b'{') => json_rows(input, import),
        Some(_) => csv_rows(input, import),
    }
}

/// Skips blanks and a byte order mark, and shows the byte after them.
fn first_byte(input: &mut impl BufRead) -> std::io::Result<Option<u8>> {
    loop {
        let Some(byte) = input.fill_buf()?.first().copied() else { return Ok(None) };
        if !byte.is_ascii_whitespace() && ![0xef, 0xbb, 0xbf].contains(&byte) {
            return Ok(Some(byte));
        }
        input.consume(1);
    }
}

fn csv_rows(input: impl BufRead, import: &mut Import<'_>) -> Result<(), SourceError> {
    let file = import.options.file.clone();
    let mut header_line = Vec::new();
    let mut input = input.take(MAX_FILE);
    let broken = |error: &std::io::Error| cannot_read("attempts::cannot_read", &file, error);
    input.read_until(b'\n', &mut header_line).map_err(|error| broken(&error))?;
    let delimiter = delimiter(&header_line);
    let chained = std::io::Cursor::new(header_line).chain(input);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(chained);
    let names: Vec<String> = match reader.byte_headers() {
        Ok(header) => header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect(),
        Err(error) => return Err(unreadable(&file, &error)),
    };
    let columns = columns(&names, import)?;
    let mut record = csv::ByteRecord::new();
    let mut number = 0;
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(&file, &error))? {
        number += 1;
        import.take(number, csv_row(&record, &columns))?;
    }
    if reader.get_ref().get_ref().1.limit() == 0 {
        return Err(SourceError::new(
            "attempts::too_large",
            format!("the file is larger than {MAX_FILE} bytes"),
        )
        .at(file)
        .help("close an unclosed quote, or split the file"));
    }
    Ok(())
}

/// The sign that separates the names of the header.
fn delimiter(header: &[u8]) -> u8 {
    let count = |sign: u8| header.iter().filter(|byte| **byte == sign).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|sign| count(*sign)).unwrap_or(b',')
}

fn unreadable(file: &str, error: &csv::Error) -> SourceError {
    SourceError::new("attempts::cannot_read", format!("cannot read the file: {error}"))
        .at(file)
        .help("check that it is CSV with a header")
}

/// Which column each field of a row is.
fn columns(names: &[String], import: &mut Import<'_>) -> Result<Vec<Option<&'static str>>, SourceError> {
    let columns: Vec<Option<&'static str>> = names.iter().map(|name| column::named(name)).collect();
    for required in column::REQUIRED {
        if !columns.contains(&Some(required)) {
            return Err(column::missing(required, names, &import.options.file));
        }
    }
    for (index, name) in names.iter().enumerate() {
        let known = columns.get(index).copied().flatten();
        if known.is_some() && columns.iter().take(index).any(|earlier| *earlier == known) {
            return Err(SourceError::new("attempts::column_twice", format!("the header has `{name}` twice"))
                .at(format!("{}:header", import.options.file))
                .help("remove or rename one of the two columns"));
        }
    }
    let unknown: Vec<&str> =
        names.iter().map(String::as_str).filter(|n| !n.is_empty() && column::named(n).is_none()).collect();
    if !unknown.is_empty() {
        import.read.warnings.push(not_read(&unknown.join(", ")));
    }
    Ok(columns)
}

fn not_read(columns: &str) -> Warning {
    Warning {
        code: "attempts::unknown_column",
        message: format!("not read, since no such column is known: {columns}"),
        help: format!("the columns that are read: {}", column::COLUMNS.join(", ")),
    }
}

fn csv_row(record: &csv::ByteRecord, columns: &[Option<&'static str>]) -> Result<Row, Refusal> {
    if record.len() != columns.len() {
        let found = format!("{} fields", record.len());
        let expected = format!("{} fields, as the header has", columns.len());
        return Err(Refusal::of_record("row::wrong_number_of_fields", &found, expected));
    }
    let mut row = Row::default();
    for (field, column) in record.iter().zip(columns) {
        let Some(column) = column else { continue };
        let text = std::str::from_utf8(field).map_err(|_| {
            Refusal::new("row::not_utf8", column, &String::from_utf8_lossy(field), "UTF-8 text")
        })?;
        row.put(column, text);
    }
    Ok(row)
}

fn json_rows(input: impl BufRead, import: &mut Import<'_>) -> Result<(), SourceError> {
    let file = import.options.file.clone();
    let mut lines = Lines::new(input);
    let mut unknown = std::collections::BTreeSet::new();
    while let Some((number, line)) =
        lines.next_line().map_err(|error| cannot_read("attempts::cannot_read", &file, &error))?
    {
        let row = line.and_then(|line| json_row(line, &mut unknown));
        import.take(number, row)?;
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().take(20).collect();
        import.read.warnings.push(not_read(&names.join(", ")));
    }
    Ok(())
}

fn json_row(line: &[u8], unknown: &mut std::collections::BTreeSet<String>) -> Result<Row, Refusal> {
    let not_an_object =
        || Refusal::of_record("row::not_json", &String::from_utf8_lossy(line), "one JSON object a line");
    let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(line) else {
        return Err(not_an_object());
    };
    let mut row = Row::default();
    for (name, value) in fields {
        let Some(column) = column::named(&name) else {
            if unknown.len() < 20 {
                unknown.insert(name);
            }
            continue;
        };
        let text = match &value {
            Value::Array(parts) => {
                parts.iter().map(plain).collect::<Option<Vec<String>>>().map(|all| all.join(";"))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                plain(&value)
            }
        };
        let refuse = || {
            Refusal::new("row::not_a_text", column, &value.to_string(), "text, a number or a list of them")
        };
        row.put(column, &text.ok_or_else(refuse)?);
    }
    Ok(row)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Lines of bounded length; empty lines are skipped but counted.
pub(in crate::telemetry) struct Lines<R> {
    input: R,
    number: u64,
    line: Vec<u8>,
}

type Line<'l> = (u64, Result<&'l [u8], Refusal>);

impl<R: BufRead> Lines<R> {
    pub(in crate::telemetry) fn new(input: R) -> Self {
        Self { input, number: 0, line: Vec::new() }
    }

    /// The next line that is not empty, with its number from 1.
    pub(in crate::telemetry) fn next_line(&mut self) -> std::io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
            if self.input.by_ref().take(limit + 1).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() > MAX_LINE && !self.line.ends_with(b"\n") {
                skip_line(&mut self.input)?;
                let start = String::from_utf8_lossy(self.line.get(..80).unwrap_or_default()).into_owned();
                let expected = format!("a line of at most {MAX_LINE} bytes");
                return Ok(Some((self.number, Err(Refusal::of_record("row::too_long", &start, expected)))));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some((self.number, Ok(self.line.trim_ascii()))));
            }
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}
