//! The costs of one row under each basis.

use ledger::LineClass;
use money::{Amount, AmountError};

use super::column::Column;
use super::layout::{Layout, has_net_columns};
use super::line::{Line, LineType};

/// How a file's rows are valued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Valuation {
    /// True if negotiated prices stand in net columns and may be used.
    pub(super) net: bool,
    /// True if the file has what amortises savings plans; without it their rows stand as billed.
    pub(super) savings_plans: bool,
    /// The same for reservations.
    pub(super) reservations: bool,
}

impl Valuation {
    /// What a file allows; net columns are used only where no discount comes as a row.
    pub(super) fn of(layout: &Layout, discount_rows: bool) -> Self {
        Self {
            net: has_net_columns(layout) && !discount_rows,
            savings_plans: layout.has(Column::SpEffective),
            reservations: layout.has(Column::RiEffective),
        }
    }
}

/// A row's line and class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub(super) line: Line,
    pub(super) class: LineClass,
    /// True for the repayment of a savings plan's one-time fee.
    pub(super) refunds_upfront_fee: bool,
    /// True if the row names a reservation.
    pub(super) names_reservation: bool,
}

/// What a row costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Costs {
    pub(super) billed: Amount,
    pub(super) effective: Amount,
    pub(super) list: Option<Amount>,
    pub(super) marginal: Amount,
    pub(super) split: Option<Amount>,
    pub(super) split_unused: Option<Amount>,
    /// True if the source does not tell the effective cost.
    pub(super) effective_unknown: bool,
    /// The part of the identity's right side: minus upfront fees, plus the amortised upfront of the period.
    pub(super) identity: Amount,
}

/// Values a row. `amount` reads an optional column of money.
pub(super) fn costs(
    judged: &Judged,
    billed: Amount,
    valuation: Valuation,
    amount: &mut dyn FnMut(Column) -> Option<Amount>,
) -> Result<Costs, AmountError> {
    if judged.class == LineClass::SplitDetail {
        let split = net_or_gross(valuation, amount, Column::NetSplitCost, Column::SplitCost);
        let split_unused = net_or_gross(valuation, amount, Column::NetUnusedCost, Column::UnusedCost);
        return Ok(Costs { list: Some(Amount::ZERO), split, split_unused, ..Costs::default() });
    }
    let (effective, effective_unknown) = effective(judged, billed, valuation, amount)?;
    Ok(Costs {
        billed,
        effective,
        list: list(judged, billed, amount(Column::PublicCost)),
        marginal: marginal(judged, billed),
        split: None,
        split_unused: None,
        effective_unknown,
        identity: identity(judged, billed, amount)?,
    })
}

fn net_or_gross(
    valuation: Valuation,
    amount: &mut dyn FnMut(Column) -> Option<Amount>,
    net: Column,
    gross: Column,
) -> Option<Amount> {
    let value = if valuation.net { amount(net) } else { None };
    value.or_else(|| amount(gross))
}

