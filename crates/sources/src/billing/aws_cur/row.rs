//! Reads the fields of one row that every charge needs: whose, when, in which currency and for how much.

use ledger::{BillingPeriod, Interval, Timestamp};
use money::Currency;

use super::column::Column;
use super::layout::Layout;
use crate::billing::table::cell::{Cell, Cells, Money};

/// A row under the names of its columns.
#[derive(Debug)]
pub(super) struct Row<'c, C> {
    pub(super) layout: &'c Layout,
    pub(super) cells: &'c C,
}

/// Why a row cannot be read.
pub(super) type Fault = crate::billing::table::fault::Fault<Column>;

/// Whose bill and which month a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowKey<'c> {
    pub(super) payer: &'c str,
    pub(super) period: BillingPeriod,
    pub(super) billing: Interval,
    start: Option<Timestamp>,
}

impl<'c, C: Cells> Row<'c, C> {
    /// The value of a column; nothing where the file has no such column.
    pub(super) fn cell(&self, column: Column) -> Cell<'c> {
        self.layout.at(column).map_or(Cell::Null, |at| self.cells.cell(at))
    }

    /// The text of a column.
    pub(super) fn text(&self, column: Column) -> Option<&'c str> {
        match self.cell(column) {
            Cell::Text(text) => Some(text),
            Cell::Null
            | Cell::Int(_)
            | Cell::Double(_)
            | Cell::Single(_)
            | Cell::Decimal(..)
            | Cell::Instant(_)
            | Cell::Bool(_) => None,
        }
    }

    /// Payer and billing period: the stated period, else the month of the usage.
    pub(super) fn key(&self) -> Result<RowKey<'c>, Fault> {
        let stated = self.instant(Column::PeriodStart)?;
        let start = self.instant(Column::UsageStart)?;
        let first =
            stated.or(start).ok_or_else(|| Fault::missing(Column::UsageStart, "the start of the usage"))?;
        let period = BillingPeriod::of(first);
        let month = period.interval();
        let end = self.instant(Column::PeriodEnd)?.filter(|end| *end > first);
        let billing = match (stated, end) {
            (Some(start), Some(end)) => Interval { start, end },
            (Some(_) | None, _) => month,
        };
        let payer = self.text(Column::PayerAccountId).or_else(|| self.text(Column::UsageAccountId));
        Ok(RowKey { payer: payer.unwrap_or("unknown"), period, billing, start })
    }

    /// When the usage took place. A row without a start covers its billing period (T68); a row without an end has it
    /// from its time interval.
    pub(super) fn charge_period(&self, key: &RowKey<'_>) -> Result<Interval, Fault> {
        let start = key.start.unwrap_or(key.billing.start);
        let mut end = self.instant(Column::UsageEnd)?;
        if end.is_none() {
            end = self.interval_end()?;
        }
        if end.is_none() && key.start.is_none() {
            end = Some(key.billing.end);
        }
        let end = end.ok_or_else(|| Fault::missing(Column::UsageEnd, "the end of the usage"))?;
        Interval::new(start, end).map_err(|fault| Fault::ends_before_start(Column::UsageEnd, &fault))
    }

    /// The billed cost; split rows may leave it empty.
    pub(super) fn billed(&self) -> Result<Option<Money>, Fault> {
        let cell = self.cell(Column::UnblendedCost);
        cell.money().map_err(|fault| Fault::unreadable(Column::UnblendedCost, cell, fault))
    }

    /// The currency of the row.
    pub(super) fn currency(&self) -> Result<Currency, Fault> {
        let text = self.text(Column::Currency).unwrap_or("");
        text.parse().map_err(|_| Fault::not_a_currency(Column::Currency, text))
    }

    fn interval_end(&self) -> Result<Option<Timestamp>, Fault> {
        let Some(text) = self.text(Column::TimeInterval) else { return Ok(None) };
        let end = Cell::Text(text.rsplit('/').next().unwrap_or(text));
        end.instant().map_err(|fault| Fault::unreadable(Column::TimeInterval, end, fault))
    }

    fn instant(&self, column: Column) -> Result<Option<Timestamp>, Fault> {
        let cell = self.cell(column);
        cell.instant().map_err(|fault| Fault::unreadable(column, cell, fault))
    }
}
