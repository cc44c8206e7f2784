//! JSON of `sacct --json` and `slurmrestd`, record by record, in the shapes of every version from 22.05 on.

use std::fmt;
use std::io::BufRead;

use ledger::Timestamp;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::Import;
use super::fault::{Fault, Refusal, epoch_time};
use super::instance::{self, Instance};
use super::record::{Job, Record, Step};
use super::tres::{MEBIBYTE, Tres};
use crate::SourceError;

/// Reads a whole file.
pub(super) fn read(input: Box<dyn BufRead + '_>, import: &mut Import<'_>) -> Result<(), SourceError> {
    let mut reading = Reading { import, found: false, stop: None };
    let mut source = serde_json::Deserializer::from_reader(input);
    let outcome = Answer(&mut reading).deserialize(&mut source).and_then(|()| source.end());
    let (found, stop) = (reading.found, reading.stop.take());
    if let Some(stop) = stop {
        return Err(stop);
    }
    outcome.map_err(|error| {
        SourceError::new("slurm::not_json", format!("the file starts as JSON but is not: {error}"))
            .at(format!("{}:{}", import.file, error.line()))
            .help("export again; an interrupted export ends in the middle")
    })?;
    if found {
        return Ok(());
    }
    Err(SourceError::new("slurm::unknown_answer", "the JSON has neither `jobs` nor `instances`")
        .at(&import.file)
        .help("export with `sacct -a -D -S 2026-11-01 -E now --json`, or ask slurmrestd for /slurmdb/<version>/jobs"))
}

struct Reading<'i, 'o> {
    import: &'i mut Import<'o>,
    /// True once a list of records was seen.
    found: bool,
    /// The error that ended the import.
    stop: Option<SourceError>,
}

/// The lists of records in an answer.
#[derive(Clone, Copy)]
enum List {
    Jobs,
    Instances,
}

/// The object around the records.
struct Answer<'r, 'i, 'o>(&'r mut Reading<'i, 'o>);

impl<'de> DeserializeSeed<'de> for Answer<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Answer<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `jobs` or `instances`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let list = match key.as_str() {
                "jobs" => List::Jobs,
                "instances" => List::Instances,
                "errors" => {
                    let errors = map.next_value::<Value>()?.as_array().map_or(0, Vec::len);
                    self.0.import.history.answer_errors += u64::try_from(errors).unwrap_or(u64::MAX);
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            self.0.found = true;
            map.next_value_seed(Rows { reading: &mut *self.0, list })?;
        }
        Ok(())
    }
}

/// A list of records, of which one at a time is in memory.
struct Rows<'r, 'i, 'o> {
    reading: &'r mut Reading<'i, 'o>,
    list: List,
}

