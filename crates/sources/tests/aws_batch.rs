//! Jobs of AWS Batch: every attempt that is kept, why it ended, and what it held.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;

use ledger::{AttemptView, Binding, Cause, Outcome, RunRecord, RunState, SourceId};
use proptest::prelude::*;
use sources::telemetry::TelemetryRead;
use sources::telemetry::aws_batch::{AwsBatchOptions, read};

fn options() -> AwsBatchOptions {
    AwsBatchOptions {
        file: "jobs.json".to_owned(),
        source: SourceId("aws-batch".to_owned()),
        experiment_keys: vec!["experiment_id".to_owned()],
    }
}

fn file(name: &str) -> TelemetryRead {
    documents::file(&format!("aws_batch/{name}"), |bytes| read(bytes, &options()))
}

fn of<'r, T>(read: &'r TelemetryRead, id: &str, pick: impl Fn(&'r RunRecord) -> Option<T>) -> Vec<T> {
    let key = format!("batch:arn:aws:batch:us-east-1:111122223333:job/{id}");
    read.observations.iter().filter(|seen| seen.key == key).filter_map(|seen| pick(&seen.record)).collect()
}

fn view<'r>(read: &'r TelemetryRead, id: &str) -> &'r AttemptView {
    let views = of(read, id, |record| match record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    assert_eq!(views.len(), 1, "for {id}");
    views[0]
}

fn held(read: &TelemetryRead, id: &str) -> Vec<String> {
    let shown = |b: &Binding| {
        let end = b.end.map_or_else(|| "now".to_owned(), |end| end.to_string()[11..16].to_owned());
        let what = b.resource_id.as_deref().or(b.node_name.as_deref()).unwrap();
        format!("{what} {}-{end} {}", &b.start.to_string()[11..16], b.weight)
    };
    of(read, id, |record| match record {
        RunRecord::Binding(binding) => Some(shown(binding)),
        _ => None,
    })
}

// Trap27: AWS Batch counts milliseconds since 1970.
#[test]
fn every_attempt_is_kept_with_its_times_in_milliseconds() {
    let read = file("synthetic_jobs.json");
    for (id, outcome, cause) in [
        ("retry:0", Outcome::Preempted, Cause::SpotInterruption),
        ("retry:1", Outcome::Failed, Cause::OomHost),
        ("retry:2", Outcome::Completed, Cause::Unknown),
        ("code:0", Outcome::Failed, Cause::AppError),
        ("limit:0", Outcome::Timeout, Cause::TimeLimit),
        ("pull:0", Outcome::Failed, Cause::LaunchFailure),
        ("dep:0", Outcome::Failed, Cause::Dependency),
        ("stop:0", Outcome::Cancelled, Cause::UserCancelled),
        ("again:0", Outcome::Preempted, Cause::SpotInterruption),
        ("again:1", Outcome::Unknown, Cause::Unknown),
    ] {
        assert_eq!((view(&read, id).outcome, view(&read, id).cause), (outcome, cause), "for {id}");
    }
    assert_eq!(view(&read, "retry:0").started_at.unwrap().to_string(), "2026-07-01T10:05:00Z");
    assert_eq!(view(&read, "again:1").state, RunState::Running);
    assert_eq!((view(&read, "wait:0").state, view(&read, "wait:0").started_at), (RunState::Pending, None));
}

#[test]
fn a_container_is_bound_to_its_machine_where_any_answer_names_it() {
    let read = file("synthetic_jobs.json");
    // The reason names the machine that was taken back; the answer of its cluster names another; the third is only a name.
    assert_eq!(held(&read, "retry:0"), ["i-0dead 10:05-10:50 4000"]);
    assert_eq!(held(&read, "retry:1"), ["a1 11:00-11:30 4000"]);
    assert_eq!(held(&read, "retry:2"), ["i-0a2 11:40-13:00 4000"]);
    assert_eq!(held(&read, "again:1"), ["i-0a2 10:40-now 4000"]);
    assert!(held(&read, "pull:0").is_empty() && held(&read, "dep:0").is_empty());
}

#[test]
fn the_parent_of_an_array_is_no_attempt_and_the_ranks_of_a_job_are_one_attempt() {
    let read = file("synthetic_jobs.json");
    assert!(of(&read, "arr:0", Some).is_empty());
    assert_eq!(held(&read, "arr:0:0"), ["i-0a2 10:05-10:10 4000"]);
    assert_eq!(held(&read, "arr:1:0"), ["a9 10:05-10:20 4000"], "T23: the index is a part of the key");
    assert_eq!(view(&read, "arr:1:0").name.as_deref(), Some("n-arr:1"));
    assert_eq!(held(&read, "mnp:0"), ["a1 10:05-11:00 4000", "i-0a2 10:06-11:00 4000"]);
    assert_eq!(view(&read, "mnp:0").node_count, Some(2));
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("synthetic_broken.json");
    let codes: Vec<_> = read.rejections.iter().map(|one| one.code).collect();
    let expect = [
        "row::not_a_time",
        "row::ends_before_start",
        "aws_batch::no_parent",
        "row::missing_value",
        "aws_batch::unknown_answer",
    ];
    assert_eq!((codes.as_slice(), read.accepted), (&expect[..], 1));
}

proptest! {
    #[test]
    fn no_change_of_a_good_answer_makes_it_panic(change in documents::changes()) {
        documents::survives("aws_batch/synthetic_jobs.json", change, |bytes| read(bytes, &options()))?;
    }
}
