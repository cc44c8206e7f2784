//! Run records: observations are added, never changed, and the charges are attributed anew.

use std::path::PathBuf;

use costing::attempts::fold;
use ledger::SourceId;
use sources::Zone;
use sources::telemetry::attempts::AttemptsOptions;
use sources::telemetry::opencost::OpenCostOptions;
use sources::telemetry::slurm::{Content, SlurmFile, SlurmOptions};
use sources::telemetry::{self, TelemetryRead};
use store::{Change, Store};

use super::{ImportReport, ImportWarning, name_of, open, record, settle_current};
use crate::{AppError, Context};

/// How to import run records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunImport {
    /// IANA zone of times that carry none.
    pub time_zone: Option<String>,
    /// Cluster of records that name none.
    pub cluster: Option<String>,
    /// Name of the source, for files that do not carry one.
    pub source: Option<String>,
}

impl RunImport {
    fn zone(&self) -> Result<Zone, AppError> {
        match &self.time_zone {
            None => Ok(Zone::Undeclared),
            Some(name) => Zone::declared(name).map_err(|name| {
                AppError::new("import::no_such_zone", format!("`{name}` is no IANA time zone"))
                    .help("use a name such as UTC, Europe/Berlin or America/New_York")
            }),
        }
    }
}

/// Imports Slurm accounting: `sacct` text or JSON, slurmrestd answers, `sacctmgr show instance`.
///
/// # Errors
/// A coded error of the reader or the store; the store is then as it was.
pub async fn slurm(
    context: &Context<'_>,
    places: &[PathBuf],
    options: &RunImport,
) -> Result<ImportReport, AppError> {
    let files: Vec<SlurmFile> = places
        .iter()
        .map(|place| SlurmFile { name: name_of(place), content: Content::Path(place.clone()) })
        .collect();
    let mut reader = SlurmOptions::new(options.zone()?);
    reader.cluster.clone_from(&options.cluster);
    let read = telemetry::slurm::read(&files, &reader)?;
    take_in(context, "slurm", places, read).await
}

/// Imports OpenLineage run events with our facets.
///
/// # Errors
/// As [`slurm`].
pub async fn openlineage(
    context: &Context<'_>,
    places: &[PathBuf],
    options: &RunImport,
) -> Result<ImportReport, AppError> {
    let mut all = TelemetryRead::default();
    for place in places {
        let source = SourceId(options.source.clone().unwrap_or_else(|| "openlineage".to_owned()));
        let reader = telemetry::openlineage::OpenLineageOptions { file: name_of(place), source };
        merge(&mut all, telemetry::openlineage::read(open(place)?, &reader)?);
    }
    take_in(context, "openlineage", places, all).await
}

/// Imports what OpenCost or Kubecost allocated to pods.
///
/// # Errors
/// As [`slurm`].
pub async fn opencost(
    context: &Context<'_>,
    places: &[PathBuf],
    options: &RunImport,
) -> Result<ImportReport, AppError> {
    let files = places.iter().map(|place| Ok((name_of(place), open(place)?)));
    let files: Vec<_> = files.collect::<Result<_, AppError>>()?;
    let reader = OpenCostOptions {
        cluster: options.cluster.clone(),
        experiment_keys: context.keys.experiment.clone(),
        attempt_keys: context.keys.attempt.clone(),
    };
    let read = telemetry::opencost::read(files, &reader)?;
    take_in(context, "opencost", places, read).await
}

/// Imports a table of attempts.
///
/// # Errors
/// As [`slurm`].
pub async fn attempts(
    context: &Context<'_>,
    places: &[PathBuf],
    options: &RunImport,
) -> Result<ImportReport, AppError> {
    let mut all = TelemetryRead::default();
    for place in places {
        let stem = place.file_stem().map_or_else(|| "attempts".into(), std::ffi::OsStr::to_string_lossy);
        let source = SourceId(options.source.clone().unwrap_or_else(|| stem.into_owned()));
        let reader = AttemptsOptions { file: name_of(place), source, zone: options.zone()? };
        merge(&mut all, telemetry::attempts::read(open(place)?, &reader)?);
    }
    take_in(context, "attempts", places, all).await
}

fn merge(all: &mut TelemetryRead, read: TelemetryRead) {
    all.observations.extend(read.observations);
    all.rejections.extend(read.rejections);
    all.warnings.extend(read.warnings);
    all.rows += read.rows;
    all.accepted += read.accepted;
}

async fn take_in(
    context: &Context<'_>,
    kind: &'static str,
    places: &[PathBuf],
    read: TelemetryRead,
) -> Result<ImportReport, AppError> {
    let store = Store::create(&context.store).await?;
    let lock = store.lock()?;
    store.sweep(&lock).await?;
    context.progress.stage("folding attempts");
    let mut known = store.observations().await?;
    known.extend(read.observations.iter().cloned());
    let folded = fold(&known);
    let postings = settle_current(context, &store, &folded.attempts, &[]).await?;
    let place: Vec<String> = places.iter().map(|place| place.to_string_lossy().into_owned()).collect();
    let warnings = read.warnings.iter().map(ImportWarning::from);
    let notes = folded.notes.iter().map(|note| ImportWarning {
        code: note.code.to_owned(),
        message: format!("{}: {}", note.key, note.message),
        help: None,
    });
    let mut report = ImportReport {
        rows: read.rows,
        accepted: read.accepted,
        rejected: read.rejections.len() as u64,
        warnings: warnings.chain(notes).collect(),
        rejections: read.rejections,
        settled: postings.len() as u64,
        ..ImportReport::of(kind, place.join(" "))
    };
    let change = Change {
        import: record(context, &report),
        deliveries: Vec::new(),
        observations: read.observations,
        postings,
        read: None,
    };
    let committed = store.commit(&lock, change).await?;
    crate::estimate::keep(context, &store, &lock, &folded.attempts).await?;
    report.new_observations = committed.new_observations;
    report.known_observations = committed.known_observations;
    report.unchanged = committed.is_no_op();
    Ok(report)
}
