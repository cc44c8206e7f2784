//! What a FOCUS row is: its category, the class that follows from it, and whether a commitment covers it.

use ledger::{ChargeCategory, LineClass, ResourceKind};

use super::column::Column;
use super::kind::is_support;
use crate::billing::table::cell::Cells;
use crate::billing::table::row::{Fault, Row};

/// What of a row decides how it is valued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) category: ChargeCategory,
    pub(super) class: LineClass,
    /// True if a commitment or a reservation pays for the usage.
    pub(super) committed: bool,
    /// True if the row allocates a part of another charge.
    pub(super) allocated: bool,
}

impl Line {
    /// Reads a row.
    ///
    /// # Errors
    /// `row::unknown_category` where the charge category is none of FOCUS's.
    pub(super) fn of<C: Cells>(row: &Row<'_, Column, C>, kind: ResourceKind) -> Result<Self, Fault<Column>> {
        let text = |column| row.text(column).unwrap_or("");
        let is = |column, word: &str| text(column).eq_ignore_ascii_case(word);
        let category = category(text(Column::ChargeCategory))?;
        let commitment = row.text(Column::CommitmentDiscountId).is_some();
        let allocated =
            row.text(Column::AllocatedMethodId).is_some() || row.text(Column::AllocatedResourceId).is_some();
        let class = match category {
            ChargeCategory::Tax => LineClass::Tax,
            ChargeCategory::Credit => LineClass::Credit,
            ChargeCategory::Adjustment => LineClass::Refund,
            _ if is(Column::ChargeClass, "Correction") => LineClass::Refund,
            ChargeCategory::Purchase | ChargeCategory::Usage if is_support(text(Column::ServiceName)) => {
                LineClass::Support
            }
            ChargeCategory::Purchase if commitment || row.text(Column::CapacityReservationId).is_some() => {
                LineClass::Commitment
            }
            ChargeCategory::Purchase => LineClass::Other,
            ChargeCategory::Usage if is(Column::CommitmentDiscountStatus, "Unused") => LineClass::Commitment,
            ChargeCategory::Usage if is(Column::CapacityReservationStatus, "Unused") => {
                LineClass::UnusedReservation
            }
            ChargeCategory::Usage if kind == ResourceKind::Inference => LineClass::Inference,
            ChargeCategory::Usage => LineClass::Usage,
        };
        let committed = commitment || is(Column::PricingCategory, "Committed");
        Ok(Self { category, class, committed, allocated })
    }

    /// True for the purchase of a commitment, whose cost belongs to the usage that it will cover.
    pub(super) fn buys_commitment<C: Cells>(&self, row: &Row<'_, Column, C>) -> bool {
        self.class == LineClass::Commitment
            && self.category == ChargeCategory::Purchase
            && row.text(Column::CommitmentDiscountId).is_some()
    }
}

/// The charge category of a text, in whatever case it is written.
fn category(text: &str) -> Result<ChargeCategory, Fault<Column>> {
    ChargeCategory::ALL.iter().find(|known| known.word().eq_ignore_ascii_case(text)).copied().ok_or_else(
        || Fault {
            code: "row::unknown_category",
            column: Column::ChargeCategory,
            found: text.to_owned(),
            expected: "Usage, Purchase, Tax, Credit or Adjustment",
        },
    )
}
