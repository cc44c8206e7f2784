//! The numbers of a charge, and what of its texts its period's totals and the quality gate ask for.

use ledger::{Interval, LineClass};
use money::Amount;

use super::{ChargeRow, Unstored};

/// A charge without its texts; the fields are those of [`ChargeRow`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) charge_period: Interval,
    pub(crate) billed_cost: Amount,
    pub(crate) effective_cost: Amount,
    pub(crate) list_cost: Option<Amount>,
    pub(crate) contracted_cost: Option<Amount>,
    pub(crate) marginal_cost: Amount,
    pub(crate) split_cost: Option<Amount>,
    pub(crate) split_unused_cost: Option<Amount>,
    pub(crate) pricing_quantity: Option<f64>,
    pub(crate) class: LineClass,
    /// True if a commitment is named.
    pub(crate) has_commitment: bool,
    /// True if an invoice is named.
    pub(crate) has_invoice: bool,
    /// True if a resource is named.
    pub(crate) has_resource: bool,
    /// True if it corrects a closed period.
    pub(crate) is_correction: bool,
    pub(crate) unstored: Unstored,
}

impl ChargeRow<'_> {
    /// The row without its texts.
    pub(super) const fn figures(&self) -> Figures {
        Figures {
            charge_period: self.charge_period,
            billed_cost: self.billed_cost,
            effective_cost: self.effective_cost,
            list_cost: self.list_cost,
            contracted_cost: self.contracted_cost,
            marginal_cost: self.marginal_cost,
            split_cost: self.split_cost,
            split_unused_cost: self.split_unused_cost,
            pricing_quantity: self.pricing_quantity,
            class: self.class,
            has_commitment: self.commitment_id.is_some(),
            has_invoice: self.invoice_id.is_some(),
            has_resource: self.resource_id.is_some(),
            is_correction: self.correction.is_some(),
            unstored: self.unstored,
        }
    }
}
