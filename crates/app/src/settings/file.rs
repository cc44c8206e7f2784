//! Reads a settings file into the texts of its keys; an unknown key is an error, not a surprise later.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Given, KEYS, Key, Origin, SettingsFile};
use crate::AppError;
use crate::filter::nearest;

/// Bytes of the largest file that is read.
const FILE_BYTES_MAX: usize = 1 << 20;

/// What the file gives, by the name of the key.
pub(super) fn values(file: &SettingsFile) -> Result<BTreeMap<&'static str, Given>, AppError> {
    if file.text.len() > FILE_BYTES_MAX {
        let message = format!("the file is larger than {FILE_BYTES_MAX} bytes");
        return Err(AppError::new("config::file_too_large", message).at(file.path.display().to_string()));
    }
    let table = DeTable::parse(&file.text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        fault(file, "config::not_toml", error.message().trim().to_owned(), span)
    })?;
    let mut values = BTreeMap::new();
    for (name, value) in table.get_ref() {
        let table = name.get_ref().as_ref();
        let prefix = format!("{table}.");
        if !KEYS.iter().any(|key| key.name.starts_with(&prefix)) {
            take(file, &mut values, (table, name.span()), value)?;
            continue;
        }
        let Some(inner) = value.get_ref().as_table() else {
            let message = format!("`{table}` is a table: `[{table}]`");
            return Err(fault(file, "config::bad_value", message, value.span()));
        };
        for (name, value) in inner {
            take(file, &mut values, (&format!("{prefix}{}", name.get_ref()), name.span()), value)?;
        }
    }
    Ok(values)
}

fn take(
    file: &SettingsFile,
    values: &mut BTreeMap<&'static str, Given>,
    (name, name_span): (&str, Range<usize>),
    value: &Spanned<DeValue<'_>>,
) -> Result<(), AppError> {
    let Some(key) = KEYS.iter().find(|key| key.name == name) else {
        return Err(unknown_key(file, name, name_span));
    };
    let Some(texts) = texts(key, value.get_ref()) else {
        let message = format!("`{name}` cannot be a value of type {}", value.get_ref().type_str());
        let mut error = fault(file, "config::bad_value", message, value.span());
        error.expected = Some(key.expected.to_owned());
        return Err(error);
    };
    let origin = Origin::File { path: file.path.clone(), line: line_of(&file.text, value.span().start) };
    values.insert(key.name, Given { texts, origin, blame: Some((file.text.clone(), value.span())) });
    Ok(())
}

fn texts(key: &Key, value: &DeValue<'_>) -> Option<Vec<String>> {
    if key.is_list() {
        let items = value.as_array()?.iter();
        return items.map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
    }
    let text = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => return None,
    };
    Some(vec![text])
}

fn unknown_key(file: &SettingsFile, name: &str, span: Range<usize>) -> AppError {
    let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    let near = nearest(name, known.iter().copied());
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    fault(file, "config::unknown_key", format!("there is no setting `{name}`"), span)
        .help(format!("{near}settings: {}", known.join(", ")))
}

fn fault(file: &SettingsFile, code: &str, message: impl Into<String>, span: Range<usize>) -> AppError {
    let line = line_of(&file.text, span.start);
    AppError::new(code, message).at(format!("{}:{line}", file.path.display())).span(file.text.clone(), span)
}

/// The line, from 1, that holds a byte.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
