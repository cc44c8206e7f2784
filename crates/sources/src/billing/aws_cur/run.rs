//! Reads rows of one payer, month and currency at once, column by column.
//!
//! It is the common case and gives what reading row by row gives. Where anything stands against it, such as a row that
//! would be rejected or a discount that comes as a row beside net columns, nothing is changed and the rows are read one
//! by one.

use std::sync::Arc;

use ledger::{Interval, LineClass, Timestamp};
use money::{Amount, Currency};

use super::column::Column;
use super::cost::{Costs, Judged, Valuation, costs};
use super::import::Report;
use super::layout::Layout;
use super::line::LineType;
use super::outcome::PeriodFacts;
use super::row::{Row, RowKey};
use crate::SourceError;
use crate::batches::{ChargeRun, Figures, RunText, Unstored};
use crate::billing::table::alike::Alike;
use crate::billing::table::cell::Money;
use crate::billing::table::columns::{Columns, ColumnsRow};
use crate::billing::table::reader::{Core, add_source, overflow};

mod texts;

/// The columns by whose texts a row is judged; beside them it matters which of some values a row has at all.
const JUDGED: [Column; 5] =
    [Column::ProductCode, Column::UsageType, Column::Operation, Column::ServiceCode, Column::LineType];

/// Rows under the names of their columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'c> {
    pub(super) layout: &'c Layout,
    pub(super) columns: &'c Columns<'c>,
}

/// What all rows of a run have alike.
struct Common<'c> {
    key: RowKey<'c>,
    currency: Currency,
    valuation: Valuation,
}

/// What the rows of a run come to.
#[derive(Debug, Default)]
pub(super) struct Charges {
    alike: Alike,
    /// By the numbers of the rows.
    judged: Vec<Judged>,
    billed: Vec<Option<Money>>,
    figures: Vec<Figures>,
    identity: Amount,
    /// Amounts of which digits were cut.
    cut: u64,
    has_net_value: bool,
}

impl Report<'_> {
    /// Reads rows and hands them on; false, and nothing has changed, if they must be read one by one.
    ///
    /// # Errors
    /// What ends the import.
    pub(super) fn read_run(
        &mut self,
        core: &mut Core<'_>,
        first: u64,
        run: Run<'_>,
    ) -> Result<bool, SourceError> {
        let cells = run.columns.row(0);
        let Some(common) = self.common(core, run, &Row { layout: run.layout, cells: &cells }) else {
            return Ok(false);
        };
        let mut charges = std::mem::take(&mut self.charges);
        let mut taken = false;
        if self.value(run, &common, &mut charges).is_some() {
            let (file, unreadable_maps) = (Arc::clone(&core.file), core.extra.unreadable_maps);
            let texts = self.texts(core, run, (&common, &charges, &file));
            let (billing_period, figures) = (common.key.billing, charges.figures.as_slice());
            let whole = ChargeRun { first, file: &file, billing_period, figures, texts };
            taken = self.hand_on_run(core, (&common, &charges, run.layout), &whole)?;
            if !taken {
                core.extra.unreadable_maps = unreadable_maps;
            }
        }
        self.charges = charges;
        Ok(taken)
    }

    /// What the rows have alike, if that is payer, period and currency.
    fn common<'c>(
        &self,
        core: &mut Core<'_>,
        run: Run<'c>,
        row: &Row<'c, ColumnsRow<'c>>,
    ) -> Option<Common<'c>> {
        let stated = [Column::PayerAccountId, Column::PeriodStart, Column::Currency];
        let is_alike = stated.iter().all(|column| run.is_same(*column))
            && (run.layout.here(Column::PeriodEnd).is_none() || run.is_same(Column::PeriodEnd));
        if !is_alike {
            return None;
        }
        let key = row.key().ok()?;
        let currency = core.currency_of(row, Column::Currency).ok()?;
        let group = core.batches.known(key.payer.as_str(), key.period);
        let facts = group
            .and_then(|group| self.facts.get(group))
            .copied()
            .unwrap_or_else(|| PeriodFacts::new(self.discounts.contains(key.payer.as_str(), key.period)));
        Some(Common { key, currency, valuation: facts.valuation(run.layout) })
    }

    /// Judges and values every row; none if one of them cannot be.
    fn value(&mut self, run: Run<'_>, common: &Common<'_>, charges: &mut Charges) -> Option<()> {
        let column = |column| run.layout.here(column).and_then(|at| run.columns.instants(at));
        let (starts, ends) = (column(Column::UsageStart)?, column(Column::UsageEnd)?);
        charges.begin();
        let money = run.layout.here(Column::UnblendedCost).map(|at| run.columns.cells(at))?;
        for cell in money {
            charges.billed.push(cell.money().ok()?);
        }
        charges.tell_apart(run)?;
        for first in charges.alike.firsts() {
            let cells = run.columns.row(*first);
            let judged = self.judge(&Row { layout: run.layout, cells: &cells }).ok()?;
            // The one may depend on each row's description, the other changes how the rows after it are valued.
            let is_refund = judged.line.line_type == LineType::Refund;
            let is_discount = judged.line.line_type == LineType::Discount && common.valuation.net;
            if is_refund || is_discount {
                return None;
            }
            charges.judged.push(judged);
        }
        for (at, (start, end)) in starts.iter().zip(ends).enumerate() {
            let period = Interval::new(Timestamp(*start), Timestamp(*end)).ok()?;
            charges.add(run, (at, period), common.valuation)?;
        }
        Some(())
    }

    fn hand_on_run(
        &mut self,
        core: &mut Core<'_>,
        (common, charges, layout): (&Common<'_>, &Charges, &Layout),
        run: &ChargeRun<'_>,
    ) -> Result<bool, SourceError> {
        // A row alone says better where a second currency stands.
        let group = core.batches.group(common.key.payer.as_str(), common.key.period, common.currency);
        let Ok(group) = group else { return Ok(false) };
        self.facts_of(group, &common.key);
        if !core.batches.push_run(group, run)? {
            return Ok(false);
        }
        for (at, figures) in run.figures.iter().enumerate() {
            let added = add_source(&mut core.batches, group, figures.billed_cost);
            added.map_err(|fault| fault.at(run.place(at)))?;
        }
        core.tally.count_cut(charges.cut);
        let facts = self.facts_of(group, &common.key);
        facts.discount_rows |= charges.judged.iter().any(|j| j.line.line_type == LineType::Discount);
        facts.net_values |= charges.has_net_value;
        facts.add_identity(charges.identity, layout).map_err(overflow)?;
        Ok(true)
    }
}

