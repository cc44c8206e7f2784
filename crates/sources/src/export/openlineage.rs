//! Attempts as OpenLineage run events with the facets of a GPU run, in the form that `import openlineage` reads.
//!
//! What is read back is the same attempt under an id of its own, joined to the first by its aliases. It does not carry how
//! the link to the experiment was found, who interrupted it, and where a record was overwritten.

use ledger::{
    Attempt, Binding, Capacity, Cause, Grade, Outcome, Phase, QualityResult, RunState, ShareDriver, Timestamp,
};
use serde_json::{Map, Value, json};

const PRODUCER: &str = concat!("https://github.com/trainbill/trainbill/", env!("CARGO_PKG_VERSION"));

/// The events of an attempt in the order of what they tell; none if nothing tells when it was, since an event must.
pub fn events(attempt: &Attempt) -> Vec<Value> {
    let Some(first) = attempt.started_at.or(attempt.submitted_at).or(attempt.ended_at) else {
        return Vec::new();
    };
    let kind = if attempt.started_at.is_some() { "START" } else { "OTHER" };
    let mut facets = json!({ "gpuRun_attempt": told(attempt) });
    if !attempt.bindings.is_empty() {
        let bindings: Vec<Value> = attempt.bindings.iter().map(binding).collect();
        facets["gpuRun_resources"] = json!({ "bindings": bindings });
    }
    let mut events = vec![event(attempt, (kind, first), facets)];
    let other =
        |at: Timestamp, name: &str, facet: Value| event(attempt, ("OTHER", at), json!({ name: facet }));
    // What was derived from other records is derived from them again.
    let measured = |phase: &&Phase| matches!(phase.grade, Grade::Measured | Grade::Reported);
    let phases: Vec<Value> = attempt.phases.iter().filter(measured).map(phase).collect();
    if !phases.is_empty() {
        events.push(other(first, "gpuRun_phases", json!({ "phases": phases })));
    }
    for one in &attempt.checkpoints {
        let facet = without_nulls(json!({
            "step": one.step,
            "startedAt": one.started_at.map(|at| at.to_string()),
            "completedAt": one.completed_at.map(|at| at.to_string()),
            "bytes": one.bytes,
            "uri": one.uri,
            "durable": one.durable,
        }));
        events.push(other(one.completed_at.or(one.started_at).unwrap_or(first), "gpuRun_checkpoint", facet));
    }
    events.extend(attempt.quality.iter().map(|one| other(one.at, "gpuRun_quality", quality(one))));
    if !attempt.artifacts.is_empty() {
        let mut written = event(attempt, ("OTHER", attempt.ended_at.unwrap_or(first)), json!({}));
        written["outputs"] = attempt.artifacts.iter().map(output).collect();
        events.push(written);
    }
    events.extend(end(attempt));
    events
}

fn event(attempt: &Attempt, (kind, at): (&str, Timestamp), mut facets: Value) -> Value {
    let experiment = &attempt.link.experiment.0;
    facets["parent"] = json!({
        "run": { "runId": attempt.link.experiment.run_id().to_string() },
        "job": { "namespace": "trainbill", "name": experiment },
    });
    json!({
        "eventType": kind,
        "eventTime": at.to_string(),
        "producer": PRODUCER,
        "run": { "runId": attempt.id.to_string(), "facets": facets },
        "job": { "namespace": attempt.scheduler, "name": attempt.name.as_deref().unwrap_or(experiment) },
    })
}

/// What launched it and what it asked for.
fn told(attempt: &Attempt) -> Value {
    let aliases: Vec<&String> = std::iter::once(&attempt.canonical_key).chain(&attempt.aliases).collect();
    without_nulls(json!({
        "ordinal": attempt.restart_index.map(|restarts| restarts + 1),
        "scheduler": attempt.scheduler,
        "cluster": attempt.cluster,
        "queue": attempt.queue,
        "user": attempt.user,
        "team": attempt.team,
        "submittedAt": attempt.submitted_at.map(|at| at.to_string()),
        "gpuCount": attempt.gpu_count.map(number),
        "gpuKind": attempt.gpu_kind,
        "nodeCount": attempt.node_count,
        "capacity": (attempt.capacity != Capacity::Unknown).then(|| attempt.capacity.word()),
        "modelVersion": attempt.model_version,
        "configVersion": attempt.config_version,
        "datasetSnapshot": attempt.dataset_snapshot,
        "aliases": aliases,
    }))
}

