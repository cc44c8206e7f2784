//! Attempts that are folded from what clusters and managed services told, export by export.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use costing::attempts::fold;
use ledger::{Attempt, Cause, Observation, Outcome, RunState, SourceId, Timestamp};
use sources::Zone;
use sources::telemetry::attempts::AttemptsOptions;
use sources::telemetry::ec2_events::Ec2EventsOptions;
use sources::telemetry::kubernetes::KubernetesOptions;
use sources::telemetry::mlflow::MlflowOptions;
use sources::telemetry::sagemaker::SageMakerOptions;
use sources::telemetry::slurm::{Content, SlurmFile, SlurmOptions};
use sources::telemetry::wandb::WandbOptions;
use sources::telemetry::{attempts, ec2_events, kubernetes, mlflow, sagemaker, slurm, wandb};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(testdata(name)).unwrap()
}

fn export(name: &str) -> Vec<Observation> {
    let options = KubernetesOptions {
        experiment_keys: vec!["experiment_id".to_owned()],
        ..KubernetesOptions::default()
    };
    kubernetes::read(bytes(name).as_slice(), &options).unwrap().observations
}

fn attempt<'a>(attempts: &'a [Attempt], key: &str) -> &'a Attempt {
    attempts.iter().find(|attempt| attempt.canonical_key == key).unwrap_or_else(|| panic!("no attempt {key}"))
}

#[test]
fn a_restart_that_deleted_its_pods_ends_what_an_earlier_export_saw_running() {
    let (earlier, later) =
        (export("kubernetes/synthetic_jobset_earlier.json"), export("kubernetes/synthetic_jobset.json"));
    let folded = fold(&[earlier.clone(), later.clone()].concat());
    assert_eq!(folded, fold(&[later.clone(), earlier, later].concat()), "in any order, and told twice");
    assert!(folded.notes.is_empty(), "{:?}", folded.notes);
    let order: Vec<(&str, u32)> =
        folded.attempts.iter().map(|attempt| (attempt.canonical_key.as_str(), attempt.ordinal)).collect();
    assert_eq!(order, [("k8s:c1:js1:0", 1), ("k8s:c1:js1:1", 2), ("k8s:c1:js1:2", 3)]);
    assert!(folded.attempts.iter().all(|attempt| attempt.link.experiment.0 == "vitl-tune"));
    let gone = attempt(&folded.attempts, "k8s:c1:js1:1");
    assert_eq!((gone.state, gone.outcome), (RunState::Ended, Outcome::Failed));
    // Eight from 10:02 and eight from 10:03, until the pods of the next attempt were made at 12:00.
    assert_eq!((gone.gpu_count, gone.gpu_milliseconds), (Some(16_000), Some((7_080 + 7_020) * 8_000)));
    let machines: Vec<_> = gone.bindings.iter().map(|held| held.resource_id.as_deref().unwrap()).collect();
    assert_eq!(machines, ["i-01", "i-02"]);
    assert_eq!(attempt(&folded.attempts, "k8s:c1:js1:2").state, RunState::Running);
}

#[test]
fn every_retry_of_a_job_is_an_attempt_of_its_experiment_and_none_is_overwritten() {
    let folded = fold(&export("kubernetes/synthetic_jobs.json"));
    assert!(folded.notes.is_empty(), "{:?}", folded.notes);
    assert!(folded.attempts.iter().all(|attempt| !attempt.source_overwrote));
    let (first, second) =
        (attempt(&folded.attempts, "k8s:c1:b1:train:0"), attempt(&folded.attempts, "k8s:c1:b2:train:0"));
    assert_eq!((first.ordinal, second.ordinal), (1, 2));
    // Four for fifty minutes, then four for ninety.
    assert_eq!((first.gpu_milliseconds, second.gpu_milliseconds), (Some(12_000_000), Some(21_600_000)));
}

