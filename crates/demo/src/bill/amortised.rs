//! What the demo's rows come to, by the public formula for amortised cost; a test ties the imported store to it.

use money::Amount;

use super::line::Line;
use crate::DemoError;

/// True for a row of split data, which carries no cost of its own.
pub(crate) fn is_split(line: &Line) -> bool {
    line.split.is_some()
}

/// The amortised cost of a row.
pub(crate) fn effective(line: &Line) -> Result<Amount, DemoError> {
    let unused = |fee: super::line::PlanFee| fee.total.checked_sub(fee.used);
    Ok(match line.line_type {
        "SavingsPlanCoveredUsage" => line.plan_effective.unwrap_or(Amount::ZERO),
        "SavingsPlanRecurringFee" => line.plan_fee.map_or(Ok(Amount::ZERO), unused)?,
        "SavingsPlanNegation" => Amount::ZERO,
        "DiscountedUsage" => match line.reserved {
            Some(reserved) => reserved.upfront.checked_add(reserved.recurring)?,
            None => Amount::ZERO,
        },
        "RIFee" => match line.reservation_fee {
            Some(fee) => fee.unused.upfront.checked_add(fee.unused.recurring)?,
            None => Amount::ZERO,
        },
        "Fee" if !line.reservation.is_empty() => Amount::ZERO,
        _ => line.cost,
    })
}
