//! Reads the fields of one row that every charge needs: whose, when and for how much.

use ledger::{BillingPeriod, Interval, Timestamp};

use super::column::Column;
use crate::billing::table::cell::{Cell, Cells, Money};
use crate::billing::table::row::Row as TableRow;
use crate::text::Text;

/// A row of a report.
pub(super) type Row<'c, C> = TableRow<'c, Column, C>;

/// Why a row of a report cannot be read.
pub(super) type Fault = crate::billing::table::row::Fault<Column>;

/// Whose bill and which month a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowKey<'c> {
    pub(super) payer: Text<'c>,
    pub(super) period: BillingPeriod,
    pub(super) billing: Interval,
    start: Option<Timestamp>,
}

impl<'c, C: Cells> Row<'c, C> {
    /// Payer and billing period: the stated period, else the month of the usage.
    pub(super) fn key(&self) -> Result<RowKey<'c>, Fault> {
        let start = self.instant(Column::UsageStart)?;
        let (period, billing) =
            self.billing_period((Column::PeriodStart, Column::PeriodEnd), (Column::UsageStart, start))?;
        let payer = self.named(Column::PayerAccountId).or_else(|| self.named(Column::UsageAccountId));
        Ok(RowKey { payer: payer.unwrap_or(Text::word("unknown")), period, billing, start })
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
        Interval::new(start, end).map_err(|fault| Fault::ends_before(Column::UsageEnd, &fault))
    }

    /// The billed cost; split rows may leave it empty.
    pub(super) fn billed(&self) -> Result<Option<Money>, Fault> {
        self.money(Column::UnblendedCost)
    }

    fn interval_end(&self) -> Result<Option<Timestamp>, Fault> {
        let Some(text) = self.text(Column::TimeInterval) else { return Ok(None) };
        let end = Cell::Text(text.rsplit('/').next().unwrap_or(text));
        end.instant().map_err(|fault| Fault::unreadable(Column::TimeInterval, end, fault))
    }
}
