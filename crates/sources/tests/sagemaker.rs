//! Managed training of SageMaker: attempts inside a job, what is billed, why it ended, and nodes of HyperPod.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;
#[path = "sagemaker/recorded.rs"]
mod recorded;
mod shared;

use ledger::{
    ArtifactKind, AttemptView, BindingKind, Capacity, Cause, Direction, LinkMethod, Outcome, PhaseKind,
    RunRecord, RunState, SourceId,
};
use proptest::prelude::*;
use sources::Zone;
use sources::telemetry::TelemetryRead;
use sources::telemetry::sagemaker::{SageMakerOptions, read};

fn options() -> SageMakerOptions {
    SageMakerOptions {
        file: "jobs.json".to_owned(),
        source: SourceId("sagemaker".to_owned()),
        zone: Zone::Undeclared,
        cluster: Some("hp".to_owned()),
        experiment_keys: vec!["experiment_id".to_owned()],
    }
}

fn file(name: &str) -> TelemetryRead {
    documents::file(&format!("sagemaker/{name}"), |bytes| read(bytes, &options()))
}

fn key(name: &str, number: u32) -> String {
    format!("sm:arn:aws:sagemaker:us-east-1:111122223333:training-job/{name}:{number}")
}

fn records<'r>(read: &'r TelemetryRead, key: &str) -> Vec<&'r RunRecord> {
    read.observations.iter().filter(|seen| seen.key == key).map(|seen| &seen.record).collect()
}

fn view<'r>(read: &'r TelemetryRead, key: &str) -> &'r AttemptView {
    let found = records(read, key).into_iter().find_map(|record| match record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no attempt {key}"))
}

/// When the job's own resource was held.
fn held(read: &TelemetryRead, key: &str) -> Vec<String> {
    let shown = |record: &RunRecord| match record {
        RunRecord::Binding(b) => {
            assert_eq!(b.kind, BindingKind::ManagedJob);
            let end = b.end.map_or_else(|| "now".to_owned(), |end| end.to_string()[11..19].to_owned());
            Some(format!("{}-{end}", &b.start.to_string()[11..19]))
        }
        _ => None,
    };
    records(read, key).into_iter().filter_map(shown).collect()
}

