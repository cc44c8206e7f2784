//! JSON documents of an input: one, several one after another, or a list of them, of bounded size together.

use std::io::{BufRead, Read};

use ledger::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::refusal::{Refusal, cannot_read};
use crate::telemetry::openlineage::Object;
use crate::time::TimeFault;
use crate::{SourceError, Zone, instant};

/// Largest file, in bytes: it is held in memory.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// The codes of what can be wrong with a file as a whole.
#[derive(Debug, Clone, Copy)]
pub(in crate::telemetry) struct Codes {
    pub(in crate::telemetry) cannot_read: &'static str,
    pub(in crate::telemetry) too_large: &'static str,
    pub(in crate::telemetry) not_json: &'static str,
}

/// The documents of a file, and what its rest is refused for where it broke off.
#[derive(Debug)]
pub(in crate::telemetry) struct Documents<T> {
    pub(in crate::telemetry) documents: Vec<T>,
    pub(in crate::telemetry) broken: Option<Refusal>,
}

/// Reads the documents of a file.
///
/// # Errors
/// It breaks off before its first document ends, or is larger than 256 MiB.
pub(in crate::telemetry) fn documents<T: DeserializeOwned>(
    input: impl BufRead,
    file: &str,
    codes: &Codes,
) -> Result<Documents<T>, SourceError> {
    let mut bytes = Vec::new();
    input
        .take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot_read(codes.cannot_read, file, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(SourceError::new(codes.too_large, "the file is too large")
            .at(file)
            .expected(format!("at most {MAX_FILE} bytes"), "more")
            .help("export a part at a time"));
    }
    let text = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(&bytes);
    let mut found = Documents { documents: Vec::new(), broken: None };
    for document in serde_json::Deserializer::from_slice(text).into_iter::<T>() {
        match document {
            Ok(document) => found.documents.push(document),
            Err(error) if found.documents.is_empty() => {
                return Err(SourceError::new(codes.not_json, format!("the file is not JSON: {error}"))
                    .at(format!("{file}:{}", error.line()))
                    .help("export again; an interrupted export ends in the middle"));
            }
            Err(error) => {
                let expected = format!("JSON to the end of the file ({error})");
                let found_there = format!("from line {}", error.line());
                found.broken = Some(Refusal::of_record("row::not_json", &found_there, expected));
                break;
            }
        }
    }
    Ok(found)
}

/// The documents of a file as values; a list of documents stands for its elements.
///
/// # Errors
/// As [`documents`].
pub(in crate::telemetry) fn values(
    input: impl BufRead,
    file: &str,
    codes: &Codes,
) -> Result<Documents<Value>, SourceError> {
    let Documents { documents, broken } = documents::<Value>(input, file, codes)?;
    let mut flat = Vec::with_capacity(documents.len());
    for document in documents {
        match document {
            Value::Array(elements) => flat.extend(elements),
            other => flat.push(other),
        }
    }
    Ok(Documents { documents: flat, broken })
}

/// An instant in any form in which cloud tools print one: text, seconds since 1970, or the recorded parts of a date.
///
/// # Errors
/// It is no time, or has no zone and none is declared.
pub(in crate::telemetry) fn moment(
    object: &Object<'_>,
    name: &str,
    zone: &Zone,
) -> Result<Option<Timestamp>, Refusal> {
    let read = match object.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(Value::String(text)) => instant(text, zone),
        Some(Value::Number(number)) => epoch(&number.to_string()).ok_or(TimeFault::NotATime),
        Some(Value::Object(parts)) => {
            recorded(&Object::root(parts)).ok_or(TimeFault::NotATime).and_then(|text| instant(&text, zone))
        }
        Some(Value::Bool(_) | Value::Array(_)) => Err(TimeFault::NotATime),
    };
    read.map(Some).map_err(|fault| match fault {
        TimeFault::NotATime => object.refuse("row::not_a_time", name, "a time such as 2026-07-01T10:00:00Z"),
        TimeFault::NoZone => {
            object.refuse("row::no_time_zone", name, "a time with an offset, or a declared zone")
        }
        TimeFault::Ambiguous => object.refuse("row::not_a_time", name, "a time that the zone has once"),
    })
}

/// Seconds since 1970 with a fraction, digit by digit: a double of them loses microseconds.
fn epoch(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let micros: i64 = format!("{:0<6}", fraction.get(..fraction.len().min(6))?).parse().ok()?;
    let whole = seconds.checked_mul(1_000_000)?;
    // 9999-12-31: what lies beyond is in another unit.
    (0..=253_402_300_799).contains(&seconds).then_some(Timestamp(whole + micros))
}

/// The text of a date that a recorder of answers wrote in parts, without its zone.
fn recorded(parts: &Object<'_>) -> Option<String> {
    let part = |name: &str| parts.count(name).ok().flatten();
    Some(format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}",
        part("year")?,
        part("month")?,
        part("day")?,
        part("hour").unwrap_or(0),
        part("minute").unwrap_or(0),
        part("second").unwrap_or(0),
        part("microsecond").unwrap_or(0)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_in_every_form_that_tools_print() {
        let new_york = Zone::declared("America/New_York").unwrap();
        let text = r#"{"cli":"2018-01-12T13:23:33.406000-05:00","wire":1515781413.406,"none":null,"far":1515781413406,
            "sdk":{"__class__":"datetime","year":2018,"month":1,"day":12,"hour":13,"minute":23,"second":33,"microsecond":406000}}"#;
        let Value::Object(fields) = serde_json::from_str(text).unwrap() else { panic!("no object") };
        let object = Object::root(&fields);
        for name in ["cli", "wire", "sdk"] {
            let told = moment(&object, name, &new_york).unwrap().unwrap();
            assert_eq!(told.to_string(), "2018-01-12T18:23:33.406000Z", "for {name}");
        }
        assert_eq!(moment(&object, "none", &new_york).unwrap(), None);
        assert_eq!(moment(&object, "sdk", &Zone::Undeclared).unwrap_err().code, "row::no_time_zone");
        assert_eq!(moment(&object, "far", &new_york).unwrap_err().code, "row::not_a_time");
    }
}