impl<'de> DeserializeSeed<'de> for Rows<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(value) = rows.next_element::<Value>()? {
            number += 1;
            let import = &mut *self.reading.import;
            let outcome = match self.list {
                List::Jobs => record(&value, import).and_then(|record| import.take(&record)),
                List::Instances => instance_row(&value, import),
            };
            if let Err(error) = import.settle(number, outcome) {
                self.reading.stop = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

fn instance_row(row: &Value, import: &mut Import<'_>) -> Result<(), Fault> {
    let observation = instance::observation(Instance {
        cluster: import.cluster(text(row, "/cluster"))?,
        node_name: text(row, "/node_name").unwrap_or_default(),
        start: time(row, "/time/time_start")?,
        end: time(row, "/time/time_end")?,
        instance_id: text(row, "/instance_id").unwrap_or_default(),
        instance_type: text(row, "/instance_type").unwrap_or_default(),
        extra: text(row, "/extra").unwrap_or_default(),
    })?;
    import.read.observations.push(observation);
    Ok(())
}

fn record(job: &Value, import: &Import<'_>) -> Result<Record, Fault> {
    let submit = time(job, "/time/submission")?;
    let submit =
        submit.ok_or_else(|| Refusal::new("slurm::not_a_time", "time.submission", "", "an epoch"))?;
    let whole_u32 = |path| whole_at(job, path).and_then(|count| u32::try_from(count).ok());
    let signal =
        whole_at(job, "/exit_code/signal/id").or_else(|| whole_at(job, "/exit_code/signal/signal_id"));
    let steps = job.get("steps").and_then(Value::as_array);
    Ok(Record {
        cluster: import.cluster(text(job, "/cluster").or_else(|| text(job, "/association/cluster")))?,
        job: names(job)?,
        submit,
        eligible: time(job, "/time/eligible")?,
        start: time(job, "/time/start")?,
        end: time(job, "/time/end")?,
        elapsed_seconds: whole_at(job, "/time/elapsed").and_then(|seconds| u64::try_from(seconds).ok()),
        state: words(job.pointer("/state/current")),
        cancelled_by: some(job, "/kill_request_user"),
        reason: some(job, "/state/reason"),
        failed_node: some(job, "/failed_node"),
        exit_code: whole_at(job, "/exit_code/return_code").and_then(|code| i32::try_from(code).ok()),
        exit_signal: signal.and_then(|signal| u32::try_from(signal).ok()).filter(|signal| *signal != 0),
        restarts: whole_u32("/restart_cnt"),
        allocated: tres(job, "/tres/allocated")?,
        requested: tres(job, "/tres/requested")?,
        cpus: None,
        node_list: text(job, "/nodes").unwrap_or_default().to_owned(),
        node_count: whole_u32("/allocation_nodes"),
        sluid: some(job, "/sluid"),
        db_index: None,
        name: some(job, "/name"),
        user: some(job, "/association/user").or_else(|| some(job, "/user")),
        account: some(job, "/account"),
        partition: some(job, "/partition"),
        extra: some(job, "/extra"),
        comment: some(job, "/comment/job"),
        admin_comment: some(job, "/comment/administrator"),
        steps: steps.into_iter().flatten().map(step).collect(),
    })
}

/// The names of a job, shown as the text form shows them.
fn names(job: &Value) -> Result<Job, Refusal> {
    let positive = |path| whole_at(job, path).filter(|number| *number > 0);
    let Some(id) = positive("/job_id") else {
        return Err(Refusal::new(
            "slurm::not_a_job_id",
            "job_id",
            text(job, "/job_id").unwrap_or_default(),
            "a job id",
        ));
    };
    let mut names = Job { id: id.to_string(), ..Job::default() };
    if let Some(array) = positive("/array/job_id") {
        match (whole_at(job, "/array/task_id"), text(job, "/array/task").filter(|tasks| !tasks.is_empty())) {
            (Some(task), _) => names.shown = Some(format!("{array}_{task}")),
            (None, Some(tasks)) => {
                names.shown = Some(format!("{array}_[{tasks}]"));
                names.range = true;
            }
            (None, None) => {}
        }
    }
    if let Some(leader) = positive("/het/job_id") {
        names.leader = Some(leader.to_string());
        names.shown = whole_at(job, "/het/job_offset").map(|offset| format!("{leader}+{offset}"));
    }
    Ok(names)
}

fn step(step: &Value) -> Step {
    let id = step.pointer("/step/id");
    let name =
        id.and_then(Value::as_str).map(|id| id.rsplit_once('.').map_or(id, |(_, name)| name).to_owned());
    let name = name.or_else(|| id.and_then(whole).map(|number| number.to_string())).unwrap_or_default();
    let held = step.pointer("/tres/requested/max").and_then(Value::as_array).into_iter().flatten();
    let mut memory = held.filter(|held| text(held, "/type") == Some("mem"));
    let state = words(step.get("state"));
    let ended_as = |word: &str| state.iter().any(|told| told == word);
    Step {
        name,
        max_rss: memory
            .next()
            .and_then(|held| whole_at(held, "/count"))
            .and_then(|bytes| u64::try_from(bytes).ok()),
        out_of_memory: ended_as("OUT_OF_MEMORY"),
        failed: ended_as("FAILED"),
    }
}

/// A list of `{type, name, count}`; a count below 0 is no data.
fn tres(job: &Value, path: &str) -> Result<Tres, Refusal> {
    let mut tres = Tres::default();
    for item in job.pointer(path).and_then(Value::as_array).into_iter().flatten() {
        let Some(count) = whole_at(item, "/count").and_then(|count| u64::try_from(count).ok()) else {
            continue;
        };
        match (text(item, "/type"), text(item, "/name")) {
            (Some("mem"), _) => tres.memory = count.checked_mul(MEBIBYTE),
            (Some("cpu"), _) => tres.count("cpu", count, path)?,
            (Some("gres"), Some(name)) if name == "gpu" || name.starts_with("gpu:") => {
                tres.count(&format!("gres/{name}"), count, path)?;
            }
            _ => {}
        }
    }
    Ok(tres)
}

/// State words: a string of 22.05, a list later on.
fn words(state: Option<&Value>) -> Vec<String> {
    let one = state.and_then(Value::as_str).into_iter();
    let many = state.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    one.chain(many).map(str::to_ascii_uppercase).collect()
}

/// A whole number, plain or as `{set, infinite, number}`; nothing where it is not set.
fn whole(value: &Value) -> Option<i64> {
    let Value::Object(number) = value else { return value.as_i64() };
    let is = |key: &str| number.get(key).and_then(Value::as_bool);
    if is("set") == Some(false) || is("infinite") == Some(true) {
        return None;
    }
    number.get("number").and_then(Value::as_i64)
}

fn whole_at(value: &Value, path: &str) -> Option<i64> {
    value.pointer(path).and_then(whole)
}

fn text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    value.pointer(path).and_then(Value::as_str)
}

fn some(value: &Value, path: &str) -> Option<String> {
    text(value, path).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// An epoch, plain or as an object; a time of another form rejects its record.
fn time(value: &Value, path: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(found) = value.pointer(path).filter(|found| !found.is_null()) else { return Ok(None) };
    let unset = found.get("set").and_then(Value::as_bool) == Some(false);
    match whole(found) {
        Some(seconds) => epoch_time(seconds, path),
        None if unset => Ok(None),
        None => Err(Refusal::new("slurm::not_a_time", path, &found.to_string(), "an epoch")),
    }
}
