//! Writes the exports of a small demo company, the same for the same seed: bills, accounting, run events.
//!
//! The company trains on a Slurm cluster on EC2 and on managed jobs, evaluates on a few machines, and pays two AWS
//! bills; it rents machines of a GPU cloud that bills in euros, and has a project on Google Cloud. Its sixty days are
//! fixed, 2026-09-01 to 2026-10-30; the files are in the real formats, to be imported by the normal readers. Prices and
//! rates of exchange are made up. What the bills come to is summed while they are written, so that a store can be tied to
//! it.

mod bill;
mod cluster;
mod company;
mod desk;
mod error;
mod exact;
mod files;
mod managed;
mod random;
mod rented;
mod span;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ledger::BillingPeriod;
use money::Amount;

use bill::Window;
use bill::delivery::{self, Export, Form};
use cluster::sacct;
use company::{Company, PLATFORM, TRAINING};
use managed::lineage;
use rented::{google, neocloud, rates};
use span::PERIODS;

pub use error::DemoError;

/// The reader that an export is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImportKind {
    /// `import aws-cur`.
    AwsCur,
    /// `import focus`.
    Focus,
    /// `import gcp-billing`.
    GcpBilling,
    /// `import price-table`.
    PriceTable,
    /// `import rates`.
    Rates,
    /// `import slurm`.
    Slurm,
    /// `import openlineage`.
    OpenLineage,
    /// `import attempts`.
    Attempts,
}

/// Paths that are imported together by one reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoImport {
    /// The reader.
    pub kind: ImportKind,
    /// Files or folders.
    pub paths: Vec<PathBuf>,
}

/// What a delivery of a billing period comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedBill {
    /// Account that pays.
    pub payer: String,
    /// Billing period.
    pub period: BillingPeriod,
    /// Rows, those of split data included.
    pub rows: u64,
    /// Sum of what is invoiced, split data left out.
    pub billed: Amount,
    /// Sum of the amortised cost.
    pub effective: Amount,
}

/// What a store must hold after all imports, counted while the exports were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoExpectation {
    /// The current delivery of each payer and period.
    pub bills: Vec<ExpectedBill>,
    /// The deliveries of other providers: the GPU cloud's in euros, then the Google Cloud project's.
    pub others: Vec<ExpectedBill>,
    /// The deliveries that a later one restates.
    pub restated: Vec<ExpectedBill>,
    /// Experiments.
    pub experiments: u64,
    /// Attempts.
    pub attempts: u64,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoExports {
    /// The imports in the order in which they are to be made.
    pub imports: Vec<DemoImport>,
    /// What they come to.
    pub expected: DemoExpectation,
    /// Provider and region of the machines of which nothing but the price list tells them.
    pub rented_at: (&'static str, &'static str),
}

/// Writes the exports of the demo company under `dir/exports`.
///
/// # Errors
/// A file that cannot be written; nothing is removed then.
pub fn write(dir: &Path, seed: u64) -> Result<DemoExports, DemoError> {
    let company = Company::new(seed);
    let exports = dir.join("exports");
    let (mut imports, bills, restated) = write_bills(&company, &exports)?;
    let others = write_rented(&company, &exports, &mut imports)?;
    write_runs(&company, &exports, &mut imports)?;
    let (experiments, attempts) = counts(&company);
    let expected = DemoExpectation { bills, others, restated, experiments, attempts };
    Ok(DemoExports { imports, expected, rented_at: (neocloud::PROVIDER, neocloud::REGION) })
}

