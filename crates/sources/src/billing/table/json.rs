//! Flat JSON objects: written for tags and unmapped columns, and read from every text in which a map arrives.

use super::cell::Cell;
use crate::places::{Places, hash, same};

/// Appends a text as JSON with its quotes.
pub(in crate::billing) fn push_json_text(out: &mut String, text: &str) {
    use std::fmt::Write as _;
    out.push('"');
    // Not `any`: what looks at every byte looks at many of them at once.
    let odd = |b: u8| u8::from(b < 0x20) | u8::from(b == b'"') | u8::from(b == b'\\');
    if text.bytes().fold(0, |found, b| found | odd(b)) == 0 {
        out.push_str(text);
    } else {
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c < ' ' => {
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
    }
    out.push('"');
}

/// Pairs of key and value gathered for one object, in a buffer that is used again for the next row.
#[derive(Debug, Clone, Default)]
pub(in crate::billing) struct Pairs {
    text: String,
    /// Where a key starts, where it ends and its value starts, where the value ends.
    spans: Vec<(usize, usize, usize)>,
}

impl Pairs {
    /// Forgets all pairs.
    pub(in crate::billing) fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// True if these are the pairs, in the same order, that stood here when the other was cloned.
    fn is_same(&self, other: &Self) -> bool {
        self.spans == other.spans && same(self.text.as_bytes(), other.text.as_bytes())
    }

    /// True without pairs.
    pub(in crate::billing) const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds a pair; an empty key or value is no pair.
    pub(in crate::billing) fn push(&mut self, key: &str, value: Cell<'_>) {
        let start = self.text.len();
        self.text.push_str(key);
        let middle = self.text.len();
        value.write_to(&mut self.text);
        if start < middle && middle < self.text.len() {
            self.spans.push((start, middle, self.text.len()));
        } else {
            self.text.truncate(start);
        }
    }

    /// Adds a pair whose value may be empty.
    pub(in crate::billing) fn push_text(&mut self, key: &str, value: &str) {
        let start = self.text.len();
        self.text.push_str(key);
        self.text.push_str(value);
        self.spans.push((start, start + key.len(), self.text.len()));
    }

    /// True if there is a pair of this key.
    pub(in crate::billing) fn has(&self, key: &str) -> bool {
        self.spans.iter().any(|(start, middle, _)| self.text.get(*start..*middle) == Some(key))
    }

    /// Appends an object of the pairs, sorted by key; of a repeated key the last value stands.
    pub(in crate::billing) fn write_object(&mut self, out: &mut String) {
        let Self { text, spans } = self;
        let part = |from: usize, to: usize| text.get(from..to).unwrap_or("");
        // A stable sort keeps the order of repeated keys, so the last of them is the last that was given.
        spans.sort_by(|a, b| part(a.0, a.1).cmp(part(b.0, b.1)));
        out.push('{');
        let opened = out.len();
        for (position, (start, middle, end)) in spans.iter().enumerate() {
            let key = part(*start, *middle);
            if spans.get(position + 1).is_some_and(|next| part(next.0, next.1) == key) {
                continue;
            }
            if out.len() > opened {
                out.push(',');
            }
            push_json_text(out, key);
            out.push(':');
            push_json_text(out, part(*middle, *end));
        }
        out.push('}');
    }
}

/// Objects already written, by the pairs that they were made of: a bill has a few thousand sets of tags.
#[derive(Debug, Default)]
pub(in crate::billing) struct Written {
    known: Vec<(Pairs, String)>,
    places: Places,
}

/// Objects remembered, and the longest of them; past it each is written anew.
const REMEMBERED: usize = 10_000;
const REMEMBERED_BYTES: usize = 1024;

impl Written {
    /// Appends an object of the pairs as [`Pairs::write_object`] does.
    pub(in crate::billing) fn write_object(&mut self, pairs: &mut Pairs, out: &mut String) {
        let hash = hash(pairs.text.as_bytes());
        let entry = |key: i32| usize::try_from(key).ok().and_then(|key| self.known.get(key));
        let is = |key| entry(key).is_some_and(|(known, _)| known.is_same(pairs));
        if let Some((_, object)) = self.places.find(hash, is).and_then(entry) {
            out.push_str(object);
            return;
        }
        let (start, unsorted) = (out.len(), pairs.clone());
        pairs.write_object(out);
        let object = out.get(start..).unwrap_or("");
        if self.known.len() < REMEMBERED
            && object.len() <= REMEMBERED_BYTES
            && let Ok(key) = i32::try_from(self.known.len())
        {
            self.known.push((unsorted, object.to_owned()));
            self.places.add(hash, key);
        }
    }
}

/// Reads a map from text: a JSON object with or without its braces, `{'a': 'b', 'c': None}`, `[('a', 'b')]` or
/// `{a=b, c=d}`.
///
/// Calls back with every key and non-empty value; false if the text is no map.
pub(in crate::billing) fn read_map(text: &str, each: &mut dyn FnMut(&str, &str)) -> bool {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("null") || text == "{}" || text == "[]" {
        return true;
    }
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) {
        Ok(map) => {
            for (key, value) in &map {
                match value {
                    serde_json::Value::Null => {}
                    serde_json::Value::String(value) if value.is_empty() => {}
                    serde_json::Value::String(value) => each(key, value),
                    other => each(key, &other.to_string()),
                }
            }
            true
        }
        Err(_) if text.starts_with('"') => read_map(&format!("{{{text}}}"), each),
        Err(_) => read_loose_map(text, each),
    }
}

