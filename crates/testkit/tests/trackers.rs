//! What experiment trackers say, folded into attempts: resumed runs, restarts, and the scheduler's view of the same run.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use costing::attempts::{Folded, experiments, fold};
use ledger::{Attempt, Observation, Outcome, RunRecord, RunState, SourceId};
use sources::Zone;
use sources::telemetry::attempts::AttemptsOptions;
use sources::telemetry::mlflow::{self, MlflowOptions};
use sources::telemetry::tensorboard::{self, TensorboardOptions};
use sources::telemetry::wandb::{self, WandbOptions};

/// The resumed run of the recorded answers.
const RESUMED: &str = "mlflow:main:2c9bf508495e496aaabd3a32daaee4d7:0";

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata").join(name)
}

/// The recorded answer, with the resumed run as it was when another status and end were told.
fn snapshot(status: &str, end: &str) -> Vec<Observation> {
    let answer = std::fs::read_to_string(testdata("mlflow/rest/rest_runs_search_page2.json")).unwrap();
    let last = r#""value": 0.61,
            "timestamp": 1795997269050,
            "step": 9"#;
    let before = r#""value": 0.54,
            "timestamp": 1795997267305,
            "step": 4"#;
    assert!(answer.contains(last), "the answer has the value that the resumed run logged");
    let answer = if status == "FINISHED" { answer } else { answer.replace(last, before) };
    let answer = answer
        .replace(r#""status": "FINISHED""#, &format!(r#""status": "{status}""#))
        .replace(r#""end_time": 1795997269072"#, &format!(r#""end_time": {end}"#));
    let options = MlflowOptions { source: SourceId("mlflow".to_owned()), tracking: "main".to_owned() };
    mlflow::read([("runs.json".to_owned(), answer.as_bytes())], &options).unwrap().observations
}

fn failed() -> Vec<Observation> {
    snapshot("FAILED", "1795997267451")
}

fn running() -> Vec<Observation> {
    snapshot("RUNNING", "1795997267451")
}

fn finished() -> Vec<Observation> {
    snapshot("FINISHED", "1795997269072")
}

fn attempt<'a>(folded: &'a Folded, key: &str) -> &'a Attempt {
    folded.attempts.iter().find(|attempt| attempt.canonical_key == key).unwrap()
}

fn outcomes(folded: &Folded) -> Vec<(&str, RunState, Outcome)> {
    let told = |attempt: &'_ Attempt| (attempt.state, attempt.outcome);
    folded
        .attempts
        .iter()
        .map(|attempt| (attempt.canonical_key.as_str(), told(attempt).0, told(attempt).1))
        .collect()
}

// Trap15, Refold3: the failed attempt is kept, whatever was imported first.
#[test]
fn trap_15_a_resumed_mlflow_run_keeps_its_failed_attempt() {
    let again = format!("{RESUMED}#2");
    let expected =
        [(RESUMED, RunState::Ended, Outcome::Failed), (again.as_str(), RunState::Ended, Outcome::Completed)];
    let snapshots = [[failed(), finished()].concat(), [failed(), running(), finished()].concat()];
    for observations in snapshots {
        let folded = fold(&observations);
        assert_eq!(outcomes(&folded), expected);
        assert!(folded.notes.iter().any(|note| note.code == "attempt::source_overwrote"));
        let failed = attempt(&folded, RESUMED);
        assert_eq!(failed.ended_at.unwrap().to_string(), "2026-11-30T00:07:47.451000Z");
        assert!(attempt(&folded, &again).source_overwrote);
        let experiments = experiments(&folded.attempts);
        assert_eq!((experiments.len(), experiments[0].attempts.len()), (1, 2));
        let reversed: Vec<Observation> = observations.into_iter().rev().collect();
        assert_eq!(fold(&reversed), folded, "the order of imports does not matter");
    }
}

