//! OpenLineage run events: what they say, how they are refused, and what does not matter.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod golden;

use ledger::{AttemptView, BindingKind, Cause, LinkMethod, Outcome, RunRecord, RunState, SourceId};
use proptest::prelude::*;
use sources::SourceError;
use sources::telemetry::TelemetryRead;
use sources::telemetry::openlineage::{OpenLineageOptions, read};

fn options() -> OpenLineageOptions {
    OpenLineageOptions {
        file: "events.ndjson".to_owned(),
        source: SourceId("openlineage".to_owned()),
        taken_at: None,
    }
}

fn typed(text: &str) -> Result<TelemetryRead, SourceError> {
    read(text.as_bytes(), &options())
}

fn file(name: &str) -> TelemetryRead {
    let bytes = std::fs::read(golden::testdata("openlineage").join(name)).unwrap();
    read(bytes.as_slice(), &options()).unwrap()
}

fn views(read: &TelemetryRead) -> Vec<&AttemptView> {
    let views = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    views.collect()
}

/// One event of run `r` with the given facets.
fn event(kind: &str, facets: &str) -> String {
    let run = format!(r#"{{"runId":"r","facets":{{{facets}}}}}"#);
    let job = r#"{"namespace":"ml","name":"j"}"#;
    format!(r#"{{"eventType":"{kind}","eventTime":"2026-07-01T10:00:00Z","run":{run},"job":{job}}}"#)
}

#[test]
fn a_preempted_run_and_its_retry_are_read_whole() {
    let read = file("two_attempts.ndjson");
    golden::check("openlineage/two_attempts.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (6, 6));
    let links: Vec<_> = views(&read).iter().map(|view| view.link.clone().unwrap()).collect();
    assert_eq!(links[0].experiment.0, "vitl-tune", "the root names the experiment");
    assert_eq!(links[3].experiment.0, "vitl-tune", "the parent names it where there is no root");
    assert_eq!(
        links[5].method,
        LinkMethod::OwnJob,
        "an event without a parent must not hide the better link"
    );
}

#[test]
fn every_broken_event_is_refused_with_its_line_and_the_others_are_kept() {
    let read = file("broken.ndjson");
    golden::check("openlineage/broken.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (9, 3));
    assert_eq!(read.rejections[0].code, "openlineage::no_time_zone");
}

#[test]
fn an_array_and_lines_say_the_same() {
    let lines = std::fs::read_to_string(golden::testdata("openlineage/two_attempts.ndjson")).unwrap();
    let events: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
    let array = typed(&format!("[{}]", events.join(",\n"))).unwrap();
    assert_eq!(array.observations, typed(&lines).unwrap().observations);
    assert_eq!(array.rows, 6);
}

#[test]
fn how_a_run_ended_follows_from_the_event_and_the_cause() {
    for (kind, facets, outcome, cause) in [
        ("COMPLETE", "", Outcome::Completed, Cause::Unknown),
        ("FAIL", "", Outcome::Failed, Cause::Unknown),
        ("FAIL", r#""errorMessage":{"message":"boom"}"#, Outcome::Failed, Cause::AppError),
        ("FAIL", r#""gpuRun_attempt":{"cause":"time_limit"}"#, Outcome::Timeout, Cause::TimeLimit),
        ("ABORT", "", Outcome::Cancelled, Cause::Unknown),
        ("ABORT", r#""gpuRun_attempt":{"cause":"user_cancelled"}"#, Outcome::Cancelled, Cause::UserCancelled),
        ("ABORT", r#""gpuRun_attempt":{"cause":"node_failure"}"#, Outcome::Failed, Cause::NodeFailure),
        ("abort", r#""gpuRun_attempt":{"cause":"evicted-quota"}"#, Outcome::Preempted, Cause::EvictedQuota),
    ] {
        let read = typed(&event(kind, facets)).unwrap();
        let view = views(&read)[0];
        assert_eq!(
            (view.state, view.outcome, view.cause),
            (RunState::Ended, outcome, cause),
            "for {kind} {facets}"
        );
        assert!(view.ended_at.is_some() && view.started_at.is_none());
    }
}

#[test]
fn an_event_that_only_carries_facets_says_nothing_of_the_state() {
    let read = typed(&event("OTHER", "")).unwrap();
    assert_eq!((views(&read)[0].state, views(&read)[0].started_at), (RunState::Pending, None));
    assert_eq!(
        views(&read)[0].scheduler,
        "",
        "a later event must not hide the scheduler that the first one named"
    );
}

#[test]
fn a_resource_is_known_by_the_shape_of_its_id_or_by_its_declared_kind() {
    let facet = |binding: &str| format!(r#""gpuRun_resources":{{"bindings":[{binding}]}}"#);
    for (binding, kind) in [
        (r#"{"resourceId":"i-1"}"#, BindingKind::Instance),
        (r#"{"nodeName":"n1","gpus":1}"#, BindingKind::Node),
        (
            r#"{"resourceId":"projects/p/zones/z/instances/vm","kind":"instance","gpus":4}"#,
            BindingKind::Instance,
        ),
        (r#"{"resourceId":"fs-1"}"#, BindingKind::Resource),
    ] {
        let read = typed(&event("START", &facet(binding))).unwrap();
        let found = read.observations.iter().find_map(|seen| match &seen.record {
            RunRecord::Binding(binding) => Some(binding.kind),
            _ => None,
        });
        assert_eq!(found, Some(kind), "for {binding}");
    }
    for binding in ["{}", r#"{"resourceId":"i-1","gpus":-1}"#, r#"{"resourceId":"i-1","kind":"house"}"#] {
        assert_eq!(typed(&event("START", &facet(binding))).unwrap().rejections.len(), 1, "for {binding}");
    }
}

#[test]
fn accelerators_that_an_event_saw_are_those_of_its_machine_where_nobody_says_other() {
    let gpus = |names: &[&str]| {
        let one =
            |name: &&str| format!(r#"{{"index":0,"name":"{name}","utilizationPercent":87,"lost":true}}"#);
        let all: Vec<String> = names.iter().map(one).collect();
        format!(
            r#""gpuRun_gpus":{{"sampledAt":"2026-07-01T10:00:00Z","gpus":[{}],"unreadLines":1}}"#,
            all.join(",")
        )
    };
    let held = |bindings: &str| format!(r#""gpuRun_resources":{{"bindings":[{bindings}]}}"#);
    let node = r#"{"nodeName":"n1"}"#;
    for (facets, kind, held) in [
        (format!("{},{}", gpus(&["A100", "A100"]), held(node)), Some("A100"), vec![2_000]),
        (format!("{},{}", gpus(&["A100", "H100"]), held(node)), None, vec![2_000]),
        (format!("{},{}", gpus(&["A100"]), held(r#"{"nodeName":"n1","gpus":0.5}"#)), Some("A100"), vec![500]),
        (
            format!("{},{}", gpus(&["A100"]), held(r#"{"nodeName":"n1"},{"nodeName":"n2"}"#)),
            Some("A100"),
            vec![0, 0],
        ),
        (format!("{},{}", gpus(&[]), held(node)), None, vec![0]),
        (format!(r#"{},"gpuRun_attempt":{{"gpuKind":"a100"}}"#, gpus(&["A100"])), Some("a100"), vec![]),
    ] {
        let read = typed(&event("START", &facets)).unwrap();
        let found = read.observations.iter().filter_map(|seen| match &seen.record {
            RunRecord::Binding(binding) => Some(binding.gpus),
            _ => None,
        });
        assert_eq!((views(&read)[0].gpu_kind.as_deref(), found.collect()), (kind, held), "{facets}");
        assert_eq!(views(&read)[0].gpu_count, None, "one machine is not the run");
    }
    let broken = typed(&event("START", r#""gpuRun_gpus":{"gpus":[1]}"#)).unwrap();
    assert_eq!(broken.rejections[0].code, "row::not_an_object");
}

#[test]
fn an_end_that_nobody_can_judge_is_an_end_with_an_unknown_outcome() {
    let facet = r#""gpuRun_attempt":{"endedAt":"2026-07-01T11:00:00Z","exitCode":0}"#;
    for (kind, state, ended) in [
        ("OTHER", RunState::Ended, Some("2026-07-01T11:00:00Z")),
        ("FAIL", RunState::Ended, Some("2026-07-01T11:00:00Z")),
        ("START", RunState::Running, None),
        ("RUNNING", RunState::Running, None),
    ] {
        let read = typed(&event(kind, facet)).unwrap();
        let view = views(&read)[0];
        assert_eq!((view.state, view.ended_at.map(|at| at.to_string()).as_deref()), (state, ended), "{kind}");
        assert_eq!(view.outcome == Outcome::Failed, kind == "FAIL");
    }
    // Nor is it lost: it ended.
    let beat = event("RUNNING", r#""gpuRun_heartbeat":{"everySeconds":30}"#);
    let late = OpenLineageOptions { taken_at: Some(ledger::Timestamp(i64::MAX)), ..options() };
    let read = read(format!("{beat}\n{}", event("OTHER", facet)).as_bytes(), &late).unwrap();
    assert!(read.warnings.is_empty() && views(&read).iter().all(|view| view.state != RunState::Lost));
}

#[test]
fn a_checkpoint_on_the_node_is_not_durable_unless_the_event_says_so() {
    for (facet, durable) in [
        (r#"{"uri":"/scratch/4000"}"#, false),
        (r#"{"uri":"s3://b/4000"}"#, true),
        (r#"{"uri":"s3://b/4000","durable":false}"#, false),
        (r#"{"uri":"/lustre/4000","durable":true}"#, true),
    ] {
        let read = typed(&event("RUNNING", &format!(r#""gpuRun_checkpoint":{facet}"#))).unwrap();
        let RunRecord::Checkpoint(checkpoint) = &read.observations[1].record else { panic!("no checkpoint") };
        assert_eq!(checkpoint.durable, durable, "for {facet}");
    }
}

#[test]
fn tags_name_the_experiment_and_versions_where_nothing_better_does() {
    let tags = r#""tags":{"tags":[{"key":"experiment-id","value":"e1"},{"key":"Model","value":"m1"},
        {"key":"config_version","value":"c1"},{"key":"dataset","value":"d1"}]}"#;
    let read = typed(&event("START", tags).replace('\n', "")).unwrap();
    let view = views(&read)[0];
    let link = view.link.clone().unwrap();
    assert_eq!((link.experiment.0.as_str(), link.method), ("e1", LinkMethod::Label));
    assert_eq!(view.model_version.as_deref(), Some("m1"));
    assert_eq!((view.config_version.as_deref(), view.dataset_snapshot.as_deref()), (Some("c1"), Some("d1")));
}

#[test]
fn a_line_without_end_is_refused_and_skipped() {
    let long = format!("{{\"x\":\"{}\"}}\n{}", "a".repeat(5 * 1024 * 1024), event("START", ""));
    let read = typed(&long).unwrap();
    assert_eq!((read.rows, read.accepted), (2, 1));
    assert_eq!((read.rejections[0].code, read.rejections[0].row), ("row::too_long", 1));
}

#[test]
fn an_array_that_is_no_json_is_an_error_with_place_and_help() {
    let error = typed("[{\"eventType\":").unwrap_err();
    assert_eq!(error.code, "openlineage::not_json");
    assert_eq!(error.place.as_deref(), Some("events.ndjson:1"));
    assert!(error.help.is_some());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_every_row_is_counted(
        text in prop_oneof![any::<Vec<u8>>(), "[\\[{}\\]\":,a-z0-9\n ]{0,200}".prop_map(String::into_bytes)],
    ) {
        if let Ok(read) = read(text.as_slice(), &options()) {
            prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
        }
    }

    #[test]
    fn no_change_of_a_good_event_makes_it_panic(at in 0_usize..4_000, byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = std::fs::read(golden::testdata("openlineage/two_attempts.ndjson")).unwrap();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        let read = read(bytes.as_slice(), &options()).unwrap();
        prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    }
}
