//! What of a row decides its class and its FOCUS category.

use ledger::{BillingPeriod, ChargeCategory, LineClass, ResourceKind};

use crate::billing::focus::kind::is_support;

/// The type of a row; every other text is [`CostType::Unknown`] and is kept as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CostType {
    /// Also of exports that are older than the column.
    Regular,
    Tax,
    Adjustment,
    RoundingError,
    Unknown,
}

impl CostType {
    /// The type of a text.
    pub(super) fn of(text: &str) -> Self {
        match text {
            "regular" | "" => Self::Regular,
            "tax" => Self::Tax,
            "adjustment" => Self::Adjustment,
            "rounding_error" => Self::RoundingError,
            _ => Self::Unknown,
        }
    }
}

/// What of a row decides its class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) cost_type: CostType,
    pub(super) service: &'a str,
    pub(super) sku: &'a str,
    /// Type of the adjustment, or nothing.
    pub(super) adjustment: &'a str,
    pub(super) kind: ResourceKind,
    /// True if the row is priced by the model of a commitment.
    pub(super) commitment_price: bool,
    /// True if the row names the subscription of a commitment.
    pub(super) has_subscription: bool,
    /// True if a credit pays the fee of a commitment back.
    pub(super) has_fee_offset: bool,
    /// True if a credit of a commitment is on the row.
    pub(super) has_commitment_credit: bool,
    /// True if the row is a reservation that ran empty.
    pub(super) is_unused: bool,
    /// True if a resource or an amount of usage is named.
    pub(super) has_usage: bool,
}

impl Line<'_> {
    /// The class of the row.
    pub(super) fn class(&self) -> LineClass {
        match self.cost_type {
            CostType::Tax => LineClass::Tax,
            CostType::RoundingError => LineClass::Other,
            CostType::Adjustment => self.class_of_adjustment(),
            _ if self.is_fee() => LineClass::Commitment,
            _ if is_support(self.service) => LineClass::Support,
            CostType::Unknown if !self.has_usage => LineClass::Other,
            CostType::Regular | CostType::Unknown if self.is_unused => LineClass::UnusedReservation,
            CostType::Regular | CostType::Unknown => match self.kind {
                ResourceKind::Inference => LineClass::Inference,
                ResourceKind::Compute
                | ResourceKind::Disk
                | ResourceKind::Snapshot
                | ResourceKind::ObjectStorage
                | ResourceKind::Requests
                | ResourceKind::Transfer
                | ResourceKind::ControlPlane
                | ResourceKind::Network
                | ResourceKind::Observability
                | ResourceKind::Other => LineClass::Usage,
            },
        }
    }

    /// FOCUS `ChargeCategory`.
    pub(super) fn category(&self) -> ChargeCategory {
        match self.cost_type {
            CostType::Tax => ChargeCategory::Tax,
            CostType::Adjustment | CostType::RoundingError => ChargeCategory::Adjustment,
            CostType::Regular | CostType::Unknown if self.is_fee() => ChargeCategory::Purchase,
            CostType::Regular | CostType::Unknown => ChargeCategory::Usage,
        }
    }

    /// True for a row that corrects a charge of an invoice that was closed: an adjustment, or a row that takes usage of
    /// an earlier month back or prices it anew. A correction inside of its own month is ordinary usage.
    pub(super) fn is_correction(&self, usage: BillingPeriod, invoice: BillingPeriod) -> bool {
        match self.cost_type {
            CostType::Adjustment => true,
            CostType::Regular => !self.adjustment.is_empty() && usage < invoice,
            CostType::Tax | CostType::RoundingError | CostType::Unknown => false,
        }
    }

    /// True for usage that a commitment pays, in whole or in part: by a credit, or by its price.
    pub(super) const fn is_covered(&self) -> bool {
        self.has_commitment_credit || self.commitment_price
    }

    /// Money moved between accounts is no refund, and what an adjustment of another type is cannot be told.
    fn class_of_adjustment(&self) -> LineClass {
        match self.adjustment {
            "USAGE_CORRECTION"
            | "PRICE_CORRECTION"
            | "METADATA_CORRECTION"
            | "GOODWILL"
            | "SALES_BASED_GOODWILL"
            | "SLA_VIOLATION" => LineClass::Refund,
            _ => LineClass::Other,
        }
    }

    /// True for the fee of a commitment: by its SKU, by the credit that its usage earns, or because it names the
    /// subscription without being priced by it, as covered usage is.
    fn is_fee(&self) -> bool {
        self.sku.starts_with("Commitment")
            || self.has_fee_offset
            || self.has_subscription && !self.commitment_price && !self.has_commitment_credit
    }
}

