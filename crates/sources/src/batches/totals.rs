//! What the rows of a payer's billing period add up to, while they pass.

use ledger::{Day, Interval, LineClass};
use money::AmountError;

use super::{Figures, Group, is_usage};
use crate::SourceError;

const MICROS_PER_DAY: i64 = 86_400_000_000;

impl Group {
    /// Adds a row.
    ///
    /// # Errors
    /// `bill::out_of_range` if a total overflows.
    pub(super) fn add(&mut self, row: &Figures) -> Result<(), SourceError> {
        self.add_totals(row).map_err(|fault| {
            let period = self.summary.period;
            SourceError::new("bill::out_of_range", format!("a total of {period} leaves the range: {fault}"))
        })
    }

    fn add_totals(&mut self, row: &Figures) -> Result<(), AmountError> {
        self.gate.see(row);
        let summary = &mut self.summary;
        summary.rows += 1;
        summary.billed_total = summary.billed_total.checked_add(row.billed_cost)?;
        summary.effective_total = summary.effective_total.checked_add(row.effective_cost)?;
        summary.marginal_total = summary.marginal_total.checked_add(row.marginal_cost)?;
        match row.list_cost {
            Some(cost) => summary.list_total = summary.list_total.checked_add(cost)?,
            None => summary.unpriced += 1,
        }
        summary.effective_unknown += u64::from(row.unstored.effective_unknown);
        summary.has_resource_ids |= row.has_resource;
        summary.split_rows += u64::from(row.class == LineClass::SplitDetail);
        let capacity_block = matches!(row.class, LineClass::CapacityBlockUsage | LineClass::CapacityBlockFee);
        summary.capacity_block_rows += u64::from(capacity_block);
        if is_usage(row.class) {
            summary.usage_rows += 1;
            summary.invoiced_usage_rows += u64::from(row.has_invoice);
            self.add_usage(row.charge_period);
        }
        Ok(())
    }

    fn add_usage(&mut self, period: Interval) {
        let summary = &mut self.summary;
        let micros = period.micros();
        summary.usage = Some(summary.usage.map_or(period, |known| Interval {
            start: known.start.min(period.start),
            end: known.end.max(period.end),
        }));
        summary.usage_micros = Some(
            summary.usage_micros.map_or((micros, micros), |(low, high)| (low.min(micros), high.max(micros))),
        );
        let first = period.start.day();
        let last = ledger::Timestamp(period.end.0.saturating_sub(1)).day().max(first);
        if micros <= MICROS_PER_DAY {
            if self.day_seen == Some(last) && first == last {
                return;
            }
            self.day_seen = Some(last);
            summary.days.insert(first);
            summary.days.insert(last);
        } else if self.long_days.len() < 400 {
            self.long_days.extend((first.0..=last.0).take(400).map(Day));
        }
    }
}
