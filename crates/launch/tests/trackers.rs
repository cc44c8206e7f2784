//! What `exec` tells trackers is what their readers take for the name of the attempt.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of a test may stop it")]

mod shared;

use ledger::{Observation, Outcome, SourceId};
use serde_json::{Value, json};
use shared::{Spool, folded};
use sources::telemetry::{mlflow, wandb};

/// Runs a program that shows a variable, and gives what it showed with what the record says.
fn shown(variable: &str) -> (String, Spool) {
    let spool = Spool::new();
    let output = spool
        .sh(&format!("printf %s \"${variable}\"; exit 1"))
        .env("WANDB_TAGS", "baseline")
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), spool)
}

/// The record and what a tracker says of the same run are one failed attempt of the experiment, with the tracker's quality.
fn check(spool: &Spool, tracker: Vec<Observation>) {
    let mut all = spool.read(None).observations;
    all.extend(tracker);
    let attempts = folded(&all);
    let [attempt] = attempts.as_slice() else { unreachable!("{attempts:#?}") };
    assert!(attempt.canonical_key.starts_with("ol:"), "the launcher's times hold: {}", attempt.canonical_key);
    assert_eq!((attempt.outcome, attempt.link.experiment.0.as_str()), (Outcome::Failed, "vitl"));
    assert_eq!(attempt.quality.len(), 1);
}

#[test]
fn a_run_of_mlflow_that_took_its_context_is_the_attempt() {
    let (context, spool) = shown("MLFLOW_RUN_CONTEXT");
    let tags: serde_json::Map<String, Value> = serde_json::from_str(&context).unwrap();
    let tags: Vec<Value> = tags.iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
    let answer = json!({"runs": [{
        "info": {"run_id": "r1", "experiment_id": "0", "status": "RUNNING", "start_time": 1_782_900_000_000_i64},
        "data": {"tags": tags, "metrics": [{"key": "loss", "value": 0.5, "timestamp": 1_782_900_001_000_i64, "step": 1}]},
    }]});
    let options = mlflow::MlflowOptions { source: SourceId("mlflow".to_owned()), tracking: "t".to_owned() };
    let files = vec![("runs.json".to_owned(), std::io::Cursor::new(answer.to_string()))];
    let read = mlflow::read(files, &options).unwrap();
    assert_eq!((read.rows, read.accepted), (1, 1));
    check(&spool, read.observations);
}

#[test]
fn a_run_of_wandb_that_took_its_tags_is_the_attempt() {
    let (tags, spool) = shown("WANDB_TAGS");
    // W&B parts them so, and refuses those of more than 64 characters.
    let tags: Vec<&str> = tags.split(',').collect();
    assert!(tags.contains(&"baseline") && tags.iter().all(|tag| tag.len() <= 64), "{tags:?}");
    let run = json!({"name": "r1", "displayName": "r1", "state": "running", "group": "vitl", "tags": tags,
        "createdAt": "2026-07-01T10:00:00Z", "heartbeatAt": "2026-07-01T10:01:00Z", "summaryMetrics": "{\"loss\":0.5}"});
    let options = wandb::WandbOptions {
        file: "runs.json".to_owned(),
        source: SourceId("wandb".to_owned()),
        entity: None,
        project: None,
    };
    let read = wandb::read(run.to_string().as_bytes(), &options).unwrap();
    assert_eq!((read.rows, read.accepted), (1, 1));
    check(&spool, read.observations);
}
