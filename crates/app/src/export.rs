//! `export`: the current bills as FOCUS 1.2, row by row, or as they were allocated to runs; and the runs as events.

mod runs;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use ledger::{Account, CostBasis, CreditTreatment, Posting, Step};
use money::{Amount, AmountError};
use sources::SourceError;
use sources::export::focus::{
    AllocatedBill, AllocatedPart, allocated, allocated_schema, enriched, enriched_schema,
};
use sources::export::{CsvWriter, ParquetWriter};
use store::DeliveryRecord;

use crate::books::Books;
use crate::provider::provider_of;
use crate::{AppError, Context, ImportWarning};

pub use runs::export_openlineage;

/// What a row of the export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportForm {
    /// A charge, with the columns that FOCUS has no place for beside it.
    Enriched,
    /// A part of charges in the account where it came to rest: an attempt, idle, tax, …
    Allocated,
}

/// The answer of `export`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportReport {
    /// The file.
    pub file: String,
    /// Rows written.
    pub rows: u64,
    /// Deliveries in it; nothing, if it holds runs.
    pub deliveries: u64,
    /// What the user should know.
    pub warnings: Vec<ImportWarning>,
}

/// A file in the making, in the form that its name tells.
enum Writer {
    Csv(Box<CsvWriter<BufWriter<File>>>),
    Parquet(Box<ParquetWriter<BufWriter<File>>>),
}

/// A file that is there is written over only if somebody says so.
fn not_over_a_file(file: &Path, replace: bool) -> Result<(), AppError> {
    if !file.exists() || replace {
        return Ok(());
    }
    Err(AppError::new("export::exists", "the file is there already")
        .at(file.to_string_lossy())
        .help("name another file, or write over it with --replace"))
}

/// Writes the current deliveries as FOCUS 1.2 to a `.csv` or `.parquet` file, which takes its name only when it is whole.
///
/// # Errors
/// `export::unknown_form` for another ending, `export::exists` unless `replace`, `export::not_written`; else of the store.
pub async fn export_focus(
    context: &Context<'_>,
    (form, credits): (ExportForm, CreditTreatment),
    file: &Path,
    replace: bool,
) -> Result<ExportReport, AppError> {
    not_over_a_file(file, replace)?;
    let books = Books::open(context).await?;
    let partial = file.with_extension("partial");
    let mut writer = Writer::create(file, &partial, form)?;
    context.progress.stage("writing the export");
    let mut rows = 0;
    for delivery in &books.current {
        match form {
            ExportForm::Enriched => {
                books.store.read_charges(delivery, &mut |batch| {
                    context.progress.rows(batch.num_rows() as u64);
                    let focus = enriched(&batch)?;
                    rows += focus.num_rows() as u64;
                    writer.write(&focus)
                })??;
            }
            ExportForm::Allocated => rows += allocate(&books, (delivery, credits), &mut writer)?,
        }
    }
    writer.finish()?;
    std::fs::rename(&partial, file).map_err(|error| {
        AppError::new("export::not_written", error.to_string()).at(file.to_string_lossy())
    })?;
    Ok(ExportReport {
        file: file.to_string_lossy().into_owned(),
        rows,
        deliveries: books.current.len() as u64,
        warnings: books.current.iter().flat_map(withheld).collect(),
    })
}

/// The bases under which a delivery cannot be read: the export holds its figures as the provider gave them.
fn withheld(delivery: &DeliveryRecord) -> Vec<ImportWarning> {
    let told = CostBasis::ALL.iter().filter_map(|basis| {
        let quality = delivery.details.withheld(*basis)?;
        Some(ImportWarning {
            code: "export::withheld_basis".to_owned(),
            message: format!(
                "{basis} cost of {} for {}: {}",
                delivery.source, delivery.period, quality.message
            ),
            help: Some("do not sum this basis over the export".to_owned()),
        })
    });
    told.collect()
}

