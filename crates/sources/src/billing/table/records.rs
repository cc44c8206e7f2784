//! Lists of records in text: JSON, or the notation of Python in which data frames are written to CSV.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::cell::Cell;

/// The members of a JSON object in order, their values still as text, so that no number goes through a float.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

/// A value of a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leaf<'a> {
    /// No value, an empty text included.
    Null,
    /// A text without its quotes, a number as it is written, or a truth value.
    Text(Cow<'a, str>),
    /// An object, as JSON.
    Object(&'a str),
    /// An array, as JSON.
    Array(&'a str),
}

impl<'a> Leaf<'a> {
    /// The value of a member.
    pub(super) fn of(raw: &'a RawValue) -> Self {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'"') => {
                let inner = text.get(1..text.len() - 1).unwrap_or("");
                if inner.is_empty() {
                    Leaf::Null
                } else if inner.contains('\\') {
                    // Half of a surrogate pair is no text; it stays as it is written.
                    let written = Cow::Borrowed(inner);
                    Leaf::Text(serde_json::from_str(text).map_or(written, Cow::Owned))
                } else {
                    Leaf::Text(Cow::Borrowed(inner))
                }
            }
            Some(b'n') | None => Leaf::Null,
            Some(b'{') => Leaf::Object(text),
            Some(b'[') => Leaf::Array(text),
            Some(_) => Leaf::Text(Cow::Borrowed(text)),
        }
    }

    /// The value as text; what is nested stays JSON.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Leaf::Null => None,
            Leaf::Text(text) => Some(text),
            Leaf::Object(text) | Leaf::Array(text) => Some(text),
        }
    }
}

/// The members of a JSON object, or `None` if the text is no object.
pub(super) fn members(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}

/// Reads a list of records, or one record alone, from text.
///
/// Calls back with the position of the record, the name of a field and its value where there is one; false, before any
/// call, if the text holds no records.
pub(in crate::billing) fn read_records(text: &str, each: &mut dyn FnMut(usize, &str, Cell<'_>)) -> bool {
    let text = text.trim();
    if matches!(text, "" | "null" | "None" | "[]" | "{}") {
        return true;
    }
    if let Some(records) = parsed(text) {
        show(&records, each);
        return true;
    }
    let Some(json) = json_of_python(text) else { return false };
    let Some(records) = parsed(&json) else { return false };
    show(&records, each);
    true
}

fn parsed(text: &str) -> Option<Vec<Option<Members<'_>>>> {
    match text.as_bytes().first() {
        Some(b'{') => members(text).map(|record| vec![Some(record)]),
        Some(b'[') => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn show(records: &[Option<Members<'_>>], each: &mut dyn FnMut(usize, &str, Cell<'_>)) {
    for (position, record) in records.iter().enumerate() {
        for (key, raw) in record.iter().flat_map(|record| &record.0) {
            if let Some(text) = Leaf::of(raw).text() {
                each(position, key, Cell::Text(text));
            }
        }
    }
}

/// JSON of a Python literal: quotes of either kind, `None`, `True`, `False`, and `Decimal('…')` for its text.
///
/// Everything else is left as it is, so a text that is no such literal does not become JSON.
fn json_of_python(text: &str) -> Option<String> {
    let mut json = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut open_decimals = 0_u32;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '\'' | '"') {
            rest = quoted(rest.get(1..)?, c, &mut json)?;
            continue;
        }
        if c.is_ascii_alphabetic() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let (word, after) = rest.split_at_checked(end)?;
            rest = after;
            match word {
                "None" => json.push_str("null"),
                "True" => json.push_str("true"),
                "False" => json.push_str("false"),
                "Decimal" => {
                    rest = after.strip_prefix('(')?;
                    open_decimals += 1;
                }
                other => json.push_str(other),
            }
            continue;
        }
        if c == ')' {
            open_decimals = open_decimals.checked_sub(1)?;
        } else if c.is_ascii_digit() || c == '.' || c == '-' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '+'));
            let (number, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
            json.push_str(number);
            rest = after;
            continue;
        } else {
            json.push(c);
        }
        rest = rest.get(c.len_utf8()..)?;
    }
    (open_decimals == 0).then_some(json)
}

