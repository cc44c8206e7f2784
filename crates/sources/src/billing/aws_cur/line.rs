//! The type of a line, and the class and FOCUS category that follow from it.

use ledger::{ChargeCategory, LineClass};

use super::words::Words;

/// A line type that changes what a row means; every other text is [`LineType::Unknown`] and is kept as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineType {
    Usage,
    DiscountedUsage,
    SavingsPlanCovered,
    SavingsPlanNegation,
    SavingsPlanRecurringFee,
    SavingsPlanUpfrontFee,
    ReservationFee,
    Fee,
    Credit,
    Refund,
    Tax,
    /// Any type that ends with `Discount`.
    Discount,
    FlatRate,
    Unknown,
}

impl LineType {
    /// The type of a text.
    pub(super) fn of(text: &str) -> Self {
        match text {
            "Usage" => Self::Usage,
            "DiscountedUsage" => Self::DiscountedUsage,
            "SavingsPlanCoveredUsage" => Self::SavingsPlanCovered,
            "SavingsPlanNegation" => Self::SavingsPlanNegation,
            "SavingsPlanRecurringFee" => Self::SavingsPlanRecurringFee,
            "SavingsPlanUpfrontFee" => Self::SavingsPlanUpfrontFee,
            "RIFee" => Self::ReservationFee,
            "Fee" => Self::Fee,
            "Credit" => Self::Credit,
            "Refund" => Self::Refund,
            "Tax" => Self::Tax,
            "FlatRateSubscription" => Self::FlatRate,
            other if other.ends_with("Discount") => Self::Discount,
            _ => Self::Unknown,
        }
    }

    /// FOCUS `ChargeCategory`; a refund is an adjustment of class `Correction`, since it moves money of an earlier
    /// charge and is no credit that could be spent.
    pub(super) const fn category(self) -> ChargeCategory {
        match self {
            Self::Tax => ChargeCategory::Tax,
            Self::Credit => ChargeCategory::Credit,
            Self::Refund => ChargeCategory::Adjustment,
            Self::Fee
            | Self::ReservationFee
            | Self::SavingsPlanRecurringFee
            | Self::SavingsPlanUpfrontFee => ChargeCategory::Purchase,
            Self::Usage
            | Self::DiscountedUsage
            | Self::SavingsPlanCovered
            | Self::SavingsPlanNegation
            | Self::Discount
            | Self::FlatRate
            | Self::Unknown => ChargeCategory::Usage,
        }
    }
}

/// What of a row decides its class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) line_type: LineType,
    pub(super) words: Words,
    /// True if a reservation or a savings plan is named.
    pub(super) has_commitment: bool,
    /// True if a resource or an amount of usage is named.
    pub(super) has_usage: bool,
    /// True if the row names the resource whose cost it splits.
    pub(super) has_split_parent: bool,
    /// True if the row has no money and only tells how much was reserved: its hours stand in other rows again.
    pub(super) is_marker: bool,
}

impl Line {
    /// The class of the row.
    pub(super) fn class(&self) -> LineClass {
        if self.words.is_split_detail || self.has_split_parent {
            return LineClass::SplitDetail;
        }
        match self.line_type {
            LineType::Tax => LineClass::Tax,
            LineType::Credit => LineClass::Credit,
            LineType::Fee | LineType::Refund if self.words.is_block_fee && !self.has_commitment => {
                LineClass::CapacityBlockFee
            }
            LineType::Refund => LineClass::Refund,
            LineType::SavingsPlanNegation
            | LineType::SavingsPlanRecurringFee
            | LineType::SavingsPlanUpfrontFee
            | LineType::ReservationFee => LineClass::Commitment,
            LineType::Fee if self.has_commitment => LineClass::Commitment,
            LineType::Discount => LineClass::Other,
            _ if self.words.is_support => LineClass::Support,
            LineType::Fee => LineClass::Other,
            LineType::Unknown if !self.has_usage => LineClass::Other,
            LineType::Usage
            | LineType::DiscountedUsage
            | LineType::SavingsPlanCovered
            | LineType::FlatRate
            | LineType::Unknown => self.class_of_usage(),
        }
    }

    fn class_of_usage(&self) -> LineClass {
        if self.words.is_block_usage {
            LineClass::CapacityBlockUsage
        } else if self.is_marker {
            LineClass::Other
        } else if self.words.is_unused_reservation {
            LineClass::UnusedReservation
        } else if self.words.is_inference {
            LineClass::Inference
        } else {
            LineClass::Usage
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::meter::MeterText;
    use super::*;

    fn check(
        line_type: &str,
        product: &str,
        usage_type: &str,
        operation: &str,
        commitment: bool,
        expect: &str,
    ) {
        let words = Words::of(MeterText { product, usage_type, operation, service_code: "" });
        let line = Line {
            line_type: LineType::of(line_type),
            words,
            has_commitment: commitment,
            has_usage: true,
            has_split_parent: false,
            is_marker: words.is_whole_reservation,
        };
        let shown = format!("{} {}", line.class(), line.line_type.category());
        assert_eq!(shown, expect, "for {line_type} {product} {usage_type}");
    }

    #[test]
    fn a_row_has_one_class() {
        check("Usage", "AmazonEC2", "BoxUsage:p4d.24xlarge", "RunInstances", false, "usage Usage");
        check(
            "Usage",
            "AmazonEC2",
            "BoxUsage:p5.48xlarge",
            "RunInstances:CB",
            false,
            "capacity_block_usage Usage",
        );
        check(
            "Usage",
            "AmazonEC2",
            "UnusedBox:p5.48xlarge",
            "RunInstances",
            false,
            "unused_reservation Usage",
        );
        check("Usage", "AmazonEC2", "USE2-Reservation:p5.48xlarge", "RunInstances", false, "other Usage");
        check("Usage", "AmazonEKS", "USE1-EKS-EC2-GB-Hours", "EKSPod-EC2", false, "split_detail Usage");
        check("Usage", "AmazonBedrock", "USE1-x-input-tokens", "InvokeModel", false, "inference Usage");
        check(
            "Fee",
            "AmazonEC2",
            "USE2-CapacityBlockFee:p5.48xlarge",
            "",
            false,
            "capacity_block_fee Purchase",
        );
        check(
            "Refund",
            "AmazonEC2",
            "USE2-CapacityBlockFee:p5.48xlarge",
            "",
            false,
            "capacity_block_fee Adjustment",
        );
        check("Fee", "AmazonEC2", "HeavyUsage:p3.2xlarge", "RunInstances", true, "commitment Purchase");
        check("RIFee", "AmazonEC2", "HeavyUsage:p3.2xlarge", "RunInstances", true, "commitment Purchase");
        check("Fee", "OCBPremiumSupport", "Dollar", "", false, "support Purchase");
        check("Usage", "AWSSupportEnterprise", "Dollar", "", false, "support Usage");
        check("Fee", "AmazonRegistrar", "DomainRegistration", "", false, "other Purchase");
        check("EdpDiscount", "AmazonEC2", "BoxUsage:p4d.24xlarge", "RunInstances", false, "other Usage");
        check(
            "SavingsPlanNegation",
            "AmazonEC2",
            "BoxUsage:p4d.24xlarge",
            "RunInstances",
            true,
            "commitment Usage",
        );
        check("Refund", "AmazonEC2", "BoxUsage:p4d.24xlarge", "RunInstances", false, "refund Adjustment");
        check("Credit", "AmazonEC2", "", "", false, "credit Credit");
        check("SomethingOf2027", "AmazonEC2", "BoxUsage:p9.large", "RunInstances", false, "usage Usage");
    }
}
