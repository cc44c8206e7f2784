//! What a row of an Azure export is: its charge type, and whether a reservation or a savings plan covers it.

use ledger::{ChargeCategory, LineClass, ResourceKind};

use super::column::Column;
use crate::billing::focus::kind::is_support;
use crate::billing::table::cell::Cells;
use crate::billing::table::row::Row;

/// A charge type that changes what a row means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChargeType {
    Usage,
    Purchase,
    Refund,
    /// `UnusedReservation`, `UnusedSavingsPlan`.
    Unused,
    Tax,
    Credit,
    Adjustment,
    Unknown,
}

/// What of a row decides how it is valued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) category: ChargeCategory,
    pub(super) class: LineClass,
    /// The kind of the commitment that the row is for.
    pub(super) commitment: Option<&'static str>,
    /// True for the unused part of a commitment.
    pub(super) unused: bool,
    /// True for money given back.
    pub(super) refund: bool,
}

impl Line {
    /// Reads a row.
    pub(super) fn of<C: Cells>(row: &Row<'_, Column, C>, kind: ResourceKind) -> Self {
        let text = |column| row.text(column).unwrap_or("");
        let charge_type = charge_type(text(Column::ChargeType));
        let commitment = commitment(row);
        let support = is_support(text(Column::MeterCategory));
        let (category, class) = match charge_type {
            ChargeType::Tax => (ChargeCategory::Tax, LineClass::Tax),
            ChargeType::Credit => (ChargeCategory::Credit, LineClass::Credit),
            ChargeType::Refund | ChargeType::Adjustment => (ChargeCategory::Adjustment, LineClass::Refund),
            ChargeType::Unused => (ChargeCategory::Usage, LineClass::Commitment),
            ChargeType::Purchase if support => (ChargeCategory::Purchase, LineClass::Support),
            ChargeType::Purchase if commitment.is_some() => (ChargeCategory::Purchase, LineClass::Commitment),
            ChargeType::Purchase => (ChargeCategory::Purchase, LineClass::Other),
            ChargeType::Usage if support => (ChargeCategory::Usage, LineClass::Support),
            ChargeType::Usage if kind == ResourceKind::Inference => {
                (ChargeCategory::Usage, LineClass::Inference)
            }
            ChargeType::Usage => (ChargeCategory::Usage, LineClass::Usage),
            ChargeType::Unknown => (ChargeCategory::Usage, LineClass::Other),
        };
        Self {
            category,
            class,
            commitment,
            unused: charge_type == ChargeType::Unused,
            refund: charge_type == ChargeType::Refund,
        }
    }

    /// True for usage.
    pub(super) const fn is_usage(&self) -> bool {
        matches!(self.class, LineClass::Usage | LineClass::Inference)
    }

    /// True for usage that a commitment pays for.
    pub(super) const fn is_covered(&self) -> bool {
        self.is_usage() && self.commitment.is_some()
    }

    /// True for the purchase of a commitment or its refund.
    pub(super) fn trades_commitment(&self) -> bool {
        self.commitment.is_some() && (self.category == ChargeCategory::Purchase || self.refund)
    }
}

/// The charge type of a text; exports without the column hold usage alone.
fn charge_type(text: &str) -> ChargeType {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if text.is_empty() || is("Usage") {
        ChargeType::Usage
    } else if is("Purchase") {
        ChargeType::Purchase
    } else if is("Refund") {
        ChargeType::Refund
    } else if is("UnusedReservation") || is("UnusedSavingsPlan") {
        ChargeType::Unused
    } else if is("Tax") {
        ChargeType::Tax
    } else if is("Credit") {
        ChargeType::Credit
    } else if is("Adjustment") || is("RoundingAdjustment") {
        ChargeType::Adjustment
    } else {
        ChargeType::Unknown
    }
}

/// The kind of commitment: by the pricing model where the export has it, else by the ids.
fn commitment<C: Cells>(row: &Row<'_, Column, C>) -> Option<&'static str> {
    let is = |text: &str, word: &str| text.eq_ignore_ascii_case(word);
    match row.text(Column::PricingModel) {
        Some(model) if is(model, "Reservation") => Some("Reservation"),
        Some(model) if is(model, "SavingsPlan") => Some("Savings Plan"),
        Some(model) if is(model, "OnDemand") || is(model, "Spot") => None,
        Some(_) | None => {
            let reservation = row.text(Column::ReservationId).map(|_| "Reservation");
            reservation.or_else(|| row.text(Column::BenefitId).map(|_| "Savings Plan"))
        }
    }
}
