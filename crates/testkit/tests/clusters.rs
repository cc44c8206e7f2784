//! Attempts that are folded from what clusters and managed services told, export by export.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::Path;

use costing::attempts::fold;
use ledger::{Attempt, Cause, Observation, Outcome, RunState, SourceId};
use sources::Zone;
use sources::telemetry::kubernetes::KubernetesOptions;
use sources::telemetry::sagemaker::SageMakerOptions;
use sources::telemetry::{kubernetes, sagemaker};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata").join(name)).unwrap()
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
