//! What Prometheus recorded of devices and pods: summaries, attempts, refusals, and the requests that ask for them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;

use ledger::{Interval, Metric, RunRecord, RunState, Timestamp, Utilisation};
use proptest::prelude::*;
use sources::telemetry::TelemetryRead;
use sources::telemetry::kubernetes::{self, KubernetesOptions};
use sources::telemetry::prometheus::request::{MAX_POINTS, METRICS, requests};
use sources::telemetry::prometheus::{PrometheusOptions, read};
use sources::{SourceError, Zone, instant};

/// Ten o'clock.
const TEN: i64 = 1_782_900_000;

fn at(time: &str) -> Timestamp {
    instant(&format!("2026-07-01T{time}:00Z"), &Zone::Undeclared).unwrap()
}

fn options() -> PrometheusOptions {
    PrometheusOptions {
        cluster: Some("c1".to_owned()),
        experiment_keys: vec!["experiment_id".to_owned()],
        asked: Some(Interval { start: at("10:00"), end: at("12:00") }),
        step_seconds: None,
    }
}

fn typed(text: &str) -> Result<TelemetryRead, SourceError> {
    read([("a.json".to_owned(), text.as_bytes())], &options())
}

fn file(name: &str) -> TelemetryRead {
    documents::file(&format!("prometheus/{name}"), |bytes| read([(name.to_owned(), bytes)], &options()))
}

/// A series of a metric of the device `GPU-a` with further labels.
fn series(metric: &str, labels: &str, values: &[(i64, &str)]) -> String {
    let values: Vec<String> =
        values.iter().map(|(second, value)| format!("[{},\"{value}\"]", TEN + second)).collect();
    format!(
        r#"{{"metric":{{"__name__":"{metric}","UUID":"GPU-a","Hostname":"n1"{labels}}},"values":[{}]}}"#,
        values.join(",")
    )
}

fn answer(series: &[String]) -> TelemetryRead {
    let text =
        format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#, series.join(","));
    typed(&text).unwrap()
}

fn utilisations(read: &TelemetryRead) -> Vec<(&str, &Utilisation)> {
    let told = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Utilisation(told) => Some((seen.key.as_str(), told)),
        _ => None,
    });
    told.collect()
}

fn codes(read: &TelemetryRead) -> Vec<&str> {
    read.warnings.iter().map(|warning| warning.code).collect()
}

const GPU: &str = "DCGM_FI_DEV_GPU_UTIL";
const ENGINE: &str = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";

#[test]
fn devices_are_summed_up_hour_by_hour() {
    let read = file("synthetic_devices.json");
    assert_eq!((read.rows, read.accepted), (12, 12));
}

#[test]
fn pods_and_nodes_are_put_together_to_attempts() {
    let read = file("synthetic_pods.json");
    assert_eq!(read.rows, read.accepted);
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("synthetic_broken.json");
    assert_eq!((read.rows, read.accepted), (11, 1));
}