impl Charges {
    fn begin(&mut self) {
        self.judged.clear();
        self.billed.clear();
        self.figures.clear();
        (self.identity, self.cut, self.has_net_value) = (Amount::ZERO, 0, false);
    }

    /// Numbers the rows by all that they are judged by.
    fn tell_apart(&mut self, run: Run<'_>) -> Option<()> {
        let Self { alike, billed, .. } = self;
        let here = |column: &Column| run.layout.here(*column);
        alike.begin(run.columns.len());
        for column in JUDGED.iter().filter_map(here) {
            alike.tell_apart(run.columns.codes(column)?);
        }
        let named = [Column::ReservationArn, Column::SpArn, Column::SplitParent];
        for column in named.iter().filter_map(here) {
            alike.tell_apart(run.columns.cells(column).map(|cell| u32::from(cell.is_null())));
        }
        let is_zero = |money: &Option<Money>| money.is_none_or(|money| money.amount.is_zero());
        alike.tell_apart(billed.iter().map(|money| u32::from(is_zero(money))));
        let resource = here(&Column::ResourceId);
        if resource.is_some_and(|column| run.columns.is_full(column)) {
            return Some(());
        }
        let resource = resource.unwrap_or(usize::MAX);
        let amount = here(&Column::UsageAmount).unwrap_or(usize::MAX);
        let values = run.columns.cells(resource).zip(run.columns.cells(amount));
        alike.tell_apart(values.map(|(resource, amount)| {
            u32::from(resource.is_null() && (amount.is_null() || amount.is_zero()))
        }));
        Some(())
    }

    /// Values a row.
    fn add(
        &mut self,
        run: Run<'_>,
        (at, charge_period): (usize, Interval),
        valuation: Valuation,
    ) -> Option<()> {
        let cells = run.columns.row(at);
        let row = Row { layout: run.layout, cells: &cells };
        let judged = self.judged.get(*self.alike.numbers().get(at)? as usize)?;
        let billed = match judged.class {
            LineClass::SplitDetail => Money::default(),
            _ => (*self.billed.get(at)?)?,
        };
        let (mut cut, mut unreadable) = (u64::from(billed.cut), false);
        let costs = costs(judged, billed.amount, valuation, &mut |column| match row.cell(column).money() {
            Ok(money) => money.map(|money| {
                cut += u64::from(money.cut);
                money.amount
            }),
            Err(_) => {
                unreadable = true;
                None
            }
        });
        let costs: Costs = costs.ok().filter(|_| !unreadable)?;
        self.cut += cut;
        self.identity = self.identity.checked_add(costs.identity).ok()?;
        self.has_net_value |= valuation.net && !row.cell(Column::NetUnblendedCost).is_null();
        self.figures.push(Figures {
            charge_period,
            billed_cost: costs.billed,
            effective_cost: costs.effective,
            list_cost: costs.list,
            contracted_cost: None,
            marginal_cost: costs.marginal,
            split_cost: costs.split,
            split_unused_cost: costs.split_unused,
            pricing_quantity: row.cell(Column::UsageAmount).quantity(),
            class: judged.class,
            has_commitment: row.text(Column::SpArn).is_some() || judged.names_reservation,
            has_invoice: row.text(Column::InvoiceId).is_some(),
            has_resource: row.text(Column::ResourceId).is_some(),
            is_correction: false,
            unstored: Unstored { effective_unknown: costs.effective_unknown, ..Unstored::default() },
        });
        Some(())
    }
}

impl<'c> Run<'c> {
    fn is_same(&self, column: Column) -> bool {
        self.layout.here(column).is_some_and(|at| self.columns.is_same(at))
    }

    fn is_full(&self, column: Column) -> bool {
        self.layout.here(column).is_some_and(|at| self.columns.is_full(at))
    }

    /// A column of text as it is.
    fn text(&self, column: Column) -> RunText<'c> {
        self.layout.here(column).map_or(RunText::None, |at| self.columns.text(at))
    }
}