#[test]
fn a_managed_spot_job_is_two_attempts_of_one_resource() {
    let options = SageMakerOptions {
        file: "jobs.json".to_owned(),
        source: SourceId("sagemaker".to_owned()),
        zone: Zone::Undeclared,
        cluster: None,
        experiment_keys: Vec::new(),
    };
    let read = sagemaker::read(bytes("sagemaker/synthetic_jobs.json").as_slice(), &options).unwrap();
    let folded = fold(&read.observations);
    assert!(folded.notes.is_empty(), "{:?}", folded.notes);
    let spot: Vec<_> =
        folded.attempts.iter().filter(|attempt| attempt.link.experiment.0 == "vitl-tune").collect();
    let shown: Vec<_> =
        spot.iter().map(|attempt| (attempt.ordinal, attempt.outcome, attempt.cause)).collect();
    let expect = [(1, Outcome::Preempted, Cause::SpotInterruption), (2, Outcome::Completed, Cause::Unknown)];
    assert_eq!(shown, expect);
    assert!(
        spot.iter().all(|attempt| attempt.bindings[0].resource_id.as_deref().unwrap().ends_with("job/spot"))
    );
}

/// A complete list of a cluster with these running pods, taken at a minute past ten.
fn complete(minute: i64, pods: &[&str]) -> Vec<Observation> {
    let pod = |name: &&str| {
        format!(
            r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"ml","uid":"{name}",
            "creationTimestamp":"2026-07-01T10:00:00Z"}},"spec":{{"nodeName":"n","containers":[{{"name":"train",
            "resources":{{"limits":{{"nvidia.com/gpu":"8"}}}}}}]}},"status":{{"phase":"Running","startTime":
            "2026-07-01T10:00:00Z"}}}}"#
        )
    };
    let items: Vec<String> = pods.iter().map(pod).collect();
    let list = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{}]}}"#, items.join(","));
    let options = KubernetesOptions {
        cluster: Some("c1".to_owned()),
        taken_at: Some(Timestamp::from_seconds(TEN + minute * 60)),
        is_complete: true,
        ..KubernetesOptions::default()
    };
    kubernetes::read(list.as_bytes(), &options).unwrap().observations
}

/// 2026-07-01T10:00:00Z.
const TEN: i64 = 1_782_900_000;

#[test]
fn a_pod_that_vanished_between_two_complete_lists_is_lost_when_it_was_last_seen() {
    let lists = [complete(10, &["a", "b"]), complete(20, &["a", "b"]), complete(30, &["b"])];
    let folded = fold(&lists.concat());
    let gone = attempt(&folded.attempts, "k8s:c1:a:train:0");
    assert_eq!((gone.state, gone.outcome), (RunState::Lost, Outcome::Unknown));
    assert_eq!(gone.ended_at, Some(Timestamp::from_seconds(TEN + 20 * 60)));
    assert_eq!(gone.gpu_milliseconds, Some(20 * 60 * 8_000));
    assert_eq!(gone.namespace.as_deref(), Some("ml"));
    assert_eq!(attempt(&folded.attempts, "k8s:c1:b:train:0").state, RunState::Running);
    let reversed: Vec<Observation> = lists.iter().rev().flatten().cloned().collect();
    assert_eq!(fold(&reversed), folded, "whichever list is imported first");
    // The last pod of a cluster vanishes like any other.
    let empty = fold(&[lists.concat(), complete(40, &[])].concat());
    let last = attempt(&empty.attempts, "k8s:c1:b:train:0");
    assert_eq!((last.state, last.ended_at), (RunState::Lost, Some(Timestamp::from_seconds(TEN + 30 * 60))));
}

