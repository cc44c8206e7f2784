//! What the program marks of its run: lines that it adds to the file named by `TRAINBILL_MARKS`.
//!
//! ```text
//! phase train
//! metric val_acc=0.781 step=4000 split=val
//! checkpoint step=4000 uri=s3://ckpt/vitl/4000 bytes=5368709120
//! ```
//!
//! A line may begin with its time, such as `2026-07-01T10:00:00Z`; without one it is that at which the line was seen, at
//! most a second later. Nothing is read from the program's output.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use ledger::Timestamp;
use serde_json::{Value, json};

/// Bytes read at once; a program that writes faster is read again in the next second.
const AT_ONCE: u64 = 1 << 20;

/// Something that the program said of itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// A phase begins.
    Phase(String),
    /// A facet of an event of its own.
    Facet(&'static str, Value),
}

/// The marks file, read as it grows.
#[derive(Debug)]
pub(crate) struct Marks {
    path: PathBuf,
    read: u64,
    rest: Vec<u8>,
}

impl Marks {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self { path, read: 0, rest: Vec::new() }
    }

    /// Whole lines that were added since, each with its time; `now` is that of lines without one. At the end the last line
    /// may lack its line feed.
    pub(crate) fn next(&mut self, now: Timestamp, at_end: bool) -> Vec<(Timestamp, Mark)> {
        let _ = self.read_more();
        let mut found = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            found.extend(mark(&String::from_utf8_lossy(&line), now));
        }
        if at_end {
            found.extend(mark(&String::from_utf8_lossy(&self.rest), now));
            self.rest.clear();
        }
        found
    }

    fn read_more(&mut self) -> std::io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let before = self.rest.len();
        file.take(AT_ONCE).read_to_end(&mut self.rest)?;
        self.read += (self.rest.len() - before) as u64;
        Ok(())
    }

    /// Lets go of the file once all of it is in the record.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What a line says; nothing, if it says nothing that is known.
fn mark(line: &str, now: Timestamp) -> Option<(Timestamp, Mark)> {
    let mut words = line.split_whitespace().peekable();
    let time = words.peek().and_then(|word| instant(word));
    if time.is_some() {
        words.next();
    }
    let kind = words.next()?;
    let words: Vec<&str> = words.collect();
    let pair = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let whole = |name: &str| pair(name).and_then(|text| text.parse::<u64>().ok());
    let mark = match kind {
        "phase" => Mark::Phase((*words.first()?).to_owned()),
        "checkpoint" => Mark::Facet(
            "gpuRun_checkpoint",
            without_nulls(json!({
                "step": whole("step"), "bytes": whole("bytes"), "uri": pair("uri"),
                "completedAt": time.unwrap_or(now).to_string(),
            })),
        ),
        "metric" => {
            let (metric, value) = words.first()?.split_once('=')?;
            let value = value.parse::<f64>().ok()?;
            // JSON has no such numbers; their text is what the reader takes.
            let value = if value.is_finite() { json!(value) } else { json!(value.to_string()) };
            Mark::Facet(
                "gpuRun_quality",
                without_nulls(json!({
                    "metric": metric, "value": value, "step": whole("step"), "split": pair("split"),
                    "direction": pair("direction"),
                })),
            )
        }
        _ => return None,
    };
    Some((time.unwrap_or(now), mark))
}

fn instant(word: &str) -> Option<Timestamp> {
    word.parse::<jiff::Timestamp>().ok().map(|time| Timestamp(time.as_microsecond()))
}

/// The object without the fields that nobody told.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
        }
        other => other,
    }
}
