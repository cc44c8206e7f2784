//! What was measured of devices, and found in buckets, beside the attempts of other sources.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use costing::attempts::{Folded, fold};
use ledger::{Attempt, Interval, Metric, Observation, SourceId, Timestamp};
use sources::telemetry::attempts::AttemptsOptions;
use sources::telemetry::jobstats::{self, JobstatsOptions};
use sources::telemetry::prometheus::{self, PrometheusOptions};
use sources::telemetry::s3_inventory::{self, S3InventoryOptions};
use sources::telemetry::slurm::{self, Content, SlurmFile, SlurmOptions};
use sources::{Zone, instant};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata").join(name)
}

fn at(time: &str) -> Timestamp {
    instant(&format!("2026-07-01T{time}:00Z"), &Zone::Undeclared).unwrap()
}

fn metrics(name: &str) -> Vec<Observation> {
    let options = PrometheusOptions {
        cluster: Some("c1".to_owned()),
        experiment_keys: vec!["experiment_id".to_owned()],
        asked: Some(Interval { start: at("10:00"), end: at("12:00") }),
        step_seconds: Some(300),
    };
    let bytes = std::fs::read(testdata(name)).unwrap();
    prometheus::read([(name.to_owned(), bytes.as_slice())], &options).unwrap().observations
}

fn table(rows: &str) -> Vec<Observation> {
    let options = AttemptsOptions {
        file: "runs.csv".to_owned(),
        source: SourceId("runs".to_owned()),
        zone: Zone::Undeclared,
    };
    let read = sources::telemetry::attempts::read(rows.as_bytes(), &options).unwrap();
    assert_eq!(read.rejections, []);
    read.observations
}

fn attempt<'a>(folded: &'a Folded, key: &str) -> &'a Attempt {
    folded.attempts.iter().find(|attempt| attempt.canonical_key == key).unwrap()
}

#[test]
fn metrics_imported_again_in_parts_and_in_any_order_change_nothing() {
    for name in ["prometheus/synthetic_devices.json", "prometheus/synthetic_pods.json"] {
        let all = metrics(name);
        let folded = fold(&all);
        let halves = all.split_at(all.len() / 2);
        let again = [halves.1.to_vec(), all.clone(), halves.0.to_vec()].concat();
        assert_eq!(fold(&again), folded, "for {name}");
    }
}

#[test]
fn the_pods_of_metrics_are_attempts_with_their_machines() {
    let folded = fold(&metrics("prometheus/synthetic_pods.json"));
    assert!(folded.notes.is_empty(), "{:?}", folded.notes);
    let first = attempt(&folded, "k8s:c1:u1:train:0");
    let second = attempt(&folded, "k8s:c1:u2:train:0");
    assert_eq!((first.link.experiment.0.as_str(), first.ordinal, second.ordinal), ("vitl-tune", 1, 2));
    assert_eq!(first.bindings[0].resource_id.as_deref(), Some("i-0a"));
    // Four from thirty seconds before ten until ten to eleven.
    assert_eq!(first.gpu_milliseconds, Some(4_000 * 3_030));
}

/// The rule by which a later finding calls a device idle: the engine below a twentieth for so many minutes, with four
/// fifths of the samples there.
fn idle_minutes(folded: &Folded, device: &str) -> Option<u32> {
    let mut windows: Vec<_> = folded.devices.iter().filter(|told| told.device == device).collect();
    windows.sort();
    let (mut longest, mut running, mut expected, mut seen) = (0, 0, 0, 0);
    for told in windows {
        let coverage = told.coverage?;
        (expected, seen) = (expected + coverage.expected, seen + coverage.seen);
        let low = told.gauge(Metric::EngineActive)?.low?;
        longest = longest.max(low.longest).max(running + low.at_start);
        let is_through = i64::from(low.at_start) * 1_000_000 == told.window.micros();
        running = if is_through { running + low.at_start } else { low.at_end };
    }
    (seen * 5 >= expected * 4).then_some(longest.max(running) / 60)
}

#[test]
fn a_device_at_rest_over_the_border_of_an_hour_can_be_found() {
    let folded = fold(&metrics("prometheus/synthetic_devices.json"));
    // From 10:45 to 11:20, seven samples of five minutes.
    assert_eq!(idle_minutes(&folded, "GPU-aa"), Some(35));
    assert_eq!(idle_minutes(&folded, "GPU-bb"), None, "nothing tells what its engine did");
}

#[test]
fn a_summary_of_jobstats_is_evidence_of_the_attempt_of_its_record() {
    let path = testdata("jobstats/synthetic_accounting.txt");
    let files = [SlurmFile { name: "jobs".to_owned(), content: Content::Path(path) }];
    let options = SlurmOptions::new(Zone::Utc);
    let mut all = slurm::read(&files, &options).unwrap().observations;
    all.extend(jobstats::read(&files, &JobstatsOptions { slurm: options, job: None }).unwrap().observations);
    let folded = fold(&all);
    let job = attempt(&folded, "slurm:gpu26:1:1795998677");
    assert_eq!((job.utilisation.len(), folded.devices.len()), (6, 0));
    let without = fold(&slurm::read(&files, &SlurmOptions::new(Zone::Utc)).unwrap().observations);
    let priced = |folded: &Folded| -> Vec<_> {
        folded.attempts.iter().map(|a| (a.bindings.clone(), a.gpu_milliseconds, a.phases.clone())).collect()
    };
    assert_eq!(priced(&folded), priced(&without), "utilisation prices nothing");
}

#[test]
fn the_checkpoints_of_an_inventory_are_of_the_attempts_of_its_prefix() {
    let rows = "attempt_id,experiment,status,started,ended,gpus,resource_ids\n\
                a1,vitl,preempted,2026-07-01T10:00:00Z,2026-07-01T11:30:00Z,8,s3://ml-runs/vitl/a1\n\
                a2,vitl,running,2026-07-01T11:40:00Z,,8,s3://ml-runs/vitl/a1\n";
    let options = S3InventoryOptions {
        source: SourceId("s3-inventory".to_owned()),
        bucket: None,
        taken_at: None,
        zone: Zone::Undeclared,
    };
    let found = s3_inventory::read_place(&testdata("s3_inventory/synthetic_inventory"), &options).unwrap();
    let all = [table(rows), found.observations.clone()].concat();
    let folded = fold(&all);
    assert_eq!(
        fold(&[found.observations.clone(), all].concat()),
        folded,
        "the same listing again changes nothing"
    );
    let steps = |key: &str| -> Vec<(Option<u64>, String)> {
        let told = |c: &ledger::Checkpoint| (c.step, c.completed_at.unwrap().to_string());
        attempt(&folded, key).checkpoints.iter().map(told).collect()
    };
    assert_eq!(steps("csv:runs:a1"), [(Some(100), "2026-07-01T11:00:10Z".to_owned())]);
    // The third has no whole sibling yet: `latest` names the second.
    assert_eq!(steps("csv:runs:a2"), [(Some(200), "2026-07-01T12:00:20Z".to_owned())]);
    assert_eq!(folded.stored.iter().map(|stored| stored.objects).sum::<u64>(), 15);
}
