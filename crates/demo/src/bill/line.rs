//! One row of a CUR 2.0 export before it is written.

use money::Amount;

use crate::exact::Used;
use crate::span::Span;

/// Cells of a savings plan's hourly fee.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanFee {
    /// Commitment of the hour, recurring and amortised.
    pub(crate) total: Amount,
    /// What was used of it.
    pub(crate) used: Amount,
    /// The recurring part.
    pub(crate) recurring: Amount,
    /// The amortised part of the upfront payment.
    pub(crate) upfront: Amount,
}

/// Cells of usage under a reservation: the upfront part and the recurring part of its effective cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved {
    /// Amortised upfront payment.
    pub(crate) upfront: Amount,
    /// Recurring fee.
    pub(crate) recurring: Amount,
}

/// Cells of a reservation's monthly fee.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReservationFee {
    /// What ran empty.
    pub(crate) unused: Reserved,
    /// Amortised upfront payment of the period.
    pub(crate) upfront: Amount,
    /// Hours that ran empty.
    pub(crate) unused_hours: Used,
}

/// Cells of a split row.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    /// The instance whose cost is split.
    pub(crate) parent: String,
    /// Cost of what the pod reserved.
    pub(crate) cost: Amount,
    /// Its part of the instance's idle cost.
    pub(crate) unused: Amount,
    /// What it reserved, in the row's unit.
    pub(crate) reserved: Used,
}

/// One row.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Account that used it; empty for the payer itself.
    pub(crate) account: &'static str,
    /// Line type.
    pub(crate) line_type: &'static str,
    /// Bill type.
    pub(crate) bill_type: &'static str,
    /// Product code.
    pub(crate) product: &'static str,
    /// Usage type.
    pub(crate) usage_type: String,
    /// Operation.
    pub(crate) operation: &'static str,
    /// Region.
    pub(crate) region: &'static str,
    /// Resource id; may be empty.
    pub(crate) resource: String,
    /// Instance type; may be empty.
    pub(crate) instance_type: &'static str,
    /// Start and end of usage.
    pub(crate) span: Span,
    /// Quantity.
    pub(crate) used: Used,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// Unblended cost.
    pub(crate) cost: Amount,
    /// Public on-demand cost.
    pub(crate) public: Option<Amount>,
    /// Description.
    pub(crate) description: String,
    /// Tags.
    pub(crate) tags: Vec<(&'static str, String)>,
    /// ARN of the savings plan.
    pub(crate) plan: &'static str,
    /// Effective cost under the savings plan.
    pub(crate) plan_effective: Option<Amount>,
    /// Its fee.
    pub(crate) plan_fee: Option<PlanFee>,
    /// ARN of the reservation.
    pub(crate) reservation: &'static str,
    /// Effective cost under the reservation.
    pub(crate) reserved: Option<Reserved>,
    /// Its fee.
    pub(crate) reservation_fee: Option<ReservationFee>,
    /// ARN of the capacity block.
    pub(crate) block: &'static str,
    /// Split data.
    pub(crate) split: Option<Split>,
}

impl Line {
    /// A usage row of a product, usage type and operation over a span.
    pub(crate) fn usage(
        product: &'static str,
        usage_type: impl Into<String>,
        operation: &'static str,
        span: Span,
    ) -> Self {
        Self {
            account: "",
            line_type: "Usage",
            bill_type: "Anniversary",
            product,
            usage_type: usage_type.into(),
            operation,
            region: "us-east-1",
            resource: String::new(),
            instance_type: "",
            span,
            used: Used::whole(1),
            unit: "",
            cost: Amount::ZERO,
            public: None,
            description: String::new(),
            tags: Vec::new(),
            plan: "",
            plan_effective: None,
            plan_fee: None,
            reservation: "",
            reserved: None,
            reservation_fee: None,
            block: "",
            split: None,
        }
    }

    /// Names the resource.
    pub(crate) fn on(mut self, resource: impl Into<String>) -> Self {
        self.resource = resource.into();
        self
    }

    /// Says how much was used.
    pub(crate) const fn used(mut self, used: Used, unit: &'static str) -> Self {
        self.used = used;
        self.unit = unit;
        self
    }

    /// Says what it cost, at the public rate.
    pub(crate) const fn costing(mut self, cost: Amount) -> Self {
        self.cost = cost;
        self.public = Some(cost);
        self
    }

    /// Describes it.
    pub(crate) fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a tag unless the value is empty.
    pub(crate) fn tagged(mut self, key: &'static str, value: &str) -> Self {
        if !value.is_empty() {
            self.tags.push((key, value.to_owned()));
        }
        self
    }
}