/// Reads the forms that are not JSON, as alternating keys and values between any brackets and separators.
fn read_loose_map(text: &str, each: &mut dyn FnMut(&str, &str)) -> bool {
    let inner = match (text.as_bytes().first(), text.as_bytes().last()) {
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) => text.get(1..text.len() - 1).unwrap_or(""),
        _ => return false,
    };
    let bare_pairs = !inner.contains(['\'', '"']) && inner.contains('=');
    if bare_pairs {
        return inner.split(", ").all(|pair| match pair.split_once('=') {
            Some((key, value)) => {
                call(key.trim(), value.trim(), each);
                true
            }
            None => false,
        });
    }
    let mut words = Words { rest: inner };
    while let Some(key) = words.next_word() {
        let Some(value) = words.next_word() else { return false };
        if value != "None" {
            call(&key, &value, each);
        }
    }
    words.rest.trim_matches([' ', ',', ')', '(']).is_empty()
}

fn call(key: &str, value: &str, each: &mut dyn FnMut(&str, &str)) {
    if !value.is_empty() && !key.is_empty() {
        each(key, value);
    }
}

/// The quoted and bare words of a text, brackets and separators skipped.
struct Words<'a> {
    rest: &'a str,
}

impl Words<'_> {
    fn next_word(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start_matches([' ', ',', ':', '(', ')', '{', '}']);
        let quote = self.rest.chars().next()?;
        if quote != '\'' && quote != '"' {
            let end = self.rest.find([',', ':', ')', '}']).unwrap_or(self.rest.len());
            let (word, rest) = self.rest.split_at_checked(end)?;
            self.rest = rest;
            return (!word.is_empty()).then(|| word.trim().to_owned());
        }
        let mut word = String::new();
        let mut escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            if escaped {
                word.push(if c == 'n' { '\n' } else { c });
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                self.rest = self.rest.get(at + 1..).unwrap_or("");
                return Some(word);
            } else {
                word.push(c);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<String> {
        let mut pairs = Pairs::default();
        let map = read_map(text, &mut |k, v| pairs.push(k, Cell::Text(v)));
        let mut out = String::new();
        pairs.write_object(&mut out);
        map.then_some(out)
    }

    #[test]
    fn a_map_is_read_from_every_text() {
        for text in [
            r#"{"user_b": "2", "user_a": "it's"}"#,
            r#"{'user_b': '2', 'user_a': "it's"}"#,
            r#"[('user_b', '2'), ('user_a', "it's")]"#,
        ] {
            assert_eq!(read(text).as_deref(), Some(r#"{"user_a":"it's","user_b":"2"}"#), "for {text}");
        }
        assert_eq!(read("{user_b=2, user_a=x:y}").as_deref(), Some(r#"{"user_a":"x:y","user_b":"2"}"#));
        assert_eq!(read("{'a': None, 'b': 3}").as_deref(), Some(r#"{"b":"3"}"#));
        assert_eq!(read(r#"{"a": 0.5, "b": null, "c": ""}"#).as_deref(), Some(r#"{"a":"0.5"}"#));
        assert_eq!(read("").as_deref(), Some("{}"));
        assert_eq!(read(r#""a": "1","b": "2""#).as_deref(), Some(r#"{"a":"1","b":"2"}"#));
        assert_eq!(read("team a"), None);
        assert_eq!(read(r#""team a""#), None);
        assert_eq!(read("{'a': 'b"), None);
    }

    #[test]
    fn text_is_escaped_and_the_last_of_a_repeated_key_stands() {
        let mut pairs = Pairs::default();
        for (key, value) in [("k", "1"), ("a\"\n", "\u{1}"), ("k", "2"), ("", "x"), ("y", "")] {
            pairs.push(key, Cell::Text(value));
        }
        let mut out = String::new();
        pairs.write_object(&mut out);
        assert_eq!(out, "{\"a\\\"\\n\":\"\\u0001\",\"k\":\"2\"}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(pairs in proptest::collection::btree_map(".{1,8}", ".{1,8}", 0..5)) {
            let (mut out, mut written) = (String::new(), Pairs::default());
            pairs.iter().for_each(|(key, value)| written.push(key, Cell::Text(value)));
            written.write_object(&mut out);
            let mut back = std::collections::BTreeMap::new();
            let is_map = read_map(&out, &mut |k, v| {
                back.insert(k.to_owned(), v.to_owned());
            });
            prop_assert!(is_map);
            prop_assert_eq!(back, pairs);
        }

        #[test]
        fn an_object_is_remembered_as_it_is_written(
            sets in proptest::collection::vec(proptest::collection::vec(("[ab]{1,2}", "[ab]{1,2}"), 1..3), 1..60),
        ) {
            let (mut pairs, mut memory) = (Pairs::default(), Written::default());
            for set in sets {
                let gather = |pairs: &mut Pairs| {
                    pairs.clear();
                    set.iter().for_each(|(key, value)| pairs.push(key, Cell::Text(value)));
                };
                let (mut plain, mut remembered) = (String::new(), String::new());
                gather(&mut pairs);
                pairs.write_object(&mut plain);
                gather(&mut pairs);
                memory.write_object(&mut pairs, &mut remembered);
                prop_assert_eq!(plain, remembered);
            }
        }

        #[test]
        fn any_text_is_a_map_or_not_without_panic(text in "[{\\[]?.{0,40}[}\\]]?") {
            read_map(&text, &mut |_, _| {});
        }
    }
}
