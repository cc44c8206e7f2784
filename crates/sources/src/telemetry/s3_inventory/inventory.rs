//! The data files of an inventory: CSV without a header, a row at a time.

use std::fs::File;
use std::io::BufReader;

use csv::ByteRecord;
use flate2::read::MultiGzDecoder;
use ledger::Timestamp;

use super::manifest::{Columns, DataFile, Manifest};
use super::{CANNOT_READ, Import, Object};
use crate::telemetry::attempts::{Refusal, cannot_read};
use crate::{SourceError, Zone, instant};

/// Reads a data file.
///
/// # Errors
/// It breaks off, or is not what a manifest can list.
pub(super) fn read(file: &DataFile, manifest: &Manifest, import: &mut Import) -> Result<(), SourceError> {
    let open = File::open(&file.path).map_err(|error| cannot_read(CANNOT_READ, &file.name, &error))?;
    let input: Box<dyn std::io::Read> = if file.name.ends_with(".gz") {
        Box::new(MultiGzDecoder::new(BufReader::new(open)))
    } else {
        Box::new(open)
    };
    let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input);
    let mut record = ByteRecord::new();
    let mut number = 0;
    loop {
        let more = rows.read_byte_record(&mut record).map_err(|error| {
            SourceError::new(CANNOT_READ, format!("cannot read the file: {error}"))
                .at(&file.name)
                .help("copy it again; a copy that broke off cannot be read to its end")
        })?;
        if !more {
            return Ok(());
        }
        number += 1;
        let cells = Cells { record: &record, columns: &manifest.columns };
        let read = cells.read();
        let object = read.as_ref().map(|row| row.as_ref().map(|row| row.object(&manifest.bucket)));
        import.row((file.name.as_str(), number), object.map_err(Refusal::clone))?;
    }
}

struct Cells<'r> {
    record: &'r ByteRecord,
    columns: &'r Columns,
}

/// A row with its key decoded.
struct Row<'r> {
    bucket: Option<&'r str>,
    key: String,
    bytes: u64,
    modified: Option<Timestamp>,
    class: Option<&'r str>,
    is_current: bool,
}

impl Row<'_> {
    fn object<'a>(&'a self, bucket: &'a str) -> Object<'a> {
        Object {
            bucket: self.bucket.unwrap_or(bucket),
            key: &self.key,
            bytes: self.bytes,
            modified: self.modified,
            class: self.class,
            is_current: self.is_current,
        }
    }
}

impl<'r> Cells<'r> {
    /// The row; nothing for a marker of a deletion, which has no bytes.
    fn read(&self) -> Result<Option<Row<'r>>, Refusal> {
        if self.record.len() != self.columns.count {
            let expected = format!("{} fields, as `fileSchema` has", self.columns.count);
            let found = format!("{} fields", self.record.len());
            return Err(Refusal::of_record("row::wrong_number_of_fields", &found, expected));
        }
        if self.flag("IsDeleteMarker", self.columns.is_delete_marker)? == Some(true) {
            return Ok(None);
        }
        let key = self.text("Key", Some(self.columns.key))?.unwrap_or_default();
        let key = decoded(key)
            .ok_or_else(|| Refusal::new("row::not_a_text", "Key", key, "a key, encoded as in a URL"))?;
        let size = self.text("Size", Some(self.columns.size))?.unwrap_or_default();
        let bytes =
            size.parse().map_err(|_| Refusal::new("row::not_a_count", "Size", size, "whole bytes"))?;
        let modified = self.text("LastModifiedDate", self.columns.modified)?;
        let modified = modified
            .map(|text| {
                let expected = "a time such as 2026-07-01T10:00:00.000Z";
                let refuse = |_| Refusal::new("row::not_a_time", "LastModifiedDate", text, expected);
                instant(text, &Zone::Utc).map_err(refuse)
            })
            .transpose()?;
        Ok(Some(Row {
            bucket: self.text("Bucket", self.columns.bucket)?,
            key,
            bytes,
            modified,
            class: self.text("StorageClass", self.columns.class)?,
            is_current: self.flag("IsLatest", self.columns.is_latest)?.unwrap_or(true),
        }))
    }

    /// The text of a cell; none for an empty one.
    fn text(&self, name: &str, column: Option<usize>) -> Result<Option<&'r str>, Refusal> {
        let Some(cell) = column.and_then(|column| self.record.get(column)) else { return Ok(None) };
        let text = std::str::from_utf8(cell)
            .map_err(|_| Refusal::new("row::not_a_text", name, &String::from_utf8_lossy(cell), "UTF-8"))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn flag(&self, name: &str, column: Option<usize>) -> Result<Option<bool>, Refusal> {
        match self.text(name, column)? {
            None => Ok(None),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(text) => Err(Refusal::new("row::not_a_boolean", name, text, "true or false")),
        }
    }
}

/// A key as it is: in an inventory it is encoded as a value of a form, with `+` for a blank.
fn decoded(text: &str) -> Option<String> {
    if !text.contains(['%', '+']) {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_decoded_and_a_broken_one_is_none() {
        for (text, expect) in [
            ("a/b", Some("a/b")),
            ("a%3Db+c%2Bd", Some("a=b c+d")),
            ("%C3%BC", Some("ü")),
            ("%C3", None),
            ("%", None),
            ("%zz", None),
        ] {
            assert_eq!(decoded(text).as_deref(), expect, "for {text}");
        }
    }
}
