//! Canonical rows gathered into batches of one payer and billing period, with their totals, in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;
use ledger::{BillingPeriod, Day, LineClass};
use money::Currency;

use crate::SourceError;
use crate::billing::quality::Gate;
use crate::billing::{BillBatch, BillLimits, PeriodSummary};
use crate::charges::COLUMNS;

mod builder;
mod charge;
mod dictionary;
mod figures;
mod gathered;
mod run;
mod sparse;
mod totals;

use builder::BatchBuilder;
pub use charge::{ChargeRow, Unstored};
use dictionary::Mapped;
pub(crate) use figures::Figures;
pub(crate) use gathered::Gathered;
pub(crate) use run::{ChargeRun, RunText, RunTexts};

/// Batches that are open at once; the largest is handed on when another is needed.
const OPEN_BATCHES: usize = 64;

/// Where batches are handed on to.
pub type Sink<'a> = Box<dyn FnMut(BillBatch) -> Result<(), SourceError> + Send + 'a>;

/// Takes rows in any order and hands on batches of one payer and billing period.
pub struct Batches<'a> {
    limits: &'a BillLimits,
    /// Gone once everything has been handed on.
    sink: Option<Sink<'a>>,
    groups: Vec<Group>,
    index: BTreeMap<String, BTreeMap<BillingPeriod, usize>>,
    open: usize,
    text_bytes: usize,
    last: usize,
    /// A builder without rows, whose buffers are used again.
    spare: Option<BatchBuilder>,
    /// Of each column of text: where the values of the run's dictionary are in the batch.
    mapped: Vec<Mapped>,
    /// Batches begun, which tells them apart.
    begun: u64,
}

struct Group {
    summary: PeriodSummary,
    gate: Gate,
    builder: Option<BatchBuilder>,
    day_seen: Option<Day>,
    /// Days of usage rows longer than a day; they tell of coverage only if no shorter row does.
    long_days: BTreeSet<Day>,
}

impl<'a> Batches<'a> {
    /// No rows yet.
    pub fn new(limits: &'a BillLimits, sink: Sink<'a>) -> Self {
        Self {
            limits,
            sink: Some(sink),
            groups: Vec::new(),
            index: BTreeMap::new(),
            open: 0,
            text_bytes: 0,
            last: 0,
            spare: None,
            mapped: Vec::new(),
            begun: 0,
        }
    }

    /// The place of a payer's billing period among the summaries, opened if it is new.
    ///
    /// # Errors
    /// `bill::mixed_currency` if the period has another currency, `bill::too_large` past the limit of periods.
    pub fn group(
        &mut self,
        payer: &str,
        period: BillingPeriod,
        currency: Currency,
    ) -> Result<usize, SourceError> {
        let index = self.find(payer, period);
        let Some(index) = index else { return self.open_group(payer, period, currency) };
        self.last = index;
        let known = self.groups[index].summary.currency;
        if known == currency {
            return Ok(index);
        }
        Err(SourceError::new("bill::mixed_currency", format!("two currencies in {period} of payer {payer}"))
            .expected(known.code(), currency.code())
            .help("import the part of each currency as a delivery of its own"))
    }

    /// The running summary of a group.
    pub fn summary_mut(&mut self, group: usize) -> Option<&mut PeriodSummary> {
        self.groups.get_mut(group).map(|g| &mut g.summary)
    }

    /// Adds a row; its group is that of its payer, period and currency.
    ///
    /// # Errors
    /// Those of [`Batches::group`], `bill::out_of_range` if a total overflows, and what the sink returns.
    pub fn push(&mut self, row: &ChargeRow<'_>) -> Result<usize, SourceError> {
        let index = self.group(row.payer.as_str(), row.period, row.currency)?;
        self.groups[index].add(&row.figures())?;
        self.begin(index)?;
        let Some(builder) = self.groups[index].builder.as_mut() else { return Ok(index) };
        let (before, rows) = (builder.text_bytes(), builder.push(row)?);
        self.text_bytes += builder.text_bytes() - before;
        if rows >= self.limits.batch_rows {
            self.flush(index)?;
        } else if self.text_bytes > self.limits.open_text_bytes {
            self.flush_largest(BatchBuilder::text_bytes)?;
        }
        Ok(index)
    }

    /// The place of a payer's billing period among the summaries, if it is open.
    pub(crate) fn known(&self, payer: &str, period: BillingPeriod) -> Option<usize> {
        self.find(payer, period)
    }

    /// Adds rows of one group, column by column; false, and nothing is added, if their texts alone might be more than may
    /// be open.
    ///
    /// # Errors
    /// `bill::out_of_range` if a total overflows, and what the sink returns.
    pub(crate) fn push_run(&mut self, index: usize, run: &ChargeRun<'_>) -> Result<bool, SourceError> {
        let more = run.text_bytes_at_most();
        if more > self.limits.open_text_bytes {
            return Ok(false);
        }
        while self.open > 0 && self.text_bytes + more > self.limits.open_text_bytes {
            self.flush_largest(BatchBuilder::text_bytes)?;
        }
        let Some(group) = self.groups.get_mut(index) else { return Ok(false) };
        for (at, figures) in run.figures.iter().enumerate() {
            group.add(figures).map_err(|fault| fault.at(run.place(at)))?;
        }
        let mut from = 0;
        while from < run.rows() {
            self.begin(index)?;
            let Some(builder) = self.groups[index].builder.as_mut() else { break };
            let room = self.limits.batch_rows.saturating_sub(builder.rows()).max(1);
            let to = run.rows().min(from + room);
            let before = builder.text_bytes();
            let rows = builder.push_run(run, from..to, &mut self.mapped)?;
            self.text_bytes += builder.text_bytes() - before;
            if rows >= self.limits.batch_rows {
                self.flush(index)?;
            }
            from = to;
        }
        Ok(true)
    }

