//! The costs of one row under each basis.

use ledger::LineClass;
use money::{Amount, AmountError};

use super::credit::Credits;
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
    pub(super) marginal: Amount,
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
        let billed = stated.cost.checked_add(credits.price()?)?;
        let usage = matches!(class, LineClass::Usage | LineClass::UnusedReservation | LineClass::Inference);
        let counted = matches!(class, LineClass::Usage | LineClass::Inference)
            && matches!(line.cost_type, CostType::Regular | CostType::Unknown)
            && !line.is_covered()
            && !standing;
        Ok(Self {
            net: stated.cost.checked_add(credits.total()?)?,
            billed,
            list: if usage { stated.at_list } else { Some(Amount::ZERO) },
            contracted: if usage { stated.at_default } else { None },
            marginal: if counted { billed } else { Amount::ZERO },
        })
    }
}
