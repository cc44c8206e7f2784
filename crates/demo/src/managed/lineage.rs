//! Run events of the managed jobs as OpenLineage NDJSON, one event a line in the order of time.

use serde_json::{Value, json};

use super::plan::{Ending, ManagedJob};
use crate::DemoError;
use crate::random::Stream;
use crate::span::rfc3339;

const PRODUCER: &str = "https://example.com/larkspur/launcher";
const EVENT_SCHEMA: &str = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
const NAMESPACE: &str = "larkspur";

/// The events of all jobs.
pub(crate) fn events(jobs: &[ManagedJob], seed: u64) -> Result<String, DemoError> {
    let mut lines = Vec::new();
    for job in jobs {
        let ran = job.ran;
        lines.push((ran.start, event(job, seed, ("START", ran.start), started(job))));
        for (number, at) in job.checkpoints().enumerate() {
            lines.push((at, event(job, seed, ("OTHER", at), checkpoint(job, number + 1, at))));
        }
        let (kind, facets) = ended(job);
        lines.push((ran.end, event(job, seed, (kind, ran.end), facets)));
    }
    lines.sort_by_key(|(at, _)| *at);
    let mut text = String::new();
    for (_, event) in lines {
        text.push_str(&serde_json::to_string(&event)?);
        text.push('\n');
    }
    Ok(text)
}

/// An event; every one carries the experiment as its parent and root.
fn event(job: &ManagedJob, seed: u64, (kind, at): (&str, i64), mut facets: Value) -> Value {
    let name = job.experiment.name;
    let [model, config, dataset] = job.experiment.versions;
    let run = json!({ "runId": Stream::new(seed, name).uuid() });
    let whole = json!({ "namespace": NAMESPACE, "name": name });
    if let Some(facets) = facets.as_object_mut() {
        let root = json!({ "run": run, "job": whole });
        let parent = facet("ParentRunFacet", json!({ "run": run, "job": whole, "root": root }));
        facets.insert("parent".to_owned(), parent);
    }
    let tags = [
        ("team", job.experiment.team),
        ("user", job.experiment.user),
        ("model_version", model),
        ("config_version", config),
        ("dataset_snapshot", dataset),
    ]
    .map(|(key, value)| json!({ "key": key, "value": value, "source": "launcher" }));
    let (set, snapshot) = dataset.split_once('@').unwrap_or((dataset, ""));
    json!({
        "eventType": kind,
        "eventTime": rfc3339(at),
        "producer": PRODUCER,
        "schemaURL": EVENT_SCHEMA,
        "run": { "runId": job.run_id, "facets": facets },
        "job": {
            "namespace": NAMESPACE,
            "name": format!("{name}.train"),
            "facets": { "tags": facet("TagsJobFacet", json!({ "tags": tags })) },
        },
        "inputs": [{
            "namespace": "s3://larkspur-datasets",
            "name": set,
            "facets": { "version": facet("DatasetVersionDatasetFacet", json!({ "datasetVersion": snapshot })) },
        }],
        "outputs": if kind == "COMPLETE" { vec![artifact(job)] } else { Vec::new() },
    })
}

/// The model that a completed job leaves.
fn artifact(job: &ManagedJob) -> Value {
    let [version, ..] = job.experiment.versions;
    json!({
        "namespace": "s3://larkspur-managed",
        "name": format!("{}/{}/model.tar.gz", job.experiment.name, job.ordinal),
        "facets": { "version": facet("DatasetVersionDatasetFacet", json!({ "datasetVersion": version })) },
    })
}

fn facet(schema: &str, mut body: Value) -> Value {
    if let Some(body) = body.as_object_mut() {
        body.insert("_producer".to_owned(), json!(PRODUCER));
        body.insert(
            "_schemaURL".to_owned(),
            json!(format!("https://openlineage.io/spec/facets/{schema}.json")),
        );
    }
    body
}

