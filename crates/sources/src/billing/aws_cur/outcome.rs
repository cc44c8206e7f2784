//! What a billing period needs beyond the totals of its rows, and the warnings that follow from it.

use money::{Amount, AmountError};

use super::column::Column;
use super::cost::Valuation;
use super::layout::Layout;
use crate::billing::{BillWarning, DiscountMode, PeriodSummary};

/// What is gathered about one payer's billing period while its rows pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeriodFacts {
    /// True if a discount comes as a row of its own.
    pub(super) discount_rows: bool,
    /// True if any net value was used.
    pub(super) net_values: bool,
    /// What the amortisation identity adds to the billed total.
    identity: Amount,
    /// True while every file has the columns of the identity.
    identity_columns: bool,
}

impl PeriodFacts {
    /// Nothing seen yet but, from a pass before, whether discounts come as rows.
    pub(super) const fn new(discount_rows: bool) -> Self {
        Self { discount_rows, net_values: false, identity: Amount::ZERO, identity_columns: true }
    }

    /// How rows of a file are valued in this period.
    pub(super) fn valuation(&self, layout: &Layout) -> Valuation {
        Valuation::of(layout, self.discount_rows)
    }

    /// Adds a row's part of the identity.
    pub(super) fn add_identity(&mut self, part: Amount, layout: &Layout) -> Result<(), AmountError> {
        let columns = [
            Column::SpEffective,
            Column::SpAmortizedUpfront,
            Column::RiEffective,
            Column::RiAmortizedUpfront,
        ];
        self.identity_columns &= columns.iter().all(|column| layout.has(*column));
        self.identity = self.identity.checked_add(part)?;
        Ok(())
    }

    /// Completes a period's summary and gives what the user should know of it.
    pub(super) fn close(&self, summary: &mut PeriodSummary) -> Result<Vec<BillWarning>, AmountError> {
        summary.discounts = match (self.discount_rows, self.net_values) {
            (true, _) => DiscountMode::DiscountRows,
            (false, true) => DiscountMode::NetColumns,
            (false, false) => DiscountMode::None,
        };
        let mut warnings = Vec::new();
        let checkable = self.identity_columns && !self.net_values && summary.effective_unknown == 0;
        if checkable {
            let expected = summary.billed_total.checked_add(self.identity)?;
            let residue = summary.effective_total.checked_sub(expected)?;
            summary.identity_residue = Some(residue);
            if is_wide(residue, summary.billed_total) {
                warnings.push(BillWarning::new(
                    "bill::identity",
                    format!(
                        "{}: amortised cost {} is {residue} off billed − upfront + amortised upfront = {expected}",
                        summary.period, summary.effective_total
                    ),
                ));
            }
        }
        Ok(warnings)
    }
}

/// True if a residue is more than a cent and more than a millionth of the bill: the provider rounds each row by itself.
fn is_wide(residue: Amount, billed: Amount) -> bool {
    let cent = 10_i128.pow(money::SCALE - 2);
    let units = residue.magnitude().units();
    let millionfold = units.checked_mul(1_000_000).unwrap_or(i128::MAX);
    units > cent && millionfold > billed.magnitude().units()
}
