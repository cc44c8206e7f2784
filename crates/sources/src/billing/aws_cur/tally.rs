//! Counts what went wrong with single rows and values, and keeps the first of each.

use std::collections::BTreeMap;

use super::column::Column;
use super::row::Fault;
use super::table::BrokenRow;
use crate::Rejection;
use crate::billing::{BillLimits, BillSummary, BillWarning};

/// Rejections and soft faults of one import.
#[derive(Debug, Default)]
pub(super) struct Tally {
    rows: u64,
    rejected: u64,
    rejections: Vec<Rejection>,
    by_code: BTreeMap<&'static str, u64>,
    unreadable: BTreeMap<Column, (u64, String)>,
    cut: u64,
    warnings: Vec<BillWarning>,
}

/// Where a row stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowPlace<'a> {
    pub(super) file: &'a str,
    pub(super) row: u64,
}

impl Tally {
    /// Counts a row.
    pub(super) const fn count_row(&mut self) {
        self.rows += 1;
    }

    /// Rejects a row for one of its values.
    pub(super) fn reject(&mut self, place: RowPlace<'_>, fault: Fault, column: &str, limits: &BillLimits) {
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
    pub(super) fn reject_broken(&mut self, place: RowPlace<'_>, broken: BrokenRow, limits: &BillLimits) {
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

    /// Counts a value of an optional column that is left out because it cannot be read.
    pub(super) fn unreadable(&mut self, column: Column, found: &str) {
        self.unreadable.entry(column).or_insert_with(|| (0, shortened(found))).0 += 1;
    }

    /// Counts an amount whose digits past the last that is held were cut.
    pub(super) const fn cut(&mut self) {
        self.cut += 1;
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.warnings.push(BillWarning::new(code, message));
    }

    /// The summary without its periods.
    pub(super) fn into_summary(mut self) -> BillSummary {
        for (column, (count, found)) in std::mem::take(&mut self.unreadable) {
            let shown = column.shown();
            let message =
                format!("{count} value(s) of `{shown}` are no amounts and were left out, first `{found}`");
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
