//! OpenCost and Kubecost allocations: what they say of pods, how they are refused, and what does not matter.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod golden;

use ledger::{AttemptView, Binding, LinkMethod, Outcome, RunRecord, RunState, ShareDriver};
use sources::SourceError;
use sources::telemetry::TelemetryRead;
use sources::telemetry::opencost::{OpenCostOptions, read};

fn options() -> OpenCostOptions {
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    OpenCostOptions {
        cluster: None,
        experiment_keys: keys(&["experiment_id", "experiment"]),
        attempt_keys: keys(&["attempt_id"]),
    }
}

fn typed(text: &str) -> Result<TelemetryRead, SourceError> {
    read([("a.json".to_owned(), text.as_bytes())], &options())
}

fn file(name: &str) -> TelemetryRead {
    let bytes = std::fs::read(golden::testdata("opencost").join(name)).unwrap();
    read([(name.to_owned(), bytes.as_slice())], &options()).unwrap()
}

fn views(read: &TelemetryRead) -> Vec<(&str, &AttemptView)> {
    let views = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Attempt(view) => Some((seen.key.as_str(), view)),
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

fn codes(read: &TelemetryRead) -> Vec<&str> {
    read.warnings.iter().map(|warning| warning.code).collect()
}

/// A pod from `start` to `end` o'clock in a window from 10 to 12, with further fields.
fn pod(name: &str, (start, end): (&str, &str), properties: &str, fields: &str) -> String {
    format!(
        r#""{name}":{{"properties":{{"cluster":"c","namespace":"ml","pod":"{name}","node":"n","providerID":"i-1"{properties}}},
        "window":{{"start":"2026-07-01T10:00:00Z","end":"2026-07-01T12:00:00Z"}},
        "start":"2026-07-01T{start}:00Z","end":"2026-07-01T{end}:00Z"{fields}}}"#
    )
}

