//! Run records: observations are added, never changed, and the charges are attributed anew.

mod format;
mod read;

use std::path::PathBuf;

use costing::attempts::fold;
use sources::telemetry::TelemetryRead;
use store::{Change, Store};

pub use format::{RunFormat, RunImport};

use super::{ImportReport, ImportWarning, record, settle_current};
use crate::{AppError, Context};

/// Imports files, or folders where the format has such, of run records.
///
/// # Errors
/// A coded error of the reader or the store; the store is then as it was.
pub async fn runs(
    context: &Context<'_>,
    format: RunFormat,
    places: &[PathBuf],
    options: &RunImport,
) -> Result<ImportReport, AppError> {
    let read = read::read(read::Given { context, format, places, options })?;
    take_in(context, format.id(), places, read).await
}

/// Keeps what was read and attributes the charges of current deliveries anew.
pub(super) async fn take_in(
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
