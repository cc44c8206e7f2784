//! A row under the names of its columns, and why it cannot be read.

use ledger::{BillingPeriod, Interval, Timestamp};
use money::Currency;

use super::cell::{Cell, CellFault, Cells, Money};
use super::column::Name;
use super::layout::Layout;
use crate::SourceError;
use crate::text::Text;

/// A row under the names of its columns.
#[derive(Debug)]
pub(in crate::billing) struct Row<'c, N, C> {
    pub(in crate::billing) layout: &'c Layout<N>,
    pub(in crate::billing) cells: &'c C,
}

/// Why a row cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::billing) struct Fault<N> {
    pub(in crate::billing) code: &'static str,
    pub(in crate::billing) column: N,
    pub(in crate::billing) found: String,
    pub(in crate::billing) expected: &'static str,
}

impl<N> Fault<N> {
    /// A missing value.
    pub(in crate::billing) const fn missing(column: N, expected: &'static str) -> Self {
        Self { code: "row::missing_value", column, found: String::new(), expected }
    }

    /// A value that is not what its column should hold.
    pub(in crate::billing) fn unreadable(column: N, cell: Cell<'_>, fault: CellFault) -> Self {
        let mut found = String::new();
        cell.write_to(&mut found);
        let (code, expected) = match fault {
            CellFault::NotADecimal => ("row::not_a_decimal", "a decimal amount"),
            CellFault::OutOfRange => ("row::out_of_range", "at most 14 digits before the point"),
            CellFault::NotATime => ("row::not_a_time", "a time such as 2026-07-01T00:00:00Z"),
        };
        Self { code, column, found, expected }
    }

    /// An end that lies before its start.
    pub(in crate::billing) fn ends_before(column: N, found: &ledger::PeriodError) -> Self {
        let expected = "an end that is not before the start";
        Self { code: "row::ends_before_start", column, found: found.to_string(), expected }
    }

    /// A text that is no currency.
    pub(in crate::billing) fn not_a_currency(column: N, found: &str) -> Self {
        let expected = "a three-letter currency code";
        Self { code: "row::not_a_currency", column, found: found.to_owned(), expected }
    }
}

/// Why a row does not become a charge.
pub(in crate::billing) enum Stop<N> {
    /// The row is rejected and the import goes on.
    Reject(Fault<N>),
    /// The import ends.
    End(SourceError),
}

impl<N> From<Fault<N>> for Stop<N> {
    fn from(fault: Fault<N>) -> Self {
        Self::Reject(fault)
    }
}

impl<N> From<SourceError> for Stop<N> {
    fn from(error: SourceError) -> Self {
        Self::End(error)
    }
}

impl<N: Name> From<money::AmountError> for Stop<N> {
    fn from(fault: money::AmountError) -> Self {
        let expected = "costs within 14 digits before the point";
        Self::Reject(Fault { code: "row::out_of_range", column: N::COST, found: fault.to_string(), expected })
    }
}

impl<'c, N: Name, C: Cells> Row<'c, N, C> {
    /// The value of a column; nothing where the file has no such column.
    #[inline]
    pub(in crate::billing) fn cell(&self, column: N) -> Cell<'c> {
        self.layout.here(column).map_or(Cell::Null, |at| self.cells.cell(at))
    }

    /// The text of a column.
    #[inline]
    pub(in crate::billing) fn text(&self, column: N) -> Option<&'c str> {
        let Cell::Text(text) = self.cell(column) else { return None };
        Some(text)
    }

    /// The text of a column with its symbol, if the file gives it one.
    #[inline]
    pub(in crate::billing) fn named(&self, column: N) -> Option<Text<'c>> {
        let at = self.layout.here(column)?;
        let Cell::Text(text) = self.cells.cell(at) else { return None };
        Some(Text::known(text, self.cells.symbol(at)))
    }

    /// Appends numbers that two rows have alike only if the column's values are the same; false where there are none.
    pub(in crate::billing) fn identify(&self, column: N, out: &mut Vec<u64>) -> bool {
        match self.layout.here(column) {
            Some(at) => self.cells.identify(at, out),
            None => Cell::Null.identify(out),
        }
    }

    /// The money of a column.
    pub(in crate::billing) fn money(&self, column: N) -> Result<Option<Money>, Fault<N>> {
        let cell = self.cell(column);
        cell.money().map_err(|fault| Fault::unreadable(column, cell, fault))
    }

    /// The instant of a column.
    pub(in crate::billing) fn instant(&self, column: N) -> Result<Option<Timestamp>, Fault<N>> {
        let cell = self.cell(column);
        cell.instant().map_err(|fault| Fault::unreadable(column, cell, fault))
    }

    /// The currency of a column.
    pub(in crate::billing) fn currency(&self, column: N) -> Result<Currency, Fault<N>> {
        let text = self.text(column).ok_or_else(|| Fault::missing(column, "a currency"))?;
        text.parse().map_err(|_| Fault::not_a_currency(column, text))
    }

    /// The billing period of a row: as the columns of its start and end state it, else the month of `charge`.
    ///
    /// # Errors
    /// A date that cannot be read, or no date at all.
    pub(in crate::billing) fn billing_period(
        &self,
        (start, end): (N, N),
        (blamed, charge): (N, Option<Timestamp>),
    ) -> Result<(BillingPeriod, Interval), Fault<N>> {
        let stated = self.instant(start)?;
        let first = stated.or(charge).ok_or_else(|| Fault::missing(blamed, "the start of the usage"))?;
        let period = BillingPeriod::of(first);
        let end = self.instant(end)?.filter(|end| *end > first);
        let interval = match (stated, end) {
            (Some(start), Some(end)) => Interval { start, end },
            (Some(_) | None, _) => period.interval(),
        };
        Ok((period, interval))
    }
}
