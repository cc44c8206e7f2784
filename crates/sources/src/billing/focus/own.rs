//! The columns that an export of trainbill adds to FOCUS, by which it is read back to the same charges.

use ledger::{LineClass, ResourceKind};
use money::Amount;

use super::column::Column;
use super::cost::Costs;
use super::layout::Layout;
use crate::billing::table::cell::Cells;
use crate::billing::table::reader::optional;
use crate::billing::table::row::{Fault, Row};
use crate::billing::tally::Tally;

/// Columns of which another exporter has one by chance, but not all.
const MARKS: [Column; 5] =
    [Column::Class, Column::LineType, Column::ListBasis, Column::MarginalCost, Column::ResourceKind];

/// True if the file is an export of ours.
pub(super) fn is_own(layout: &Layout) -> bool {
    MARKS.iter().all(|column| layout.has(*column))
}

/// The class and the kind of resource of a row of our own.
///
/// # Errors
/// `row::unknown_class` and `row::unknown_kind` where a word is none of ours.
pub(super) fn class_and_kind<C: Cells>(
    row: &Row<'_, Column, C>,
) -> Result<(LineClass, ResourceKind), Fault<Column>> {
    let text = |column| row.text(column).unwrap_or("");
    let class = LineClass::from_word(text(Column::Class)).ok_or_else(|| Fault {
        code: "row::unknown_class",
        column: Column::Class,
        found: text(Column::Class).to_owned(),
        expected: "a class of an export of trainbill, such as usage, commitment or credit",
    })?;
    let kind = ResourceKind::from_word(text(Column::ResourceKind)).ok_or_else(|| Fault {
        code: "row::unknown_kind",
        column: Column::ResourceKind,
        found: text(Column::ResourceKind).to_owned(),
        expected: "a kind of resource of an export of trainbill, such as compute, disk or transfer",
    })?;
    Ok((class, kind))
}

/// The costs of a row of our own.
///
/// # Errors
/// A marginal cost that is missing or cannot be read.
pub(super) fn costs<C: Cells>(
    row: &Row<'_, Column, C>,
    (billed, effective): (Amount, Amount),
    tally: &mut Tally,
) -> Result<Costs, Fault<Column>> {
    let marginal = row.money(Column::MarginalCost)?;
    let marginal = marginal.ok_or_else(|| Fault::missing(Column::MarginalCost, "a cost"))?;
    Ok(Costs {
        billed,
        effective,
        list: optional(row, Column::ListBasis, tally),
        contracted: optional(row, Column::ContractedBasis, tally),
        marginal: marginal.amount,
        split: optional(row, Column::SplitCost, tally),
        split_unused: optional(row, Column::SplitUnusedCost, tally),
        list_unit_price: optional(row, Column::ListUnitPrice, tally),
        ..Costs::default()
    })
}
