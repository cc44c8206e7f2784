//! Lost work of a published run, from the hours that its own chronicle names; and of recorded restarts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a skipped sample is said, not hidden")]

use std::path::{Path, PathBuf};

use costing::attempts::fold;
use costing::lost_work::{Extent, lost_work};
use ledger::{
    Attempt, AttemptView, Checkpoint, ExperimentId, ExperimentLink, Grade, LinkMethod, Observation, Outcome,
    RunRecord, RunState, SourceId, Timestamp,
};
use sources::telemetry::tensorboard::{self, TensorboardOptions};

/// A sample of telemetry beside the repository, or nothing, if it is not here.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/telemetry").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

fn says(key: &str, record: RunRecord) -> Observation {
    Observation { source: SourceId("chronicle".to_owned()), key: key.to_owned(), modified_at: None, record }
}

/// An execution on 384 accelerators.
fn ran(key: &str, (start, end): (i64, i64), outcome: Outcome) -> Observation {
    let link = ExperimentLink { experiment: ExperimentId("bloom".to_owned()), method: LinkMethod::Explicit };
    let view = AttemptView {
        link: Some(link),
        started_at: Some(Timestamp::from_seconds(start)),
        ended_at: Some(Timestamp::from_seconds(end)),
        state: RunState::Ended,
        outcome,
        gpu_count: Some(384_000),
        ..AttemptView::of_scheduler("slurm".to_owned())
    };
    says(key, RunRecord::Attempt(view))
}

fn durable(key: &str, second: i64) -> Observation {
    let completed_at = Some(Timestamp::from_seconds(second));
    let checkpoint =
        Checkpoint { step: None, started_at: None, completed_at, durable: true, bytes: None, uri: None };
    says(key, RunRecord::Checkpoint(checkpoint))
}

/// The tenths of hours that the chronicle says were lost, incident by incident.
fn named_losses(chronicle: &str) -> Vec<i64> {
    let values = chronicle.split("\"lost_hours\":").skip(1);
    let told =
        values.map(|rest| rest.split([',', '}']).next().unwrap().trim()).filter(|text| *text != "null");
    told.map(|text| {
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        whole.parse::<i64>().unwrap() * 10 + tenths.parse::<i64>().unwrap()
    })
    .collect()
}

/// R68: four named losses of 7.3, 18, 6 and 11 hours are 42.3 hours of 384 accelerators, 16,243 GPU-hours.
#[test]
fn the_named_losses_of_a_published_run_sum_to_its_gpu_hours() {
    let Some(path) = shared("bloom_chronicles/bloom_176b_incidents.json") else { return };
    let losses = named_losses(&std::fs::read_to_string(path).unwrap());
    assert_eq!(losses, [73, 180, 60, 110]);
    let mut observations = Vec::new();
    let mut from = 0;
    for (number, tenths) in losses.iter().enumerate() {
        // A day of training up to a checkpoint, and then what was lost.
        let key = format!("slurm:jz:{number}:0");
        let (saved, end) = (from + 86_400, from + 86_400 + tenths * 360);
        observations.extend([ran(&key, (from, end), Outcome::Failed), durable(&key, saved)]);
        from = end;
    }
    observations.push(ran("slurm:jz:9:0", (from, from + 86_400), Outcome::Completed));
    let attempts = fold(&observations).attempts;
    let all: Vec<&Attempt> = attempts.iter().collect();
    let lost = lost_work(&all, None);
    let micros: i64 = lost.iter().map(|work| work.interval().unwrap().micros()).sum();
    assert_eq!(micros, 423 * 360_000_000, "42.3 hours");
    let of = |id| attempts.iter().find(|attempt| attempt.id == id).unwrap();
    let gpu: u64 = lost.iter().map(|work| work.gpu_milliseconds(of(work.attempt)).unwrap()).sum();
    assert_eq!(gpu / 3_600_000, 16_243, "GPU-hours");
    assert!(lost.iter().all(|work| work.continued_by.is_some() && !work.is_abandoned));
}

/// Trap 19: the second file of the recorded run begins at step 3, so steps 3 and 4 of the first were done twice.
#[test]
fn steps_that_a_restart_did_again_are_lost_to_the_step() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata/tensorboard");
    let options = TensorboardOptions {
        file: String::new(),
        source: SourceId("tensorboard".to_owned()),
        logdir: Some("logs".to_owned()),
    };
    let read = tensorboard::read_folder(&folder, &options).unwrap();
    let attempts = fold(&read.observations).attempts;
    let all: Vec<&Attempt> = attempts.iter().collect();
    let lost = lost_work(&all, None);
    let first = lost.iter().find(|work| work.attempt == attempts[0].id).unwrap();
    let Extent::Known { interval, grade, least, most } = first.extent else { panic!("{first:?}") };
    let kept = attempts[0].quality.iter().find(|quality| quality.step == Some(2)).unwrap();
    assert_eq!((interval.start, interval.end), (kept.at, attempts[0].ended_at.unwrap()));
    assert_eq!((grade, least, most), (Grade::Measured, interval.micros(), interval.micros()));
}
