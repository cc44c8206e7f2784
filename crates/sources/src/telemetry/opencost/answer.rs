//! The form of an answer: windows, each with its allocations by name, in the order in which they stand.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::SourceError;

/// The allocations of a window. A name that stands twice stays twice, so that no row is lost unseen.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) rows: Vec<(String, Value)>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    code: Option<u64>,
    message: Option<String>,
    #[serde(default)]
    data: Option<Vec<Option<Step>>>,
}

/// A list of windows may stand alone, as it does when it was cut out of its answer.
#[derive(Debug)]
enum Document {
    Answer(Answer),
    Steps(Vec<Option<Step>>),
}

/// The windows of all answers in a file.
///
/// # Errors
/// `opencost::not_json`, and `opencost::not_an_answer` where the API answered with an error.
pub(super) fn steps(bytes: &[u8], file: &str) -> Result<Vec<Step>, SourceError> {
    let mut steps = Vec::new();
    let is_list = bytes.first() == Some(&b'[');
    let documents: Box<dyn Iterator<Item = serde_json::Result<Document>>> = if is_list {
        let lists = serde_json::Deserializer::from_slice(bytes).into_iter();
        Box::new(lists.map(|list| list.map(Document::Steps)))
    } else {
        let answers = serde_json::Deserializer::from_slice(bytes).into_iter();
        Box::new(answers.map(|answer| answer.map(Document::Answer)))
    };
    for document in documents {
        match document.map_err(|error| not_json(file, &error))? {
            Document::Steps(list) => steps.extend(list.into_iter().map(Option::unwrap_or_default)),
            Document::Answer(Answer { code: None | Some(200), data: Some(data), .. }) => {
                steps.extend(data.into_iter().map(Option::unwrap_or_default));
            }
            Document::Answer(Answer { message, .. }) => {
                let found = message.unwrap_or_else(|| "an object without `data`".to_owned());
                return Err(not_an_answer(file, &found));
            }
        }
    }
    Ok(steps)
}

fn not_json(file: &str, error: &serde_json::Error) -> SourceError {
    SourceError::new("opencost::not_json", format!("the answer cannot be read: {error}"))
        .at(format!("{file}:{}", error.line()))
        .expected(
            "an answer of /allocation/compute: windows with allocations by name",
            "other JSON, or an end",
        )
        .help("save the whole answer, such as by `curl -o allocation.json`")
}

/// The error for a file that holds no allocations.
pub(super) fn not_an_answer(file: &str, found: &str) -> SourceError {
    SourceError::new("opencost::not_an_answer", "the file is no answer of the allocation API")
        .at(file)
        .expected("an object with `code` 200 and a list `data`", found)
        .help("query /allocation/compute with a window that the server has data of")
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Names)
    }
}

struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("allocations by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Step, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = map.next_entry()? {
            rows.push(row);
        }
        Ok(Step { rows })
    }
}