fn started(job: &ManagedJob) -> Value {
    json!({
        "gpuRun_attempt": attempt(job, "", &[]),
        "gpuRun_resources": facet("GpuRunResources", json!({ "bindings": [binding(job)] })),
        "gpuRun_phases": facet("GpuRunPhases", json!({ "phases": [
            { "kind": "queue", "start": rfc3339(job.submitted), "end": rfc3339(job.ran.start) },
        ] })),
    })
}

fn attempt(job: &ManagedJob, cause: &str, evidence: &[&str]) -> Value {
    let mut body = json!({
        "ordinal": job.ordinal,
        "scheduler": "sagemaker",
        "submittedAt": rfc3339(job.submitted),
        "user": job.experiment.user,
        "team": job.experiment.team,
        "gpuCount": job.machine.gpus,
        "gpuKind": job.machine.gpu_model,
        "nodeCount": 1,
        "capacity": if job.spot { "spot" } else { "on_demand" },
        "aliases": [job.arn],
    });
    if let (Some(body), false) = (body.as_object_mut(), cause.is_empty()) {
        body.insert("cause".to_owned(), json!(cause));
        body.insert("evidence".to_owned(), json!(evidence));
    }
    facet("GpuRunAttempt", body)
}

fn binding(job: &ManagedJob) -> Value {
    json!({
        "kind": "managed_job",
        "resourceId": job.arn,
        "sku": job.machine.kind,
        "start": rfc3339(job.ran.start),
        "gpus": job.machine.gpus,
        "gpuCapacity": job.machine.gpus,
    })
}

fn checkpoint(job: &ManagedJob, number: usize, at: i64) -> Value {
    let experiment = job.experiment.name;
    let step = number * 1000;
    json!({ "gpuRun_checkpoint": facet("GpuRunCheckpoint", json!({
        "step": step,
        "startedAt": rfc3339(at - 40),
        "completedAt": rfc3339(at),
        "bytes": 3_221_225_472_u64,
        "uri": format!("s3://larkspur-managed/{experiment}/{}/step-{step}", job.ordinal),
        "durable": true,
    })) })
}

/// The terminal event and what it says.
fn ended(job: &ManagedJob) -> (&'static str, Value) {
    let (kind, cause, message) = match job.ending {
        Ending::Completed(_) => ("COMPLETE", "", ""),
        Ending::Failed => ("FAIL", "app_error", "AlgorithmError: exit code 1"),
        Ending::OutOfGpuMemory => ("FAIL", "oom_gpu", "torch.OutOfMemoryError: CUDA out of memory"),
        Ending::SpotTaken => ("ABORT", "spot_interruption", "managed spot capacity was taken back"),
        Ending::Timeout => ("ABORT", "time_limit", "MaxRuntimeExceeded"),
        Ending::Stopped => ("ABORT", "user_cancelled", "stopped by its user"),
    };
    let mut facets = json!({ "gpuRun_attempt": attempt(job, cause, &[message]) });
    if let (Some(facets), false) = (facets.as_object_mut(), message.is_empty()) {
        let body = json!({ "message": message, "programmingLanguage": "python" });
        facets.insert("errorMessage".to_owned(), facet("ErrorMessageRunFacet", body));
    }
    if let (Some(facets), Ending::Completed(Some(value))) = (facets.as_object_mut(), job.ending) {
        facets.insert("gpuRun_quality".to_owned(), quality(job, value));
    }
    (kind, facets)
}

fn quality(job: &ManagedJob, value: &str) -> Value {
    let (metric, protocol) = job.experiment.measure;
    let minimise = metric.ends_with("loss") || metric.ends_with("cer");
    facet(
        "GpuRunQuality",
        json!({
            "metric": metric,
            "value": value.parse::<f64>().ok(),
            "direction": if minimise { "minimise" } else { "maximise" },
            "split": "validation",
            "step": job.checkpoints().count() * 1000,
            "protocol": protocol,
            "isFinal": true,
        }),
    )
}
