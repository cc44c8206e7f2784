//! Finds the billing periods whose negotiated discounts come as rows, before any row is valued.
//!
//! Net columns and discount rows tell the same discount; a period that has such a row must not use the columns as
//! well. The rows may come last, so the types of all rows are looked at first, and only if a file has net columns.

use std::collections::{BTreeMap, BTreeSet};

use ledger::BillingPeriod;

use super::column::Column;
use super::layout::{Layout, has_net_columns, layout};
use super::line::LineType;
use super::row::Row;
use crate::SourceError;
use crate::billing::table::cell::Cells;
use crate::billing::table::{Visitor, Wanted, visit};
use crate::billing::{BillFile, BillLimits};

/// Payers and periods with discount rows.
#[derive(Debug, Default)]
pub(super) struct DiscountPeriods {
    found: BTreeMap<String, BTreeSet<BillingPeriod>>,
}

impl DiscountPeriods {
    /// True if the payer's period has discount rows.
    pub(super) fn contains(&self, payer: &str, period: BillingPeriod) -> bool {
        self.found.get(payer).is_some_and(|periods| periods.contains(&period))
    }

    /// Checks the headers of all files, and looks through their types if one of them has net columns.
    ///
    /// # Errors
    /// Faults of a file as a whole.
    pub(super) fn of(files: &[&BillFile], limits: &BillLimits) -> Result<Self, SourceError> {
        let mut headers = Headers::default();
        files.iter().try_for_each(|file| visit(file, limits, &mut headers))?;
        let mut scan = Scan { layout: None, found: Self::default(), periods: 0, limits };
        if headers.net_columns {
            files.iter().try_for_each(|file| visit(file, limits, &mut scan))?;
        }
        Ok(scan.found)
    }
}

#[derive(Default)]
struct Headers {
    net_columns: bool,
}

impl Visitor for Headers {
    fn header(&mut self, file: &BillFile, headers: &[String]) -> Result<Option<Vec<Wanted>>, SourceError> {
        self.net_columns |= has_net_columns(&layout(headers, &file.name)?);
        Ok(None)
    }

    fn row(&mut self, _row: u64, _cells: &impl Cells) -> Result<(), SourceError> {
        Ok(())
    }
}

struct Scan<'a> {
    layout: Option<Layout>,
    found: DiscountPeriods,
    periods: usize,
    limits: &'a BillLimits,
}

/// What names a row's type, payer and period.
const SCANNED: [Column; 6] = [
    Column::LineType,
    Column::PayerAccountId,
    Column::UsageAccountId,
    Column::PeriodStart,
    Column::PeriodEnd,
    Column::UsageStart,
];

impl Visitor for Scan<'_> {
    fn header(&mut self, file: &BillFile, headers: &[String]) -> Result<Option<Vec<Wanted>>, SourceError> {
        let layout = layout(headers, &file.name)?;
        let wanted = layout.wanted_of(&SCANNED);
        self.layout = Some(layout);
        Ok(Some(wanted))
    }

    fn row(&mut self, _row: u64, cells: &impl Cells) -> Result<(), SourceError> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let row = Row { layout, cells };
        if LineType::of(row.text(Column::LineType).unwrap_or("")) != LineType::Discount {
            return Ok(());
        }
        // A row that cannot be placed is rejected, and counted, when it is read.
        let Ok(key) = row.key() else { return Ok(()) };
        let payer = key.payer.as_str();
        if !self.found.contains(payer, key.period) && self.periods < self.limits.periods {
            self.periods += 1;
            self.found.found.entry(payer.to_owned()).or_default().insert(key.period);
        }
        Ok(())
    }
}
