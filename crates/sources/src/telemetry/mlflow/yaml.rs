//! The part of YAML in which MLflow writes `meta.yaml`: names with plain or quoted text, nothing nested.

use std::collections::BTreeMap;

/// Names and texts of the first level. What is null, empty or nested is left out.
pub(super) fn flat(text: &str) -> BTreeMap<String, String> {
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        let continues = line.starts_with([' ', '\t']) && !line.trim().is_empty();
        if let (true, Some((_, value))) = (continues, open.as_mut()) {
            // Long text is folded at blanks. Below a name without text there are nested names, which are not read.
            if !value.is_empty() {
                value.push(' ');
                value.push_str(line.trim());
            }
            continue;
        }
        close(open.take(), &mut fields);
        if let Some((name, value)) = line.split_once(':')
            && !name.starts_with(['#', '-', ' '])
        {
            open = Some((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    close(open, &mut fields);
    fields
}

fn close(open: Option<(String, String)>, fields: &mut BTreeMap<String, String>) {
    let Some((name, value)) = open else { return };
    let quoted = |sign: char| value.strip_prefix(sign).and_then(|rest| rest.strip_suffix(sign));
    let text = if let Some(single) = quoted('\'') {
        single.replace("''", "'")
    } else if let Some(double) = quoted('"') {
        // A double-quoted text escapes as JSON does, but for signs that file names and ids do not have.
        serde_json::from_str(&value).unwrap_or_else(|_| double.to_owned())
    } else if matches!(value.as_str(), "null" | "~" | "[]" | "{}") {
        String::new()
    } else {
        value
    };
    if !text.is_empty() {
        fields.insert(name, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_quoted_and_folded_texts_are_read_and_nested_ones_are_not() {
        let text = "end_time: null\nexperiment_id: '13'\nname: it's \n\
                    schema: '{\"a\": 1, \"b\":\n  \"it''s\"}'\nshown: \"a\\tb\"\nstatus: 3\ntags:\n  x: y\nuri: s3://b/c\n";
        let fields = flat(text);
        let told: Vec<(&str, &str)> = fields.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let expected = [
            ("experiment_id", "13"),
            ("name", "it's"),
            ("schema", "{\"a\": 1, \"b\": \"it's\"}"),
            ("shown", "a\tb"),
            ("status", "3"),
            ("uri", "s3://b/c"),
        ];
        assert_eq!(told, expected);
    }
}
