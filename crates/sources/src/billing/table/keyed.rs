//! Members of JSON objects whose keys are the names of columns.

use super::json::push_json_text;

/// A column whose values are written into a JSON object.
#[derive(Debug, Clone)]
pub(in crate::billing) struct Keyed {
    /// Position in the file.
    pub(in crate::billing) column: usize,
    /// The key as JSON text with its quotes and colon.
    pub(in crate::billing) json_key: String,
    /// The key.
    pub(in crate::billing) key: String,
    /// True for inputs of a computation, which are written only where they are not zero.
    pub(in crate::billing) skip_zero: bool,
    /// True for a map, which is written as an object.
    pub(in crate::billing) map: bool,
}

impl Keyed {
    /// A column under its key.
    pub(in crate::billing) fn new(column: usize, key: &str, skip_zero: bool, map: bool) -> Self {
        let mut json_key = String::with_capacity(key.len() + 3);
        push_json_text(&mut json_key, key);
        json_key.push(':');
        Self { column, json_key, key: key.to_owned(), skip_zero, map }
    }
}

/// Opens a member of an object, and the object with its first member.
pub(in crate::billing) fn push_key(out: &mut String, keyed: &Keyed) {
    out.push(if out.is_empty() { '{' } else { ',' });
    out.push_str(&keyed.json_key);
}

/// Adds a member whose value is a text.
pub(in crate::billing) fn push_member(out: &mut String, keyed: &Keyed, value: &str) {
    push_key(out, keyed);
    push_json_text(out, value);
}

/// Closes an object that was opened.
pub(in crate::billing) fn close(out: &mut String) {
    if !out.is_empty() {
        out.push('}');
    }
}
