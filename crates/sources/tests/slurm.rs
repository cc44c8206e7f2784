//! Slurm accounting of two real clusters, in every form in which it can be exported.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

#[path = "slurm/typed.rs"]
mod typed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ledger::{
    AttemptView, Binding, Capacity, Cause, LinkMethod, Observation, Outcome, RunRecord, RunState, ShareDriver,
};
use serde_json::Value;
use sources::telemetry::TelemetryRead;
use sources::telemetry::slurm::{Content, GpuAccounting, SlurmFile, SlurmOptions, read};
use sources::{SourceError, Zone};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/slurm").join(name)
}

fn file(name: &str) -> SlurmFile {
    SlurmFile { name: name.to_owned(), content: Content::Path(path(name)) }
}

/// The clusters ran in UTC, as their text exports print it.
fn utc() -> SlurmOptions {
    SlurmOptions::new(Zone::declared("UTC").unwrap())
}

fn import(name: &str) -> TelemetryRead {
    let read = read(&[file(name)], &utc()).unwrap();
    assert_eq!(read.rows, read.accepted + read.rejections.len() as u64, "for {name}");
    read
}

fn import_text(text: &str) -> Result<TelemetryRead, SourceError> {
    read(
        &[SlurmFile { name: "typed.txt".to_owned(), content: Content::Bytes(text.as_bytes().to_vec()) }],
        &utc(),
    )
}

fn attempts(read: &TelemetryRead) -> Vec<(&str, &AttemptView)> {
    let view = |seen: &'_ Observation| matches!(seen.record, RunRecord::Attempt(_));
    let attempts = read.observations.iter().filter(|seen| view(seen));
    attempts
        .filter_map(|seen| match &seen.record {
            RunRecord::Attempt(view) => Some((seen.key.as_str(), view)),
            _ => None,
        })
        .collect()
}

fn keys(read: &TelemetryRead) -> BTreeSet<String> {
    attempts(read).into_iter().map(|(key, _)| key.to_owned()).collect()
}

fn attempt<'r>(read: &'r TelemetryRead, key: &str) -> &'r AttemptView {
    attempts(read)
        .into_iter()
        .find(|(found, _)| *found == key)
        .unwrap_or_else(|| panic!("no attempt {key}"))
        .1
}

fn bindings<'r>(read: &'r TelemetryRead, key: &str) -> Vec<&'r Binding> {
    let of_key = read.observations.iter().filter(|seen| seen.key == key);
    of_key
        .filter_map(|seen| match &seen.record {
            RunRecord::Binding(binding) => Some(binding),
            _ => None,
        })
        .collect()
}

fn codes(read: &TelemetryRead) -> Vec<&'static str> {
    read.warnings.iter().map(|warning| warning.code).collect()
}

/// What a cluster counts of a record, as `expected_attempts.json` says it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    start: i64,
    end: i64,
    elapsed: u64,
    gpus: u64,
    nodes: usize,
}

fn segment(read: &TelemetryRead, key: &str) -> Segment {
    let view = attempt(read, key);
    let held = view.started_at.is_some();
    Segment {
        start: view.started_at.map_or(0, |at| at.seconds()),
        end: view.ended_at.map_or(0, |at| at.seconds()),
        elapsed: view.elapsed_seconds.unwrap_or(0),
        gpus: if held { view.gpu_count.unwrap_or(0) / 1000 } else { 0 },
        nodes: bindings(read, key).len(),
    }
}

fn golden() -> Value {
    serde_json::from_str(&std::fs::read_to_string(path("26.05/expected_attempts.json")).unwrap()).unwrap()
}

fn expected_segment(segment: &Value) -> Segment {
    let whole = |key: &str| segment[key].as_u64().unwrap();
    let list = segment["nodes"].as_str().unwrap();
    let nodes = match list.split_once('[').map(|(_, range)| range.trim_end_matches(']')) {
        Some(range) => range
            .split_once('-')
            .map_or(1, |(a, b)| b.parse::<usize>().unwrap() - a.parse::<usize>().unwrap() + 1),
        None => usize::from(list != "None assigned"),
    };
    Segment {
        start: segment["start"].as_i64().unwrap(),
        end: segment["end"].as_i64().unwrap(),
        elapsed: whole("elapsed"),
        gpus: whole("gpus"),
        nodes,
    }
}

const FULL_EXPORTS: [&str; 5] = [
    "26.05/sacct_D_std.txt",
    "26.05/sacct_D_X_std.txt",
    "26.05/sacct_D_parsable2_ALL.txt",
    "26.05/sacct_D.v0.0.42.json",
    "26.05/sacct_D.v0.0.45.json",
];