    /// Hands on what is left and lets go of the sink; no row may follow.
    ///
    /// # Errors
    /// What the sink returns.
    pub fn hand_on_rest(&mut self) -> Result<(), SourceError> {
        (0..self.groups.len()).try_for_each(|index| self.flush(index))?;
        self.sink = None;
        Ok(())
    }

    /// Hands on what is left and gives the summaries, by payer and period.
    ///
    /// # Errors
    /// What the sink returns.
    pub fn finish(self) -> Result<Vec<PeriodSummary>, SourceError> {
        self.finish_with(|_, _| Ok(()))
    }

    /// As [`Batches::finish`]; `close` completes each summary, given its group's place, before the gate judges it.
    ///
    /// # Errors
    /// What the sink or `close` returns.
    pub fn finish_with(
        mut self,
        mut close: impl FnMut(usize, &mut PeriodSummary) -> Result<(), SourceError>,
    ) -> Result<Vec<PeriodSummary>, SourceError> {
        self.hand_on_rest()?;
        let mut summaries = Vec::with_capacity(self.groups.len());
        for (index, group) in self.groups.into_iter().enumerate() {
            let (mut summary, gate) = group.into_summary();
            close(index, &mut summary)?;
            summary.quality.extend(gate.judge(&summary));
            summary.quality.sort();
            summaries.push(summary);
        }
        summaries.sort_by(|a, b| (&a.payer, a.period).cmp(&(&b.payer, b.period)));
        Ok(summaries)
    }

    fn find(&self, payer: &str, period: BillingPeriod) -> Option<usize> {
        if let Some(group) = self.groups.get(self.last)
            && group.summary.period == period
            && group.summary.payer == payer
        {
            return Some(self.last);
        }
        self.index.get(payer)?.get(&period).copied()
    }

    fn open_group(
        &mut self,
        payer: &str,
        period: BillingPeriod,
        currency: Currency,
    ) -> Result<usize, SourceError> {
        let index = self.groups.len();
        if index >= self.limits.periods {
            let message =
                format!("more than {} billing periods of payers in one import", self.limits.periods);
            return Err(SourceError::new("bill::too_large", message));
        }
        let summary = PeriodSummary::new(payer.to_owned(), period, currency);
        self.groups.push(Group {
            summary,
            gate: Gate::default(),
            builder: None,
            day_seen: None,
            long_days: BTreeSet::new(),
        });
        self.index.entry(payer.to_owned()).or_default().insert(period, index);
        self.last = index;
        Ok(index)
    }

    /// Opens a batch of a group that has none.
    fn begin(&mut self, index: usize) -> Result<(), SourceError> {
        if self.groups[index].builder.is_some() {
            return Ok(());
        }
        if self.open >= OPEN_BATCHES {
            self.flush_largest(BatchBuilder::rows)?;
        }
        let mut builder = self.spare.take().unwrap_or_else(BatchBuilder::new);
        self.begun += 1;
        builder.begin(self.begun);
        self.groups[index].builder = Some(builder);
        self.open += 1;
        Ok(())
    }

    fn flush_largest(&mut self, size: impl Fn(&BatchBuilder) -> usize) -> Result<(), SourceError> {
        let sizes =
            self.groups.iter().enumerate().filter_map(|(i, g)| g.builder.as_ref().map(|b| (size(b), i)));
        match sizes.max() {
            Some((_, index)) => self.flush(index),
            None => Ok(()),
        }
    }

    fn flush(&mut self, index: usize) -> Result<(), SourceError> {
        let Some(group) = self.groups.get_mut(index) else { return Ok(()) };
        let Some(mut builder) = group.builder.take() else { return Ok(()) };
        self.open -= 1;
        self.text_bytes -= builder.text_bytes();
        let batch = builder.finish()?;
        self.spare = Some(builder);
        count_nulls(&mut group.summary.null_rates, &batch);
        let Some(sink) = &mut self.sink else {
            return Err(SourceError::new("bill::batch", "a row came after the last batch was handed on"));
        };
        sink(BillBatch { payer: group.summary.payer.clone(), period: group.summary.period, batch })
    }
}

impl Group {
    fn into_summary(self) -> (PeriodSummary, Gate) {
        let mut summary = self.summary;
        if summary.days.is_empty() {
            summary.days = self.long_days;
        }
        (summary, self.gate)
    }
}

/// True for the classes that are usage and not a row with an account of its own.
pub const fn is_usage(class: LineClass) -> bool {
    match class {
        LineClass::Usage
        | LineClass::CapacityBlockUsage
        | LineClass::UnusedReservation
        | LineClass::Inference => true,
        LineClass::CapacityBlockFee
        | LineClass::Commitment
        | LineClass::Tax
        | LineClass::Credit
        | LineClass::Refund
        | LineClass::Support
        | LineClass::Other
        | LineClass::SplitDetail => false,
    }
}

fn count_nulls(rates: &mut BTreeMap<&'static str, u64>, batch: &RecordBatch) {
    for (column, array) in COLUMNS.iter().zip(batch.columns()).filter(|(column, _)| !column.required) {
        *rates.entry(column.name).or_default() += array.null_count() as u64;
    }
}
