//! Reads the fields of one row that every charge needs: whose, when and for how much.

use ledger::{BillingPeriod, Interval, Timestamp};

use super::column::Column;
use crate::billing::table::cell::{Cells, Money};
use crate::billing::table::row::Row as TableRow;

/// A row of an export.
pub(super) type Row<'c, C> = TableRow<'c, Column, C>;

/// Why a row of an export cannot be read.
pub(super) type Fault = crate::billing::table::row::Fault<Column>;

/// Whose bill and which month a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowKey<'c> {
    pub(super) payer: &'c str,
    pub(super) period: BillingPeriod,
    /// False if the row has no invoice month and stands in the month of its usage.
    pub(super) invoiced: bool,
    start: Option<Timestamp>,
}

impl<'c, C: Cells> Row<'c, C> {
    /// Payer and billing period: the month of the invoice, which at its edges is not that of the usage.
    pub(super) fn key(&self) -> Result<RowKey<'c>, Fault> {
        let month = self.text(Column::InvoiceMonth).map(|text| {
            invoice_month(text).ok_or_else(|| Fault {
                code: "row::not_a_month",
                column: Column::InvoiceMonth,
                found: text.to_owned(),
                expected: "a month such as 202607",
            })
        });
        let month = month.transpose()?;
        let start = self.instant(Column::UsageStart)?;
        let period = month.or_else(|| start.map(BillingPeriod::of));
        let missing = || Fault::missing(Column::UsageStart, "the start of the usage");
        Ok(RowKey {
            payer: self.text(Column::BillingAccountId).unwrap_or("unknown"),
            period: period.ok_or_else(missing)?,
            invoiced: month.is_some(),
            start,
        })
    }

    /// When the usage took place; a row without a start covers its billing period.
    pub(super) fn charge_period(&self, key: &RowKey<'_>) -> Result<Interval, Fault> {
        let month = key.period.interval();
        let end = match (self.instant(Column::UsageEnd)?, key.start) {
            (Some(end), _) => end,
            (None, None) => month.end,
            (None, Some(_)) => return Err(Fault::missing(Column::UsageEnd, "the end of the usage")),
        };
        Interval::new(key.start.unwrap_or(month.start), end)
            .map_err(|fault| Fault::ends_before(Column::UsageEnd, &fault))
    }

    /// The cost before credits.
    pub(super) fn cost(&self) -> Result<Money, Fault> {
        self.money(Column::Cost)?.ok_or_else(|| Fault::missing(Column::Cost, "a cost"))
    }
}

/// The month of `202607`, also where a data frame made a float of it.
fn invoice_month(text: &str) -> Option<BillingPeriod> {
    let digits = text.strip_suffix(".0").unwrap_or(text);
    let (year, month) = digits.split_at_checked(4)?;
    if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    format!("{year}-{month}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invoice_month_is_six_digits() {
        for text in ["202607", "202607.0"] {
            assert_eq!(invoice_month(text).unwrap().to_string(), "2026-07", "for {text}");
        }
        for text in ["2026-07", "202613", "20260", "2026070", "+20260", "", "2026é"] {
            assert_eq!(invoice_month(text), None, "for {text}");
        }
    }
}