/// The amortised cost and whether the source left it untold.
fn effective(
    judged: &Judged,
    billed: Amount,
    valuation: Valuation,
    amount: &mut dyn FnMut(Column) -> Option<Amount>,
) -> Result<(Amount, bool), AmountError> {
    let otherwise = if valuation.net { amount(Column::NetUnblendedCost).unwrap_or(billed) } else { billed };
    let (plans, reservations) = (valuation.savings_plans, valuation.reservations);
    let told = |value: Option<Amount>| value.map_or((billed, true), |value| (value, false));
    match judged.line.line_type {
        LineType::SavingsPlanCovered if plans => {
            Ok(told(net_or_gross(valuation, amount, Column::SpNetEffective, Column::SpEffective)))
        }
        LineType::SavingsPlanRecurringFee if plans => {
            let used = amount(Column::SpUsedCommitment).unwrap_or(Amount::ZERO);
            let unused = amount(Column::SpTotalCommitment).map(|total| total.checked_sub(used));
            Ok(told(unused.transpose()?))
        }
        LineType::SavingsPlanNegation | LineType::SavingsPlanUpfrontFee if plans => Ok((Amount::ZERO, false)),
        LineType::Refund if plans && judged.refunds_upfront_fee => Ok((Amount::ZERO, false)),
        LineType::DiscountedUsage if reservations => {
            Ok(told(net_or_gross(valuation, amount, Column::RiNetEffective, Column::RiEffective)))
        }
        LineType::ReservationFee if reservations => {
            let upfront =
                net_or_gross(valuation, amount, Column::RiNetUnusedUpfront, Column::RiUnusedUpfront);
            let recurring =
                net_or_gross(valuation, amount, Column::RiNetUnusedRecurring, Column::RiUnusedRecurring);
            let unused = match (upfront, recurring) {
                (Some(upfront), Some(recurring)) => Some(upfront.checked_add(recurring)?),
                (one, other) => one.or(other),
            };
            Ok(told(unused))
        }
        LineType::Fee if reservations && judged.names_reservation => Ok((Amount::ZERO, false)),
        LineType::SavingsPlanCovered
        | LineType::SavingsPlanRecurringFee
        | LineType::SavingsPlanNegation
        | LineType::SavingsPlanUpfrontFee
        | LineType::DiscountedUsage
        | LineType::ReservationFee => Ok((billed, true)),
        LineType::Usage
        | LineType::Fee
        | LineType::Credit
        | LineType::Refund
        | LineType::Tax
        | LineType::Discount
        | LineType::FlatRate
        | LineType::Unknown => Ok((otherwise, false)),
    }
}

/// The cost at public rates: `None` is "no usable public price", which is not zero.
fn list(judged: &Judged, billed: Amount, public: Option<Amount>) -> Option<Amount> {
    match judged.class {
        LineClass::Usage | LineClass::UnusedReservation | LineClass::Inference => {}
        LineClass::CapacityBlockUsage => return None,
        LineClass::CapacityBlockFee
        | LineClass::Commitment
        | LineClass::Tax
        | LineClass::Credit
        | LineClass::Refund
        | LineClass::Support
        | LineClass::Other
        | LineClass::SplitDetail => return Some(Amount::ZERO),
    }
    let covered = matches!(judged.line.line_type, LineType::SavingsPlanCovered | LineType::DiscountedUsage);
    let public = public?;
    if public > Amount::ZERO {
        // A free tier is billed at nothing while the public column charges it at the paid rate.
        return (billed > Amount::ZERO || covered).then_some(public);
    }
    (public.is_zero() && billed.is_zero() && !judged.line.words.is_spot).then_some(Amount::ZERO)
}

/// What the row added beyond what was bought or stood there anyway.
fn marginal(judged: &Judged, billed: Amount) -> Amount {
    let usage = matches!(judged.line.line_type, LineType::Usage | LineType::Unknown);
    let counted = matches!(judged.class, LineClass::Usage | LineClass::Inference);
    if usage && counted && !judged.line.words.meter.standing { billed } else { Amount::ZERO }
}

/// What the row adds to `amortised − billed` by the source's own identity.
fn identity(
    judged: &Judged,
    billed: Amount,
    amount: &mut dyn FnMut(Column) -> Option<Amount>,
) -> Result<Amount, AmountError> {
    let amortised = match judged.line.line_type {
        LineType::SavingsPlanUpfrontFee => return Ok(billed.negated()),
        LineType::Fee if judged.names_reservation => return Ok(billed.negated()),
        LineType::Refund if judged.refunds_upfront_fee => return Ok(billed.negated()),
        LineType::SavingsPlanRecurringFee => amount(Column::SpAmortizedUpfront),
        LineType::ReservationFee => amount(Column::RiAmortizedUpfront),
        LineType::Usage
        | LineType::DiscountedUsage
        | LineType::SavingsPlanCovered
        | LineType::SavingsPlanNegation
        | LineType::Fee
        | LineType::Credit
        | LineType::Refund
        | LineType::Tax
        | LineType::Discount
        | LineType::FlatRate
        | LineType::Unknown => None,
    };
    Ok(amortised.unwrap_or(Amount::ZERO))
}