// Trap7, Trap8: a segment is no attempt of its own, and a requeue has a submit time of its own.
#[test]
fn every_export_gives_the_expected_attempts() {
    let golden = golden();
    for name in FULL_EXPORTS {
        let read = import(name);
        assert_eq!(read.rejections, [], "for {name}");
        assert_eq!(codes(&read), Vec::<&str>::new(), "for {name}");
        assert_eq!(keys(&read).len(), 30, "for {name}");
        let mut left = keys(&read);
        let mut by_state: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for expected in golden["attempt_list"].as_array().unwrap() {
            let job = expected["job_id"].as_u64().unwrap();
            let mut gpu_seconds = 0;
            for (at, wanted) in expected["segments"].as_array().unwrap().iter().enumerate() {
                // A later segment was submitted when it started.
                let submit =
                    if at == 0 { expected["submit"].as_u64() } else { wanted["start"].as_u64() }.unwrap();
                let key = format!("slurm:gpu26:{job}:{submit}");
                assert!(left.remove(&key), "{key} in {name}");
                let found = segment(&read, &key);
                assert_eq!(found, expected_segment(wanted), "{key} in {name}");
                gpu_seconds += found.gpus * found.elapsed;
                let view = attempt(&read, &key);
                let chain = view.chain.as_ref().unwrap();
                assert_eq!(chain.job, format!("slurm:gpu26:{job}"));
                assert_eq!(
                    chain.resizing,
                    at + 1 < expected["segments"].as_array().unwrap().len(),
                    "{key} in {name}"
                );
                assert_eq!(view.name.as_deref(), expected["name"].as_str(), "{key} in {name}");
            }
            assert_eq!(gpu_seconds, expected["gpu_seconds"].as_u64().unwrap(), "job {job} in {name}");
            let sum = by_state.entry(expected["state"].as_str().unwrap().to_owned()).or_default();
            *sum = (sum.0 + 1, sum.1 + gpu_seconds);
        }
        assert_eq!(left, BTreeSet::new(), "for {name}");
        for (state, sum) in golden["by_state"].as_object().unwrap() {
            let wanted = (sum["attempts"].as_u64().unwrap(), sum["gpu_seconds"].as_u64().unwrap());
            assert_eq!(by_state[state], wanted, "{state} in {name}");
        }
    }
}

#[test]
fn the_rest_answer_gives_the_same_records() {
    let (rest, full) =
        (import("26.05/slurmrestd_slurmdb_jobs_v0.0.45.json"), import("26.05/sacct_D.v0.0.45.json"));
    assert_eq!(keys(&rest).len(), 28);
    for (key, view) in attempts(&rest) {
        assert_eq!(view, attempt(&full, key), "for {key}");
        assert_eq!(bindings(&rest, key), bindings(&full, key), "for {key}");
    }
    let missing: Vec<String> = keys(&full).difference(&keys(&rest)).cloned().collect();
    assert_eq!(missing, ["slurm:gpu26:23:1795999135", "slurm:gpu26:24:1795999160"]);
}

// Trap1: without `-D`, every attempt before the last is missing.
#[test]
fn a_file_without_earlier_attempts_warns_and_is_part_of_the_full_one() {
    for (hidden, full) in [
        ("26.05/sacct_noD_std.txt", "26.05/sacct_D_std.txt"),
        ("26.05/sacct_noD.json", "26.05/sacct_D.v0.0.45.json"),
        ("22.05/sacct_noD_std.txt", "22.05/sacct_D_std.txt"),
        ("22.05/sacct_noD_parsable2_ALL.txt", "22.05/sacct_D_parsable2_ALL.txt"),
    ] {
        let (part, whole) = (import(hidden), import(full));
        assert_eq!(codes(&part), ["slurm::earlier_attempts_hidden"], "for {hidden}");
        assert!(part.warnings[0].help.contains("sacct -a -D -X -P"), "for {hidden}");
        assert_eq!(codes(&whole), Vec::<&str>::new(), "for {full}");
        for seen in &part.observations {
            assert!(whole.observations.contains(seen), "{} of {hidden} in {full}", seen.key);
        }
        assert!(part.observations.len() < whole.observations.len());
        let both = read(&[file(hidden), file(full)], &utc()).unwrap();
        assert_eq!(codes(&both), Vec::<&str>::new(), "the second file shows what the first hides");
    }
}