/// What EC2 told, and what ran on its machines: whichever is imported first.
#[test]
fn a_spot_warning_is_the_cause_of_what_slurm_saw_as_a_lost_node() {
    let sacct = "Cluster|JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList|Comment\n\
                 gpu26|7|1782899000|1782900000|1782907400|7400|NODE_FAIL|gres/gpu=16,node=2|cld[1-2]|experiment=vitl\n";
    let instances = "Cluster|NodeName|TimeStart|TimeEnd|InstanceId|InstanceType|Extra\n\
                     gpu26|cld1|1782899900|1782907300|i-01|p4d.24xlarge|market=spot\n\
                     gpu26|cld2|1782899900|1782910000|i-02|p4d.24xlarge|market=spot\n";
    let file = |name: &str, text: &str| SlurmFile {
        name: name.to_owned(),
        content: Content::Bytes(text.as_bytes().to_vec()),
    };
    let files = [file("sacct.txt", sacct), file("instances.txt", instances)];
    let slurm = slurm::read(&files, &SlurmOptions::new(Zone::Undeclared)).unwrap().observations;
    let event = r#"{"detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2",
        "time":"2026-07-01T12:00:00Z","detail":{"instance-id":"i-01","instance-action":"terminate"}}"#;
    let options = Ec2EventsOptions {
        file: "events.json".to_owned(),
        source: SourceId("ec2-events".to_owned()),
        zone: Zone::Undeclared,
        cluster: None,
    };
    let events = ec2_events::read(event.as_bytes(), &options).unwrap().observations;
    let folded = fold(&[slurm.clone(), events.clone()].concat());
    assert_eq!(folded, fold(&[events, slurm].concat()));
    assert!(folded.notes.is_empty() && folded.unclaimed.is_empty(), "{:?}", folded.notes);
    let [job] = folded.attempts.as_slice() else { panic!("{:?}", folded.attempts) };
    assert_eq!((job.cause, job.interruptions.len()), (Cause::SpotInterruption, 1));
    assert_eq!(job.interruptions[0].resource_id.as_deref(), Some("i-01"));
    assert_eq!(
        job.cause_evidence,
        ["state NODE_FAIL", "i-01: spot interruption warning: terminate at 2026-07-01T12:00:00Z"]
    );
}

fn sacct(text: &str) -> Vec<Observation> {
    let content = Content::Bytes(text.as_bytes().to_vec());
    let file = SlurmFile { name: "sacct.txt".to_owned(), content };
    slurm::read(&[file], &SlurmOptions::new(Zone::Undeclared)).unwrap().observations
}

/// T13: `--gpus-per-node=1` leaves the node's own field empty; what was allocated says 1.
/// T14: four nodes with 32 accelerators, told with and without their type, are 32 GPU-hours in an hour: 115200000 thousandths
/// of a GPU times seconds.
#[test]
fn accelerators_are_what_was_allocated_over_all_nodes_and_are_counted_once() {
    let header =
        "Cluster|JobIDRaw|Submit|Start|End|ElapsedRaw|State|ReqTRES|AllocTRES|NodeList|TresPerNode\n";
    let one =
        "gpu26|1|1782899000|1782900000|1782903600|3600|COMPLETED|cpu=8|cpu=8,gres/gpu=1,node=1|g1|N/A\n";
    let many = "gpu26|2|1782899000|1782900000|1782903600|3600|COMPLETED|cpu=8|cpu=384,gres/gpu:h100=32,gres/gpu=32,node=4|g[1-4]|N/A\n";
    let folded = fold(&sacct(&[header, one, many].concat()));
    let single = attempt(&folded.attempts, "slurm:gpu26:1:1782899000");
    assert_eq!((single.gpu_count, single.gpu_milliseconds), (Some(1_000), Some(3_600_000)));
    let four = attempt(&folded.attempts, "slurm:gpu26:2:1782899000");
    assert_eq!((four.gpu_count, four.gpu_milliseconds), (Some(32_000), Some(115200000)));
}

