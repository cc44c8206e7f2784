//! One `:::MLLOG` line.

use ledger::Timestamp;
use serde_json::{Map, Value};

use crate::telemetry::attempts::Refusal;

const MARK: &[u8] = b":::MLLOG";

/// What a line says.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) at: Timestamp,
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) metadata: Map<String, Value>,
}

impl Event {
    /// A text of the metadata.
    pub(super) fn told(&self, name: &str) -> Option<&str> {
        self.metadata.get(name).and_then(Value::as_str)
    }

    /// The step: MLPerf counts epochs or samples, and an epoch may be a fraction, which is no step.
    pub(super) fn step(&self) -> Option<u64> {
        ["epoch_num", "samples_count", "step_num"]
            .iter()
            .find_map(|name| self.metadata.get(*name))
            .and_then(Value::as_u64)
    }
}

/// The event of a line, or `None` if the line is no record.
pub(super) fn event(line: &[u8]) -> Option<Result<Event, Refusal>> {
    let mark = line.windows(MARK.len()).position(|part| part == MARK)?;
    let text = line.get(mark.saturating_add(MARK.len())..)?;
    Some(parsed(text))
}

fn parsed(text: &[u8]) -> Result<Event, Refusal> {
    let refuse = |code, expected: &str| Refusal::of_record(code, &String::from_utf8_lossy(text), expected);
    // Another process may have written on behind the record.
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let Some(Ok(Value::Object(mut fields))) = values.next() else {
        return Err(refuse("row::not_json", "a JSON object after `:::MLLOG`"));
    };
    let Some(Value::String(key)) = fields.remove("key") else {
        return Err(refuse("row::missing_value", "a text `key`"));
    };
    let at = fields.get("time_ms").and_then(time);
    let at = at.ok_or_else(|| refuse("row::not_a_time", "`time_ms` in milliseconds since 1970"))?;
    let metadata = match fields.remove("metadata") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(metadata)) => metadata,
        Some(_) => return Err(refuse("row::not_an_object", "`metadata` as an object")),
    };
    Ok(Event { at, key, value: fields.remove("value").unwrap_or(Value::Null), metadata })
}

/// Whole milliseconds; some loggers write them with a fraction, which is cut.
fn time(value: &Value) -> Option<Timestamp> {
    let text = value.as_number()?.to_string();
    let whole = text.split_once('.').map_or(text.as_str(), |(whole, _)| whole);
    whole.parse::<i64>().ok()?.checked_mul(1_000).map(Timestamp)
}