/// True if a consumption model is that of a commitment and not the default one.
pub(super) fn is_commitment_model(description: &str, id: &str) -> bool {
    if description.is_empty() {
        // The id of the default model is the same everywhere.
        return !id.is_empty() && id != "7754-699E-0EBF";
    }
    !description.eq_ignore_ascii_case("default")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(cost_type: &str, sku: &'static str) -> Line<'static> {
        Line {
            cost_type: CostType::of(cost_type),
            service: "Compute Engine",
            sku,
            adjustment: "",
            kind: ResourceKind::Compute,
            commitment_price: false,
            has_subscription: false,
            has_fee_offset: false,
            has_commitment_credit: false,
            is_unused: false,
            has_usage: true,
        }
    }

    fn shown(line: Line<'_>) -> String {
        format!("{} {}", line.class(), line.category())
    }

    #[test]
    fn a_row_has_one_class() {
        let core = "A2 Instance Core running in Americas";
        assert_eq!(shown(line("regular", core)), "usage Usage");
        assert_eq!(shown(line("", core)), "usage Usage");
        assert_eq!(shown(line("tax", "Tax")), "tax Tax");
        assert_eq!(shown(line("rounding_error", "Rounding error")), "other Adjustment");
        assert_eq!(shown(line("regular", "Commitment v1: A2 Core")), "commitment Purchase");
        assert_eq!(shown(line("levy", core)), "usage Usage");
        assert_eq!(shown(Line { has_usage: false, ..line("levy", core) }), "other Usage");
        assert_eq!(shown(Line { is_unused: true, ..line("regular", core) }), "unused_reservation Usage");
        assert_eq!(shown(Line { service: "Premium Support", ..line("regular", core) }), "support Usage");
        let inference = Line { kind: ResourceKind::Inference, ..line("regular", core) };
        assert_eq!(shown(inference), "inference Usage");
    }

    #[test]
    fn a_fee_names_its_subscription_and_covered_usage_is_priced_by_it() {
        let subscribed = Line { has_subscription: true, ..line("regular", "RAM") };
        assert_eq!(shown(subscribed), "commitment Purchase");
        assert_eq!(shown(Line { commitment_price: true, ..subscribed }), "usage Usage");
        assert_eq!(shown(Line { has_fee_offset: true, ..line("regular", "Fee") }), "commitment Purchase");
        assert!(
            is_commitment_model("Compute Flexible CUDs 1 Year", "")
                && is_commitment_model("", "5515-81A8-03A2")
        );
        assert!(!is_commitment_model("Default", "") && !is_commitment_model("", "7754-699E-0EBF"));
        assert!(!is_commitment_model("", ""));
    }

    #[test]
    fn an_adjustment_is_a_refund_only_where_it_says_so() {
        let adjusted = |adjustment| Line { adjustment, ..line("adjustment", "x") };
        assert_eq!(shown(adjusted("SLA_VIOLATION")), "refund Adjustment");
        assert_eq!(shown(adjusted("BALANCE_TRANSFER")), "other Adjustment");
        assert_eq!(shown(adjusted("")), "other Adjustment");
        let (june, july) = (BillingPeriod { year: 2026, month: 6 }, BillingPeriod { year: 2026, month: 7 });
        let correction = Line { adjustment: "USAGE_CORRECTION", ..line("regular", "x") };
        assert!(correction.is_correction(june, july) && !correction.is_correction(july, july));
        assert!(!line("regular", "x").is_correction(june, july));
        assert!(adjusted("").is_correction(july, july));
    }
}
