//! Custom jobs of Vertex AI: when they ran, on what, and how they ended.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;

use ledger::{AttemptView, Capacity, Cause, Direction, LinkMethod, Outcome, RunRecord, RunState, SourceId};
use proptest::prelude::*;
use sources::telemetry::TelemetryRead;
use sources::telemetry::vertex_ai::{VertexAiOptions, read};

fn options() -> VertexAiOptions {
    VertexAiOptions {
        file: "jobs.json".to_owned(),
        source: SourceId("vertex-ai".to_owned()),
        experiment_keys: vec!["experiment_id".to_owned()],
    }
}

fn file(name: &str) -> TelemetryRead {
    documents::file(&format!("vertex_ai/{name}"), |bytes| read(bytes, &options()))
}

fn of<'r, T>(read: &'r TelemetryRead, id: &str, pick: impl Fn(&'r RunRecord) -> Option<T>) -> Vec<T> {
    let key = format!("vertex:projects/1/locations/us-central1/customJobs/{id}:0");
    read.observations.iter().filter(|seen| seen.key == key).filter_map(|seen| pick(&seen.record)).collect()
}

fn view<'r>(read: &'r TelemetryRead, id: &str) -> &'r AttemptView {
    of(read, id, |record| match record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    })[0]
}

#[test]
fn a_job_ended_as_its_state_and_its_error_say() {
    let read = file("synthetic_jobs.json");
    for (id, state, outcome, cause) in [
        ("1", RunState::Ended, Outcome::Completed, Cause::Unknown),
        ("2", RunState::Ended, Outcome::Failed, Cause::AppError),
        ("3", RunState::Ended, Outcome::Failed, Cause::LaunchFailure),
        ("4", RunState::Ended, Outcome::Cancelled, Cause::UserCancelled),
        ("5", RunState::Ended, Outcome::Timeout, Cause::TimeLimit),
        ("6", RunState::Running, Outcome::Unknown, Cause::Unknown),
        ("7", RunState::Pending, Outcome::Unknown, Cause::Unknown),
        ("8", RunState::Ended, Outcome::Failed, Cause::OomHost),
    ] {
        let view = view(&read, id);
        assert_eq!((view.state, view.outcome, view.cause), (state, outcome, cause), "for {id}");
    }
}

#[test]
fn pools_are_counted_together_and_a_job_that_never_started_holds_nothing() {
    let read = file("synthetic_jobs.json");
    let whole = view(&read, "1");
    assert_eq!(
        (whole.gpu_count, whole.node_count, whole.capacity),
        (Some(32_000), Some(4), Capacity::OnDemand)
    );
    let held = |id: &str| {
        of(&read, id, |record| match record {
            RunRecord::Binding(b) => Some((b.gpus, b.start.to_string(), b.end.is_some())),
            _ => None,
        })
    };
    assert_eq!(held("1"), [(32_000, "2026-07-01T10:10:00.123456Z".to_owned(), true)]);
    assert!(held("3").is_empty() && held("7").is_empty(), "T25");
    let spot = view(&read, "2");
    let link = spot.link.clone().unwrap();
    assert_eq!(
        (spot.capacity, link.experiment.0.as_str(), link.method),
        (Capacity::Spot, "tune-8", LinkMethod::Explicit)
    );
    assert!(read.warnings.iter().any(|warning| warning.code == "vertex_ai::restarts_hidden"));
}

#[test]
fn a_trial_measures_its_job() {
    let read = file("synthetic_jobs.json");
    let quality = of(&read, "9", |record| match record {
        RunRecord::Quality(q) => Some((q.metric.as_str(), q.direction, q.step)),
        _ => None,
    });
    assert_eq!(quality, [("loss", Some(Direction::Minimise), Some(500))]);
    assert_eq!(view(&read, "9").link.clone().unwrap().experiment.0, "sweep");
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("synthetic_broken.json");
    assert_eq!((read.rows, read.accepted), (6, 1));
}

proptest! {
    #[test]
    fn no_change_of_a_good_input_makes_it_panic(change in documents::changes()) {
        documents::survives("vertex_ai/synthetic_jobs.json", change, |bytes| read(bytes, &options()))?;
    }
}
