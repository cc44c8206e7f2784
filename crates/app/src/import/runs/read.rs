//! How the files of each format of run records are read.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use sources::SourceError;
use sources::telemetry::attempts::AttemptsOptions;
use sources::telemetry::aws_batch::AwsBatchOptions;
use sources::telemetry::azure_ml::AzureMlOptions;
use sources::telemetry::ec2_events::Ec2EventsOptions;
use sources::telemetry::jobstats::JobstatsOptions;
use sources::telemetry::kubernetes::KubernetesOptions;
use sources::telemetry::mlflow::MlflowOptions;
use sources::telemetry::mlperf::MlperfOptions;
use sources::telemetry::opencost::OpenCostOptions;
use sources::telemetry::openlineage::OpenLineageOptions;
use sources::telemetry::prometheus::PrometheusOptions;
use sources::telemetry::s3_inventory::S3InventoryOptions;
use sources::telemetry::sagemaker::SageMakerOptions;
use sources::telemetry::slurm::{Content, SlurmFile, SlurmOptions};
use sources::telemetry::tensorboard::TensorboardOptions;
use sources::telemetry::vertex_ai::VertexAiOptions;
use sources::telemetry::wandb::WandbOptions;
use sources::telemetry::{self, TelemetryRead};

use super::{RunFormat, RunImport};
use crate::import::{name_of, open};
use crate::{AppError, Context};

/// What an import of run records is given.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) format: RunFormat,
    pub(super) places: &'a [PathBuf],
    pub(super) options: &'a RunImport,
}

type Read = Result<TelemetryRead, AppError>;

/// Reads the places whole.
///
/// # Errors
/// A coded error of the reader.
pub(super) fn read(given: Given<'_>) -> Read {
    match given.format {
        RunFormat::Attempts => each(given, attempts),
        RunFormat::AwsBatch => each(given, aws_batch),
        RunFormat::AzureMl => each(given, azure_ml),
        RunFormat::Ec2Events => each(given, ec2_events),
        RunFormat::Jobstats => jobstats(given),
        RunFormat::Kubernetes => each(given, kubernetes),
        RunFormat::Mlflow => mlflow(given),
        RunFormat::Mlperf => each(given, mlperf),
        RunFormat::OpenCost => opencost(given),
        RunFormat::Prometheus => prometheus(given),
        RunFormat::S3Inventory => each(given, s3_inventory),
        RunFormat::SageMaker => each(given, sagemaker),
        RunFormat::Slurm => slurm(given),
        RunFormat::Spool | RunFormat::OpenLineage => each(given, openlineage),
        RunFormat::Tensorboard => each(given, tensorboard),
        RunFormat::VertexAi => each(given, vertex_ai),
        RunFormat::Wandb => each(given, wandb),
    }
}

/// Reads each place by itself.
fn each(given: Given<'_>, read: fn(Given<'_>, &Path) -> Read) -> Read {
    let mut all = TelemetryRead::default();
    for place in given.places {
        add(&mut all, read(given, place)?);
    }
    Ok(all)
}

fn add(all: &mut TelemetryRead, read: TelemetryRead) {
    all.observations.extend(read.observations);
    all.rejections.extend(read.rejections);
    all.warnings.extend(read.warnings);
    all.rows += read.rows;
    all.accepted += read.accepted;
}

/// Reads a file, or a folder of files.
fn either(
    place: &Path,
    file: impl FnOnce(BufReader<File>) -> Result<TelemetryRead, SourceError>,
    folder: impl FnOnce(&Path) -> Result<TelemetryRead, SourceError>,
) -> Read {
    Ok(if place.is_dir() { folder(place)? } else { file(open(place)?)? })
}

impl Given<'_> {
    fn experiment_keys(&self) -> Vec<String> {
        self.context.keys.experiment.clone()
    }

    fn source(&self) -> ledger::SourceId {
        self.options.source(self.format.id())
    }
}

fn slurm(given: Given<'_>) -> Read {
    let (files, reader) = accounting(given)?;
    Ok(telemetry::slurm::read(&files, &reader)?)
}

fn jobstats(given: Given<'_>) -> Read {
    let (files, slurm) = accounting(given)?;
    Ok(telemetry::jobstats::read(&files, &JobstatsOptions { slurm, job: None })?)
}

fn accounting(given: Given<'_>) -> Result<(Vec<SlurmFile>, SlurmOptions), AppError> {
    let file = |place: &PathBuf| SlurmFile { name: name_of(place), content: Content::Path(place.clone()) };
    let mut reader = SlurmOptions::new(given.options.zone()?);
    reader.cluster.clone_from(&given.options.cluster);
    reader.conventions.experiment_keys = given.experiment_keys();
    Ok((given.places.iter().map(file).collect(), reader))
}

/// Answers are read together: a series of pods is joined with those of their devices.
fn prometheus(given: Given<'_>) -> Read {
    let reader = PrometheusOptions {
        cluster: given.options.cluster.clone(),
        experiment_keys: given.experiment_keys(),
        asked: None,
        step_seconds: given.options.step_seconds,
    };
    Ok(telemetry::prometheus::read(opened(given.places)?, &reader)?)
}

fn s3_inventory(given: Given<'_>, place: &Path) -> Read {
    let reader = S3InventoryOptions {
        source: given.source(),
        bucket: given.options.bucket.clone(),
        taken_at: given.options.taken_at()?,
        zone: given.options.zone()?,
    };
    Ok(telemetry::s3_inventory::read_place(place, &reader)?)
}

