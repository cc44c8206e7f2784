//! The costs of one row under each basis.

use ledger::LineClass;
use money::{Amount, AmountError};

use super::credit::{Credit, Credits};
use super::line::{CostType, Line};

/// What a row costs; its billed cost is its effective cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Costs {
    /// Cost and every credit: what the row adds to the invoice.
    pub(super) net: Amount,
    /// Cost and the credits that are part of the price.
    pub(super) billed: Amount,
    pub(super) list: Option<Amount>,
    pub(super) contracted: Option<Amount>,
    /// True for usage that no commitment pays and that does not stand whatever runs.
    is_marginal: bool,
}

/// The amounts that a row states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) cost: Amount,
    pub(super) at_list: Option<Amount>,
    /// At negotiated prices without commitments.
    pub(super) at_default: Option<Amount>,
}

impl Costs {
    /// Values a row. `standing` is true for hours of a thing that stands whatever runs.
    pub(super) fn of(
        line: &Line<'_>,
        stated: Stated,
        credits: &Credits,
        standing: bool,
    ) -> Result<Self, AmountError> {
        let class = line.class();
        let usage = matches!(class, LineClass::Usage | LineClass::UnusedReservation | LineClass::Inference);
        Ok(Self {
            net: stated.cost.checked_add(credits.total()?)?,
            billed: stated.cost.checked_add(credits.price()?)?,
            list: if usage { stated.at_list } else { Some(Amount::ZERO) },
            contracted: if usage { stated.at_default } else { None },
            is_marginal: matches!(class, LineClass::Usage | LineClass::Inference)
                && matches!(line.cost_type, CostType::Regular | CostType::Unknown)
                && !line.is_covered()
                && !standing,
        })
    }

    /// What the row itself added beyond sunk commitments.
    pub(super) const fn marginal(&self) -> Amount {
        if self.is_marginal { self.billed } else { Amount::ZERO }
    }

    /// What a credit on the row that is a charge of its own takes off what the row added: net of credits, a row that
    /// added nothing still adds nothing.
    pub(super) const fn marginal_of(&self, credit: &Credit) -> Amount {
        if self.is_marginal { credit.amount } else { Amount::ZERO }
    }
}
