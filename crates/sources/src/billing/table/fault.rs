//! Why a row does not become a charge, in terms of the columns that a reader knows.

use money::AmountError;

use super::cell::{Cell, CellFault};
use crate::SourceError;

/// Why a row cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::billing) struct Fault<K> {
    pub(in crate::billing) code: &'static str,
    pub(in crate::billing) column: K,
    pub(in crate::billing) found: String,
    pub(in crate::billing) expected: &'static str,
}

impl<K> Fault<K> {
    /// A missing value.
    pub(in crate::billing) const fn missing(column: K, expected: &'static str) -> Self {
        Self { code: "row::missing_value", column, found: String::new(), expected }
    }

    /// A value that is not what its column should hold.
    pub(in crate::billing) fn unreadable(column: K, cell: Cell<'_>, fault: CellFault) -> Self {
        let mut found = String::new();
        cell.write_to(&mut found);
        let (code, expected) = fault.told();
        Self { code, column, found, expected }
    }

    /// An end that lies before its start.
    pub(in crate::billing) fn ends_before_start(column: K, found: &ledger::PeriodError) -> Self {
        let expected = "an end that is not before the start";
        Self { code: "row::ends_before_start", column, found: found.to_string(), expected }
    }

    /// A cost that leaves the range.
    pub(in crate::billing) fn out_of_range(column: K, found: AmountError) -> Self {
        let expected = "costs within 14 digits before the point";
        Self { code: "row::out_of_range", column, found: found.to_string(), expected }
    }

    /// A text that is no currency.
    pub(in crate::billing) fn not_a_currency(column: K, found: &str) -> Self {
        let expected = "a three-letter currency code";
        Self { code: "row::not_a_currency", column, found: found.to_owned(), expected }
    }
}

/// Why the reading of a row ends.
pub(in crate::billing) enum Stop<K> {
    /// The row is rejected and the import goes on.
    Reject(Fault<K>),
    /// The import ends.
    End(SourceError),
}

impl<K> From<Fault<K>> for Stop<K> {
    fn from(fault: Fault<K>) -> Self {
        Self::Reject(fault)
    }
}

impl<K> From<SourceError> for Stop<K> {
    fn from(error: SourceError) -> Self {
        Self::End(error)
    }
}

/// The error of a total that leaves the range.
pub(in crate::billing) fn overflow(fault: AmountError) -> SourceError {
    SourceError::new("bill::out_of_range", format!("a total of the bill leaves the range: {fault}"))
}