fn opened(places: &[PathBuf]) -> Result<Vec<(String, BufReader<File>)>, AppError> {
    places.iter().map(|place| Ok((name_of(place), open(place)?))).collect()
}

fn opencost(given: Given<'_>) -> Read {
    let reader = OpenCostOptions {
        cluster: given.options.cluster.clone(),
        experiment_keys: given.experiment_keys(),
        attempt_keys: given.context.keys.attempt.clone(),
    };
    Ok(telemetry::opencost::read(opened(given.places)?, &reader)?)
}

/// Answers that are files are read together: the history of a metric does not name the experiment of its run.
fn mlflow(given: Given<'_>) -> Read {
    let tracking = given.source().0;
    let reader = MlflowOptions { source: given.source(), tracking };
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        given.places.iter().partition(|place| place.is_dir());
    let mut all = TelemetryRead::default();
    for folder in folders {
        add(&mut all, telemetry::mlflow::read_folder(folder, &reader)?);
    }
    if !files.is_empty() {
        let files: Vec<PathBuf> = files.into_iter().cloned().collect();
        add(&mut all, telemetry::mlflow::read(opened(&files)?, &reader)?);
    }
    Ok(all)
}

fn mlperf(given: Given<'_>, place: &Path) -> Read {
    let reader = MlperfOptions {
        experiment: given.options.experiment.clone(),
        round: given.options.round.clone(),
        gpus: given.options.gpus.map(|gpus| u64::from(gpus) * 1_000),
        ..MlperfOptions::new(name_of(place), given.source())
    };
    either(
        place,
        |file| telemetry::mlperf::read(file, &reader),
        |root| telemetry::mlperf::read_folder(root, &reader),
    )
}

fn tensorboard(given: Given<'_>, place: &Path) -> Read {
    let logdir = given.options.source.clone();
    let reader =
        TensorboardOptions { file: place.to_string_lossy().into_owned(), source: given.source(), logdir };
    let (file, folder) = (telemetry::tensorboard::read, telemetry::tensorboard::read_folder);
    either(place, |input| file(input, &reader), |root| folder(root, &reader))
}

fn wandb(given: Given<'_>, place: &Path) -> Read {
    let reader = WandbOptions {
        file: name_of(place),
        source: given.source(),
        entity: given.options.entity.clone(),
        project: given.options.project.clone(),
    };
    either(
        place,
        |file| telemetry::wandb::read(file, &reader),
        |root| telemetry::wandb::read_folder(root, &reader),
    )
}

fn openlineage(given: Given<'_>, place: &Path) -> Read {
    let taken_at = given.options.taken_at()?.or(Some(given.context.now));
    let reader = OpenLineageOptions { file: name_of(place), source: given.source(), taken_at };
    let (file, folder) = (telemetry::openlineage::read, telemetry::openlineage::read_folder);
    either(place, |input| file(input, &reader), |root| folder(root, &reader))
}

fn attempts(given: Given<'_>, place: &Path) -> Read {
    let stem = place.file_stem().map_or_else(|| "attempts".into(), std::ffi::OsStr::to_string_lossy);
    let source = given.options.source(&stem);
    let reader = AttemptsOptions { file: name_of(place), source, zone: given.options.zone()? };
    Ok(telemetry::attempts::read(open(place)?, &reader)?)
}

fn kubernetes(given: Given<'_>, place: &Path) -> Read {
    let reader = KubernetesOptions {
        file: name_of(place),
        cluster: given.options.cluster.clone(),
        taken_at: given.options.taken_at()?,
        experiment_keys: given.experiment_keys(),
        ..KubernetesOptions::default()
    };
    Ok(telemetry::kubernetes::read(open(place)?, &reader)?)
}

fn sagemaker(given: Given<'_>, place: &Path) -> Read {
    let reader = SageMakerOptions {
        file: name_of(place),
        source: given.source(),
        zone: given.options.zone()?,
        cluster: given.options.cluster.clone(),
        experiment_keys: given.experiment_keys(),
    };
    Ok(telemetry::sagemaker::read(open(place)?, &reader)?)
}

fn aws_batch(given: Given<'_>, place: &Path) -> Read {
    let (file, experiment_keys) = (name_of(place), given.experiment_keys());
    let reader = AwsBatchOptions { file, source: given.source(), experiment_keys };
    Ok(telemetry::aws_batch::read(open(place)?, &reader)?)
}

fn vertex_ai(given: Given<'_>, place: &Path) -> Read {
    let (file, experiment_keys) = (name_of(place), given.experiment_keys());
    let reader = VertexAiOptions { file, source: given.source(), experiment_keys };
    Ok(telemetry::vertex_ai::read(open(place)?, &reader)?)
}

fn azure_ml(given: Given<'_>, place: &Path) -> Read {
    let (file, experiment_keys) = (name_of(place), given.experiment_keys());
    let reader = AzureMlOptions { file, source: given.source(), experiment_keys };
    Ok(telemetry::azure_ml::read(open(place)?, &reader)?)
}

fn ec2_events(given: Given<'_>, place: &Path) -> Read {
    let reader = Ec2EventsOptions {
        file: name_of(place),
        source: given.source(),
        zone: given.options.zone()?,
        cluster: given.options.cluster.clone(),
    };
    Ok(telemetry::ec2_events::read(open(place)?, &reader)?)
}