/// T23: the task of an array is a part of its key, and the tasks do not write over each other.
#[test]
fn tasks_of_an_array_are_attempts_of_their_own() {
    let rows = "Cluster|JobID|JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList|Comment\n\
                gpu26|5_1|11|1782899000|1782900000|1782903600|3600|COMPLETED|gres/gpu=1|g1|experiment=sweep\n\
                gpu26|5_2|12|1782899000|1782900000|1782903600|3600|FAILED|gres/gpu=1|g1|experiment=sweep\n\
                gpu26|5_3|5|1782899000|1782900000|1782903600|3600|COMPLETED|gres/gpu=1|g1|experiment=sweep\n";
    let folded = fold(&sacct(rows));
    let keys: Vec<&str> = folded.attempts.iter().map(|attempt| attempt.canonical_key.as_str()).collect();
    assert_eq!(keys, ["slurm:gpu26:11:1782899000", "slurm:gpu26:12:1782899000", "slurm:gpu26:5:1782899000"]);
    assert!(folded.notes.is_empty(), "{:?}", folded.notes);
    let outcomes: Vec<Outcome> = folded.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [Outcome::Completed, Outcome::Failed, Outcome::Completed]);
}

/// R53: Slurm, Kubernetes, SageMaker, MLflow, Weights & Biases and a file in one store: each tells its attempts, in any
/// order, and none changes another's.
#[test]
fn records_of_every_source_stand_side_by_side() {
    let rows = "Cluster|JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList|Comment\n\
                gpu26|5|1782899000|1782900000|1782903600|3600|COMPLETED|gres/gpu=1|g1|experiment=slurm\n";
    let table = "attempt_id,experiment,status,started,ended\na,csv,failed,2026-07-01T10:00:00Z,2026-07-01T11:00:00Z\n";
    let source = |name: &str| SourceId(name.to_owned());
    let (file, zone) = ("f".to_owned(), Zone::Undeclared);
    let runs = std::fs::read(testdata("mlflow/rest/rest_runs_search_page2.json")).unwrap();
    let mlflow_options = MlflowOptions { source: source("mlflow"), tracking: "main".to_owned() };
    let sagemaker_options = SageMakerOptions {
        file: file.clone(),
        source: source("sagemaker"),
        zone: zone.clone(),
        cluster: None,
        experiment_keys: Vec::new(),
    };
    let wandb_options =
        WandbOptions { file: file.clone(), source: source("wandb"), entity: None, project: None };
    let csv = AttemptsOptions { file, source: source("csv"), zone };
    let reads: Vec<Vec<Observation>> = vec![
        sacct(rows),
        export("kubernetes/synthetic_jobs.json"),
        sagemaker::read(bytes("sagemaker/synthetic_jobs.json").as_slice(), &sagemaker_options)
            .unwrap()
            .observations,
        mlflow::read([("runs.json".to_owned(), runs.as_slice())], &mlflow_options).unwrap().observations,
        wandb::read_folder(&testdata("wandb"), &wandb_options).unwrap().observations,
        attempts::read(table.as_bytes(), &csv).unwrap().observations,
    ];
    let apart: Vec<Attempt> = reads.iter().flat_map(|read| fold(read).attempts).collect();
    let together = fold(&reads.concat());
    assert_eq!(together.attempts.len(), apart.len());
    for alone in &apart {
        let same = attempt(&together.attempts, &alone.canonical_key);
        assert_eq!(
            (same.outcome, same.started_at, same.ended_at),
            (alone.outcome, alone.started_at, alone.ended_at)
        );
    }
    let mut schedulers: Vec<&str> =
        together.attempts.iter().map(|attempt| attempt.scheduler.as_str()).collect();
    schedulers.sort_unstable();
    schedulers.dedup();
    assert_eq!(schedulers, ["kubernetes", "manual", "mlflow", "sagemaker", "slurm", "wandb"]);
    let reversed: Vec<Observation> = reads.into_iter().rev().flatten().collect();
    assert_eq!(format!("{:?}", fold(&reversed)), format!("{together:?}"));
}
