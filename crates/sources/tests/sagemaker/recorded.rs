//! Answers that were recorded from the API; read where the data is at hand.

use std::path::{Path, PathBuf};

use ledger::{Cause, Outcome, RunRecord};
use sources::Zone;
use sources::telemetry::TelemetryRead;
use sources::telemetry::sagemaker::read;

use crate::shared::shared;

fn recorded() -> Option<Vec<PathBuf>> {
    let folder = shared("aws_azure_recorded/tests/data/placebo")?;
    let of_sagemaker = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().contains("sagemaker"));
    let mut files: Vec<PathBuf> = of_sagemaker
        .flat_map(|path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()))
        .collect();
    files.sort();
    Some(files)
}

fn import(path: &Path) -> TelemetryRead {
    // The recorder wrote dates without their zone: the job of 13:23 is called `…-18-23-33` by its own clock in UTC.
    let options =
        super::SageMakerOptions { zone: Zone::declared("America/New_York").unwrap(), ..super::options() };
    read(std::fs::read(path).unwrap().as_slice(), &options).unwrap()
}

#[test]
fn recorded_answers_are_read_whole() {
    let Some(files) = recorded() else { return };
    let reads: Vec<TelemetryRead> = files.iter().map(|path| import(path)).collect();
    let rejected: Vec<_> = reads.iter().flat_map(|read| &read.rejections).collect();
    assert!(rejected.is_empty(), "{rejected:?}");
    assert_eq!((files.len(), reads.iter().map(|read| read.accepted).sum::<u64>()), (17, 15));
}

#[test]
fn a_recorded_failure_waited_four_minutes_and_held_two_instances_for_two() {
    let Some(files) = recorded() else { return };
    let described = files.iter().find(|path| {
        path.ends_with("test_sagemaker_training_job_query/api.sagemaker.DescribeTrainingJob_1.json")
    });
    let read = import(described.unwrap());
    let RunRecord::Attempt(view) = &read.observations[0].record else { panic!("no attempt") };
    assert_eq!((view.outcome, view.cause, view.node_count), (Outcome::Failed, Cause::AppError, Some(2)));
    let times = [view.submitted_at, view.started_at, view.ended_at]
        .map(|at| at.unwrap().to_string()[..19].to_owned());
    assert_eq!(times, ["2018-01-12T18:23:33", "2018-01-12T18:27:36", "2018-01-12T18:30:01"]);
}
