//! A key with a value in JSON, of which records of history, summary and config are made.

use serde_json::Value;

use crate::telemetry::shared::protobuf::{Broken, Message};

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// Parts of a nested key are joined by dots.
    pub(super) key: String,
    json: String,
}

impl Item {
    /// The item of a message.
    pub(super) fn of(message: Message<'_>) -> Result<Self, Broken> {
        let (mut key, mut nested, mut json) = (String::new(), Vec::new(), String::new());
        for field in message {
            match field? {
                (1, text) => key = text.text().into_owned(),
                (2, text) => nested.push(text.text().into_owned()),
                (16, text) => json = text.text().into_owned(),
                _ => {}
            }
        }
        Ok(Self { key: if key.is_empty() { nested.join(".") } else { key }, json })
    }

    /// The number, which may be no number or infinite: Python writes `NaN` and `Infinity` as bare words.
    pub(super) fn number(&self) -> Option<f64> {
        let text = self.json.trim().trim_matches('"');
        let numeric = text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            || matches!(text, "NaN" | "Infinity" | "inf" | "nan");
        text.parse().ok().filter(|_| numeric)
    }

    /// The value as JSON; null if it is none.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.json).unwrap_or(Value::Null)
    }
}

/// The number of a value from the API.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A plain value as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