#[test]
fn trap_17_a_resume_is_seen_without_an_earlier_snapshot() {
    let folded = fold(&running());
    let again = format!("{RESUMED}#2");
    assert_eq!(
        outcomes(&folded),
        [(RESUMED, RunState::Ended, Outcome::Unknown), (again.as_str(), RunState::Running, Outcome::Unknown)]
    );
    let ended = fold(&[running(), finished()].concat());
    assert_eq!(attempt(&ended, &again).outcome, Outcome::Completed);
    assert_eq!(attempt(&ended, RESUMED).outcome, Outcome::Unknown, "how it ended was overwritten");
}

#[test]
fn a_resumed_wandb_run_is_two_attempts_of_its_group() {
    let options = WandbOptions {
        file: String::new(),
        source: SourceId("wandb".to_owned()),
        entity: None,
        project: None,
    };
    let read = wandb::read_folder(&testdata("wandb"), &options).unwrap();
    let twice = [read.observations.clone(), read.observations.clone()].concat();
    let folded = fold(&twice);
    assert_eq!(folded, fold(&read.observations), "the same import again changes nothing");
    let told: Vec<(u32, Outcome)> = {
        let mut told: Vec<&Attempt> = folded.attempts.iter().collect();
        told.sort_by_key(|attempt| attempt.ordinal);
        told.iter().map(|attempt| (attempt.ordinal, attempt.outcome)).collect()
    };
    assert_eq!(told, [(1, Outcome::Failed), (2, Outcome::Completed), (3, Outcome::Completed)]);
    assert!(folded.notes.is_empty());
}

// Trap19.
#[test]
fn trap_19_a_restart_in_tensorboard_leaves_the_redone_steps_with_the_first_attempt() {
    let options = TensorboardOptions {
        file: String::new(),
        source: SourceId("tensorboard".to_owned()),
        logdir: Some("logs".to_owned()),
    };
    let read = tensorboard::read_folder(&testdata("tensorboard"), &options).unwrap();
    let folded = fold(&read.observations);
    let steps = |attempt: &Attempt| -> Vec<u64> {
        let of_tag = attempt.quality.iter().filter(|quality| quality.metric == "val/top1");
        of_tag.filter_map(|quality| quality.step).collect()
    };
    let told: Vec<Vec<u64>> = folded.attempts.iter().map(steps).collect();
    assert_eq!(told, [vec![0, 1, 2, 3, 4], vec![3, 4, 5, 6, 7]]);
    assert_eq!(folded.attempts[0].interruptions[0].signal, "restarted at step 3 after step 4");
}

#[test]
fn a_tracker_that_names_the_scheduler_s_attempt_adds_to_it() {
    let rows = "attempt_id,experiment,status,started,ended,gpus\n\
                job1,vitl,failed,2026-07-01T10:00:00Z,2026-07-01T12:00:00Z,8\n";
    let options = AttemptsOptions {
        file: "jobs.csv".to_owned(),
        source: SourceId("jobs".to_owned()),
        zone: Zone::Undeclared,
    };
    let mut observations =
        sources::telemetry::attempts::read(rows.as_bytes(), &options).unwrap().observations;
    let run = r#"{"runs":[{"info":{"run_id":"r","experiment_id":"1","status":"FINISHED","start_time":1782900000000,
        "end_time":1782903600000},"data":{"tags":[{"key":"attempt_alias","value":"csv:jobs:job1"}],
        "metrics":[{"key":"val/top1","value":0.7,"timestamp":1782903000000,"step":9}]}}]}"#;
    let options = MlflowOptions { source: SourceId("mlflow".to_owned()), tracking: "main".to_owned() };
    observations
        .extend(mlflow::read([("a.json".to_owned(), run.as_bytes())], &options).unwrap().observations);
    let folded = fold(&observations);
    assert_eq!(folded.attempts.len(), 1);
    let job = &folded.attempts[0];
    assert_eq!((job.canonical_key.as_str(), job.outcome), ("csv:jobs:job1", Outcome::Failed));
    assert_eq!(job.quality.len(), 1, "the scheduler's end stands, the tracker's quality is added");
    assert!(observations.iter().any(|seen| matches!(seen.record, RunRecord::Quality(_))));
}
