//! Counts what went wrong with single rows and values, and keeps the first of each.

use std::collections::BTreeMap;

use money::Amount;

use super::table::BrokenRow;
use super::table::cell::{Cell, Money};
use crate::Rejection;
use crate::billing::{BillLimits, BillSummary, BillWarning};

/// Rejections and soft faults of one import.
#[derive(Debug, Default)]
pub(in crate::billing) struct Tally {
    rows: u64,
    rejected: u64,
    rejections: Vec<Rejection>,
    by_code: BTreeMap<&'static str, u64>,
    unreadable: BTreeMap<&'static str, (u64, String)>,
    cut: u64,
    warnings: Vec<BillWarning>,
}

/// Why a row cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::billing) struct RowFault {
    pub(in crate::billing) code: &'static str,
    pub(in crate::billing) found: String,
    pub(in crate::billing) expected: &'static str,
}

/// Where a row stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::billing) struct RowPlace<'a> {
    pub(in crate::billing) file: &'a str,
    pub(in crate::billing) row: u64,
}

impl Tally {
    /// Counts a row.
    pub(in crate::billing) const fn count_row(&mut self) {
        self.rows += 1;
    }

    /// Counts rows.
    pub(in crate::billing) const fn count_rows(&mut self, rows: usize) {
        self.rows += rows as u64;
    }

    /// Counts amounts of which digits past the last that is held were cut.
    pub(in crate::billing) const fn count_cut(&mut self, amounts: u64) {
        self.cut += amounts;
    }

    /// Rejects a row for one of its values.
    pub(in crate::billing) fn reject(
        &mut self,
        place: RowPlace<'_>,
        fault: &RowFault,
        column: &str,
        limits: &BillLimits,
    ) {
        self.push(
            Rejection {
                code: fault.code,
                file: place.file.to_owned(),
                row: place.row,
                column: Some(column.to_owned()),
                found: shortened(&fault.found),
                expected: fault.expected.to_owned(),
            },
            limits,
        );
    }

    /// Rejects a row that has no cells.
    pub(in crate::billing) fn reject_broken(
        &mut self,
        place: RowPlace<'_>,
        broken: BrokenRow,
        limits: &BillLimits,
    ) {
        self.push(
            Rejection {
                code: broken.code,
                file: place.file.to_owned(),
                row: place.row,
                column: None,
                found: shortened(&broken.found),
                expected: broken.expected,
            },
            limits,
        );
    }

    /// The amount; digits past the last that is held, which were cut, are counted.
    pub(in crate::billing) const fn counted(&mut self, money: Money) -> Amount {
        if money.cut {
            self.cut += 1;
        }
        money.amount
    }

    /// Counts a value of an optional column that is left out because it cannot be read.
    pub(in crate::billing) fn unreadable(&mut self, column: &'static str, cell: Cell<'_>) {
        let first = || {
            let mut found = String::new();
            cell.write_to(&mut found);
            (0, shortened(&found))
        };
        self.unreadable.entry(column).or_insert_with(first).0 += 1;
    }

    /// Adds a warning.
    pub(in crate::billing) fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.warnings.push(BillWarning::new(code, message));
    }

    /// The summary without its periods.
    pub(in crate::billing) fn into_summary(mut self) -> BillSummary {
        for (column, (count, found)) in std::mem::take(&mut self.unreadable) {
            let message =
                format!("{count} value(s) of `{column}` cannot be read and were left out, first `{found}`");
            self.warn("bill::unreadable_values", message);
        }
        if self.cut > 0 {
            let message =
                format!("{} amount(s) had digits past the 24th fractional one, which were cut", self.cut);
            self.warn("bill::cut_digits", message);
        }
        BillSummary {
            rows: self.rows,
            accepted: self.rows - self.rejected,
            rejected: self.rejected,
            rejections: self.rejections,
            rejected_by_code: self.by_code,
            periods: Vec::new(),
            warnings: self.warnings,
        }
    }

    fn push(&mut self, rejection: Rejection, limits: &BillLimits) {
        self.rejected += 1;
        *self.by_code.entry(rejection.code).or_default() += 1;
        if self.rejections.len() < limits.rejections {
            self.rejections.push(rejection);
        }
    }
}

/// The first 120 characters.
fn shortened(text: &str) -> String {
    text.chars().take(120).collect()
}
