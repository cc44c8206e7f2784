//! Bills: each payer's month becomes a delivery that replaces the one before it.

use std::collections::BTreeSet;

use costing::attempts::fold;
use ledger::{Day, SourceId};
use sources::billing::{self, Arrival, BillSummary, PeriodSummary, Reader};
use store::{BasisQuality, Change, DeliveryDetails, DeliveryFacts, DeliveryRecord, StagedDelivery, Store};

use super::append::{is_settled, joined};
use super::drift::drift;
use super::reading::{self, Reading, Writers};
use super::{DeliveryLine, ImportReport, ImportWarning, record, settle_current, settle_one};
use crate::settle::Charges;
use crate::{AppError, Context};

/// How to import a bill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BillImport {
    /// Name of the source; `aws-cur:{payer}` if none is given.
    pub source: Option<String>,
    /// Read all of it, whatever is known of it, and take the delivery even if it lacks days that the current one has.
    pub replace: bool,
}

/// The bill that an import reads, and how.
#[derive(Clone, Copy)]
pub(super) struct Bill<'a> {
    pub(super) reader: &'static Reader,
    pub(super) place: &'a str,
    pub(super) options: &'a BillImport,
}

/// Imports a bill by the reader of this name (one of [`billing::READERS`]), from a file, a folder or a URL of an object store.
///
/// # Errors
/// A coded error of the reader or the store; the store is then as it was.
pub async fn bill(
    context: &Context<'_>,
    reader: &str,
    place: &str,
    options: &BillImport,
) -> Result<ImportReport, AppError> {
    let bill = Bill { reader: reader_of(reader)?, place, options };
    let store = Store::create(&context.store).await?;
    let lock = store.lock()?;
    store.sweep(&lock).await?;
    let current = store.current_deliveries().await?;
    let mut reading = reading::read(context, &store, &current, bill).await?;
    let writers = std::mem::take(&mut reading.writers);
    let mut staged = stage(context, bill, &reading.summary, writers)?;
    if bill.reader.arrival == Arrival::Appended {
        staged = staged
            .into_iter()
            .map(|arrived| join(&store, &current, arrived, bill))
            .collect::<Result<_, _>>()?;
    }
    refuse_partial(&staged, &current, bill)?;
    let attempts = fold(&store.observations().await?).attempts;
    let mut postings = Vec::new();
    let mut replaced = Vec::new();
    for (delivery, facts) in &staged {
        // An unchanged delivery is settled with the others below if its postings are stale.
        if current.iter().any(|held| held.key() == delivery.key()) {
            continue;
        }
        replaced.push((delivery.source.clone(), delivery.period));
        postings.push(settle_one(context, &store, &charges(delivery, facts), &attempts).await?);
    }
    let settled = postings.len() as u64;
    postings.extend(settle_current(context, &store, &attempts, &replaced).await?);
    let mut report = report(bill, &reading, &staged, &current);
    report.settled = settled;
    report.warnings.extend(staged.iter().flat_map(|(delivery, facts)| drift(&current, delivery, facts)));
    let change = Change {
        import: record(context, &report),
        read: Some(reading.remembered(context, &staged, &current)),
        deliveries: staged,
        observations: Vec::new(),
        postings,
    };
    let committed = store.commit(&lock, change).await?;
    crate::estimate::keep(context, &store, &lock, &attempts).await?;
    report.unchanged = committed.is_no_op();
    Ok(report)
}

/// What arrived of an append-only export, with what rests of its month.
fn join(
    store: &Store,
    current: &[DeliveryRecord],
    arrived: (StagedDelivery, DeliveryFacts),
    bill: Bill<'_>,
) -> Result<(StagedDelivery, DeliveryFacts), AppError> {
    let (source, period) = (&arrived.0.source, arrived.0.period);
    match current.iter().find(|held| held.source == *source && held.period == period) {
        Some(held) => joined(store, held, arrived, bill),
        None => Ok(arrived),
    }
}

fn reader_of(id: &str) -> Result<&'static Reader, AppError> {
    billing::READERS.iter().find(|reader| reader.id == id).ok_or_else(|| {
        let known: Vec<&str> = billing::READERS.iter().map(|reader| reader.id).collect();
        AppError::new("import::no_such_reader", format!("no reader of bills is named `{id}`"))
            .help(format!("there are: {}", known.join(", ")))
    })
}

impl Bill<'_> {
    pub(super) fn source_id(&self, payer: &str) -> SourceId {
        let id = self.reader.id;
        SourceId(self.options.source.clone().unwrap_or_else(|| format!("{id}:{payer}")))
    }

    /// The command that imports this bill, with more to say.
    pub(super) fn command(&self, more: &str) -> String {
        format!("trainbill import {} {} {more}", self.reader.id, self.place)
    }
}