// Trap12: a job that never started has an end and no start.
#[test]
fn an_old_version_gives_the_same_attempts_in_every_form() {
    let full = import("22.05/sacct_D_X_std.txt");
    assert_eq!((full.rows, full.rejections.len(), keys(&full).len()), (24, 0, 24));
    for name in ["22.05/sacct_D_std.txt", "22.05/sacct_D_parsable2_ALL.txt", "22.05/sacct_D.json"] {
        let read = import(name);
        assert_eq!(read.rejections, [], "for {name}");
        assert_eq!(keys(&read), keys(&full), "for {name}");
        for key in keys(&full) {
            assert_eq!(segment(&read, &key), segment(&full, &key), "{key} in {name}");
            let (found, wanted) = (attempt(&read, &key), attempt(&full, &key));
            assert_eq!(found.name, wanted.name, "{key} in {name}");
            assert_eq!(found.link, wanted.link, "{key} in {name}");
            assert_eq!((found.state, found.outcome), (wanted.state, wanted.outcome), "{key} in {name}");
        }
    }
    let never_started = attempt(&full, "slurm:gpu22:4:1795998170");
    assert_eq!((never_started.started_at, never_started.outcome), (None, Outcome::Cancelled));
    let running = attempt(&full, "slurm:gpu22:19:1795998416");
    assert_eq!((running.state, running.ended_at, running.elapsed_seconds), (RunState::Running, None, None));
}

// Trap3, Trap4: times are of the zone of the machine, and an old version cuts the offset off.
#[test]
fn local_times_need_their_zone_and_then_agree_with_epochs() {
    let mut options = SlurmOptions::new(Zone::Undeclared);
    options.cluster = Some("gpu22".to_owned());
    let local = [file("22.05/sacct_time_TZ_newyork.txt")];
    let error = read(&local, &options).unwrap_err();
    assert_eq!(error.code, "slurm::no_time_zone");
    assert!(error.help.unwrap().contains("--time-zone ZONE"));
    assert_eq!(error.place.as_deref(), Some("22.05/sacct_time_TZ_newyork.txt:1"));
    assert_eq!(
        read(&[file("22.05/sacct_time_offset.txt")], &options).unwrap_err().code,
        "slurm::no_time_zone"
    );
    let epochs = read(&[file("22.05/sacct_time_epoch.txt")], &options).unwrap();
    options.zone = Zone::declared("America/New_York").unwrap();
    assert_eq!(read(&local, &options).unwrap(), epochs);
    assert_eq!(epochs.accepted, 24);
    assert_eq!(codes(&epochs), ["slurm::no_gpu_accounting", "slurm::no_raw_job_id"]);
}

#[test]
fn offsets_need_no_zone() {
    let mut options = SlurmOptions::new(Zone::Undeclared);
    assert_eq!(read(&[file("26.05/sacct_time_epoch.txt")], &options).unwrap_err().code, "slurm::no_cluster");
    options.cluster = Some("gpu26".to_owned());
    let epochs = read(&[file("26.05/sacct_time_epoch.txt")], &options).unwrap();
    let offsets = read(&[file("26.05/sacct_time_offset.txt")], &options).unwrap();
    assert_eq!((keys(&epochs).len(), keys(&offsets).len()), (30, 28));
    assert!(keys(&offsets).is_subset(&keys(&epochs)));
}

#[test]
fn a_job_names_its_experiment_and_its_requeues_share_it() {
    let read = import("26.05/sacct_D_X_std.txt");
    let linked = |key: &str| {
        let link = attempt(&read, key).link.clone().unwrap();
        (link.experiment.0, link.method)
    };
    let named = |experiment: &str, method| (experiment.to_owned(), method);
    assert_eq!(linked("slurm:gpu26:1:1795998677"), named("exp-42", LinkMethod::Label));
    assert_eq!(attempt(&read, "slurm:gpu26:1:1795998677").config_version.as_deref(), Some("git:abc123"));
    assert_eq!(linked("slurm:gpu26:3:1795998677"), named("exp-44", LinkMethod::Label));
    for key in ["slurm:gpu26:6:1795998677", "slurm:gpu26:6:1795998685"] {
        assert_eq!(linked(key), named("slurm:gpu26/6", LinkMethod::OwnJob));
    }
    for key in ["slurm:gpu26:8:1795998677", "slurm:gpu26:9:1795998677"] {
        assert_eq!(linked(key), named("slurm:gpu26/8", LinkMethod::OwnJob));
    }
    assert_eq!(linked("slurm:gpu26:13:1795998677"), named("slurm:gpu26/13", LinkMethod::OwnJob));
    assert_eq!(attempt(&read, "slurm:gpu26:13:1795998677").aliases[0], "job_id=5_2");
}

