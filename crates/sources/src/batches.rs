//! Canonical rows gathered into batches of one payer and billing period, with their totals, in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;
use ledger::{BillingPeriod, ChargeCategory, Day, Interval, LineClass, ResourceKind, SplitRole};
use money::{Amount, AmountError, Currency};

use crate::SourceError;
use crate::billing::quality::Gate;
use crate::billing::{BillBatch, BillLimits, PeriodSummary};
use crate::charges::COLUMNS;
use crate::text::Text;

mod builder;
mod dictionary;
mod sparse;

use builder::BatchBuilder;

/// Batches that are open at once; the largest is handed on when another is needed.
const OPEN_BATCHES: usize = 64;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// One canonical row, borrowed from the reader's buffers; the fields are those of [`crate::charges::COLUMNS`].
#[derive(Debug, Clone, Copy)]
pub struct ChargeRow<'a> {
    /// `x_row`.
    pub row: u64,
    /// `x_file`.
    pub file: Text<'a>,
    /// `x_line_item_id`.
    pub line_item_id: Option<Text<'a>>,
    /// `billing_account_id`.
    pub payer: Text<'a>,
    /// `billing_account_name`.
    pub payer_name: Option<Text<'a>>,
    /// `billing_currency`.
    pub currency: Currency,
    /// The month under which the row is kept.
    pub period: BillingPeriod,
    /// `billing_period_start` and `_end`.
    pub billing_period: Interval,
    /// `charge_period_start` and `_end`.
    pub charge_period: Interval,
    /// `charge_category`.
    pub category: ChargeCategory,
    /// `charge_class`.
    pub correction: Option<Text<'a>>,
    /// `charge_description`.
    pub description: Option<Text<'a>>,
    /// `billed_cost`.
    pub billed_cost: Amount,
    /// `effective_cost`.
    pub effective_cost: Amount,
    /// `list_cost`.
    pub list_cost: Option<Amount>,
    /// `contracted_cost`.
    pub contracted_cost: Option<Amount>,
    /// `x_marginal_cost`.
    pub marginal_cost: Amount,
    /// `pricing_quantity`.
    pub pricing_quantity: Option<f64>,
    /// `pricing_unit`.
    pub pricing_unit: Option<Text<'a>>,
    /// `commitment_discount_id`.
    pub commitment_id: Option<Text<'a>>,
    /// `commitment_discount_type`.
    pub commitment_type: Option<Text<'a>>,
    /// `capacity_reservation_id`.
    pub capacity_reservation_id: Option<Text<'a>>,
    /// `capacity_reservation_status`.
    pub capacity_reservation_status: Option<Text<'a>>,
    /// `invoice_id`.
    pub invoice_id: Option<Text<'a>>,
    /// `invoice_issuer_name`.
    pub invoice_issuer: Option<Text<'a>>,
    /// `provider_name`.
    pub provider: Text<'a>,
    /// `publisher_name`.
    pub publisher: Option<Text<'a>>,
    /// `region_id`.
    pub region: Option<Text<'a>>,
    /// `availability_zone`.
    pub zone: Option<Text<'a>>,
    /// `resource_id`.
    pub resource_id: Option<Text<'a>>,
    /// `service_name`.
    pub service: Text<'a>,
    /// `sku_id`.
    pub sku: Option<Text<'a>>,
    /// `sku_price_id`.
    pub sku_price: Option<Text<'a>>,
    /// `sub_account_id`.
    pub sub_account: Option<Text<'a>>,
    /// `sub_account_name`.
    pub sub_account_name: Option<Text<'a>>,
    /// `tags`.
    pub tags: Option<Text<'a>>,
    /// `x_line_type`.
    pub line_type: Text<'a>,
    /// `x_class`.
    pub class: LineClass,
    /// `x_resource_kind`.
    pub resource_kind: ResourceKind,
    /// `x_usage_type`.
    pub usage_type: Option<Text<'a>>,
    /// `x_operation`.
    pub operation: Option<Text<'a>>,
    /// `x_instance_type`.
    pub instance_type: Option<Text<'a>>,
    /// `x_credit_type`.
    pub credit_type: Option<Text<'a>>,
    /// `x_split_role`.
    pub split_role: SplitRole,
    /// `x_parent_resource_id`.
    pub parent_resource_id: Option<Text<'a>>,
    /// `x_split_cost`.
    pub split_cost: Option<Amount>,
    /// `x_split_unused_cost`.
    pub split_unused_cost: Option<Amount>,
    /// `x_unmapped`.
    pub unmapped: Option<Text<'a>>,
    /// What only the quality gate looks at.
    pub unstored: Unstored,
}