fn stage(
    context: &Context<'_>,
    bill: Bill<'_>,
    summary: &BillSummary,
    writers: Writers,
) -> Result<Vec<(StagedDelivery, DeliveryFacts)>, AppError> {
    let mut writers = writers;
    let rejected_rows = summary.rejected;
    let mut staged = Vec::new();
    let last = summary.periods.len().saturating_sub(1);
    for (index, period) in summary.periods.iter().enumerate() {
        let Some(writer) = writers.remove(&(period.payer.clone(), period.period)) else { continue };
        let delivery = writer.finish()?;
        ties(period, &delivery)?;
        // A row that cannot be read may belong to any period; it is counted with the last one.
        let rejected = if index == last { rejected_rows } else { 0 };
        staged.push((delivery, facts(context, bill, period, rejected)?));
    }
    Ok(staged)
}

/// Pair assertion: what the reader summed and what was written are the same.
fn ties(period: &PeriodSummary, delivery: &StagedDelivery) -> Result<(), AppError> {
    let of_source = period.source_total.checked_sub(period.rejected_total)?;
    let pairs = [
        ("billed cost", period.billed_total, delivery.totals.billed),
        ("effective cost", period.effective_total, delivery.totals.effective),
        ("list cost", period.list_total, delivery.totals.list),
        ("marginal cost", period.marginal_total, delivery.totals.marginal),
        ("source's own cost column", of_source, delivery.totals.billed),
    ];
    for (what, read, written) in pairs {
        if read != written {
            let message =
                format!("the {what} of {} sums to {read} as read and {written} as written", period.period);
            return Err(AppError::new("bill::does_not_tie", message));
        }
    }
    Ok(())
}

fn facts(
    context: &Context<'_>,
    bill: Bill<'_>,
    period: &PeriodSummary,
    rejected: u64,
) -> Result<DeliveryFacts, AppError> {
    Ok(DeliveryFacts {
        arrived_at: context.now,
        place: bill.place.to_owned(),
        currency: period.currency,
        rows: period.rows + rejected,
        accepted: period.rows,
        rejected,
        source_total: period.source_total.checked_sub(period.rejected_total)?,
        is_final: match (bill.reader.arrival, period.export_times) {
            (Arrival::Appended, Some((_, last))) => is_settled(period.period, last),
            _ => period.is_final(),
        },
        days: period.days.iter().copied().collect(),
        split_rows: period.split_rows,
        capacity_block_rows: period.capacity_block_rows,
        reader_version: bill.reader.version.to_owned(),
        details: details(period),
    })
}

fn details(period: &PeriodSummary) -> DeliveryDetails {
    let quality = |found: &sources::billing::quality::BasisQuality| BasisQuality {
        basis: found.basis,
        usable: found.usable,
        code: found.code.to_owned(),
        message: found.message.clone(),
        rows: found.rows,
    };
    DeliveryDetails {
        quality: period.quality.iter().map(quality).collect(),
        export_times: period.export_times,
        credits_by_type: period.credits_by_type.clone(),
        null_counts: period.null_rates.iter().map(|(column, rows)| ((*column).to_owned(), *rows)).collect(),
        added: Vec::new(),
        tag_columns: period.tag_columns.clone(),
    }
}

fn charges(delivery: &StagedDelivery, facts: &DeliveryFacts) -> Charges {
    Charges {
        key: delivery.key(),
        files: delivery.paths(),
        currency: facts.currency,
        rows: facts.accepted,
        split_rows: facts.split_rows,
        capacity_block_rows: facts.capacity_block_rows,
        unpriced: delivery.totals.unpriced,
    }
}

/// A delivery that lacks days which the current one has would erase them, so it needs the user's word.
fn refuse_partial(
    staged: &[(StagedDelivery, DeliveryFacts)],
    current: &[DeliveryRecord],
    bill: Bill<'_>,
) -> Result<(), AppError> {
    if bill.options.replace {
        return Ok(());
    }
    for (delivery, facts) in staged {
        let held =
            current.iter().find(|held| held.source == delivery.source && held.period == delivery.period);
        if let Some(held) = held {
            refuse_worse(held, facts, bill)?;
        }
        let days: BTreeSet<Day> = facts.days.iter().copied().collect();
        let lacking: Vec<Day> = held
            .map(|held| held.days.iter().filter(|day| !days.contains(day)).copied().collect())
            .unwrap_or_default();
        if let (Some(first), Some(last)) = (lacking.first(), lacking.last()) {
            let message = format!(
                "the delivery of {} for {} lacks {} day(s) that the current one has ({first} to {last})",
                delivery.source,
                delivery.period,
                lacking.len()
            );
            return Err(AppError::new("bill::partial_delivery", message)
                .help(format!("import the whole export, or say so: {}", bill.command("--replace"))));
        }
    }
    Ok(())
}

