//! `import`: brings bills and run records into the store, whole or not at all.

mod append;
mod bill;
mod drift;
mod link;
mod prices;
mod rates;
mod reading;
mod runs;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ledger::{Attempt, BillingPeriod, SourceId};
use money::{Amount, Currency};
use sources::{SourceError, telemetry};
use store::{ImportRecord, StagedPostings, Store};

pub use bill::{BillImport, bill};
pub use link::{Decision, link};
pub use prices::{PriceFormat, PriceImport, prices};
pub use rates::rates;
pub use runs::{RunFormat, RunImport, runs};

use crate::settle::{Charges, inputs_hash, settle};
use crate::{AppError, Context, list_fill};

/// Something that the user should know of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportWarning {
    /// Stable code.
    pub code: String,
    /// What is the matter.
    pub message: String,
    /// What helps.
    pub help: Option<String>,
}

impl From<&telemetry::Warning> for ImportWarning {
    fn from(told: &telemetry::Warning) -> Self {
        Self { code: told.code.to_owned(), message: told.message.clone(), help: Some(told.help.clone()) }
    }
}

/// What became of one billing period of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLine {
    /// Source.
    pub source: SourceId,
    /// Month billed.
    pub period: BillingPeriod,
    /// Charges.
    pub rows: u64,
    /// Σ billed cost.
    pub billed: Amount,
    /// What the billed cost was before, where another delivery is replaced.
    pub billed_before: Option<Amount>,
    /// Currency.
    pub currency: Currency,
    /// `new`, `unchanged` or `restated`.
    pub state: &'static str,
    /// True if the provider has closed the bill.
    pub is_final: bool,
}

/// The answer of `import`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Kind of source.
    pub kind: &'static str,
    /// What was read.
    pub place: String,
    /// Rows found.
    pub rows: u64,
    /// Rows read.
    pub accepted: u64,
    /// Rows that could not be read.
    pub rejected: u64,
    /// The first of them.
    pub rejections: Vec<sources::Rejection>,
    /// What the user should know.
    pub warnings: Vec<ImportWarning>,
    /// Billing periods.
    pub deliveries: Vec<DeliveryLine>,
    /// Observations added.
    pub new_observations: u64,
    /// Observations that were known.
    pub known_observations: u64,
    /// Deliveries attributed anew.
    pub settled: u64,
    /// Deliveries that were not read again, as nothing changed where they came from.
    pub not_read: u64,
    /// True if the store held all of it already.
    pub unchanged: bool,
}

impl ImportReport {
    /// Of an import that has not read anything yet.
    fn of(kind: &'static str, place: String) -> Self {
        Self {
            kind,
            place,
            rows: 0,
            accepted: 0,
            rejected: 0,
            rejections: Vec::new(),
            warnings: Vec::new(),
            deliveries: Vec::new(),
            new_observations: 0,
            known_observations: 0,
            settled: 0,
            not_read: 0,
            unchanged: false,
        }
    }
}

/// Opens a file that is read from its beginning to its end.
fn open(place: &Path) -> Result<BufReader<File>, AppError> {
    File::open(place).map(BufReader::new).map_err(|error| {
        SourceError::new("import::cannot_open", error.to_string()).at(place.to_string_lossy()).into()
    })
}

/// The name of a file, as places of its rows tell it.
fn name_of(place: &Path) -> String {
    place.file_name().map_or_else(|| place.to_string_lossy(), std::ffi::OsStr::to_string_lossy).into_owned()
}

/// The record of an import for the store.
fn record(context: &Context<'_>, report: &ImportReport) -> ImportRecord {
    let rejection = |rejection: &sources::Rejection| store::Rejection {
        code: rejection.code.to_owned(),
        file: rejection.file.clone(),
        row: rejection.row,
        column: rejection.column.clone(),
        found: rejection.found.clone(),
        expected: rejection.expected.clone(),
    };
    ImportRecord {
        sequence: 0,
        kind: report.kind.to_owned(),
        place: report.place.clone(),
        arrived_at: context.now,
        rows: report.rows,
        accepted: report.accepted,
        rejected: report.rejected,
        rejections: report.rejections.iter().map(rejection).collect(),
        warnings: report.warnings.iter().map(|w| format!("{}: {}", w.code, w.message)).collect(),
    }
}

/// Settles the current deliveries whose postings no longer fit the runs, but those that this import replaces.
async fn settle_current(
    context: &Context<'_>,
    store: &Store,
    attempts: &[Attempt],
    replaced: &[(SourceId, BillingPeriod)],
) -> Result<Vec<StagedPostings>, AppError> {
    let settlements = store.settlements().await?;
    let mut staged = Vec::new();
    for delivery in store.current_deliveries().await? {
        if replaced.contains(&(delivery.source.clone(), delivery.period)) {
            continue;
        }
        let charges = Charges::at_rest(store, &delivery);
        let prices = list_fill::mark(context, store, &charges).await?;
        let fresh = inputs_hash(&charges, attempts, &context.keys, &prices);
        let stands = settlements.iter().find(|s| s.source == delivery.source && s.period == delivery.period);
        if stands.is_none_or(|settlement| settlement.inputs_hash != fresh) {
            staged.push(settle_one(context, store, &charges, attempts).await?);
        }
    }
    Ok(staged)
}

async fn settle_one(
    context: &Context<'_>,
    store: &Store,
    charges: &Charges,
    attempts: &[Attempt],
) -> Result<StagedPostings, AppError> {
    context.progress.stage(&format!("attributing {} {}", charges.key.source, charges.key.period));
    let prices = list_fill::mark(context, store, charges).await?;
    let book = list_fill::book(context, store, charges).await?;
    let postings = settle(context, charges, attempts, book.as_ref()).await?;
    let inputs = inputs_hash(charges, attempts, &context.keys, &prices);
    Ok(store.stage_postings(&charges.key, &inputs, &postings)?)
}
