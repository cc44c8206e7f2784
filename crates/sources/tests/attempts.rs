//! Attempts in a spreadsheet, as CSV and as JSON lines.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod golden;

use ledger::{AttemptView, Binding, BindingKind, Cause, Outcome, RunRecord, RunState, SourceId};
use proptest::prelude::*;
use sources::telemetry::TelemetryRead;
use sources::telemetry::attempts::{AttemptsOptions, read};
use sources::{SourceError, Zone};

fn options() -> AttemptsOptions {
    AttemptsOptions {
        file: "attempts.csv".to_owned(),
        source: SourceId("sheet".to_owned()),
        zone: Zone::Undeclared,
    }
}

fn typed(text: &str) -> Result<TelemetryRead, SourceError> {
    read(text.as_bytes(), &options())
}

fn file(name: &str) -> TelemetryRead {
    let bytes = std::fs::read(golden::testdata("attempts").join(name)).unwrap();
    read(bytes.as_slice(), &options()).unwrap()
}

fn views(read: &TelemetryRead) -> Vec<&AttemptView> {
    let views = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    views.collect()
}

fn bindings(read: &TelemetryRead) -> Vec<&Binding> {
    let bindings = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Binding(binding) => Some(binding),
        _ => None,
    });
    bindings.collect()
}