// T24: ranks, exporters and replicas of a server that tell of one device tell of one device.
#[test]
fn t24_four_ranks_that_tell_of_one_device_count_it_once() {
    let of_rank = |rank: u32| {
        series(GPU, &format!(r#","instance":"10.0.0.{rank}:9400""#), &[(0, "90"), (60, "90"), (120, "3")])
    };
    let four = answer(&[of_rank(1), of_rank(2), of_rank(3), of_rank(4)]);
    let one = answer(&[of_rank(1)]);
    assert_eq!(four.observations, one.observations);
    let [(key, told)] = utilisations(&four)[..] else { panic!("one device and hour") };
    assert_eq!((key, told.coverage.unwrap().seen), ("device:GPU-a", 3));
    assert_eq!(told.gauge(Metric::GpuBusy).unwrap().low.unwrap().seconds, 60, "and not four minutes");
}

// Trap23: a gap is no data, and so is what is blank, NaN or infinite; none of it is zero.
#[test]
fn trap_23_what_was_not_measured_is_missing_and_never_zero() {
    let blank = "9223372036854775794";
    let values =
        [(0, "80"), (60, "NaN"), (120, blank), (180, "+Inf"), (240, "-1"), (300, "2147483632"), (600, "60")];
    let read = answer(&[series(GPU, "", &values)]);
    let told = utilisations(&read)[0].1;
    let gauge = told.gauge(Metric::GpuBusy).unwrap();
    assert_eq!((gauge.samples, gauge.mean, gauge.least), (Some(2), Some(700_000), Some(600_000)));
    assert_eq!(gauge.low.unwrap().seconds, 0, "nothing says that it was at rest");
    let coverage = told.coverage.unwrap();
    assert_eq!((coverage.step_seconds, coverage.expected, coverage.seen), (60, 60, 2));
    assert!(codes(&read).contains(&"prometheus::missing_samples"));
}

#[test]
fn a_stretch_at_rest_ends_at_a_gap_and_is_joined_over_the_hour() {
    let values: Vec<(i64, &str)> = (0..120)
        .filter(|n| *n != 20)
        .map(|n| (n * 60, if (50..=70).contains(&n) { "0.01" } else { "0.9" }))
        .collect();
    let mut low: Vec<(i64, &str)> = values.clone();
    low[5].1 = "0.049999";
    low[7].1 = "0.05";
    low[19].1 = "0";
    low[20].1 = "0";
    let read = answer(&[series(ENGINE, "", &low)]);
    let of_hour =
        |index: usize| utilisations(&read)[index].1.gauge(Metric::EngineActive).unwrap().low.unwrap();
    let (first, second) = (of_hour(0), of_hour(1));
    // Ten minutes up to the border, and the minutes 5, 19 and 21, of which the gap parts the last two.
    assert_eq!((first.seconds, first.longest, first.at_start, first.at_end), (780, 600, 0, 600));
    assert_eq!((second.seconds, second.longest, second.at_start, second.at_end), (660, 660, 660, 0));
    assert_eq!(utilisations(&read)[0].1.coverage.unwrap().seen, 59);
}

#[test]
fn a_gap_parts_a_stretch_since_nobody_looked() {
    let read = answer(&[series(ENGINE, "", &[(0, "0"), (60, "0"), (180, "0"), (240, "0"), (300, "0")])]);
    let low = utilisations(&read)[0].1.gauge(Metric::EngineActive).unwrap().low.unwrap();
    assert_eq!((low.seconds, low.longest, low.at_start, low.at_end), (300, 180, 120, 0));
}

#[test]
fn power_at_rest_is_that_of_the_samples_at_rest() {
    let read = answer(&[
        series(GPU, "", &[(0, "95"), (60, "0"), (120, "4")]),
        series("DCGM_FI_DEV_POWER_USAGE", "", &[(0, "390"), (60, "61.2345"), (120, "70.5")]),
    ]);
    let told = utilisations(&read)[0].1;
    assert_eq!(told.gauge(Metric::GpuBusy).unwrap().low.unwrap().power, Some(70_500));
    assert_eq!(told.gauge(Metric::Power).unwrap().least, Some(61_234));
}

#[test]
fn what_held_a_device_is_told_by_its_labels() {
    let key = |labels: &str| {
        let read = answer(&[series(GPU, labels, &[(0, "1"), (60, "1")])]);
        utilisations(&read)[0].0.to_owned()
    };
    assert_eq!(key(r#","hpc_job":"42""#), "slurm:c1:42");
    assert_eq!(key(r#","hpc_job":"42","cluster":"gpu26""#), "slurm:gpu26:42");
    assert_eq!(key(r#","pod":"train-0","namespace":"ml""#), "k8s:c1/ml/pod/train-0");
    assert_eq!(key(r#","pod":"train-0","namespace":"ml","pod_uid":"u1""#), "k8s:c1:u1");
    let renamed =
        r#","exported_pod":"train-0","exported_namespace":"ml","pod":"dcgm-exporter-x","namespace":"mon""#;
    assert_eq!(key(renamed), "k8s:c1/ml/pod/train-0");
    for labels in
        ["", r#","hpc_job":"""#, r#","pod":"dcgm-exporter-x","namespace":"mon""#, r#","pod":"train-0""#]
    {
        assert_eq!(key(labels), "device:GPU-a", "for {labels}");
    }
    assert_eq!(key(r#","GPU_I_ID":"5""#), "device:GPU-a/5", "a slice is a device of its own");
}

#[test]
fn a_device_that_was_held_for_a_part_of_an_hour_has_a_summary_for_each() {
    let read = answer(&[
        series(GPU, r#","hpc_job":"42""#, &[(600, "90"), (660, "90"), (720, "90")]),
        series(GPU, "", &[(0, "0"), (60, "0"), (780, "0"), (4_000, "0"), (4_060, "0")]),
    ]);
    let spans: Vec<_> = utilisations(&read)
        .into_iter()
        .map(|(key, told)| {
            let coverage = told.coverage.unwrap();
            (
                key.to_owned(),
                told.window.start.to_string(),
                told.window.end.to_string(),
                coverage.expected,
                coverage.seen,
            )
        })
        .collect();
    let expect = [
        ("slurm:c1:42", "10:10:00", "10:13:00", 3, 3),
        // Beside a job, from the first sample to the last; else all that was asked for of the hour.
        ("device:GPU-a", "10:00:00", "10:14:00", 14, 3),
        ("device:GPU-a", "11:00:00", "12:00:00", 60, 2),
    ];
    let full = |time: &str| format!("2026-07-01T{time}Z");
    assert_eq!(
        spans,
        expect.map(|(key, from, to, expected, seen)| (key.to_owned(), full(from), full(to), expected, seen))
    );
}

// Trap24: an error is told with its code; who caused it, the ledger knows.
#[test]
fn trap_24_an_error_is_a_change_of_the_code_and_not_what_was_there_before() {
    let xid = |values: &[(i64, &str)]| {
        let read = answer(&[
            series("DCGM_FI_DEV_XID_ERRORS", "", values),
            series(GPU, "", &[(0, "1"), (60, "1"), (120, "1"), (180, "1")]),
        ]);
        let errors: Vec<u32> = utilisations(&read)[0].1.errors.iter().map(|error| error.code).collect();
        (errors, codes(&read).contains(&"prometheus::earlier_error"))
    };
    assert_eq!(xid(&[(0, "0"), (60, "43"), (120, "43"), (180, "79")]), (vec![43, 79], false));
    assert_eq!(xid(&[(0, "43"), (60, "43")]), (vec![], true));
    assert_eq!(xid(&[(0, "0"), (60, "0")]), (vec![], false));
}

#[test]
fn the_same_pod_has_the_same_key_from_the_cluster_itself() {
    let list = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"tune-def","namespace":"ml","uid":"u2"},
        "spec":{"nodeName":"gpu-a","containers":[{"name":"train","resources":{"limits":{"nvidia.com/gpu":"4"}}}]},
        "status":{"phase":"Running","containerStatuses":[{"name":"train","restartCount":0,"state":{"running":{"startedAt":"2026-07-01T10:52:20Z"}}}]}}"#;
    let cluster = KubernetesOptions { cluster: Some("c1".to_owned()), ..KubernetesOptions::default() };
    let told = kubernetes::read(list.as_bytes(), &cluster).unwrap();
    let metrics = file("synthetic_pods.json");
    let key = &told.observations[0].key;
    assert!(metrics.observations.iter().any(|seen| seen.key == *key), "{key}");
}

#[test]
fn a_pod_that_vanished_is_lost_and_one_that_waits_holds_nothing() {
    let read = file("synthetic_pods.json");
    let state = |uid: &str| {
        let mut views = read.observations.iter().filter(|seen| seen.key.contains(uid)).filter_map(|seen| {
            match &seen.record {
                RunRecord::Attempt(view) => Some(view.state),
                _ => None,
            }
        });
        views.next().unwrap()
    };
    assert_eq!((state(":u3:"), state(":u5:")), (RunState::Lost, RunState::Pending));
    let binds = |uid: &str| {
        read.observations
            .iter()
            .any(|seen| seen.key.contains(uid) && matches!(seen.record, RunRecord::Binding(_)))
    };
    assert!(
        binds(":u3:") && !binds(":u5:") && !read.observations.iter().any(|seen| seen.key.contains(":u6:"))
    );
}

#[test]
fn a_file_that_is_no_answer_is_refused() {
    for (text, code) in [
        ("up 1", "prometheus::not_json"),
        ("{}", "prometheus::failed_answer"),
        (
            r#"{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points"}"#,
            "prometheus::failed_answer",
        ),
        (r#"{"status":"success"}"#, "prometheus::not_a_matrix"),
        (r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#, "prometheus::not_a_matrix"),
    ] {
        assert_eq!(typed(text).unwrap_err().code, code, "for {text}");
    }
    let failed = typed(r#"{"status":"error","errorType":"timeout","error":"too slow"}"#).unwrap_err();
    assert_eq!(failed.found.as_deref(), Some("timeout: too slow"));
    let empty = typed(r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#).unwrap();
    assert_eq!((empty.rows, empty.observations.len()), (0, 0));
}

#[test]
fn pods_without_a_cluster_are_an_error_and_devices_without_one_keep_no_holder() {
    let none = PrometheusOptions { cluster: None, ..options() };
    let answer = |series: &str| {
        format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{series}]}}}}"#)
    };
    let pod = r#"{"metric":{"__name__":"kube_pod_info","namespace":"ml","pod":"p","uid":"u"},"values":[[1782900000,"1"]]}"#;
    let refused = read([("a.json".to_owned(), answer(pod).as_bytes())], &none).unwrap_err();
    assert_eq!(refused.code, "prometheus::no_cluster");
    let device = series(GPU, r#","hpc_job":"42""#, &[(0, "1"), (60, "1")]);
    let told = read([("a.json".to_owned(), answer(&device).as_bytes())], &none).unwrap();
    assert_eq!(utilisations(&told)[0].0, "device:GPU-a");
    assert!(codes(&told).contains(&"prometheus::holder_without_cluster"));
}

#[test]
fn the_split_of_answers_over_files_does_not_matter() {
    let text = std::fs::read_to_string(golden::testdata("prometheus/synthetic_devices.json")).unwrap();
    let answers: Vec<&str> = text.split_inclusive("]}}\n").collect();
    assert!(answers.len() > 5);
    let files = answers.iter().rev().map(|answer| ("a.json".to_owned(), answer.as_bytes()));
    let apart = read(files, &options()).unwrap();
    assert_eq!(apart.observations, typed(&text).unwrap().observations);
}

#[test]
fn a_range_is_asked_for_in_whole_hours_and_windows_that_a_server_answers() {
    let range = Interval { start: at("10:20"), end: at("11:40") };
    let plan = requests("http://prom:9090/", range, 30).unwrap();
    assert_eq!(plan.len(), METRICS.len());
    let expect = "http://prom:9090/api/v1/query_range?query=DCGM_FI_DEV_GPU_UTIL&start=1782900000&end=1782907170&step=30";
    assert_eq!((plan[0].url.as_str(), plan[0].metric), (expect, "DCGM_FI_DEV_GPU_UTIL"));
    let base = requests("https://x.example/prometheus", range, 60).unwrap();
    assert!(base[0].url.starts_with("https://x.example/prometheus/api/v1/query_range?query="));
    let empty = Interval { start: at("10:20"), end: at("10:20") };
    assert_eq!(requests("http://prom:9090", empty, 30).unwrap(), []);
    for (base, step, code) in [
        ("prom:9090", 30, "prometheus::not_an_address"),
        ("ftp://prom", 30, "prometheus::not_an_address"),
        ("http://prom", 0, "prometheus::no_such_step"),
        ("http://prom", 7, "prometheus::no_such_step"),
    ] {
        assert_eq!(requests(base, range, step).unwrap_err().code, code, "for {base} and {step}");
    }
    let ages = Interval { start: Timestamp(0), end: at("10:00") };
    assert_eq!(requests("http://prom", ages, 1).unwrap_err().code, "prometheus::too_many_requests");
}

proptest! {
    #[test]
    fn windows_tile_the_range_and_none_has_too_many_points(
        start in 0_i64..4_000_000,
        length in 1_i64..2_000_000,
        step in prop::sample::select(vec![1_u32, 5, 10, 15, 30, 60, 300, 3_600]),
    ) {
        let range = Interval {
            start: Timestamp::from_seconds(TEN + start),
            end: Timestamp::from_seconds(TEN + start + length),
        };
        let Ok(plan) = requests("http://p", range, step) else {
            prop_assert!(step == 1, "only the finest step asks too much");
            return Ok(());
        };
        let windows: Vec<Interval> = plan.iter().step_by(METRICS.len()).map(|request| request.window).collect();
        prop_assert!(windows[0].start <= range.start && range.end <= windows.last().unwrap().end);
        for pair in windows.windows(2) {
            prop_assert_eq!(pair[0].end, pair[1].start);
        }
        for window in windows {
            prop_assert!(window.micros() / 1_000_000 / i64::from(step) <= MAX_POINTS);
            prop_assert_eq!(window.start.seconds() % 3_600, 0);
        }
    }

    #[test]
    fn no_change_of_a_good_answer_makes_it_panic(change in documents::changes()) {
        documents::survives("prometheus/synthetic_devices.json", change, |bytes| {
            read([("a.json".to_owned(), bytes)], &options())
        })?;
        documents::survives("prometheus/synthetic_pods.json", change, |bytes| {
            read([("a.json".to_owned(), bytes)], &options())
        })?;
    }
}
