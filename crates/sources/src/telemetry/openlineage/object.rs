//! A JSON object with its path, so that a refusal names the field that is to blame.

use ledger::Timestamp;
use serde_json::{Map, Value};

use crate::telemetry::attempts::{Refusal, thousandths};
use crate::time::TimeFault;
use crate::{Zone, instant};

/// An object inside an event.
#[derive(Debug, Clone)]
pub(in crate::telemetry) struct Object<'a> {
    fields: &'a Map<String, Value>,
    path: String,
}

impl<'a> Object<'a> {
    /// The event itself.
    pub(in crate::telemetry) const fn root(fields: &'a Map<String, Value>) -> Self {
        Self { fields, path: String::new() }
    }

    /// A field that is there and not null.
    pub(in crate::telemetry) fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// True for a field that is there and not null.
    pub(in crate::telemetry) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// True for a field that is there, if only as null.
    pub(in crate::telemetry) fn is_told(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The names of all fields.
    pub(in crate::telemetry) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.fields.keys().map(String::as_str)
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A refusal of the value of a field.
    pub(in crate::telemetry) fn refuse(&self, code: &'static str, name: &str, expected: &str) -> Refusal {
        let found =
            self.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        Refusal::new(code, &self.path_of(name), &found.unwrap_or_default(), expected)
    }

    /// Text; empty text is no text.
    pub(in crate::telemetry) fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.refuse("row::not_a_text", name, "text")),
        }
    }

    pub(in crate::telemetry) fn owned(&self, name: &str) -> Result<Option<String>, Refusal> {
        Ok(self.text(name)?.map(str::to_owned))
    }

    pub(in crate::telemetry) fn required(&self, name: &str) -> Result<&'a str, Refusal> {
        self.text(name)?.ok_or_else(|| self.refuse("row::missing_value", name, "text"))
    }

    /// A word of a closed set.
    pub(in crate::telemetry) fn word<T>(
        &self,
        name: &str,
        from_word: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let word = from_word(&text.to_lowercase().replace('-', "_"));
        word.map(Some)
            .ok_or_else(|| self.refuse("row::unknown_word", name, "one of the words in the reference"))
    }

    /// An instant, which must carry an offset.
    pub(in crate::telemetry) fn time(&self, name: &str) -> Result<Option<Timestamp>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let fault = match instant(text, &Zone::Undeclared) {
            Ok(stamp) => return Ok(Some(stamp)),
            Err(fault) => fault,
        };
        let code = match fault {
            TimeFault::NoZone => "openlineage::no_time_zone",
            TimeFault::NotATime | TimeFault::Ambiguous => "row::not_a_time",
        };
        Err(self.refuse(code, name, "a time with an offset, such as 2026-07-01T10:00:00Z"))
    }

    pub(in crate::telemetry) fn required_time(&self, name: &str) -> Result<Timestamp, Refusal> {
        self.time(name)?.ok_or_else(|| self.refuse("row::missing_value", name, "a time with an offset"))
    }

    pub(in crate::telemetry) fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let whole = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        whole.map(Some).ok_or_else(|| self.refuse("row::not_a_number", name, "a whole number"))
    }

    pub(in crate::telemetry) fn small_count(&self, name: &str) -> Result<Option<u32>, Refusal> {
        let Some(count) = self.count(name)? else { return Ok(None) };
        u32::try_from(count).map(Some).map_err(|_| self.refuse("row::not_a_number", name, "a smaller number"))
    }

    /// A count in thousandths.
    pub(in crate::telemetry) fn thousandths(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        thousandths(&text)
            .map(Some)
            .ok_or_else(|| self.refuse("row::not_a_count", name, "a number such as 8 or 0.5"))
    }

    pub(in crate::telemetry) fn exit_code(&self, name: &str) -> Result<Option<i32>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let code = value.as_i64().and_then(|code| i32::try_from(code).ok());
        code.map(Some).ok_or_else(|| self.refuse("row::not_a_number", name, "a whole number"))
    }

    /// A number, which trackers also write as text: `"NaN"`, `"inf"`.
    pub(in crate::telemetry) fn number(&self, name: &str) -> Result<f64, Refusal> {
        let Some(value) = self.get(name) else {
            return Err(self.refuse("row::missing_value", name, "a number"));
        };
        let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        number.ok_or_else(|| self.refuse("row::not_a_number", name, "a number, \"NaN\" or \"inf\""))
    }

    pub(in crate::telemetry) fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.refuse("row::not_a_boolean", name, "true or false")),
        }
    }

    /// A list of text.
    pub(in crate::telemetry) fn texts(&self, name: &str) -> Result<Vec<String>, Refusal> {
        let refuse = || self.refuse("row::not_a_text", name, "a list of text");
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let Value::Array(parts) = value else { return Err(refuse()) };
        parts.iter().map(|part| part.as_str().map(str::to_owned).ok_or_else(refuse)).collect()
    }

    pub(in crate::telemetry) fn object(&self, name: &str) -> Result<Option<Self>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(Self { fields, path: self.path_of(name) })),
            Some(_) => Err(self.refuse("row::not_an_object", name, "an object")),
        }
    }

    /// A list of objects.
    pub(in crate::telemetry) fn objects(&self, name: &str) -> Result<Vec<Self>, Refusal> {
        let refuse = || self.refuse("row::not_an_object", name, "a list of objects");
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let Value::Array(parts) = value else { return Err(refuse()) };
        let element = |(index, part): (usize, &'a Value)| match part {
            Value::Object(fields) => Ok(Self { fields, path: format!("{}[{index}]", self.path_of(name)) }),
            _ => Err(refuse()),
        };
        parts.iter().enumerate().map(element).collect()
    }

    /// The object at the end of a path of objects, or `None` if the path breaks off.
    pub(in crate::telemetry) fn at(&self, path: &[&str]) -> Result<Option<Self>, Refusal> {
        let mut here = self.clone();
        for name in path {
            let Some(next) = here.object(name)? else { return Ok(None) };
            here = next;
        }
        Ok(Some(here))
    }
}
