//! Attempts that are written as run events and read again are the same attempts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::Path;

use costing::attempts::fold;
use ledger::{
    Attempt, Binding, BindingKind, Cause, Direction, JoinMethod, LinkMethod, Outcome, QualityResult,
    RunState, ShareDriver, SourceId, Timestamp,
};
use sources::export::openlineage::events;
use sources::telemetry::openlineage::{self, OpenLineageOptions};

fn read(text: &str) -> Vec<Attempt> {
    let options = OpenLineageOptions {
        file: "events.ndjson".to_owned(),
        source: SourceId("openlineage".to_owned()),
        taken_at: None,
    };
    let read = openlineage::read(text.as_bytes(), &options).unwrap();
    assert!(read.rejections.is_empty(), "{:?}", read.rejections);
    let folded = fold(&read.observations);
    assert!(folded.notes.is_empty(), "{:?}", folded.notes);
    folded.attempts
}

fn written(attempt: &Attempt) -> String {
    let lines: Vec<String> = events(attempt).iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// What the way out and in again may change: names of its own, and by what the record was found.
fn comparable(mut attempt: Attempt, was: &Attempt) -> Attempt {
    attempt.id = was.id;
    attempt.canonical_key.clone_from(&was.canonical_key);
    attempt.aliases.clone_from(&was.aliases);
    attempt.link.method = was.link.method;
    attempt.interruptions.clone_from(&was.interruptions);
    attempt.source_overwrote = was.source_overwrote;
    attempt
}

fn assert_same(attempt: &Attempt) {
    let again = read(&written(attempt));
    assert_eq!(again.len(), 1, "{again:?}");
    let again = again.into_iter().next().unwrap();
    assert!(again.aliases.contains(&attempt.canonical_key), "an alias leads back");
    assert_eq!(comparable(again, attempt), *attempt);
}

fn rich() -> Attempt {
    let sample =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata/openlineage/two_attempts.ndjson");
    let all = read(&std::fs::read_to_string(sample).unwrap());
    let mut found =
        all.into_iter().max_by_key(|attempt| attempt.phases.len() + attempt.bindings.len()).unwrap();
    found.link.method = LinkMethod::Explicit;
    found.ordinal = 1;
    found
}

#[test]
fn every_kind_of_end_comes_back() {
    let ends = [
        (RunState::Ended, Outcome::Completed, Cause::Unknown),
        (RunState::Ended, Outcome::Failed, Cause::OomGpu),
        (RunState::Ended, Outcome::Preempted, Cause::SpotInterruption),
        (RunState::Ended, Outcome::Timeout, Cause::Unknown),
        (RunState::Ended, Outcome::Cancelled, Cause::UserCancelled),
        (RunState::Ended, Outcome::Unknown, Cause::Unknown),
        (RunState::Lost, Outcome::Unknown, Cause::Unknown),
    ];
    for (state, outcome, cause) in ends {
        let attempt = Attempt { state, outcome, cause, cause_evidence: Vec::new(), ..rich() };
        assert_same(&attempt);
    }
}

#[test]
fn parts_of_a_machine_and_odd_metrics_come_back() {
    let mut attempt = rich();
    let start = attempt.started_at.unwrap();
    let held = |driver, weight, capacity, gpus| Binding {
        kind: BindingKind::Node,
        resource_id: None,
        node_name: Some(format!("node-{}", ShareDriver::word(driver))),
        sku: None,
        start,
        end: Some(Timestamp(start.0 + 1)),
        weight,
        capacity,
        driver,
        gpus,
        method: JoinMethod::HostName,
    };
    attempt.bindings = vec![
        held(ShareDriver::Cpu, 2_500, None, 0),
        held(ShareDriver::Gpu, 125, Some(8_000), 125),
        held(ShareDriver::Whole, 1_000, Some(1_000), 0),
    ];
    attempt.gpu_count = Some(125);
    let result = |value, step| QualityResult {
        metric: "val_loss".to_owned(),
        value,
        direction: Some(Direction::Minimise),
        split: None,
        step: Some(step),
        at: start,
        protocol: None,
        is_final: step == 2,
    };
    attempt.quality = vec![result(0.1 + 0.2, 1), result(f64::INFINITY, 2)];
    let again = read(&written(&attempt)).into_iter().next().unwrap();
    let mut bindings = again.bindings.clone();
    bindings.sort();
    attempt.bindings.sort();
    assert_eq!(bindings, attempt.bindings);
    assert_eq!(again.quality, attempt.quality);
    assert_eq!(again.gpu_count, attempt.gpu_count);
}

#[test]
fn an_attempt_without_any_time_cannot_be_told() {
    let attempt = Attempt { submitted_at: None, started_at: None, ended_at: None, ..rich() };
    assert!(events(&attempt).is_empty());
}
