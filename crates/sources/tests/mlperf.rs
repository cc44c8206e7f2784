//! MLPerf training logs: what they say, how they are refused, and the published results of a round.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod golden;
mod told;

#[path = "mlperf/published.rs"]
mod published;

use std::io::Write;

use ledger::{Direction, LinkMethod, Outcome, RunState, SourceId};
use proptest::prelude::*;
use sources::SourceError;
use sources::telemetry::TelemetryRead;
use sources::telemetry::mlperf::{MlperfOptions, read, read_folder};
use told::{codes, phases, qualities, views};

fn options() -> MlperfOptions {
    MlperfOptions::new("train.log", SourceId("mlperf".to_owned()))
}

fn typed(text: &str) -> Result<TelemetryRead, SourceError> {
    read(text.as_bytes(), &options())
}

/// A log of one execution of a benchmark, with further lines before its end.
fn log(benchmark: &str, more: &str) -> String {
    format!(
        r#":::MLLOG {{"time_ms": 1000, "key": "submission_benchmark", "value": "{benchmark}"}}
:::MLLOG {{"time_ms": 1000, "key": "init_start"}}
:::MLLOG {{"time_ms": 5000, "key": "run_start"}}
{more}
"#
    )
}

fn event(time: u64, key: &str, value: &str, metadata: &str) -> String {
    format!(r#":::MLLOG {{"time_ms": {time}, "key": "{key}", "value": {value}, "metadata": {metadata}}}"#)
}

#[test]
fn a_folder_of_results_is_read_whole() {
    let read = read_folder(&golden::testdata("mlperf/acme"), &options()).unwrap();
    golden::check("mlperf/acme.expected.txt", &read);
    let attempts = views(&read);
    assert_eq!(attempts.len(), 3, "a log without end, then another execution");
    assert!(attempts.iter().all(|(_, view)| view.gpu_count == Some(8_000)));
    assert_eq!(codes(&read), ["mlperf::no_records", "mlperf::no_run_stop"]);
}

#[test]
fn a_broken_line_rejects_itself_only() {
    let file = std::fs::read(golden::testdata("mlperf/broken.log")).unwrap();
    let read = read(file.as_slice(), &options()).unwrap();
    golden::check("mlperf/broken.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (7, 2), "a line of other text is no record");
}

#[test]
fn initialisation_is_apart_from_the_timed_run() {
    let text = log("bert", &event(65_000, "run_stop", "null", r#"{"status": "success"}"#));
    let read = typed(&text).unwrap();
    let told: Vec<(&str, i64)> = phases(&read)
        .iter()
        .map(|(_, phase)| (phase.kind.word(), phase.interval.end.seconds() - phase.interval.start.seconds()))
        .collect();
    assert_eq!(told, [("init", 4), ("train", 60)]);
    assert_eq!(views(&read)[0].1.started_at.unwrap().seconds(), 1, "initialisation is billed time");
}

// Trap31.
#[test]
fn trap_31_a_run_without_run_stop_is_lost_until_a_longer_log_says_more() {
    let begun = log("resnet", &event(9_000, "eval_accuracy", "0.4", r#"{"epoch_num": 4}"#));
    let read = typed(&begun).unwrap();
    let (key, view) = views(&read)[0];
    assert_eq!((view.state, view.outcome), (RunState::Lost, Outcome::Unknown));
    assert_eq!(view.ended_at.unwrap().seconds(), 9, "the last event is the last that is known");
    assert_eq!(view.cause_evidence, ["no run_stop"]);
    assert_eq!(codes(&read), ["mlperf::accelerators_not_told", "mlperf::no_run_stop"]);
    let ended = begun.clone() + &event(10_000, "run_stop", "null", r#"{"status": "aborted"}"#);
    let later = typed(&ended).unwrap();
    assert_eq!((views(&later)[0].0, views(&later)[0].1.outcome), (key, Outcome::Failed));
}

#[test]
fn the_way_that_is_better_follows_from_the_rules_of_the_benchmark_or_stays_unknown() {
    for (benchmark, metric, direction) in [
        ("bert", "{}", Some(Direction::Maximise)),
        ("gpt3", "{}", Some(Direction::Minimise)),
        ("stable_diffusion", r#"{"metric": "FID"}"#, Some(Direction::Minimise)),
        ("stable_diffusion", r#"{"metric": "CLIP"}"#, Some(Direction::Maximise)),
        ("my_own_model", "{}", None),
    ] {
        let text = log(benchmark, &event(9_000, "eval_accuracy", "0.4", metric));
        let found = qualities(&typed(&text).unwrap())[0].direction;
        assert_eq!(found, direction, "for {benchmark} {metric}");
    }
}

#[test]
fn an_evaluation_after_the_end_is_the_final_quality_and_no_time_of_the_attempt() {
    let stop = event(65_000, "run_stop", "null", r#"{"status": "success"}"#);
    let metadata = r#"{"samples_count": 512000, "metric": "FID"}"#;
    let text =
        log("stable_diffusion", &format!("{stop}\n{}", event(99_000, "eval_accuracy", "86.4", metadata)));
    let read = typed(&text).unwrap();
    assert_eq!(views(&read)[0].1.ended_at.unwrap().seconds(), 65);
    let quality = qualities(&read)[0];
    assert!(quality.is_final);
    assert_eq!((quality.metric.as_str(), quality.step), ("FID", Some(512_000)));
}

#[test]
fn what_is_declared_names_experiment_accelerators_and_round() {
    let declared = MlperfOptions {
        experiment: Some("llm-sweep".to_owned()),
        round: Some("v4.0".to_owned()),
        gpus: Some(16_000),
        ..options()
    };
    let text = log("bert", &event(9_000, "eval_accuracy", "0.4", "{}"));
    let read = read(text.as_bytes(), &declared).unwrap();
    let view = views(&read)[0].1;
    let link = view.link.clone().unwrap();
    assert_eq!((link.experiment.0.as_str(), link.method), ("llm-sweep", LinkMethod::Explicit));
    assert_eq!(view.gpu_count, Some(16_000));
    assert_eq!(qualities(&read)[0].protocol.as_deref(), Some("mlperf_training_v4.0/bert"));
}

#[test]
fn a_long_history_is_thinned_out_and_counted() {
    let mut text = log("bert", "").into_bytes();
    for step in 0..5_000_u64 {
        let value = format!("0.{step:05}");
        let line = event(6_000 + step, "eval_accuracy", &value, &format!(r#"{{"epoch_num": {step}}}"#));
        writeln!(text, "{line}").unwrap();
    }
    let read = read(text.as_slice(), &options()).unwrap();
    assert_eq!(read.accepted, 5_003);
    let kept = qualities(&read).len();
    assert!((500..=1_003).contains(&kept), "{kept}");
    let warning = read.warnings.iter().find(|warning| warning.code == "mlperf::values_thinned").unwrap();
    assert!(warning.message.starts_with(&format!("{} value(s)", 5_000 - kept)), "{}", warning.message);
}

#[test]
fn a_file_or_folder_without_a_record_is_an_error_with_help() {
    let error = typed("epoch 1\nepoch 2\n").unwrap_err();
    assert_eq!((error.code, error.help.is_some()), ("mlperf::no_records", true));
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(read_folder(empty.path(), &options()).unwrap_err().code, "mlperf::no_records");
    let absent = empty.path().join("absent");
    assert_eq!(read_folder(&absent, &options()).unwrap_err().code, "mlperf::cannot_read");
}

proptest! {
    #[test]
    fn no_change_of_a_good_log_makes_it_panic(at in 0_usize..4_000, byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes =
            std::fs::read(golden::testdata("mlperf/acme/results/8xh100/bert/result_0.txt")).unwrap();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        if let Ok(read) = read(bytes.as_slice(), &options()) {
            prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
        }
    }
}