/// Writes the records of all runs.
fn write_runs(company: &Company, exports: &Path, imports: &mut Vec<DemoImport>) -> Result<(), DemoError> {
    let seed = company.seed;
    let slurm = exports.join("slurm");
    let paths = vec![slurm.join("sacct.txt"), slurm.join("instances.txt")];
    let texts = [sacct::accounting(&company.cluster, seed), sacct::instances(&company.cluster)];
    for (path, text) in paths.iter().zip(texts) {
        files::write(path, text.as_bytes())?;
    }
    imports.push(DemoImport { kind: ImportKind::Slurm, paths });
    let runs = exports.join("openlineage").join("runs.ndjson");
    files::write(&runs, lineage::events(&company.managed, seed)?.as_bytes())?;
    imports.push(DemoImport { kind: ImportKind::OpenLineage, paths: vec![runs] });
    let paths = vec![exports.join("attempts.csv"), exports.join("rented.csv")];
    let texts = [desk::spreadsheet(&company.desk), rented::spreadsheet(&company.rented)];
    for (path, text) in paths.iter().zip(texts) {
        files::write(path, text.as_bytes())?;
    }
    imports.push(DemoImport { kind: ImportKind::Attempts, paths });
    Ok(())
}

/// Writes the bills of what is rented elsewhere, with its price list and the rates of its currency.
fn write_rented(
    company: &Company,
    exports: &Path,
    imports: &mut Vec<DemoImport>,
) -> Result<Vec<ExpectedBill>, DemoError> {
    let seed = company.seed;
    let (invoice, of_invoice) = neocloud::bill(&company.rented, seed)?;
    let (export, of_export) = google::export(&company.rented, seed)?;
    let (neocloud, google) = (exports.join("fjordlys"), exports.join("google-cloud"));
    for (kind, path, text) in [
        (ImportKind::Focus, neocloud.join("focus-2026-10.csv"), invoice),
        (ImportKind::GcpBilling, google.join("billing-2026-10.jsonl"), export),
        (ImportKind::PriceTable, neocloud.join("prices.csv"), neocloud::price_list(seed)?),
        (ImportKind::Rates, exports.join("eurofxref-hist.csv"), rates::reference(seed)),
    ] {
        files::write(&path, text.as_bytes())?;
        imports.push(DemoImport { kind, paths: vec![path] });
    }
    Ok(vec![of_invoice, of_export])
}

type Bills = (Vec<DemoImport>, Vec<ExpectedBill>, Vec<ExpectedBill>);

/// Writes the first bill as it stood before the month's end, then every bill as it stands now.
fn write_bills(company: &Company, exports: &Path) -> Result<Bills, DemoError> {
    let import = |folder: &Path| DemoImport { kind: ImportKind::AwsCur, paths: vec![folder.to_owned()] };
    let mut imports = Vec::new();
    let mut restated = Vec::new();
    let mut bills = Vec::new();
    let [september, _] = PERIODS;
    let early = exports.join(format!("aws-{}", TRAINING.id)).join("copied-2026-09-29");
    let export = Export { payer: &TRAINING, form: Form::Parquet, folder: &early };
    restated.push(delivery::write(company, &export, Window::early(september))?);
    imports.push(import(&early));
    for (payer, form) in [(&TRAINING, Form::Parquet), (&PLATFORM, Form::Csv)] {
        let folder = exports.join(format!("aws-{}", payer.id)).join("copied-2026-10-31");
        let export = Export { payer, form, folder: &folder };
        for period in PERIODS {
            bills.push(delivery::write(company, &export, Window::full(period))?);
        }
        imports.push(import(&folder));
    }
    Ok((imports, bills, restated))
}

/// Experiments and attempts over all sources.
fn counts(company: &Company) -> (u64, u64) {
    let names: BTreeSet<&str> = (company.cluster.attempts.iter().map(|attempt| attempt.experiment.name))
        .chain(company.managed.iter().map(|job| job.experiment.name))
        .chain(company.desk.attempts.iter().map(|attempt| {
            let [experiment, ..] = attempt.owner;
            experiment
        }))
        .chain(company.rented.iter().map(|attempt| {
            let [experiment, ..] = attempt.sheet.owner;
            experiment
        }))
        .collect();
    let attempts = company.cluster.attempts.len()
        + company.managed.len()
        + company.desk.attempts.len()
        + company.rented.len();
    let count = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    (count(names.len()), count(attempts))
}
