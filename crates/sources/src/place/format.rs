//! Tells what a file is by its first bytes, and plain text by its name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::SourceError;
use crate::billing::FileFormat;

/// True for the names of data files.
pub(super) fn is_data_name(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    let table = [".csv", ".csv.gz", ".parquet", ".parq"];
    let json = [".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"];
    table.iter().chain(&json).any(|end| lower.ends_with(end))
}

/// The format of a file.
///
/// # Errors
/// `bill::unsupported_compression` for an archive, `place::not_found` if it cannot be read.
pub(super) fn of(path: &Path, name: &str) -> Result<FileFormat, SourceError> {
    let mut head = [0_u8; 512];
    let mut open = File::open(path).map_err(|fault| {
        SourceError::new("place::not_found", format!("the file cannot be read: {fault}")).at(name)
    })?;
    let mut read = 0;
    while read < head.len() {
        match open.read(head.get_mut(read..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(fault) => {
                let message = format!("the file cannot be read: {fault}");
                return Err(SourceError::new("place::not_found", message).at(name));
            }
        }
    }
    of_head(head.get(..read).unwrap_or_default(), name)
}

fn of_head(head: &[u8], name: &str) -> Result<FileFormat, SourceError> {
    let lower = name.to_ascii_lowercase();
    let json_name = [".json", ".jsonl", ".ndjson"].iter().any(|part| lower.contains(part));
    if head.starts_with(b"PAR1") {
        return Ok(FileFormat::Parquet);
    }
    if head.starts_with(&[0x1f, 0x8b]) {
        return Ok(if json_name { FileFormat::JsonGz } else { FileFormat::CsvGz });
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Err(SourceError::new("bill::unsupported_compression", "the file is a zip or zstd archive")
            .at(name)
            .expected("plain text, gzip or Parquet", "an archive")
            .help("unpack it, or set the report's compression to GZIP or Parquet"));
    }
    if lower.ends_with(".parquet") || lower.ends_with(".parq") {
        return Ok(FileFormat::Parquet);
    }
    if lower.ends_with(".gz") {
        // Its reader says what is wrong with it.
        return Ok(if json_name { FileFormat::JsonGz } else { FileFormat::CsvGz });
    }
    let first = head.iter().find(|b| !b.is_ascii_whitespace());
    let json = json_name || !lower.ends_with(".csv") && matches!(first, Some(b'{' | b'['));
    Ok(if json { FileFormat::Json } else { FileFormat::Csv })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide_before_the_name() {
        assert_eq!(of_head(b"PAR1....", "x.csv"), Ok(FileFormat::Parquet));
        assert_eq!(of_head(&[0x1f, 0x8b, 8], "x.csv"), Ok(FileFormat::CsvGz));
        assert_eq!(of_head(&[0x1f, 0x8b, 8], "x.jsonl.gz"), Ok(FileFormat::JsonGz));
        assert_eq!(of_head(b"{\"a\":1}", "rows"), Ok(FileFormat::Json));
        assert_eq!(of_head(b"a,b", "x.csv"), Ok(FileFormat::Csv));
        assert_eq!(of_head(b"", "x.parquet"), Ok(FileFormat::Parquet));
        assert_eq!(of_head(b"PK\x03\x04", "x.zip").unwrap_err().code, "bill::unsupported_compression");
        assert!(is_data_name("a/B.CSV.GZ") && !is_data_name("cur-Manifest.json.bak"));
    }
}
