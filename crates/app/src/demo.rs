//! `demo`: writes a small company's exports from a seed and imports them by the normal readers.

use std::path::{Path, PathBuf};

use demo::{ImportKind, write};

use crate::books::Books;
use crate::import::{self, BillImport, ImportReport, RunImport};
use crate::{AppError, Context};

/// The answer of `demo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoReport {
    /// Folder of exports and store.
    pub dir: PathBuf,
    /// The store.
    pub store: PathBuf,
    /// The imports, in order.
    pub imports: Vec<ImportReport>,
    /// Experiments in the store.
    pub experiments: usize,
    /// Attempts in the store.
    pub attempts: usize,
    /// Days of bills.
    pub days: usize,
}

/// Writes the demo company under `dir` and imports it into `dir/store`; the same seed gives the same company.
///
/// # Errors
/// `demo::cannot_write`; else as the imports.
pub async fn demo(context: &Context<'_>, dir: &Path, seed: u64) -> Result<DemoReport, AppError> {
    context.progress.stage("writing exports");
    let exports = write(dir, seed).map_err(|error| {
        AppError::new("demo::cannot_write", error.to_string())
            .at(dir.to_string_lossy())
            .help("trainbill demo --dir another-folder")
    })?;
    let store = dir.join("store");
    let context = context.with_store(store.clone());
    let mut imports = Vec::new();
    for step in &exports.imports {
        let run = RunImport::default();
        match step.kind {
            ImportKind::AwsCur => {
                for path in &step.paths {
                    let place = path.to_string_lossy();
                    imports.push(import::bill(&context, "aws-cur", &place, &BillImport::default()).await?);
                }
            }
            ImportKind::Slurm => imports.push(import::slurm(&context, &step.paths, &run).await?),
            ImportKind::OpenLineage => imports.push(import::openlineage(&context, &step.paths, &run).await?),
            ImportKind::Attempts => imports.push(import::attempts(&context, &step.paths, &run).await?),
        }
    }
    let books = Books::open(&context).await?;
    let days: std::collections::BTreeSet<_> = books.current.iter().flat_map(|d| d.days.iter()).collect();
    Ok(DemoReport {
        dir: dir.to_owned(),
        store,
        imports,
        experiments: books.experiments.len(),
        attempts: books.attempts.len(),
        days: days.len(),
    })
}
