//! What the program marks of its run: lines that it adds to the file named by `TRAINBILL_MARKS`.
//!
//! ```text
//! phase train
//! metric val_acc=0.781 step=4000 split=val direction=maximise protocol=top1-v2 final=true
//! checkpoint step=4000 uri=s3://ckpt/vitl/4000 bytes=5368709120 started=2026-07-01T09:59:00Z durable=true
//! ```
//!
//! Words that are not named here are passed over. A line may begin with its time, such as `2026-07-01T10:00:00Z`; without
//! one it is that at which the line was seen, at most a second later. Nothing is read from the program's output.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use ledger::Timestamp;
use serde_json::{Value, json};

/// Bytes read at once; a program that writes faster is read again in the next second.
const AT_ONCE: u64 = 1 << 20;

/// Longest line, in bytes.
const MAX_LINE: usize = 64 * 1024;

/// Which way of a metric is better.
const DIRECTIONS: [&str; 4] = ["maximise", "minimise", "maximize", "minimize"];

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
    /// True inside of a line that is too long.
    skips: bool,
    refused: u64,
}

impl Marks {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self { path, read: 0, rest: Vec::new(), skips: false, refused: 0 }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lines that said nothing that is known.
    pub(crate) const fn refused(&self) -> u64 {
        self.refused
    }

    /// Whole lines that were added since, each with its time; `now` is that of lines without one.
    pub(crate) fn next(&mut self, now: Timestamp) -> Vec<(Timestamp, Mark)> {
        // Without a file nothing was marked yet.
        let _ = self.read_more();
        self.lines(now)
    }

    /// All that is left once the program has ended, a part at a time; the last line may lack its line feed.
    pub(crate) fn last(&mut self, now: Timestamp) -> Option<Vec<(Timestamp, Mark)>> {
        if self.read_more().is_ok_and(|read| read > 0) {
            return Some(self.lines(now));
        }
        let rest = std::mem::take(&mut self.rest);
        (!rest.is_empty() || self.skips).then(|| self.line(&rest, now).into_iter().collect())
    }

    fn lines(&mut self, now: Timestamp) -> Vec<(Timestamp, Mark)> {
        let mut found = Vec::new();
        let mut rest = std::mem::take(&mut self.rest);
        let mut from = 0;
        while let Some(length) = rest.iter().skip(from).position(|byte| *byte == b'\n') {
            found.extend(self.line(rest.get(from..from + length).unwrap_or_default(), now));
            from += length + 1;
        }
        rest.drain(..from);
        if rest.len() > MAX_LINE {
            self.skips = true;
            rest.clear();
        }
        self.rest = rest;
        found
    }

    fn line(&mut self, line: &[u8], now: Timestamp) -> Option<(Timestamp, Mark)> {
        if line.trim_ascii().is_empty() && !self.skips {
            return None;
        }
        let is_whole = !std::mem::take(&mut self.skips) && line.len() <= MAX_LINE;
        let mark = is_whole.then(|| mark(&String::from_utf8_lossy(line), now)).flatten();
        self.refused += u64::from(mark.is_none());
        mark
    }

    /// The bytes read.
    fn read_more(&mut self) -> std::io::Result<u64> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let before = self.rest.len();
        let read = file.take(AT_ONCE).read_to_end(&mut self.rest);
        let more = (self.rest.len() - before) as u64;
        self.read += more;
        read.map(|_| more)
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
    let at = time.unwrap_or(now);
    let mark = match kind {
        "phase" => Mark::Phase((*words.first()?).to_owned()),
        "checkpoint" => Mark::Facet("gpuRun_checkpoint", checkpoint(&words, at)),
        "metric" => Mark::Facet("gpuRun_quality", metric(&words)?),
        _ => return None,
    };
    Some((at, mark))
}

fn pair<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn parsed<T: std::str::FromStr>(words: &[&str], name: &str) -> Option<T> {
    pair(words, name).and_then(|text| text.parse().ok())
}

fn checkpoint(words: &[&str], at: Timestamp) -> Value {
    without_nulls(json!({
        "step": parsed::<u64>(words, "step"),
        "bytes": parsed::<u64>(words, "bytes"),
        "uri": pair(words, "uri"),
        "durable": parsed::<bool>(words, "durable"),
        "startedAt": pair(words, "started").and_then(instant).map(|time| time.to_string()),
        "completedAt": at.to_string(),
    }))
}

fn metric(words: &[&str]) -> Option<Value> {
    let (metric, value) = words.first()?.split_once('=')?;
    let value = value.parse::<f64>().ok().filter(|_| !metric.is_empty())?;
    // JSON has no such numbers; their text is what the reader takes.
    let value = if value.is_finite() { json!(value) } else { json!(value.to_string()) };
    // The reader refuses other words, and with them the whole value.
    let direction = pair(words, "direction");
    let direction = direction.filter(|word| DIRECTIONS.contains(word));
    Some(without_nulls(json!({
        "metric": metric,
        "value": value,
        "step": parsed::<u64>(words, "step"),
        "split": pair(words, "split"),
        "direction": direction,
        "protocol": pair(words, "protocol"),
        "isFinal": parsed::<bool>(words, "final"),
    })))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_mark_or_counted_however_it_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks");
        let long = "x".repeat(3 << 20);
        let text = format!("phase train\n\nnonsense\n{long}\nmetric loss=0.5\nmetric =1\ncheckpoint");
        std::fs::write(&path, &text).unwrap();
        let mut marks = Marks::new(path);
        let mut found = marks.next(Timestamp(7));
        while let Some(more) = marks.last(Timestamp(7)) {
            found.extend(more);
        }
        let facet = |name, value| (Timestamp(7), Mark::Facet(name, value));
        assert_eq!(
            found,
            [
                (Timestamp(7), Mark::Phase("train".to_owned())),
                facet("gpuRun_quality", json!({"metric": "loss", "value": 0.5})),
                facet("gpuRun_checkpoint", json!({"completedAt": "1970-01-01T00:00:00.000007Z"})),
            ]
        );
        assert_eq!(marks.refused(), 3, "nonsense, the long line, and a metric without a name");
    }

    #[test]
    fn words_of_a_mark_are_read_by_name() {
        let read = |line: &str| mark(line, Timestamp(0)).unwrap();
        let at = Timestamp::from_seconds(1_782_900_000);
        let whole =
            format!("{at} metric acc=NaN step=4 split=val direction=maximise protocol=p final=true new=1");
        let told = json!({"metric": "acc", "value": "NaN", "step": 4, "split": "val", "direction": "maximise",
            "protocol": "p", "isFinal": true});
        assert_eq!(read(&whole), (at, Mark::Facet("gpuRun_quality", told)));
        let told = json!({"metric": "acc", "value": 1.0});
        assert_eq!(read("metric acc=1 step=-1 direction=up").1, Mark::Facet("gpuRun_quality", told));
        let told = json!({"step": 4, "bytes": 9, "uri": "s3://b/4", "durable": false,
            "startedAt": "2026-07-01T09:59:00Z", "completedAt": at.to_string()});
        let line = "checkpoint step=4 uri=s3://b/4 bytes=9 durable=false started=2026-07-01T09:59:00Z";
        assert_eq!(read(&format!("{at} {line}")).1, Mark::Facet("gpuRun_checkpoint", told));
    }
}