fn allocate(
    books: &Books,
    (delivery, credits): (&DeliveryRecord, CreditTreatment),
    writer: &mut Writer,
) -> Result<u64, AppError> {
    let mut at_rest: Vec<Posting> = Vec::new();
    let mut fault = None;
    for settlement in books.settlements.iter().filter(|settlement| settlement.delivery == delivery.id) {
        books.store.read_postings(settlement, &mut |posting| {
            let of_credits = posting.step == Step::Credits && credits == CreditTreatment::BeforeCredits;
            if posting.account != Account::Bill && !of_credits && fault.is_none() {
                at_rest.push(posting);
            }
            // Money that entered an account and moved on cancels out early, so that memory is that of what rests.
            if at_rest.len() >= POSTINGS_MAX {
                fault = rest(&mut at_rest).err();
            }
        })?;
    }
    if let Some(error) = fault {
        return Err(error.into());
    }
    rest(&mut at_rest)?;
    let postings = at_rest;
    let parts: Vec<AllocatedPart<'_>> = postings.iter().map(AllocatedPart::from).collect();
    let payer = delivery.source.0.split_once(':').map_or(delivery.source.0.as_str(), |(_, payer)| payer);
    let bill = AllocatedBill {
        billing_account_id: payer,
        billing_account_name: None,
        // A FOCUS bill's own rows tell its provider, which postings do not keep.
        provider_name: provider_of(delivery).map_or("Unknown", |provider| provider.focus_name),
        invoice_issuer_name: None,
        period: delivery.period,
        credits,
    };
    let batch = allocated(&bill, &parts)?;
    writer.write(&batch)?;
    Ok(batch.num_rows() as u64)
}

/// Postings that are gathered before those of one place are summed.
const POSTINGS_MAX: usize = 1 << 18;

/// Sums the postings of one place, whatever step moved them there, and leaves out places where nothing rests.
fn rest(postings: &mut Vec<Posting>) -> Result<(), AmountError> {
    let mut places: BTreeMap<String, Posting> = BTreeMap::new();
    for posting in postings.drain(..) {
        let nothing = Posting {
            step: Step::Attribution,
            billed_cost: Amount::ZERO,
            list_cost: Amount::ZERO,
            effective_cost: Amount::ZERO,
            marginal_cost: Amount::ZERO,
            charges: 0,
            unpriced: 0,
            ..posting.clone()
        };
        let held = places.entry(format!("{nothing:?}")).or_insert(nothing);
        held.billed_cost = held.billed_cost.checked_add(posting.billed_cost)?;
        held.list_cost = held.list_cost.checked_add(posting.list_cost)?;
        held.effective_cost = held.effective_cost.checked_add(posting.effective_cost)?;
        held.marginal_cost = held.marginal_cost.checked_add(posting.marginal_cost)?;
        held.charges += posting.charges;
        held.unpriced += posting.unpriced;
    }
    let empty = |posting: &Posting| {
        let costs = [posting.billed_cost, posting.list_cost, posting.effective_cost, posting.marginal_cost];
        posting.charges == 0 && costs.iter().all(|cost| cost.is_zero())
    };
    postings.extend(places.into_values().filter(|posting| !empty(posting)));
    Ok(())
}

impl Writer {
    fn create(file: &Path, partial: &Path, form: ExportForm) -> Result<Self, AppError> {
        let schema = match form {
            ExportForm::Enriched => enriched_schema(),
            ExportForm::Allocated => allocated_schema(),
        };
        let is = |ending: &str| file.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        if !is("csv") && !is("parquet") {
            return Err(AppError::new(
                "export::unknown_form",
                "the file's name tells neither CSV nor Parquet",
            )
            .at(file.to_string_lossy())
            .help("end the name in .csv or .parquet"));
        }
        let opened = File::create(partial).map_err(|error| {
            AppError::new("export::not_written", error.to_string()).at(partial.to_string_lossy())
        })?;
        let sink = BufWriter::new(opened);
        Ok(if is("csv") {
            Self::Csv(Box::new(CsvWriter::create(sink, schema)?))
        } else {
            Self::Parquet(Box::new(ParquetWriter::create(sink, schema)?))
        })
    }

    fn write(&mut self, batch: &store::RecordBatch) -> Result<(), SourceError> {
        match self {
            Self::Csv(writer) => writer.write(batch),
            Self::Parquet(writer) => writer.write(batch),
        }
    }

    fn finish(self) -> Result<(), SourceError> {
        match self {
            Self::Csv(writer) => writer.finish().map(drop),
            Self::Parquet(writer) => writer.finish().map(drop),
        }
    }
}
