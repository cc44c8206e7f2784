//! A charge: one row of a bill in FOCUS terms.

use money::{Amount, Currency, Quantity};

use crate::basis::words;
use crate::{Interval, ResourceKind};

words! {
    /// FOCUS `ChargeCategory`.
    ChargeCategory {
        /// Consumption.
        Usage => "Usage",
        /// A commitment or another one-time or recurring purchase.
        Purchase => "Purchase",
        /// Tax.
        Tax => "Tax",
        /// A provider's credit.
        Credit => "Credit",
        /// Money moved after the fact.
        Adjustment => "Adjustment",
    }
}

words! {
    /// What a charge is to the attribution: usage to be joined to runs, or a row that has its own account.
    LineClass {
        /// Usage that a run may have caused.
        Usage => "usage",
        /// Usage of a capacity block, whose cost stands in its fee.
        CapacityBlockUsage => "capacity_block_usage",
        /// The fee of a capacity block, spread over its instance-hours.
        CapacityBlockFee => "capacity_block_fee",
        /// Fees, negations and unused parts of commitments.
        Commitment => "commitment",
        /// A reservation that ran empty (`UnusedBox`, on-demand capacity reservations).
        UnusedReservation => "unused_reservation",
        /// Tax.
        Tax => "tax",
        /// A credit.
        Credit => "credit",
        /// A refund.
        Refund => "refund",
        /// Support.
        Support => "support",
        /// Inference and model APIs.
        Inference => "inference",
        /// Discounts as rows, fees, anything else outside usage.
        Other => "other",
        /// A row of provider split data; it carries weights, not money.
        SplitDetail => "split_detail",
    }
}

words! {
    /// Whether a row takes part in provider split data.
    SplitRole {
        /// An ordinary row.
        None => "none",
        /// A row that tells a part of another row's cost.
        Child => "child",
    }
}

/// One row of a bill.
///
/// Costs are in [`Charge::currency`]; `list_cost` is `None` where no public price is known, which is not zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Row in the file it came from, from 1 after the header.
    pub row: u64,
    /// When the usage took place.
    pub charge_period: Interval,
    /// Billing currency.
    pub currency: Currency,
    /// FOCUS category.
    pub category: ChargeCategory,
    /// The provider's own line type, never mapped away.
    pub line_type: String,
    /// What the attribution makes of the row.
    pub class: LineClass,
    /// What kind of resource it is for.
    pub resource_kind: ResourceKind,
    /// What is invoiced for this row.
    pub billed_cost: Amount,
    /// Amortised and negotiated.
    pub effective_cost: Amount,
    /// At public rates, where known.
    pub list_cost: Option<Amount>,
    /// What it added beyond sunk commitments.
    pub marginal_cost: Amount,
    /// Resource id, where the source gives one.
    pub resource_id: Option<String>,
    /// Account that used it.
    pub sub_account_id: Option<String>,
    /// Service, as the provider names it.
    pub service_name: String,
    /// Usage type, as the provider names it.
    pub usage_type: Option<String>,
    /// Instance type, where the row is for an instance.
    pub instance_type: Option<String>,
    /// Amount used, in the row's pricing unit.
    pub consumed_quantity: Option<Quantity>,
    /// Tags by the provider's key.
    pub tags: Vec<(String, String)>,
}