fn answer(rows: &[String]) -> TelemetryRead {
    typed(&format!(r#"{{"code":200,"data":[{{{}}}]}}"#, rows.join(","))).unwrap()
}

const FOUR: &str = r#","gpuCount":4"#;

#[test]
fn two_pods_of_a_node_are_read_whole() {
    let read = file("two_pods.json");
    golden::check("opencost/two_pods.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (9, 9));
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("broken.json");
    golden::check("opencost/broken.expected.txt", &read);
    assert_eq!(read.rows, 19);
}

#[test]
fn the_csv_export_names_no_node_so_its_rows_are_rejected() {
    golden::check("opencost/export.expected.txt", &file("export.csv"));
}

#[test]
fn labels_arrive_in_any_spelling() {
    for key in ["experiment_id", "experiment-id", "example.com/x", "Experiment"] {
        let read = answer(&[pod("p", ("10:00", "12:00"), &format!(r#","labels":{{"{key}":"vitl"}}"#), FOUR)]);
        let link = views(&read)[0].1.link.clone();
        let expect = (key != "example.com/x").then(|| ("vitl".to_owned(), LinkMethod::Label));
        assert_eq!(link.map(|link| (link.experiment.0, link.method)), expect, "for {key}");
    }
    let noted = answer(&[pod("p", ("10:00", "12:00"), r#","annotations":{"experiment":"bert"}"#, FOUR)]);
    assert_eq!(views(&noted)[0].1.link.clone().unwrap().experiment.0, "bert");
}

#[test]
fn pods_of_one_attempt_label_are_one_attempt() {
    let label = r#","labels":{"attempt_id":"a1"}"#;
    let read =
        answer(&[pod("w-0", ("10:10", "12:00"), label, FOUR), pod("w-1", ("10:20", "12:00"), label, FOUR)]);
    let [(key, view)] = views(&read)[..] else { panic!("two attempts") };
    assert_eq!((key, view.aliases.as_slice()), ("k8s:c/ml/attempt/a1", &["a1".to_owned()][..]));
    let held: Vec<_> = bindings(&read).iter().map(|b| (b.start.to_string(), b.weight)).collect();
    let expect = [("2026-07-01T10:10:00Z", 4_000), ("2026-07-01T10:20:00Z", 8_000)];
    assert_eq!(held, expect.map(|(start, weight)| (start.to_owned(), weight)));
}

#[test]
fn a_pod_that_stopped_before_its_window_has_ended_and_any_other_runs_on() {
    let other = pod("other", ("10:00", "12:00"), "", FOUR);
    let told = |rows: &[String]| {
        let read = answer(rows);
        let view = views(&read).iter().find(|(key, _)| key.ends_with("/p")).unwrap().1.clone();
        assert_eq!(view.outcome, Outcome::Unknown);
        (view.started_at.unwrap().to_string(), view.ended_at.unwrap().to_string(), view.state)
    };
    let at = |time: &str| format!("2026-07-01T{time}:00Z");
    for (start, end, state) in [
        ("10:00", "12:00", RunState::Running),
        ("10:05", "11:59", RunState::Running),
        ("10:05", "11:58", RunState::Ended),
    ] {
        let rows = [pod("p", (start, end), "", FOUR), other.clone()];
        assert_eq!(told(&rows), (at(start), at(end), state), "until {end}");
    }
    // What nothing outlived may go on: the answer may have been taken then.
    assert_eq!(told(&[pod("p", ("10:05", "11:30"), "", FOUR)]).2, RunState::Running);
}

#[test]
fn without_idle_rows_the_size_of_a_node_is_not_known_and_that_is_told() {
    let read = answer(&[pod("p", ("10:00", "12:00"), "", FOUR)]);
    assert_eq!(bindings(&read)[0].capacity, None);
    assert!(codes(&read).contains(&"opencost::without_node_size"));
    let whole = file("two_pods.json");
    assert!(
        bindings(&whole).iter().filter(|b| b.driver == ShareDriver::Gpu).all(|b| b.capacity == Some(8_000))
    );
    assert!(!codes(&whole).contains(&"opencost::without_node_size"));
}

#[test]
fn no_cost_is_imported() {
    let dear = answer(&[pod("p", ("10:00", "12:00"), "", r#","gpuCount":4,"totalCost":99,"gpuCost":99"#)]);
    let cheap = answer(&[pod("p", ("10:00", "12:00"), "", r#","gpuCount":4,"totalCost":1,"gpuCost":1"#)]);
    assert_eq!(dear, cheap);
    assert!(codes(&dear).contains(&"opencost::costs_not_imported"));
}

#[test]
fn a_cluster_may_be_given_beside_the_file() {
    let row = pod("p", ("10:00", "12:00"), "", FOUR).replace(r#""cluster":"c","#, "");
    let text = format!(r#"{{"data":[{{{row}}}]}}"#);
    let refused = typed(&text).unwrap();
    assert_eq!(refused.rejections[0].column.as_deref(), Some("properties.cluster"));
    let given = OpenCostOptions { cluster: Some("lab".to_owned()), ..options() };
    let read = read([("a.json".to_owned(), text.as_bytes())], &given).unwrap();
    assert_eq!(views(&read)[0].0, "k8s:lab/ml/pod/p");
}

#[test]
fn answers_stand_one_after_another_alone_or_in_several_files() {
    let row = |name| pod(name, ("10:00", "12:00"), "", FOUR);
    let (a, b) = (row("a"), row("b"));
    let together = typed(&format!(r#"[{{{a}}},{{{b}}}]"#)).unwrap();
    let stream = typed(&format!("{{\"code\":200,\"data\":[{{{a}}}]}}\n{{\"data\":[{{{b}}}]}}")).unwrap();
    assert_eq!(together, stream);
    let texts = [a, b].map(|row| format!(r#"{{"data":[{{{row}}}]}}"#));
    let files = texts.iter().map(|text| ("a.json".to_owned(), text.as_bytes()));
    assert_eq!(read(files, &options()).unwrap().observations, together.observations);
}

#[test]
fn a_file_that_is_no_answer_is_refused() {
    for (text, code) in [
        ("", "opencost::not_an_answer"),
        ("{}", "opencost::not_an_answer"),
        (r#"{"code":500,"status":"error","message":"no data","data":[]}"#, "opencost::not_an_answer"),
        ("a,b\n1,2\n", "opencost::not_an_answer"),
        (r#"{"data":[{"a":"#, "opencost::not_json"),
        (r#"{"data":[7]}"#, "opencost::not_json"),
    ] {
        assert_eq!(typed(text).unwrap_err().code, code, "for {text}");
    }
    let error = typed(r#"{"code":500,"message":"no data"}"#).unwrap_err();
    assert_eq!(error.found.as_deref(), Some("no data"));
}