/// Appends a Python text as JSON and gives what follows its closing quote.
fn quoted<'a>(text: &'a str, quote: char, json: &mut String) -> Option<&'a str> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            super::json::push_json_text(json, &value);
            return text.get(at + 1..);
        }
        if c != '\\' {
            value.push(c);
            continue;
        }
        let digits = match chars.next()?.1 {
            'n' => {
                value.push('\n');
                continue;
            }
            'r' => {
                value.push('\r');
                continue;
            }
            't' => {
                value.push('\t');
                continue;
            }
            'x' => 2,
            'u' => 4,
            'U' => 8,
            other => {
                value.push(other);
                continue;
            }
        };
        let mut code = 0_u32;
        for _ in 0..digits {
            code = code.checked_mul(16)?.checked_add(chars.next()?.1.to_digit(16)?)?;
        }
        value.push(char::from_u32(code)?);
    }
    None
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            members.push((key.0, map.next_value()?));
        }
        Ok(members)
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(KeyVisitor).map(Key)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<String> {
        let mut shown = String::new();
        let mut scratch = String::new();
        let mut note = |at: usize, name: &str, value: Cell<'_>| {
            let value = value.text(&mut scratch).unwrap_or("").to_owned();
            shown.push_str(&format!("{at}.{name}={value};"));
        };
        read_records(text, &mut note).then_some(shown)
    }

    #[test]
    fn records_are_read_from_json_and_from_python() {
        for text in [
            r#"[{"name": "it's", "full_name": null, "amount": -5e-06}, {"amount": "1.50", "on": true}]"#,
            r#"[{'name': "it's", 'full_name': None, 'amount': -5e-06}, {'amount': '1.50', 'on': True}]"#,
            r#"[{'name': 'it\'s', 'full_name': '', 'amount': -5e-06}, {'amount': Decimal('1.50'), 'on': True}]"#,
        ] {
            let expect = "0.name=it's;0.amount=-5e-06;1.amount=1.50;1.on=true;";
            assert_eq!(read(text).as_deref(), Some(expect), "for {text}");
        }
        assert_eq!(read(r#"{"a": {"b": 1}, "c": [2]}"#).as_deref(), Some(r#"0.a={"b": 1};0.c=[2];"#));
        assert_eq!(read(r"[{'a': '\xe9\u00e9\n'}]").as_deref(), Some("0.a=éé\n;"));
        for nothing in ["", "[]", "{}", "null", "[{}]", "[null]", "[{'a': None}]"] {
            assert_eq!(read(nothing).as_deref(), Some(""), "for {nothing}");
        }
    }

    #[test]
    fn a_number_keeps_every_digit() {
        let text = r#"[{"amount": 0.123456789012345678901234}]"#;
        assert_eq!(read(text).as_deref(), Some("0.amount=0.123456789012345678901234;"));
    }

    #[test]
    fn what_holds_no_records_is_told() {
        for text in
            ["free trial", "[1]", "['a']", "[{'a': 'b'}", "{'a'}", "[{'a': nan}]", "[{'a': Decimal('1'}]"]
        {
            assert_eq!(read(text), None, "for {text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_holds_records_or_not_without_panic(text in "[{\\[]?.{0,40}[}\\]]?") {
            read_records(&text, &mut |_, _, _| {});
        }

        #[test]
        fn python_says_what_json_says(key in "[a-z]{1,6}", value in "[^\\\\'\u{0}-\u{1f}]{1,12}", amount in any::<i64>()) {
            let python = format!("[{{'{key}': '{value}', 'amount': {amount}}}]");
            let expect = format!("0.{key}={value};0.amount={amount};");
            prop_assert_eq!(read(&python), Some(expect));
        }
    }
}
