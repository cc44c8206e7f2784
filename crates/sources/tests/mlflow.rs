//! Runs of MLflow: what its answers and its file store say, and what a resumed run looks like.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod golden;
mod told;

use ledger::{LinkMethod, Outcome, RunState, SourceId};
use proptest::prelude::*;
use sources::SourceError;
use sources::telemetry::TelemetryRead;
use sources::telemetry::mlflow::{MlflowOptions, read, read_folder};
use told::{codes, keyed_qualities, qualities, views};

fn options() -> MlflowOptions {
    MlflowOptions { source: SourceId("mlflow:main".to_owned()), tracking: "main".to_owned() }
}

fn typed(files: &[(&str, &str)]) -> Result<TelemetryRead, SourceError> {
    let read = read(files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes())), &options())?;
    assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    Ok(read)
}

fn experiment(read: &TelemetryRead, place: usize) -> (String, LinkMethod) {
    let link = views(read)[place].1.link.clone().unwrap();
    (link.experiment.0, link.method)
}

/// A run with its status and end, and further fields of `data`.
fn run(id: &str, status: &str, end: Option<u64>, data: &str) -> String {
    let end = end.map_or_else(String::new, |end| format!(r#","end_time":{end}"#));
    format!(
        r#"{{"info":{{"run_id":"{id}","experiment_id":"1","status":"{status}","start_time":1000{end}}},"data":{{{data}}}}}"#
    )
}

fn answer(runs: &[String]) -> String {
    format!(r#"{{"runs":[{}]}}"#, runs.join(","))
}

fn tags(tags: &[(&str, &str)]) -> String {
    let tags: Vec<String> =
        tags.iter().map(|(key, value)| format!(r#"{{"key":"{key}","value":"{value}"}}"#)).collect();
    format!(r#""tags":[{}]"#, tags.join(","))
}

fn metric(key: &str, value: &str, timestamp: u64, step: u64) -> String {
    format!(r#"{{"key":"{key}","value":{value},"timestamp":{timestamp},"step":{step}}}"#)
}

#[test]
fn answers_are_read_whole() {
    let read = read_folder(&golden::testdata("mlflow/rest"), &options()).unwrap();
    golden::check("mlflow/rest.expected.txt", &read);
    let mut attempts: Vec<&str> = views(&read).iter().map(|(key, _)| *key).collect();
    attempts.dedup();
    assert_eq!(attempts.len(), 4, "the run that two answers tell is one");
    assert_eq!(codes(&read), ["mlflow::more_pages"], "of the history, whose second page is not here");
}

#[test]
fn the_file_store_is_read_whole() {
    let read = read_folder(&golden::testdata("mlflow/file_store"), &options()).unwrap();
    golden::check("mlflow/file_store.expected.txt", &read);
    assert_eq!(views(&read).len(), 4);
    assert_eq!(read.rejections, []);
    assert!(views(&read).iter().all(|(_, view)| view.team.as_deref() == Some("vision")));
}

#[test]
fn trap_15_every_snapshot_of_a_resumed_run_is_told_as_it_was() {
    for (status, end, stands) in [
        ("FAILED", Some(2_000), vec![(RunState::Ended, Outcome::Failed, Some(2))]),
        (
            "RUNNING",
            Some(2_000),
            vec![(RunState::Ended, Outcome::Unknown, Some(2)), (RunState::Running, Outcome::Unknown, None)],
        ),
        ("FINISHED", Some(4_000), vec![(RunState::Ended, Outcome::Completed, Some(4))]),
    ] {
        let read = typed(&[("runs.json", &answer(&[run("r", status, end, "")]))]).unwrap();
        let told: Vec<_> = views(&read)
            .iter()
            .map(|(key, view)| {
                assert_eq!(*key, "mlflow:main:r:0");
                (view.state, view.outcome, view.ended_at.map(|at| at.seconds()))
            })
            .collect();
        assert_eq!(told, stands, "for {status}");
    }
}

// Trap16.
#[test]
fn trap_16_no_number_and_infinity_are_read_as_they_are_stored() {
    for (value, check) in [
        ("\"NaN\"", f64::is_nan as fn(f64) -> bool),
        ("1.7976931348623157e+308", |value| value == f64::INFINITY),
        ("-1.7976931348623157e+308", |value| value == f64::NEG_INFINITY),
        ("\"Infinity\"", |value| value == f64::INFINITY),
        ("1.7e308", f64::is_finite),
    ] {
        let data = format!(r#""metrics":[{}]"#, metric("m", value, 1_500, 1));
        let read = typed(&[("runs.json", &answer(&[run("r", "FINISHED", Some(2_000), &data)]))]).unwrap();
        let quality = qualities(&read)[0];
        assert!(check(quality.value), "for {value}: {}", quality.value);
        assert_eq!((quality.direction, quality.is_final), (None, false), "MLflow tells neither");
    }
}

// Trap17.
#[test]
fn trap_17_a_run_that_is_running_with_an_end_was_resumed() {
    let data = format!(r#""metrics":[{}]"#, metric("m", "0.5", 3_000, 9));
    let read = typed(&[("runs.json", &answer(&[run("r", "RUNNING", Some(2_000), &data)]))]).unwrap();
    let modified: Vec<Option<i64>> =
        read.observations.iter().take(2).map(|seen| seen.modified_at.map(|at| at.seconds())).collect();
    assert_eq!(modified, [Some(2), Some(3)], "it ended, and runs again");
    assert_eq!(views(&read)[0].1.cause_evidence, ["resumed: RUNNING with an end_time"]);
    assert_eq!(codes(&read), ["mlflow::resumed"]);
}

#[test]
fn a_run_whose_program_was_killed_is_running_for_ever() {
    let read = typed(&[("runs.json", &answer(&[run("r", "RUNNING", None, "")]))]).unwrap();
    let view = views(&read)[0].1;
    assert_eq!((view.state, view.ended_at), (RunState::Running, None));
}

#[test]
fn t22_three_runs_of_one_job_run_are_three_attempts_of_one_experiment() {
    let of_job = tags(&[("mlflow.databricks.jobRunID", "77")]);
    let runs = [
        run("a", "FAILED", Some(2_000), &of_job),
        run("b", "FAILED", Some(3_000), &of_job),
        run("c", "FINISHED", Some(4_000), &of_job),
    ];
    let read = typed(&[("runs.json", &answer(&runs))]).unwrap();
    assert_eq!(views(&read).len(), 3);
    for place in 0..3 {
        assert_eq!(experiment(&read, place), ("mlflow:main/job-runs/77".to_owned(), LinkMethod::Tracker));
    }
}

#[test]
fn the_experiment_is_named_by_the_strongest_that_is_there() {
    let named = |name: &str| {
        run("z", "FINISHED", Some(2_000), "")
            .replace(r#""status""#, &format!(r#""run_name":"{name}","status""#))
    };
    let parent = run("p", "FINISHED", Some(2_000), &tags(&[("experiment", "e1")]));
    let lone = run("q", "FINISHED", Some(2_000), "");
    let child = |of: &str| run("z", "FINISHED", Some(2_000), &tags(&[("mlflow.parentRunId", of)]));
    let names = r#"{"experiments":[{"experiment_id":"1","name":"sweep-7"}]}"#;
    let unnamed = r#"{"experiments":[{"experiment_id":"1","name":"Default"}]}"#;
    for (runs, experiments, expect, method) in [
        (
            vec![
                run(
                    "z",
                    "FINISHED",
                    Some(2_000),
                    &tags(&[("experiment_id", "e9"), ("mlflow.parentRunId", "p")]),
                ),
                parent.clone(),
            ],
            names,
            "e9",
            LinkMethod::Label,
        ),
        (vec![child("p"), parent], names, "e1", LinkMethod::Tracker),
        (vec![child("q"), lone], names, "mlflow:main/q", LinkMethod::Tracker),
        (vec![child("elsewhere")], names, "mlflow:main/elsewhere", LinkMethod::Tracker),
        (vec![named("vitl.a2")], names, "vitl", LinkMethod::NameRule),
        (vec![named("vitl")], names, "sweep-7", LinkMethod::NameRule),
        (vec![named("vitl")], unnamed, "mlflow:main/z", LinkMethod::OwnJob),
    ] {
        let read = typed(&[("runs.json", &answer(&runs)), ("experiments.json", experiments)]).unwrap();
        let last = views(&read).len() - 1;
        assert_eq!(experiment(&read, last), (expect.to_owned(), method), "for {runs:?}");
    }
}

#[test]
fn runs_that_name_each_other_as_parents_end() {
    let runs = [
        run("a", "FINISHED", Some(2_000), &tags(&[("mlflow.parentRunId", "b")])),
        run("b", "FINISHED", Some(2_000), &tags(&[("mlflow.parentRunId", "a")])),
    ];
    assert_eq!(views(&typed(&[("runs.json", &answer(&runs))]).unwrap()).len(), 2);
}

#[test]
fn tags_name_the_job_and_the_versions() {
    let all = tags(&[
        ("slurm_job_id", "1001"),
        ("k8s.pod_uid", "u-1"),
        ("attempt_alias", "slurm:gpu26:42:1782900000"),
        ("model_version", "m1"),
        ("mlflow.source.git.commit", "abc"),
        ("team", "nlp"),
    ]);
    let read = typed(&[("runs.json", &answer(&[run("r", "FINISHED", Some(2_000), &all)]))]).unwrap();
    let view = views(&read)[0].1;
    assert_eq!(view.aliases, ["job_id=1001", "pod_uid=u-1", "slurm:gpu26:42:1782900000"]);
    assert_eq!((view.model_version.as_deref(), view.config_version.as_deref()), (Some("m1"), Some("abc")));
    assert_eq!((view.team.as_deref(), view.gpu_count), (Some("nlp"), None));
}

#[test]
fn a_history_goes_to_the_run_that_it_or_its_file_names() {
    let runs =
        answer(&[run("run-1", "FINISHED", Some(9_000), ""), run("run-2", "FINISHED", Some(9_000), "")]);
    let values =
        format!(r#"{{"metrics":[{},{}]}}"#, metric("m", "0.1", 1_100, 1), metric("m", "0.2", 1_200, 2));
    let named = values.replace(r#""key""#, r#""run_id":"run-1","key""#);
    for (name, history, of) in [("history.json", &named, "run-1"), ("run-2/m.json", &values, "run-2")] {
        let read = typed(&[(name, history), ("runs.json", &runs)]).unwrap();
        let keys: Vec<&str> = keyed_qualities(&read).iter().map(|(key, _)| *key).collect();
        let key = format!("mlflow:main:{of}:0");
        assert_eq!(keys, [key.as_str(), &key], "for {name}");
    }
    let lost = typed(&[("history.json", &values), ("runs.json", &runs)]).unwrap();
    let refused: Vec<(&str, u64)> = lost.rejections.iter().map(|one| (one.code, one.row)).collect();
    assert_eq!(refused, [("row::no_run", 1), ("row::no_run", 2)]);
}

#[test]
fn a_step_that_goes_back_is_told_and_nothing_is_guessed() {
    let runs = answer(&[run("run-1", "FINISHED", Some(9_000), "")]);
    let steps = |steps: [u64; 3]| {
        let values: Vec<String> =
            steps.iter().zip(1..).map(|(step, at)| metric("m", "0.1", 1_000 + at * 100, *step)).collect();
        format!(r#"{{"metrics":[{}]}}"#, values.join(","))
    };
    for (logged, told) in
        [([1, 2, 3], vec![]), ([4, 5, 3], vec!["mlflow::step_went_back"]), ([4, 5, 0], vec![])]
    {
        let read = typed(&[("run-1.json", &steps(logged)), ("runs.json", &runs)]).unwrap();
        assert_eq!((codes(&read), views(&read).len()), (told, 1), "for {logged:?}");
    }
}

#[test]
fn every_broken_record_is_refused_and_the_others_are_kept() {
    let good = run("good", "FINISHED", Some(2_000), "");
    for (bad, code) in [
        ("7".to_owned(), "row::not_an_object"),
        ("{}".to_owned(), "row::missing_value"),
        (good.replace(r#""run_id":"good","#, ""), "row::missing_value"),
        (good.replace("FINISHED", "ASLEEP"), "row::unknown_word"),
        (good.replace("1000", "\"soon\""), "row::not_a_time"),
        (good.replace("1000", "-5"), "row::not_a_time"),
        (
            run("x", "FAILED", None, r#""metrics":[{"key":"m","value":"much","timestamp":1}]"#),
            "row::not_a_number",
        ),
        (run("x", "FAILED", None, r#""tags":[7]"#), "row::not_an_object"),
    ] {
        let read = typed(&[("runs.json", &answer(&[bad.clone(), good.clone()]))]).unwrap();
        assert_eq!(read.rejections.iter().map(|one| one.code).collect::<Vec<_>>(), [code], "for {bad}");
        assert_eq!((read.accepted, views(&read).len()), (1, 1), "for {bad}");
    }
}

#[test]
fn a_file_or_folder_that_is_none_is_an_error_with_help() {
    let error = typed(&[("runs.json", "<html>")]).unwrap_err();
    assert_eq!((error.code, error.place.as_deref()), ("mlflow::not_json", Some("runs.json:1")));
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(read_folder(empty.path(), &options()).unwrap_err().code, "mlflow::no_runs");
}

#[test]
fn a_long_history_is_thinned_out_and_counted() {
    let values: Vec<String> = (0..5_000).map(|step| metric("m", "0.5", 2_000 + step, step)).collect();
    let history = format!(r#"{{"metrics":[{}]}}"#, values.join(","));
    let runs = answer(&[run("run-1", "FINISHED", Some(9_000), "")]);
    let read = typed(&[("run-1.json", &history), ("runs.json", &runs)]).unwrap();
    let kept = qualities(&read).len();
    assert!((500..=1_003).contains(&kept), "{kept}");
    assert_eq!(codes(&read), ["mlflow::values_thinned"]);
}

proptest! {
    #[test]
    fn no_change_of_a_good_answer_makes_it_panic(at in 0_usize..6_000, byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = std::fs::read(golden::testdata("mlflow/rest/rest_runs_search_page1.json")).unwrap();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        if let Ok(read) = read([("a.json".to_owned(), bytes.as_slice())], &options()) {
            prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
        }
    }

    #[test]
    fn no_text_in_a_store_makes_it_panic(meta in "[a-z_]{1,12}: [\\PC\n]{0,60}", value in "\\PC{0,40}") {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("0/r");
        std::fs::create_dir_all(run.join("metrics")).unwrap();
        std::fs::write(run.join("meta.yaml"), format!("run_id: r\nstatus: 3\nexperiment_id: '0'\n{meta}")).unwrap();
        std::fs::write(run.join("metrics/m"), value).unwrap();
        let read = read_folder(folder.path(), &options()).unwrap();
        prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    }
}
