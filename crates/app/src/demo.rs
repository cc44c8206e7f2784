//! `demo`: writes a small company's exports from a seed and imports them by the normal readers.

use std::path::{Path, PathBuf};

use demo::{ImportKind, write};
use money::Currency;

use crate::books::Books;
use crate::import::{self, BillImport, ImportReport, PriceFormat, PriceImport, RunFormat, RunImport};
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
    /// The currency in which the company looks at its bills, which come in two.
    pub convert_to: Option<Currency>,
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
    let mut context = context.with_store(store.clone());
    let (provider, region) = exports.rented_at;
    (context.estimates.provider, context.estimates.region) =
        (Some(provider.to_owned()), Some(region.to_owned()));
    let mut imports = Vec::new();
    for step in &exports.imports {
        let run = RunImport::default();
        match step.kind {
            ImportKind::AwsCur => imports.extend(bills(&context, "aws-cur", &step.paths).await?),
            ImportKind::Focus => imports.extend(bills(&context, "focus", &step.paths).await?),
            ImportKind::GcpBilling => imports.extend(bills(&context, "gcp-billing", &step.paths).await?),
            ImportKind::PriceTable => {
                for path in &step.paths {
                    let options = PriceImport::default();
                    imports.push(import::prices(&context, PriceFormat::PriceTable, path, &options).await?);
                }
            }
            ImportKind::Rates => {
                for path in &step.paths {
                    imports.push(import::rates(&context, path, None).await?);
                }
            }
            ImportKind::Slurm => {
                imports.push(import::runs(&context, RunFormat::Slurm, &step.paths, &run).await?)
            }
            ImportKind::OpenLineage => {
                imports.push(import::runs(&context, RunFormat::OpenLineage, &step.paths, &run).await?)
            }
            ImportKind::Attempts => {
                imports.push(import::runs(&context, RunFormat::Attempts, &step.paths, &run).await?)
            }
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
        convert_to: "USD".parse().ok(),
    })
}

async fn bills(
    context: &Context<'_>,
    reader: &str,
    paths: &[PathBuf],
) -> Result<Vec<ImportReport>, AppError> {
    let mut imports = Vec::with_capacity(paths.len());
    for path in paths {
        imports.push(import::bill(context, reader, &path.to_string_lossy(), &BillImport::default()).await?);
    }
    Ok(imports)
}