/// The last event; none while it runs or waits. An end that has no event type is told by the facet alone.
fn end(attempt: &Attempt) -> Option<Value> {
    let at = attempt.ended_at?;
    let kind = match (attempt.state, attempt.outcome) {
        (RunState::Pending | RunState::Running, _) => return None,
        (RunState::Lost, _) | (RunState::Ended, Outcome::Unknown) => "OTHER",
        (RunState::Ended, Outcome::Completed) => "COMPLETE",
        (RunState::Ended, Outcome::Failed) => "FAIL",
        (RunState::Ended, Outcome::Cancelled | Outcome::Preempted | Outcome::Timeout) => "ABORT",
    };
    let facet = without_nulls(json!({
        "lostAt": (attempt.state == RunState::Lost).then(|| at.to_string()),
        "endedAt": (kind == "OTHER" && attempt.state == RunState::Ended).then(|| at.to_string()),
        "outcome": (attempt.outcome != Outcome::Unknown).then(|| attempt.outcome.word()),
        "cause": (attempt.cause != Cause::Unknown).then(|| attempt.cause.word()),
        "evidence": attempt.cause_evidence,
        "exitCode": attempt.exit_code,
    }));
    Some(event(attempt, (kind, at), json!({ "gpuRun_attempt": facet })))
}

fn binding(held: &Binding) -> Value {
    let (units, of) = match held.driver {
        ShareDriver::Gpu => ("gpus", "gpuCapacity"),
        ShareDriver::Cpu => ("cpus", "cpuCapacity"),
        ShareDriver::Whole => ("", ""),
    };
    let mut told = json!({
        "kind": held.kind.word(),
        "resourceId": held.resource_id,
        "nodeName": held.node_name,
        "sku": held.sku,
        "start": held.start.to_string(),
        "end": held.end.map(|end| end.to_string()),
    });
    if !units.is_empty() {
        told[units] = number(held.weight);
        told[of] = held.capacity.map_or(Value::Null, number);
    }
    without_nulls(told)
}

fn phase(phase: &Phase) -> Value {
    json!({
        "kind": phase.kind.word(),
        "start": phase.interval.start.to_string(),
        "end": phase.interval.end.to_string(),
        "grade": phase.grade.word(),
    })
}

fn quality(one: &QualityResult) -> Value {
    // JSON has no NaN and no infinity.
    let value = if one.value.is_finite() { json!(one.value) } else { json!(one.value.to_string()) };
    without_nulls(json!({
        "metric": one.metric,
        "value": value,
        "direction": one.direction.map(ledger::Direction::word),
        "split": one.split,
        "protocol": one.protocol,
        "step": one.step,
        "isFinal": one.is_final,
    }))
}

/// A dataset by its store and the name in it, as OpenLineage names them (openlineage.io/docs/spec/naming).
fn output(artifact: &ledger::Artifact) -> Value {
    let place = artifact.uri.split_once("://").and_then(|(scheme, rest)| {
        let (authority, name) = rest.split_once('/')?;
        (!name.is_empty() && !authority.is_empty()).then(|| (format!("{scheme}://{authority}"), name))
    });
    let (namespace, name) = match &place {
        Some((namespace, name)) => (Some(namespace.as_str()), *name),
        None => (None, artifact.uri.as_str()),
    };
    let mut facets = json!({ "datasetType": { "datasetType": artifact.kind.word() } });
    if let Some(version) = &artifact.version {
        facets["version"] = json!({ "datasetVersion": version });
    }
    without_nulls(json!({ "namespace": namespace, "name": name, "facets": facets }))
}

/// Thousandths as the shortest number.
fn number(thousandths: u64) -> Value {
    match thousandths % 1_000 {
        0 => json!(thousandths / 1_000),
        rest => {
            let text = format!("{}.{rest:03}", thousandths / 1_000);
            // A number of this form is JSON.
            serde_json::from_str(text.trim_end_matches('0')).unwrap_or(Value::Null)
        }
    }
}

/// An object without the fields of which nothing is known, and without empty lists.
fn without_nulls(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    let is_told = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    Value::Object(fields.into_iter().filter(|(_, value)| is_told(value)).collect::<Map<_, _>>())
}