/// A delivery with rejected rows, or in another currency, does not silently replace one that was read whole.
fn refuse_worse(held: &DeliveryRecord, facts: &DeliveryFacts, bill: Bill<'_>) -> Result<(), AppError> {
    let (source, period) = (&held.source, held.period);
    let say_so = format!("mend the export, or say so: {}", bill.command("--replace"));
    if facts.rejected > 0 && held.rejected == 0 {
        let message = format!(
            "{} row(s) of the delivery of {source} for {period} cannot be read, and the current one was read whole",
            facts.rejected
        );
        return Err(AppError::new("bill::damaged_delivery", message).help(say_so));
    }
    if facts.currency != held.currency {
        let message =
            format!("the bill of {source} for {period} is in another currency than the one it would replace");
        let mut error = AppError::new("bill::other_currency", message)
            .help(format!("give it a source of its own: {}", bill.command("--source NAME")));
        (error.expected, error.found) = (Some(held.currency.to_string()), Some(facts.currency.to_string()));
        return Err(error);
    }
    Ok(())
}

/// A payer's month that another source has already: both tie, and together they are twice the bill.
fn billed_twice(lines: &[DeliveryLine], current: &[DeliveryRecord]) -> Vec<ImportWarning> {
    let payer = |source: &SourceId| source.0.split_once(':').map(|(_, payer)| payer.to_owned());
    let mut warnings = Vec::new();
    for line in lines {
        let Some(own) = payer(&line.source) else { continue };
        let other = current.iter().find(|held| {
            held.period == line.period
                && held.source != line.source
                && payer(&held.source).as_ref() == Some(&own)
        });
        if let Some(other) = other {
            warnings.push(ImportWarning {
                code: "bill::payer_twice".to_owned(),
                message: format!(
                    "{} for {} is in the store as {} too: all spend now holds both",
                    line.source, line.period, other.source
                ),
                help: Some(
                    "keep one of the two in a store, or each in a store of its own: --store FOLDER"
                        .to_owned(),
                ),
            });
        }
    }
    warnings
}

fn report(
    bill: Bill<'_>,
    reading: &Reading,
    staged: &[(StagedDelivery, DeliveryFacts)],
    current: &[DeliveryRecord],
) -> ImportReport {
    let unread = reading.unread(current);
    let not_read = unread.len() as u64;
    let mut deliveries: Vec<DeliveryLine> = staged.iter().map(|arrived| line(arrived, current)).collect();
    deliveries.extend(unread.into_iter().map(line_at_rest));
    deliveries.sort_by(|a, b| (&a.source, a.period).cmp(&(&b.source, b.period)));
    let mut warnings = reading.warnings();
    warnings.extend(billed_twice(&deliveries, current));
    ImportReport {
        kind: bill.reader.id,
        place: bill.place.to_owned(),
        rows: reading.summary.rows,
        accepted: reading.summary.accepted,
        rejected: reading.summary.rejected,
        rejections: reading.summary.rejections.clone(),
        warnings,
        deliveries,
        new_observations: 0,
        known_observations: 0,
        settled: 0,
        not_read,
        unchanged: false,
    }
}

fn line((delivery, facts): &(StagedDelivery, DeliveryFacts), current: &[DeliveryRecord]) -> DeliveryLine {
    let held = current.iter().find(|held| held.source == delivery.source && held.period == delivery.period);
    DeliveryLine {
        source: delivery.source.clone(),
        period: delivery.period,
        rows: facts.accepted,
        billed: delivery.totals.billed,
        billed_before: held.map(|held| held.billed_total),
        currency: facts.currency,
        state: match held {
            None => "new",
            Some(held) if held.id == delivery.id => "unchanged",
            Some(_) => "restated",
        },
        is_final: facts.is_final,
    }
}

/// The line of a delivery that was not read again.
fn line_at_rest(held: &DeliveryRecord) -> DeliveryLine {
    DeliveryLine {
        source: held.source.clone(),
        period: held.period,
        rows: held.accepted,
        billed: held.billed_total,
        billed_before: Some(held.billed_total),
        currency: held.currency,
        state: "unchanged",
        is_final: held.is_final,
    }
}
