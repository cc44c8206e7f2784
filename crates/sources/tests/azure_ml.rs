//! Jobs of Azure Machine Learning, as far as the resource manager tells of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;
mod shared;

use ledger::{Capacity, LinkMethod, Outcome, RunRecord, RunState, SourceId};
use proptest::prelude::*;
use serde_json::Value;
use sources::telemetry::TelemetryRead;
use sources::telemetry::azure_ml::{AzureMlOptions, read};

fn options() -> AzureMlOptions {
    AzureMlOptions {
        file: "jobs.json".to_owned(),
        source: SourceId("azure-ml".to_owned()),
        experiment_keys: vec!["experiment_id".to_owned()],
    }
}

fn file(name: &str) -> TelemetryRead {
    documents::file(&format!("azure_ml/{name}"), |bytes| read(bytes, &options()))
}

#[test]
fn a_job_stands_where_its_status_says_and_no_time_is_made_up() {
    let read = file("synthetic_jobs.json");
    assert_eq!((read.rows, read.accepted), (7, 7));
    let views = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    let views: Vec<_> = views.collect();
    let shown: Vec<_> =
        views.iter().map(|view| (view.aliases[0].as_str(), view.state, view.outcome)).collect();
    // Neither the sweep, whose trials are jobs, nor the workspace.
    let expect = [
        ("a", RunState::Ended, Outcome::Completed),
        ("b", RunState::Ended, Outcome::Failed),
        ("c", RunState::Ended, Outcome::Cancelled),
        ("d", RunState::Running, Outcome::Unknown),
        ("e", RunState::Pending, Outcome::Unknown),
    ];
    assert_eq!(shown, expect);
    assert!(views.iter().all(|view| view.started_at.is_none() && view.ended_at.is_none()));
    assert_eq!((views[0].capacity, views[0].node_count), (Capacity::Spot, Some(2)));
    let links: Vec<_> = views.iter().map(|view| view.link.clone().unwrap()).collect();
    assert_eq!((links[0].experiment.0.as_str(), links[0].method), ("bert", LinkMethod::Explicit));
    assert_eq!((links[1].experiment.0.as_str(), links[1].method), ("tagged", LinkMethod::Label));
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("synthetic_broken.json");
    assert_eq!((read.rows, read.accepted), (4, 1));
}

#[test]
fn recorded_answers_are_read_whole() {
    let name = "aws_azure_recorded/tools/c7n_azure/tests_azure/cassettes/MachineLearningJobTest.machine-learning-jobs.json";
    let Some(path) = shared::shared(name) else { return };
    let cassette = std::fs::read(path).unwrap();
    let cassette: Value = serde_json::from_slice(&cassette).unwrap();
    let bodies =
        cassette["interactions"].as_array().unwrap().iter().map(|one| &one["response"]["body"]["data"]);
    let answers: String = bodies.map(Value::to_string).collect();
    let read = read(answers.as_bytes(), &options()).unwrap();
    // A workspace and a sweep without a status.
    assert_eq!((read.rows, read.accepted, read.observations.len()), (2, 2, 0));
}

proptest! {
    #[test]
    fn no_change_of_a_good_input_makes_it_panic(change in documents::changes()) {
        documents::survives("azure_ml/synthetic_jobs.json", change, |bytes| read(bytes, &options()))?;
    }
}
