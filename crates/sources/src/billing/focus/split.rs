//! Finds out, before any row is valued, whether allocated charges stand instead of their origin's cost or beside it.
//!
//! FOCUS 1.3 splits an origin charge into allocated charges whose costs sum to it. Exporters differ in what becomes of
//! the origin's own row: left out or set to zero, so that all rows add up to the invoice, or left as it was, so that
//! they add up to more. The costs of a sample of origins tell which. Origins are sampled by the hash of what they are,
//! so neither the order of rows nor the split into files changes the answer, and memory is bounded.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use money::Amount;

use super::column::Column;
use super::layout::{Layout, layout};
use super::nulls::Nulls;
use crate::SourceError;
use crate::billing::table::cell::Cells;
use crate::billing::table::reader::overflow;
use crate::billing::table::row::Row as TableRow;
use crate::billing::table::{Visitor, Wanted, visit};
use crate::billing::{BillFile, BillLimits};

type Row<'c, C> = TableRow<'c, Column, C>;

/// What the allocated charges of an import are to their origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allocation {
    /// They carry the money themselves; an origin's row holds nothing, or what was not allocated.
    Instead,
    /// They repeat the money of the origin's row.
    Beside,
}

/// Origins sampled.
const ORIGINS: usize = 65_536;

/// Parts per million by which the sum of parts may miss a whole: each part is rounded by itself.
const ROUNDING_PPM: i128 = 10;

/// The columns that name a charge's origin, tell its costs and mark allocated charges.
const SCANNED: [Column; 10] = [
    Column::AllocatedMethodId,
    Column::AllocatedResourceId,
    Column::BilledCost,
    Column::BillingAccountId,
    Column::ChargeCategory,
    Column::ChargePeriodEnd,
    Column::ChargePeriodStart,
    Column::EffectiveCost,
    Column::ResourceId,
    Column::SkuId,
];

/// The costs of one origin: of its own rows, and of the charges allocated from it.
#[derive(Debug, Default)]
struct Origin {
    own: Amount,
    allocated: Amount,
}

#[derive(Debug, Default)]
struct Scan {
    layout: Option<Layout>,
    origins: BTreeMap<u64, Origin>,
    /// True while the rows of the origins themselves are looked for.
    second_pass: bool,
}

impl Allocation {
    /// Looks through the files that have columns of allocation.
    ///
    /// # Errors
    /// Faults of a file as a whole, and `bill::mixed_allocation` if some origins keep their cost and others do not.
    pub(super) fn of(files: &[&BillFile], limits: &BillLimits) -> Result<Self, SourceError> {
        let mut scan = Scan::default();
        files.iter().try_for_each(|file| visit(file, limits, &mut scan))?;
        if scan.origins.is_empty() {
            return Ok(Self::Instead);
        }
        scan.second_pass = true;
        files.iter().try_for_each(|file| visit(file, limits, &mut scan))?;
        scan.verdict()
    }
}

impl Scan {
    fn verdict(&self) -> Result<Allocation, SourceError> {
        let with_money = self.origins.values().filter(|origin| !origin.allocated.is_zero());
        let (mut beside, mut instead) = (0_u64, 0_u64);
        for origin in with_money {
            if origin.keeps_its_cost() {
                beside += 1;
            } else {
                instead += 1;
            }
        }
        match (beside, instead) {
            (0, _) => Ok(Allocation::Instead),
            (_, 0) => Ok(Allocation::Beside),
            (beside, instead) => Err(SourceError::new(
                "bill::mixed_allocation",
                "allocated charges stand beside the cost of their origin in some rows and instead of it in others",
            )
            .expected(
                "one convention in all files",
                format!("{beside} resource(s) with their cost and {instead} without"),
            )
            .help("import each export as a source of its own")),
        }
    }

    fn see<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<(), SourceError> {
        let allocated = is_allocated(row);
        if allocated == self.second_pass {
            return Ok(());
        }
        // A row whose costs cannot be read is rejected, and counted, when it is read.
        let cost = |column| row.money(column).ok().flatten().map_or(Amount::ZERO, |money| money.amount);
        let cost = cost(Column::BilledCost).checked_add(cost(Column::EffectiveCost)).map_err(overflow)?;
        let key = origin_key(row);
        if allocated {
            let origin = self.origins.entry(key).or_default();
            origin.allocated = origin.allocated.checked_add(cost).map_err(overflow)?;
            if self.origins.len() > ORIGINS {
                self.origins.pop_last();
            }
        } else if let Some(origin) = self.origins.get_mut(&key) {
            origin.own = origin.own.checked_add(cost).map_err(overflow)?;
        }
        Ok(())
    }
}

impl Origin {
    /// True if the origin's own rows still hold what was allocated.
    fn keeps_its_cost(&self) -> bool {
        let Ok(missed) = self.own.checked_sub(self.allocated) else { return false };
        let scaled = missed.magnitude().units().checked_mul(1_000_000);
        let allowed = self.allocated.magnitude().units().checked_mul(ROUNDING_PPM);
        scaled.zip(allowed).is_some_and(|(missed, allowed)| missed <= allowed)
    }
}

/// True for a charge that allocates a part of another.
fn is_allocated<C: Cells>(row: &Row<'_, C>) -> bool {
    row.text(Column::AllocatedMethodId).is_some() || row.text(Column::AllocatedResourceId).is_some()
}

/// What an origin and the charges allocated from it have in common.
fn origin_key<C: Cells>(row: &Row<'_, C>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for column in [Column::BillingAccountId, Column::ResourceId, Column::SkuId, Column::ChargeCategory] {
        row.text(column).hash(&mut hasher);
    }
    for column in [Column::ChargePeriodStart, Column::ChargePeriodEnd] {
        row.instant(column).ok().flatten().hash(&mut hasher);
    }
    hasher.finish()
}

impl Visitor for Scan {
    fn header(&mut self, file: &BillFile, headers: &[String]) -> Result<Option<Vec<Wanted>>, SourceError> {
        let layout = layout(headers, &file.name)?;
        let splits = layout.has(Column::AllocatedMethodId) || layout.has(Column::AllocatedResourceId);
        let wanted = layout.wanted_of(&SCANNED);
        self.layout = Some(layout);
        Ok((splits || self.second_pass).then_some(wanted))
    }

    fn row(&mut self, _row: u64, cells: &impl Cells) -> Result<(), SourceError> {
        let Some(layout) = self.layout.take() else { return Ok(()) };
        let cells = Nulls::of(cells);
        let seen = self.see(&Row { layout: &layout, cells: &cells });
        self.layout = Some(layout);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(own: &str, allocated: &str) -> bool {
        Origin { own: own.parse().unwrap(), allocated: allocated.parse().unwrap() }.keeps_its_cost()
    }

    #[test]
    fn an_origin_keeps_its_cost_if_its_parts_sum_to_it() {
        assert!(keeps("10", "10") && keeps("10", "9.99999999"));
        assert!(!keeps("0", "10") && !keeps("4", "10") && !keeps("10", "9.9"));
    }
}