// Trap6, Trap11: a timeout exits with 0:0, and a job out of memory is FAILED with 137.
#[test]
fn the_cause_comes_from_states_and_steps_never_from_an_exit_code() {
    let read = import("26.05/sacct_D.v0.0.45.json");
    let cause = |key: &str| {
        let view = attempt(&read, key);
        (view.outcome, view.cause, view.cause_evidence.join("; "))
    };
    let (outcome, why, evidence) = cause("slurm:gpu26:6:1795998677");
    assert_eq!((outcome, why), (Outcome::Failed, Cause::NodeFailure));
    assert_eq!(evidence, "state NODE_FAIL; failed node g3; exit code 1");
    let (outcome, why, evidence) = cause("slurm:gpu26:23:1795999135");
    assert_eq!((outcome, why), (Outcome::Failed, Cause::OomHost));
    assert!(evidence.ends_with("step 0 held 433135616 bytes of 62914560 (MaxRSS)"), "{evidence}");
    assert_eq!(cause("slurm:gpu26:24:1795999160").1, Cause::AppError);
    let (outcome, why, evidence) = cause("slurm:gpu26:3:1795998677");
    assert_eq!((outcome, why, evidence.as_str()), (Outcome::Timeout, Cause::TimeLimit, "state TIMEOUT"));
    assert_eq!(cause("slurm:gpu26:4:1795998677").2, "state CANCELLED by root");
    assert_eq!(cause("slurm:gpu26:17:1795998735").1, Cause::PreemptedScheduler);
    assert_eq!(cause("slurm:gpu26:14:1795998689").1, Cause::RequeuedByOperator);
    assert_eq!(cause("slurm:gpu26:1:1795998677"), (Outcome::Completed, Cause::Unknown, String::new()));
    let text = import("26.05/sacct_D_parsable2_ALL.txt");
    assert_eq!(attempt(&text, "slurm:gpu26:23:1795999135").cause, Cause::OomHost);
}

// Trap13: nodes of a cloud that never booted were held for 66 seconds.
#[test]
fn a_record_binds_every_node_with_its_gpus() {
    let read = import("26.05/sacct_D_X_std.txt");
    let held = bindings(&read, "slurm:gpu26:10:1795998677");
    let names: Vec<&str> = held.iter().filter_map(|binding| binding.node_name.as_deref()).collect();
    assert_eq!(names, ["cld1", "cld2"]);
    for binding in held {
        assert_eq!((binding.gpus, binding.weight, binding.driver), (8000, 8000, ShareDriver::Gpu));
        assert_eq!(binding.end.unwrap().seconds() - binding.start.seconds(), 66);
    }
    let without = bindings(&read, "slurm:gpu26:9:1795998677");
    assert_eq!((without[0].gpus, without[0].weight, without[0].driver), (0, 1000, ShareDriver::Cpu));
    assert_eq!(attempt(&read, "slurm:gpu26:9:1795998677").gpu_count, None);
    assert!(bindings(&read, "slurm:gpu26:20:1795998770").is_empty(), "a waiting job holds nothing");
    let mut declared = utc();
    declared.gpu_accounting = GpuAccounting::Complete;
    let read = sources::telemetry::slurm::read(&[file("26.05/sacct_D_X_std.txt")], &declared).unwrap();
    assert_eq!(attempt(&read, "slurm:gpu26:9:1795998677").gpu_count, Some(0));
}

// Trap9: 64-bit ids of records are text, since no double holds them.
#[test]
fn trap_9_the_index_of_a_record_keeps_every_digit() {
    let read = import("26.05/sacct_D_parsable2_ALL.txt");
    let first = attempt(&read, "slurm:gpu26:1:1795998677");
    assert!(first.aliases.contains(&"db_index=3388546022428150784".to_owned()), "{:?}", first.aliases);
    let second = attempt(&read, "slurm:gpu26:2:1795998677");
    assert!(second.aliases.contains(&"db_index=3388546022428175360".to_owned()), "{:?}", second.aliases);
}

// Trap14: the name of a node is used again by other instances.
#[test]
fn a_node_name_is_another_instance_each_time() {
    let (text, rest) =
        (import("26.05/sacctmgr_show_instance.txt"), import("26.05/slurmrestd_instances_v0.0.45.json"));
    assert_eq!(text.observations, rest.observations);
    assert_eq!(text.accepted, 8);
    let Some(RunRecord::Node(first)) = text.observations.first().map(|seen| &seen.record) else {
        panic!("a node")
    };
    assert_eq!((first.node_name.as_str(), first.instance_id.as_str()), ("cld1", "i-0a8a7119235d8fbfd"));
    assert_eq!((first.start.seconds(), first.end.unwrap().seconds()), (1_795_999_007, 1_795_999_113));
    assert_eq!((first.instance_type.as_deref(), first.capacity), (Some("p4d.24xlarge"), Capacity::Spot));
    assert_eq!(text.observations[0].key, "node:gpu26:cld1");
    let up = import_text("Cluster|NodeName|TimeStart|TimeEnd|InstanceId|InstanceType|Extra\nc|n1|1795999007|Unknown|i-1||\nc|n2|1795999007|Unknown|||\n").unwrap();
    assert!(matches!(&up.observations[0].record, RunRecord::Node(node) if node.end.is_none()));
    assert_eq!(up.rejections[0].code, "slurm::no_instance_id");
}