/// What a reader tells the quality gate of a row beyond its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unstored {
    /// The public price of one pricing unit.
    pub list_unit_price: Option<Amount>,
    /// True if the source does not tell the effective cost, which then equals the billed cost.
    pub effective_unknown: bool,
    /// True if the source gives an effective cost to the purchase of a commitment; it is taken as zero.
    pub effective_on_purchase: bool,
    /// True if a value was the word `NULL`.
    pub null_text: bool,
}

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
        add_totals(&mut self.groups[index], row).map_err(|fault| {
            SourceError::new(
                "bill::out_of_range",
                format!("a total of {} leaves the range: {fault}", row.period),
            )
        })?;
        if self.groups[index].builder.is_none() {
            self.make_room()?;
            self.groups[index].builder = Some(self.spare.take().unwrap_or_else(BatchBuilder::new));
            self.open += 1;
        }
        let Some(builder) = self.groups[index].builder.as_mut() else { return Ok(index) };
        let (before, rows) = (builder.text_bytes(), builder.push(row)?);
        self.text_bytes += builder.text_bytes() - before;
        if rows >= self.limits.batch_rows {
            self.flush(index)?;
        } else if self.text_bytes > self.limits.open_text_bytes {
            self.flush_largest(|builder| builder.text_bytes())?;
        }
        Ok(index)
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

    fn make_room(&mut self) -> Result<(), SourceError> {
        if self.open < OPEN_BATCHES {
            return Ok(());
        }
        self.flush_largest(BatchBuilder::rows)
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

fn add_totals(group: &mut Group, row: &ChargeRow<'_>) -> Result<(), AmountError> {
    group.gate.see(row);
    let summary = &mut group.summary;
    summary.rows += 1;
    summary.billed_total = summary.billed_total.checked_add(row.billed_cost)?;
    summary.effective_total = summary.effective_total.checked_add(row.effective_cost)?;
    summary.marginal_total = summary.marginal_total.checked_add(row.marginal_cost)?;
    match row.list_cost {
        Some(cost) => summary.list_total = summary.list_total.checked_add(cost)?,
        None => summary.unpriced += 1,
    }
    summary.effective_unknown += u64::from(row.unstored.effective_unknown);
    summary.has_resource_ids |= row.resource_id.is_some();
    summary.split_rows += u64::from(row.class == LineClass::SplitDetail);
    let capacity_block = matches!(row.class, LineClass::CapacityBlockUsage | LineClass::CapacityBlockFee);
    summary.capacity_block_rows += u64::from(capacity_block);
    if is_usage(row.class) {
        summary.usage_rows += 1;
        summary.invoiced_usage_rows += u64::from(row.invoice_id.is_some());
        add_usage(group, row.charge_period);
    }
    Ok(())
}

fn add_usage(group: &mut Group, period: Interval) {
    let summary = &mut group.summary;
    let micros = period.micros();
    summary.usage = Some(summary.usage.map_or(period, |known| Interval {
        start: known.start.min(period.start),
        end: known.end.max(period.end),
    }));
    summary.usage_micros = Some(
        summary.usage_micros.map_or((micros, micros), |(low, high)| (low.min(micros), high.max(micros))),
    );
    let first = period.start.day();
    let last = ledger::Timestamp(period.end.0.saturating_sub(1)).day().max(first);
    if micros <= MICROS_PER_DAY {
        if group.day_seen == Some(last) && first == last {
            return;
        }
        group.day_seen = Some(last);
        summary.days.insert(first);
        summary.days.insert(last);
    } else if group.long_days.len() < 400 {
        group.long_days.extend((first.0..=last.0).take(400).map(Day));
    }
}
