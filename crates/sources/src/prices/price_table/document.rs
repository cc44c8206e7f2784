//! The prices of a TOML document, as rows of fields like those of a CSV.

use std::io::Read;

use toml::de::{DeTable, DeValue};

use super::{TABLE, row};
use crate::SourceError;
use crate::price_list::{Fields, Gather, Refusal, io_fault};

/// Largest document, in bytes: it is in memory as a whole.
const MAX_BYTES: u64 = 16 << 20;

/// Takes every `[[price]]`.
pub(super) fn read(input: impl Read, gather: &mut Gather<'_>) -> Result<(), SourceError> {
    let file = gather.options.file.clone();
    let mut bytes = Vec::new();
    input.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| io_fault(&file, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("a price list in TOML is larger than {MAX_BYTES} bytes");
        return Err(SourceError::new("prices::too_large", message).at(&file).help("write it as CSV"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| SourceError::new("prices::not_toml", "the file is not UTF-8 text").at(&file))?;
    let document = DeTable::parse(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(&text, span.start));
        SourceError::new("prices::not_toml", error.message().trim().to_owned())
            .at(format!("{file}:{line}"))
            .help("write `[[price]]` before the keys of each price")
    })?;
    let document = document.into_inner();
    let unknown = |key: &str, span: std::ops::Range<usize>| {
        SourceError::new("prices::not_toml", format!("`{key}` is no key of a price list"))
            .at(format!("{file}:{}", line_of(&text, span.start)))
            .expected("`defaults` and `price`", format!("`{key}`"))
            .help("put the keys of a price under `[[price]]`")
    };
    let (mut defaults, mut prices) = (Fields::default(), Vec::new());
    for (key, value) in &document {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("defaults", DeValue::Table(table)) => {
                defaults = fields(table).map_err(|_| unknown("defaults", key.span()))?;
            }
            ("price", DeValue::Array(tables)) => prices.extend(tables.iter()),
            (other, _) => return Err(unknown(other, key.span())),
        }
    }
    for (number, price) in (1..).zip(prices) {
        let read = match price.get_ref() {
            DeValue::Table(table) => fields(table),
            _ => Err(Refusal::new("row::not_a_table", "price", "a single value", "a table of columns")),
        };
        let origin = gather.origin(number);
        let price = read.and_then(|read| row::of(&read.or(&defaults), gather.options, origin));
        gather.take(number, price)?;
    }
    Ok(())
}

/// Line of a byte, from 1.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The fields of a table, numbers and dates as their text.
fn fields(table: &DeTable<'_>) -> Result<Fields, Refusal> {
    let mut fields = Fields::default();
    for (key, value) in table {
        let key = key.get_ref().as_ref();
        let column = TABLE.named(key).ok_or_else(|| {
            Refusal::new("row::unknown_column", key, key, format!("one of {}", TABLE.columns.join(", ")))
        })?;
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Datetime(time) => time.to_string(),
            DeValue::Integer(_) | DeValue::Boolean(_) | DeValue::Array(_) | DeValue::Table(_) => {
                let found = value.get_ref().type_str();
                return Err(Refusal::new(
                    "row::not_a_text",
                    column,
                    found,
                    "text, a decimal number or a date",
                ));
            }
        };
        fields.put(column, &text);
    }
    Ok(fields)
}