#[test]
fn a_spreadsheet_is_read_whole() {
    let read = file("attempts.csv");
    golden::check("attempts/attempts.csv.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (5, 5));
}

#[test]
fn json_lines_are_read_like_rows() {
    let read = file("attempts.jsonl");
    golden::check("attempts/attempts.jsonl.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (4, 3));
}

#[test]
fn every_broken_row_is_refused_with_its_place() {
    let read = file("broken.csv");
    golden::check("attempts/broken.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (12, 2), "the same row twice is the same attempt");
    let duplicate = &read.rejections[0];
    assert_eq!((duplicate.code, duplicate.row), ("row::duplicate_attempt_id", 2));
    assert!(duplicate.expected.contains("row 1"), "{}", duplicate.expected);
}

#[test]
fn a_bare_time_needs_a_declared_zone() {
    let text = "attempt_id,experiment,started\na,e,2026-07-01 10:00:00\n";
    let error = typed(text).unwrap_err();
    assert_eq!(error.code, "attempts::no_time_zone");
    assert_eq!(error.place.as_deref(), Some("attempts.csv:1"));
    assert!(error.help.unwrap().contains("--time-zone"));
    let paris = AttemptsOptions { zone: Zone::declared("Europe/Paris").unwrap(), ..options() };
    let read = read(text.as_bytes(), &paris).unwrap();
    assert_eq!(views(&read)[0].started_at.unwrap().to_string(), "2026-07-01T08:00:00Z");
}

#[test]
fn a_header_without_a_required_column_is_an_error_that_shows_what_was_found() {
    let error = typed("attempt_id,experment\na,e\n").unwrap_err();
    assert_eq!(error.code, "attempts::missing_column");
    assert_eq!(error.found.as_deref(), Some("attempt_id, experment"));
    assert_eq!(typed("").unwrap_err().code, "attempts::no_header");
    assert_eq!(typed("attempt_id,experiment,Experiment\n").unwrap_err().code, "attempts::column_twice");
}

#[test]
fn the_separator_is_found_and_columns_come_in_any_order() {
    let expect = typed("attempt_id,experiment,gpus\na,e,8\n").unwrap();
    for text in [
        "\u{feff}attempt_id,experiment,gpus\r\na,e,8\r\n",
        "GPUs;Experiment;Attempt-ID\n8;e;a\n",
        "experiment\tattempt_id\tgpus\ne\ta\t8.0",
        "attempt_id,experiment,gpus\n\"a\",\" e \",8\n",
        "{\"gpus\":8,\"attempt_id\":\"a\",\"experiment\":\"e\"}",
    ] {
        assert_eq!(typed(text).unwrap(), expect, "for {text}");
    }
}

#[test]
fn a_row_without_a_status_is_judged_by_its_times() {
    let rows = "a,e,1782900000,1782903600\nb,e,1782900000,\nc,e,,\n";
    let read = typed(&format!("attempt_id,experiment,started,ended\n{rows}")).unwrap();
    let states: Vec<_> = views(&read).iter().map(|view| (view.state, view.outcome)).collect();
    assert_eq!(
        states,
        [
            (RunState::Ended, Outcome::Unknown),
            (RunState::Running, Outcome::Unknown),
            (RunState::Pending, Outcome::Unknown),
        ]
    );
}

#[test]
fn waiting_and_a_launch_that_never_ran_hold_nothing() {
    let text = "attempt_id,experiment,status,cause,submitted,started,ended,gpus,resource_ids\n\
        a,e,failed,launch_failure,2026-07-01T10:00:00Z,,2026-07-01T11:07:00Z,800,i-1;i-2\n";
    let read = typed(text).unwrap();
    assert_eq!(views(&read)[0].elapsed_seconds, Some(0));
    assert_eq!(views(&read)[0].cause, Cause::LaunchFailure);
    assert!(bindings(&read).is_empty());
    assert_eq!(read.warnings[0].code, "attempts::resources_without_start");
}

#[test]
fn gpus_are_spread_over_machines_and_sum_to_the_total() {
    let text = "attempt_id,experiment,started,gpus,resource_ids,resource_gpus,resource_capacity\n\
        a,e,1782900000,10,i-1;vol-1;i-2;i-3,,8\nb,e,1782900000,10,i-1;i-2,8;2,8;4\nc,e,1782900000,,i-1,,\n";
    let read = typed(text).unwrap();
    let shown: Vec<_> = bindings(&read).iter().map(|b| (b.kind, b.weight, b.capacity, b.gpus)).collect();
    assert_eq!(
        shown,
        [
            (BindingKind::Instance, 3_334, Some(8_000), 3_334),
            (BindingKind::Volume, 1_000, Some(1_000), 0),
            (BindingKind::Instance, 3_333, Some(8_000), 3_333),
            (BindingKind::Instance, 3_333, Some(8_000), 3_333),
            (BindingKind::Instance, 8_000, Some(8_000), 8_000),
            (BindingKind::Instance, 2_000, Some(4_000), 2_000),
            (BindingKind::Instance, 1_000, Some(1_000), 0),
        ]
    );
}

#[test]
fn an_unclosed_quote_rejects_its_row_and_a_row_of_other_bytes_is_refused() {
    let read = typed("attempt_id,experiment\na,e\nb,\"e\nc,e\n").unwrap();
    assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    let bytes = b"attempt_id,experiment\n\xff,e\nok,e\n";
    let read = sources::telemetry::attempts::read(bytes.as_slice(), &options()).unwrap();
    assert_eq!((read.accepted, read.rejections[0].code), (1, "row::not_utf8"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_every_row_is_counted(
        header in prop_oneof![Just(""), Just("attempt_id,experiment,status,started,ended,gpus,resource_ids\n")],
        text in prop_oneof![any::<Vec<u8>>(), "[a-z0-9,;\"\n {}:.-]{0,200}".prop_map(String::into_bytes)],
    ) {
        let bytes = [header.as_bytes(), &text].concat();
        if let Ok(read) = read(bytes.as_slice(), &options()) {
            prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
        }
    }

    #[test]
    fn any_order_of_rows_says_the_same(
        rows in Just((0..8).map(|n| format!("a{n},e,178290000{n},8,i-{n}")).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let header = "attempt_id,experiment,started,gpus,resource_ids\n";
        let read = typed(&format!("{header}{}\n", rows.join("\n"))).unwrap();
        let mut keys: Vec<String> = read.observations.iter().map(|seen| format!("{seen:?}")).collect();
        keys.sort();
        let mut sorted = rows.clone();
        sorted.sort();
        let again = typed(&format!("{header}{}\n", sorted.join("\n"))).unwrap();
        let mut others: Vec<String> = again.observations.iter().map(|seen| format!("{seen:?}")).collect();
        others.sort();
        prop_assert_eq!(keys, others);
    }
}
