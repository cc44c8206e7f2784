//! Runs from the API as JSON.

use std::io::BufRead;

use ledger::{Outcome, RunState, Timestamp};
use serde_json::{Map, Value};

use super::Import;
use super::item::{number, text};
use super::run::{Run, Standing};
use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;
use crate::telemetry::shared::clock;
use crate::telemetry::shared::whole::{self, Unheld};
use crate::{SourceError, Zone, instant};

const UNHELD: Unheld = Unheld {
    cannot_read: "wandb::cannot_read",
    too_large: "wandb::too_large",
    help: "write the runs of one project to a file of its own",
};

/// Reads every run of the file.
pub(super) fn read(input: impl BufRead, import: &mut Import<'_>) -> Result<(), SourceError> {
    let file = import.options.file.clone();
    let bytes = whole::read(input, &file, UNHELD)?;
    let mut number = 0;
    for value in serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>() {
        let value = value.map_err(|error| {
            SourceError::new(
                "wandb::not_json",
                format!("the file is neither a `.wandb` file nor JSON: {error}"),
            )
            .at(format!("{file}:{}", error.line()))
            .help("give a `run-….wandb` file, or runs from the API as JSON")
        })?;
        for run in runs(&value) {
            number += 1;
            let taken = self::run(run).and_then(|run| match run.identity(import.options) {
                Some(_) => Ok(run),
                None => {
                    Err(Refusal::new("row::missing_value", "createdAt", "", "a run with its id and start"))
                }
            });
            match taken {
                Ok(run) => {
                    import.read.count(Ok(()), &file, number);
                    import.close(run);
                }
                Err(refusal) => import.read.count(Err(refusal), &file, number),
            }
        }
    }
    Ok(())
}

/// The runs of an answer, of a list, or the one run that the value is.
fn runs(value: &Value) -> Vec<&Value> {
    if let Value::Array(all) = value {
        return all.iter().collect();
    }
    let edges = ["/data/project/runs/edges", "/data/runs/edges", "/runs/edges", "/edges"];
    if let Some(Value::Array(edges)) = edges.iter().find_map(|path| value.pointer(path)) {
        return edges.iter().map(|edge| edge.get("node").unwrap_or(edge)).collect();
    }
    let one = value.pointer("/data/project/run").unwrap_or(value);
    vec![one]
}

fn run(value: &Value) -> Result<Run, Refusal> {
    let Value::Object(fields) = value else {
        return Err(Refusal::of_record("row::not_an_object", &value.to_string(), "a run as an object"));
    };
    let fields = Object::root(fields);
    let mut run = Run::exported();
    fields.required("name")?.clone_into(&mut run.record.id);
    let owned = |name: &str| Ok::<String, Refusal>(fields.owned(name)?.unwrap_or_default());
    run.record.name = owned("displayName")?;
    run.record.group = owned("group")?;
    run.record.sweep = owned("sweepName")?;
    run.record.commit = owned("commit")?;
    run.record.host = owned("host")?;
    run.tagged(&fields.texts("tags")?);
    if let Some(project) = fields.object("project")? {
        run.record.entity = project.owned("entityName")?.unwrap_or_default();
        run.record.project = project.owned("name")?.unwrap_or_default();
    }
    let state = standing(&fields)?;
    run.last_seen = time(&fields, "heartbeatAt")?;
    run.record.start = time(&fields, "createdAt")?;
    for (key, value) in object(value, "config") {
        // Every value is wrapped with its description.
        let value = value.get("value").unwrap_or(&value);
        if key == "_wandb" {
            let start = value.get("start_time").and_then(Value::as_f64).and_then(clock::of_seconds);
            run.record.start = start.or(run.record.start);
        }
        run.configure(&key, value);
    }
    for (key, value) in object(value, "summaryMetrics") {
        if let Some(value) = number(&value) {
            run.sum_up(&key, value);
        }
    }
    run.standing = Some(state);
    Ok(run)
}

fn standing(fields: &Object<'_>) -> Result<Standing, Refusal> {
    let words = fields.required("state")?.to_owned();
    let (state, outcome) = match words.to_lowercase().as_str() {
        "finished" => (RunState::Ended, Outcome::Completed),
        "failed" => (RunState::Ended, Outcome::Failed),
        "killed" => (RunState::Ended, Outcome::Cancelled),
        "preempted" => (RunState::Ended, Outcome::Preempted),
        "crashed" => (RunState::Lost, Outcome::Unknown),
        "running" | "preempting" => (RunState::Running, Outcome::Unknown),
        "pending" => (RunState::Pending, Outcome::Unknown),
        _ => return Err(fields.refuse("row::unknown_word", "state", "a state of a run, such as `finished`")),
    };
    Ok(Standing { state, outcome, exit_code: None, words: format!("state {words}") })
}

/// The API writes times in UTC, with or without a `Z`.
fn time(fields: &Object<'_>, name: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = fields.text(name)? else { return Ok(None) };
    let refuse = |_| fields.refuse("row::not_a_time", name, "a time such as 2026-07-01T10:00:00Z");
    instant(text, &Zone::Utc).map(Some).map_err(refuse)
}

/// An object, which the API writes as a text of JSON.
fn object(run: &Value, name: &str) -> Map<String, Value> {
    match run.get(name) {
        Some(Value::Object(fields)) => fields.clone(),
        Some(value) => text(value).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        None => Map::new(),
    }
}
