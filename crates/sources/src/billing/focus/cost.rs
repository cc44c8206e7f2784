//! The costs of one FOCUS row under each basis.

use ledger::{ChargeCategory, LineClass};
use money::Amount;

use super::column::Column;
use super::line::Line;
use super::own;
use crate::billing::table::cell::{Cells, Money};
use crate::billing::table::reader::optional;
use crate::billing::table::row::{Fault, Row};
use crate::billing::tally::Tally;

/// What a row costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Costs {
    pub(super) billed: Amount,
    pub(super) effective: Amount,
    pub(super) list: Option<Amount>,
    pub(super) contracted: Option<Amount>,
    pub(super) marginal: Amount,
    /// For a row that repeats a part of another row's cost: that part.
    pub(super) split: Option<Amount>,
    /// As `split`, of what the other row's resource was idle.
    pub(super) split_unused: Option<Amount>,
    pub(super) list_unit_price: Option<Amount>,
    pub(super) effective_unknown: bool,
    pub(super) effective_on_purchase: bool,
}

/// The billed cost of a row, without which it is nothing.
pub(super) fn billed<C: Cells>(row: &Row<'_, Column, C>) -> Result<Money, Fault<Column>> {
    row.money(Column::BilledCost)?.ok_or_else(|| Fault::missing(Column::BilledCost, "a cost"))
}

/// Values a row.
///
/// # Errors
/// A billed or effective cost that cannot be read.
pub(super) fn costs<C: Cells>(
    row: &Row<'_, Column, C>,
    line: &Line,
    tally: &mut Tally,
) -> Result<Costs, Fault<Column>> {
    let (billed, told) = (billed(row)?, row.money(Column::EffectiveCost)?);
    let billed = tally.counted(billed);
    let told = told.map(|money| tally.counted(money));
    let effective = told.unwrap_or(billed);
    if own::is_own(row.layout) {
        let costs = own::costs(row, (billed, effective), tally)?;
        return Ok(Costs { effective_unknown: told.is_none(), ..costs });
    }
    if line.class == LineClass::SplitDetail {
        return Ok(Costs { list: Some(Amount::ZERO), split: Some(effective), ..Costs::default() });
    }
    let buys_commitment = line.buys_commitment(row);
    let price = optional(row, Column::ListUnitPrice, tally);
    Ok(Costs {
        billed,
        effective: if buys_commitment { Amount::ZERO } else { effective },
        list: list(row, line, price, tally),
        contracted: optional(row, Column::ContractedCost, tally),
        marginal: marginal(line, billed),
        split: None,
        split_unused: None,
        list_unit_price: price,
        effective_unknown: told.is_none() && !buys_commitment,
        effective_on_purchase: buys_commitment && told.is_some_and(|told| !told.is_zero()),
    })
}

/// The cost at public rates of usage. Where a file has unit prices and a row has none, its list cost is no price list's
/// but copied from another cost.
fn list<C: Cells>(
    row: &Row<'_, Column, C>,
    line: &Line,
    price: Option<Amount>,
    tally: &mut Tally,
) -> Option<Amount> {
    if line.category != ChargeCategory::Usage || matches!(line.class, LineClass::Refund | LineClass::Support)
    {
        return Some(Amount::ZERO);
    }
    if row.layout.has(Column::ListUnitPrice) && price.is_none() {
        return None;
    }
    optional(row, Column::ListCost, tally)
}

/// What the row added beyond sunk commitments.
fn marginal(line: &Line, billed: Amount) -> Amount {
    let counted = matches!(line.class, LineClass::Usage | LineClass::Inference) && !line.committed;
    if counted { billed } else { Amount::ZERO }
}