#[test]
fn a_managed_spot_job_has_an_attempt_for_every_start() {
    let read = file("synthetic_jobs.json");
    let (first, second) = (view(&read, &key("spot", 1)), view(&read, &key("spot", 2)));
    assert_eq!((first.outcome, first.cause), (Outcome::Preempted, Cause::SpotInterruption));
    assert_eq!((second.outcome, second.capacity), (Outcome::Completed, Capacity::Spot));
    assert_eq!(first.link, second.link);
    // The wait for the next instance, from 11:00 to 11:30, is nobody's.
    assert_eq!(held(&read, &key("spot", 1)), ["10:05:00-11:00:00"]);
    assert_eq!(held(&read, &key("spot", 2)), ["11:30:00-12:40:00"]);
    let phases: Vec<_> = records(&read, &key("spot", 2))
        .into_iter()
        .filter_map(|record| match record {
            RunRecord::Phase(phase) => Some((phase.kind, phase.interval.micros() / 60_000_000)),
            _ => None,
        })
        .collect();
    assert_eq!(
        phases,
        [(PhaseKind::Queue, 10), (PhaseKind::DataLoad, 5), (PhaseKind::Train, 55), (PhaseKind::Upload, 10)]
    );
    let artifacts: Vec<_> = records(&read, &key("spot", 2))
        .into_iter()
        .filter_map(|record| match record {
            RunRecord::Artifact(artifact) => Some((artifact.kind, artifact.uri.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        artifacts,
        [
            (ArtifactKind::Model, "s3://out/spot/output/model.tar.gz"),
            (ArtifactKind::Checkpoint, "s3://ckpt/spot/")
        ]
    );
}

// Trap26.
#[test]
fn what_is_billed_is_the_time_of_one_instance_by_their_number_and_a_warm_pool_comes_in_addition() {
    let read = file("synthetic_jobs.json");
    let billed = read.warnings.iter().find(|warning| warning.code == "sagemaker::billed_seconds").unwrap();
    // 3000 × 2 and 1441 × 2 = 2882; a warm pool of 600 × 2.
    let expect = "2 job(s) say that 8882 instance-seconds are billed, and 1200 more of warm pools";
    assert_eq!(billed.message, expect);
    assert_eq!(held(&read, &key("pair", 1)), ["10:05:00-10:29:01", "10:29:01-10:39:01"]);
}

#[test]
fn a_tuning_job_is_the_experiment_of_its_jobs_and_says_which_way_is_better() {
    let read = file("synthetic_jobs.json");
    let link = view(&read, &key("pair", 1)).link.clone().unwrap();
    assert_eq!((link.experiment.0.as_str(), link.method), ("sweep-1", LinkMethod::Explicit));
    let quality: Vec<_> = records(&read, &key("pair", 1))
        .into_iter()
        .filter_map(|record| match record {
            RunRecord::Quality(quality) => {
                Some((quality.metric.as_str(), quality.direction, quality.is_final))
            }
            _ => None,
        })
        .collect();
    let expect = [("validation:loss", Some(Direction::Minimise), true), ("train:loss", None, true)];
    assert_eq!(quality, expect);
    let labelled = view(&read, &key("limit", 1)).link.clone().unwrap();
    assert_eq!((labelled.experiment.0.as_str(), labelled.method), ("limits", LinkMethod::Label));
}

// Trap27: SageMaker counts seconds since 1970.
#[test]
fn why_a_job_ended_follows_from_its_status_and_its_reason() {
    let read = file("synthetic_jobs.json");
    for (name, state, outcome, cause) in [
        ("limit", RunState::Ended, Outcome::Timeout, Cause::TimeLimit),
        ("cuda", RunState::Ended, Outcome::Failed, Cause::OomGpu),
        ("internal", RunState::Ended, Outcome::Failed, Cause::Unknown),
        ("capacity", RunState::Ended, Outcome::Failed, Cause::LaunchFailure),
        ("user", RunState::Ended, Outcome::Cancelled, Cause::UserCancelled),
        ("running", RunState::Running, Outcome::Unknown, Cause::Unknown),
        ("waiting", RunState::Pending, Outcome::Unknown, Cause::Unknown),
    ] {
        let view = view(&read, &key(name, 1));
        assert_eq!((view.state, view.outcome, view.cause), (state, outcome, cause), "for {name}");
    }
    // What never had an instance held nothing.
    assert!(held(&read, &key("capacity", 1)).is_empty() && held(&read, &key("waiting", 1)).is_empty());
    assert_eq!(held(&read, &key("limit", 1)), ["10:05:00-11:05:00"], "seconds since 1970");
    assert_eq!(
        (view(&read, &key("limit", 1)).node_count, view(&read, &key("limit", 1)).capacity),
        (Some(3), Capacity::Reserved)
    );
}

#[test]
fn a_job_that_is_only_listed_is_told_of() {
    let read = file("synthetic_jobs.json");
    let listed = read.warnings.iter().find(|warning| warning.code == "sagemaker::not_described").unwrap();
    assert!(listed.message.starts_with("1 training job(s)"));
}

#[test]
fn a_node_of_a_cluster_is_the_machine_that_its_bill_names() {
    let read = file("synthetic_hyperpod.json");
    assert_eq!((read.rows, read.accepted), (3, 2));
    assert_eq!(read.rejections[0].code, "sagemaker::no_host_name");
    let unnamed = SageMakerOptions { cluster: None, ..options() };
    let bytes = std::fs::read(golden::testdata("sagemaker/synthetic_hyperpod.json")).unwrap();
    let refused = sources::telemetry::sagemaker::read(bytes.as_slice(), &unnamed).unwrap();
    assert_eq!((refused.accepted, refused.rejections[0].code), (0, "sagemaker::no_cluster"));
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("synthetic_broken.json");
    assert_eq!((read.rows, read.accepted), (9, 1));
}

proptest! {
    #[test]
    fn no_change_of_a_good_answer_makes_it_panic(change in documents::changes()) {
        documents::survives("sagemaker/synthetic_jobs.json", change, |bytes| read(bytes, &options()))?;
    }
}
