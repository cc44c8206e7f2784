//! Exact sums over the rows of a delivery, made while they are written and again from what rests.

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use arrow::datatypes::Decimal128Type;
use money::Amount;

use crate::StoreError;

/// The columns that are summed.
pub(crate) const SUMMED: [&str; 4] = ["billed_cost", "effective_cost", "list_cost", "x_marginal_cost"];

/// Sums over the rows of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Charges.
    pub rows: u64,
    /// Σ billed cost.
    pub billed: Amount,
    /// Σ effective cost.
    pub effective: Amount,
    /// Σ list cost of the priced charges.
    pub list: Amount,
    /// Σ marginal cost.
    pub marginal: Amount,
    /// Charges without a list price.
    pub unpriced: u64,
}

/// Sums that still grow.
#[derive(Debug, Default)]
pub(crate) struct RunningTotals {
    rows: u64,
    sums: [i128; 4],
    unpriced: u64,
}

impl RunningTotals {
    /// Adds the rows of a batch that has the summed columns under their names.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        for (sum, name) in self.sums.iter_mut().zip(SUMMED) {
            let column = batch.column_by_name(name).and_then(|c| c.as_primitive_opt::<Decimal128Type>());
            let column = column.ok_or_else(|| StoreError::damaged(format!("no amounts in `{name}`")))?;
            let added = if column.null_count() == 0 {
                checked_sum(column.values().iter().copied())
            } else {
                checked_sum(column.iter().flatten())
            };
            let grown = added.and_then(|added| sum.checked_add(added));
            *sum = grown.ok_or(StoreError::OutOfRange { what: name })?;
            if name == "list_cost" {
                self.unpriced += count(column.null_count());
            }
        }
        self.rows += count(batch.num_rows());
        Ok(())
    }

    pub(crate) fn finish(&self) -> Result<Totals, StoreError> {
        let amount = |index: usize| {
            let out_of_range = |_| StoreError::OutOfRange { what: SUMMED[index] };
            Amount::from_units(self.sums[index]).map_err(out_of_range)
        };
        Ok(Totals {
            rows: self.rows,
            billed: amount(0)?,
            effective: amount(1)?,
            list: amount(2)?,
            marginal: amount(3)?,
            unpriced: self.unpriced,
        })
    }
}

fn checked_sum(units: impl Iterator<Item = i128>) -> Option<i128> {
    let mut sum = 0_i128;
    for unit in units {
        sum = sum.checked_add(unit)?;
    }
    Some(sum)
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
