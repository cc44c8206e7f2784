//! Listings: answers of the API as JSON, and what `aws s3 ls --recursive` prints.

use std::io::{BufRead, Read};

use ledger::Timestamp;
use serde_json::Value;

use super::{CANNOT_READ, Import, Object, S3InventoryOptions};
use crate::telemetry::attempts::{Codes, Refusal, cannot_read, moment, values};
use crate::telemetry::openlineage;
use crate::time::TimeFault;
use crate::{SourceError, instant};

const CODES: Codes = Codes {
    cannot_read: CANNOT_READ,
    too_large: "s3_inventory::too_large",
    not_json: "s3_inventory::not_json",
};

/// Longest line: a key has at most a kilobyte.
const MAX_LINE: u64 = 16 * 1024;

/// Reads a listing of either form.
///
/// # Errors
/// It breaks off, is no listing, or nothing names its bucket.
pub(super) fn read(
    mut input: impl BufRead,
    (file, options): (&str, &S3InventoryOptions),
    import: &mut Import,
) -> Result<(), SourceError> {
    let start = input.fill_buf().map_err(|error| cannot_read(CANNOT_READ, file, &error))?;
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace() && **byte < 0x80).copied();
    match first {
        None => Err(not_a_listing(file, "nothing")),
        Some(b'{' | b'[') => answers(input, (file, options), import),
        Some(_) => lines(input, (file, options), import),
    }
}

fn not_a_listing(file: &str, found: &str) -> SourceError {
    SourceError::new("s3_inventory::not_a_listing", "the file is no listing of a bucket")
        .at(file)
        .expected("a manifest, an answer of list-objects-v2, or what `aws s3 ls --recursive` prints", found)
        .help("list with `aws s3api list-objects-v2 --bucket NAME > listing.json`")
}

fn no_bucket(file: &str) -> SourceError {
    SourceError::new("s3_inventory::no_bucket", "nothing names the bucket")
        .at(file)
        .help("say `--bucket NAME`: a listing does not name its own")
}

fn answers(
    input: impl BufRead,
    (file, options): (&str, &S3InventoryOptions),
    import: &mut Import,
) -> Result<(), SourceError> {
    let found = values(input, file, &CODES)?;
    let mut number = 0;
    let mut is_cut = 0;
    for document in &found.documents {
        let fields = document.as_object().ok_or_else(|| not_a_listing(file, "JSON that is no object"))?;
        let answer = openlineage::Object::root(fields);
        let told = answer.text("Name").ok().flatten().or(options.bucket.as_deref());
        let bucket = told.ok_or_else(|| no_bucket(file))?;
        is_cut += u64::from(matches!(answer.get("IsTruncated"), Some(Value::Bool(true))));
        if answer.has("Key") {
            number += 1;
            import.row((file, number), object(document, (bucket, options)))?;
            continue;
        }
        let lists = ["Contents", "Versions", "DeleteMarkers", "CommonPrefixes"];
        let is_answer = lists.iter().any(|list| answer.is_told(list))
            || ["KeyCount", "RequestCharged", "Prefix"].iter().any(|name| answer.is_told(name));
        if !is_answer {
            let names: Vec<&str> = answer.names().take(4).collect();
            return Err(not_a_listing(file, &names.join(", ")));
        }
        for list in lists {
            for one in answer.get(list).and_then(Value::as_array).into_iter().flatten() {
                number += 1;
                let says_nothing = matches!(list, "DeleteMarkers" | "CommonPrefixes");
                let row = if says_nothing { Ok(None) } else { object(one, (bucket, options)) };
                import.row((file, number), row)?;
            }
        }
    }
    if let Some(refusal) = found.broken {
        import.row((file, number + 1), Err(refusal))?;
    }
    let told = "answer(s) are not the last one of their listing";
    let help = "list with the AWS CLI, which asks for all pages, or import the other pages together";
    import.read.warn_of(is_cut, "s3_inventory::more_pages", (told, help));
    Ok(())
}

fn object<'v>(
    value: &'v Value,
    (bucket, options): (&'v str, &S3InventoryOptions),
) -> Result<Option<Object<'v>>, Refusal> {
    let fields = value.as_object();
    let fields = fields.ok_or_else(|| {
        Refusal::of_record("row::not_an_object", &value.to_string(), "an object with `Key` and `Size`")
    })?;
    let object = openlineage::Object::root(fields);
    let key = object.get("Key").and_then(Value::as_str);
    Ok(Some(Object {
        bucket,
        key: key.ok_or_else(|| object.refuse("row::missing_value", "Key", "the key of an object"))?,
        bytes: object
            .count("Size")?
            .ok_or_else(|| object.refuse("row::missing_value", "Size", "whole bytes"))?,
        modified: moment(&object, "LastModified", &options.zone)?,
        class: object.text("StorageClass")?,
        is_current: object.flag("IsLatest")?.unwrap_or(true),
    }))
}

fn lines(
    mut input: impl BufRead,
    (file, options): (&str, &S3InventoryOptions),
    import: &mut Import,
) -> Result<(), SourceError> {
    let bucket = options.bucket.as_deref().ok_or_else(|| no_bucket(file))?;
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| cannot_read(CANNOT_READ, file, &error))? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
        if text.trim().is_empty() {
            continue;
        }
        number += 1;
        let row = match printed(text, options) {
            Ok(Some(Printed { at, bytes, key })) => {
                Ok(Some(Object { bucket, key, bytes, modified: Some(at), class: None, is_current: true }))
            }
            Ok(None) => Ok(None),
            Err(Fault::Row(refusal)) if number == 1 => return Err(not_a_listing(file, &refusal.found)),
            Err(Fault::Row(refusal)) => Err(refusal),
            Err(Fault::Stop(error)) => return Err(error.at(format!("{file}:{number}"))),
        };
        import.row((file, number), row)?;
    }
}

/// An object as it is printed.
struct Printed<'t> {
    at: Timestamp,
    bytes: u64,
    key: &'t str,
}

enum Fault {
    Row(Refusal),
    Stop(SourceError),
}

/// `2026-07-01 10:00:00      12345 vitl/x`; nothing for a folder and for the sums at the end.
fn printed<'t>(text: &'t str, options: &S3InventoryOptions) -> Result<Option<Printed<'t>>, Fault> {
    let start = text.trim_start();
    if start.starts_with("PRE ") || start.starts_with("Total Objects:") || start.starts_with("Total Size:") {
        return Ok(None);
    }
    let refuse = |code, column: &str, found: &str| {
        Fault::Row(Refusal::new(code, column, found, "a line such as `2026-07-01 10:00:00 12345 vitl/x`"))
    };
    let (time, rest) = text.split_at_checked(19).ok_or_else(|| refuse("row::not_a_time", "time", text))?;
    let at = match instant(time, &options.zone) {
        Ok(at) => at,
        Err(TimeFault::NoZone) => {
            return Err(Fault::Stop(
                SourceError::new(
                    "s3_inventory::no_time_zone",
                    "times have no zone: `aws s3 ls` prints local ones",
                )
                .expected("a declared zone", time)
                .help("pass `--time-zone ZONE` (such as Europe/Paris), or list with list-objects-v2"),
            ));
        }
        Err(TimeFault::NotATime | TimeFault::Ambiguous) => {
            return Err(refuse("row::not_a_time", "time", time));
        }
    };
    let rest = rest.trim_start();
    let (size, key) = rest.split_once(' ').ok_or_else(|| refuse("row::not_a_count", "size", rest))?;
    let bytes = size.parse().map_err(|_| refuse("row::not_a_count", "size", rest))?;
    Ok(Some(Printed { at, bytes, key }))
}
