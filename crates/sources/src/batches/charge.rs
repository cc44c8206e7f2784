//! One canonical row, and what is told of it beyond its columns.

use ledger::{BillingPeriod, ChargeCategory, Interval, LineClass, ResourceKind, SplitRole};
use money::{Amount, Currency};

use crate::text::Text;

/// One canonical row, borrowed from the reader's buffers; the fields are those of [`crate::charges::COLUMNS`].
#[derive(Debug, Clone, Copy)]
pub struct ChargeRow<'a> {
    /// `x_row`.
    pub row: u64,
    /// `x_file`.
    pub file: Text<'a>,
    /// `x_line_item_id`.
    pub line_item_id: Option<Text<'a>>,
    /// `billing_account_id`.
    pub payer: Text<'a>,
    /// `billing_account_name`.
    pub payer_name: Option<Text<'a>>,
    /// `billing_currency`.
    pub currency: Currency,
    /// The month under which the row is kept.
    pub period: BillingPeriod,
    /// `billing_period_start` and `_end`.
    pub billing_period: Interval,
    /// `charge_period_start` and `_end`.
    pub charge_period: Interval,
    /// `charge_category`.
    pub category: ChargeCategory,
    /// `charge_class`.
    pub correction: Option<Text<'a>>,
    /// `charge_description`.
    pub description: Option<Text<'a>>,
    /// `billed_cost`.
    pub billed_cost: Amount,
    /// `effective_cost`.
    pub effective_cost: Amount,
    /// `list_cost`.
    pub list_cost: Option<Amount>,
    /// `contracted_cost`.
    pub contracted_cost: Option<Amount>,
    /// `x_marginal_cost`.
    pub marginal_cost: Amount,
    /// `pricing_quantity`.
    pub pricing_quantity: Option<f64>,
    /// `pricing_unit`.
    pub pricing_unit: Option<Text<'a>>,
    /// `commitment_discount_id`.
    pub commitment_id: Option<Text<'a>>,
    /// `commitment_discount_type`.
    pub commitment_type: Option<Text<'a>>,
    /// `capacity_reservation_id`.
    pub capacity_reservation_id: Option<Text<'a>>,
    /// `capacity_reservation_status`.
    pub capacity_reservation_status: Option<Text<'a>>,
    /// `invoice_id`.
    pub invoice_id: Option<Text<'a>>,
    /// `invoice_issuer_name`.
    pub invoice_issuer: Option<Text<'a>>,
    /// `provider_name`.
    pub provider: Text<'a>,
    /// `publisher_name`.
    pub publisher: Option<Text<'a>>,
    /// `region_id`.
    pub region: Option<Text<'a>>,
    /// `availability_zone`.
    pub zone: Option<Text<'a>>,
    /// `resource_id`.
    pub resource_id: Option<Text<'a>>,
    /// `service_name`.
    pub service: Text<'a>,
    /// `sku_id`.
    pub sku: Option<Text<'a>>,
    /// `sku_price_id`.
    pub sku_price: Option<Text<'a>>,
    /// `sub_account_id`.
    pub sub_account: Option<Text<'a>>,
    /// `sub_account_name`.
    pub sub_account_name: Option<Text<'a>>,
    /// `tags`.
    pub tags: Option<Text<'a>>,
    /// `x_line_type`.
    pub line_type: Text<'a>,
    /// `x_class`.
    pub class: LineClass,
    /// `x_resource_kind`.
    pub resource_kind: ResourceKind,
    /// `x_usage_type`.
    pub usage_type: Option<Text<'a>>,
    /// `x_operation`.
    pub operation: Option<Text<'a>>,
    /// `x_instance_type`.
    pub instance_type: Option<Text<'a>>,
    /// `x_credit_type`.
    pub credit_type: Option<Text<'a>>,
    /// `x_split_role`.
    pub split_role: SplitRole,
    /// `x_parent_resource_id`.
    pub parent_resource_id: Option<Text<'a>>,
    /// `x_split_cost`.
    pub split_cost: Option<Amount>,
    /// `x_split_unused_cost`.
    pub split_unused_cost: Option<Amount>,
    /// `x_unmapped`.
    pub unmapped: Option<Text<'a>>,
    /// What only the quality gate looks at.
    pub unstored: Unstored,
}

/// What a reader tells the quality gate of a row beyond its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unstored {
    /// The public price of one pricing unit.
    pub list_unit_price: Option<Amount>,
    /// True if the source does not tell the effective cost, which then equals the billed cost.
    pub effective_unknown: bool,
    /// True if the source gives an effective cost to the purchase of a commitment; it is taken as zero.
    pub effective_on_purchase: bool,
    /// True if a value was the word `NULL`.
    pub null_text: bool,
}
