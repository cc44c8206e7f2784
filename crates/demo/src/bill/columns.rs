//! The columns of the export, each with the rule that fills it; CUR 2.0 names and types.

use std::borrow::Cow;
use std::collections::BTreeMap;

use money::Amount;

use super::line::{Line, PlanFee, ReservationFee, Split};
use crate::company::Payer;
use crate::exact::Used;
use crate::span::{Span, rfc3339};

/// What a delivery says in every row.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// Who pays.
    pub(crate) payer: &'static Payer,
    /// The month.
    pub(crate) month: Span,
    /// The invoice; empty while the bill is open.
    pub(crate) invoice: String,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text.
    Text,
    /// A double in Parquet, decimal text in CSV.
    Number,
    /// A timestamp.
    Time,
    /// Text by text.
    Map,
}

impl Kind {
    /// The name in a manifest.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Number => "double",
            Self::Time => "timestamp",
            Self::Map => "map<string,string>",
        }
    }
}

/// A cell before it is written.
#[derive(Debug, Clone)]
pub(crate) enum Cell<'a> {
    /// Nothing.
    Empty,
    /// Text.
    Text(Cow<'a, str>),
    /// Money.
    Money(Amount),
    /// A quantity.
    Used(Used),
    /// Seconds since the epoch.
    Time(i64),
    /// A map.
    Map(BTreeMap<&'a str, &'a str>),
}

/// A row in its delivery: line, sheet, id of the row.
pub(crate) type Row<'a> = (&'a Line, &'a Sheet, &'a str);

/// One column.
#[derive(Debug)]
pub(crate) struct Column {
    /// Name.
    pub(crate) name: &'static str,
    /// Type.
    pub(crate) kind: Kind,
    /// What it holds.
    pub(crate) cell: for<'a> fn(Row<'a>) -> Cell<'a>,
}

const fn text(name: &'static str, cell: for<'a> fn(Row<'a>) -> Cell<'a>) -> Column {
    Column { name, kind: Kind::Text, cell }
}

const fn number(name: &'static str, cell: for<'a> fn(Row<'a>) -> Cell<'a>) -> Column {
    Column { name, kind: Kind::Number, cell }
}

const fn time(name: &'static str, cell: for<'a> fn(Row<'a>) -> Cell<'a>) -> Column {
    Column { name, kind: Kind::Time, cell }
}

const fn map(name: &'static str, cell: for<'a> fn(Row<'a>) -> Cell<'a>) -> Column {
    Column { name, kind: Kind::Map, cell }
}

fn say(text: &str) -> Cell<'_> {
    if text.is_empty() { Cell::Empty } else { Cell::Text(Cow::Borrowed(text)) }
}

fn pay<'a>(amount: Option<Amount>) -> Cell<'a> {
    amount.map_or(Cell::Empty, Cell::Money)
}

fn plan_fee<'a>(line: &Line, part: fn(PlanFee) -> Amount) -> Cell<'a> {
    pay(line.plan_fee.map(part))
}

fn reservation_fee<'a>(line: &Line, part: fn(ReservationFee) -> Amount) -> Cell<'a> {
    pay(line.reservation_fee.map(part))
}

fn split_cost<'a>(line: &Line, part: fn(&Split) -> Amount) -> Cell<'a> {
    pay(line.split.as_ref().map(part))
}

fn empty(_: Row<'_>) -> Cell<'_> {
    Cell::Empty
}

/// Every column of the export in order.
pub(crate) const COLUMNS: &[Column] = &[
    time("bill_billing_period_end_date", |(_, sheet, _)| Cell::Time(sheet.month.end)),
    time("bill_billing_period_start_date", |(_, sheet, _)| Cell::Time(sheet.month.start)),
    text("bill_bill_type", |(line, ..)| say(line.bill_type)),
    text("bill_billing_entity", |_| say("AWS")),
    text("bill_invoice_id", |(_, sheet, _)| say(&sheet.invoice)),
    text("bill_invoicing_entity", |_| say("Amazon Web Services, Inc.")),
    text("bill_payer_account_id", |(_, sheet, _)| say(sheet.payer.id)),
    text("bill_payer_account_name", |(_, sheet, _)| say(sheet.payer.name)),
    text("capacity_reservation_capacity_reservation_arn", |(line, ..)| say(line.block)),
    text("capacity_reservation_capacity_reservation_status", |(line, ..)| {
        if line.block.is_empty() || line.line_type != "Usage" { Cell::Empty } else { say("used") }
    }),
    text("identity_line_item_id", |(_, _, id)| say(id)),
    text("identity_time_interval", |(line, ..)| {
        Cell::Text(Cow::Owned(format!("{}/{}", rfc3339(line.span.start), rfc3339(line.span.end))))
    }),
    text("line_item_availability_zone", empty),
    number("line_item_blended_cost", |(line, ..)| Cell::Money(line.cost)),
    text("line_item_currency_code", |_| say("USD")),
    text("line_item_legal_entity", |_| say("Amazon Web Services, Inc.")),
    text("line_item_line_item_description", |(line, ..)| say(&line.description)),
    text("line_item_line_item_type", |(line, ..)| say(line.line_type)),
    text("line_item_operation", |(line, ..)| say(line.operation)),
    text("line_item_product_code", |(line, ..)| say(line.product)),
    text("line_item_resource_id", |(line, ..)| say(&line.resource)),
    text(
        "line_item_tax_type",
        |(line, ..)| if line.line_type == "Tax" { say("US_SALES_TAX") } else { Cell::Empty },
    ),
    number("line_item_unblended_cost", |(line, ..)| Cell::Money(line.cost)),
    text("line_item_usage_account_id", |(line, ..)| say(line.account)),
    number("line_item_usage_amount", |(line, ..)| Cell::Used(line.used)),
    time("line_item_usage_end_date", |(line, ..)| Cell::Time(line.span.end)),
    time("line_item_usage_start_date", |(line, ..)| Cell::Time(line.span.start)),
    text("line_item_usage_type", |(line, ..)| say(&line.usage_type)),
    text("pricing_currency", |_| say("USD")),
    number("pricing_public_on_demand_cost", |(line, ..)| pay(line.public)),
    text("pricing_term", |(line, ..)| match line.line_type {
        "DiscountedUsage" => say("Reserved"),
        "Usage" | "SavingsPlanCoveredUsage" => say("OnDemand"),
        _ => Cell::Empty,
    }),
    text("pricing_unit", |(line, ..)| say(line.unit)),
    map("product", |(line, ..)| Cell::Map(product(line))),
    text(
        "product_from_region_code",
        |(line, ..)| if is_transfer(line) { say("us-east-1") } else { Cell::Empty },
    ),
    text("product_instance_type", |(line, ..)| say(line.instance_type)),
    text(
        "product_region_code",
        |(line, ..)| if line.usage_type.is_empty() { Cell::Empty } else { say(line.region) },
    ),
    text(
        "product_servicecode",
        |(line, ..)| {
            if is_transfer(line) { say("AWSDataTransfer") } else { say(line.product) }
        },
    ),
    text(
        "product_to_region_code",
        |(line, ..)| if is_transfer(line) { say("us-east-2") } else { Cell::Empty },
    ),
    number("reservation_amortized_upfront_cost_for_usage", |(line, ..)| {
        pay(line.reserved.map(|r| r.upfront))
    }),
    number("reservation_amortized_upfront_fee_for_billing_period", |(line, ..)| {
        reservation_fee(line, |fee| fee.upfront)
    }),
    number("reservation_effective_cost", |(line, ..)| {
        pay(line.reserved.and_then(|r| r.upfront.checked_add(r.recurring).ok()))
    }),
    number("reservation_recurring_fee_for_usage", |(line, ..)| pay(line.reserved.map(|r| r.recurring))),
    text("reservation_reservation_a_r_n", |(line, ..)| say(line.reservation)),
    number("reservation_unused_amortized_upfront_fee_for_billing_period", |(line, ..)| {
        reservation_fee(line, |fee| fee.unused.upfront)
    }),
    number("reservation_unused_quantity", |(line, ..)| {
        line.reservation_fee.map_or(Cell::Empty, |fee| Cell::Used(fee.unused_hours))
    }),
    number("reservation_unused_recurring_fee", |(line, ..)| {
        reservation_fee(line, |fee| fee.unused.recurring)
    }),
    map("resource_tags", |(line, ..)| {
        Cell::Map(line.tags.iter().map(|(key, tag)| (*key, tag.as_str())).collect())
    }),
    number("savings_plan_amortized_upfront_commitment_for_billing_period", |(line, ..)| {
        plan_fee(line, |fee| fee.upfront)
    }),
    number("savings_plan_recurring_commitment_for_billing_period", |(line, ..)| {
        plan_fee(line, |fee| fee.recurring)
    }),
    text("savings_plan_savings_plan_a_r_n", |(line, ..)| say(line.plan)),
    number("savings_plan_savings_plan_effective_cost", |(line, ..)| pay(line.plan_effective)),
    number("savings_plan_total_commitment_to_date", |(line, ..)| plan_fee(line, |fee| fee.total)),
    number("savings_plan_used_commitment", |(line, ..)| plan_fee(line, |fee| fee.used)),
    text("split_line_item_parent_resource_id", |(line, ..)| {
        line.split.as_ref().map_or(Cell::Empty, |split| say(&split.parent))
    }),
    number("split_line_item_public_on_demand_split_cost", |(line, ..)| split_cost(line, |split| split.cost)),
    number("split_line_item_public_on_demand_unused_cost", |(line, ..)| {
        split_cost(line, |split| split.unused)
    }),
    number("split_line_item_reserved_usage", |(line, ..)| split_usage(line)),
    number("split_line_item_split_cost", |(line, ..)| split_cost(line, |split| split.cost)),
    number("split_line_item_split_usage", |(line, ..)| split_usage(line)),
    number("split_line_item_unused_cost", |(line, ..)| split_cost(line, |split| split.unused)),
];

fn split_usage<'a>(line: &Line) -> Cell<'a> {
    line.split.as_ref().map_or(Cell::Empty, |split| Cell::Used(split.reserved))
}

fn is_transfer(line: &Line) -> bool {
    line.usage_type.ends_with("-AWS-Out-Bytes")
}

/// The product map: what has no column of its own.
fn product(line: &Line) -> BTreeMap<&str, &str> {
    let mut map = BTreeMap::new();
    if !line.instance_type.is_empty() {
        let (gpus, family) = match line.instance_type.trim_start_matches("ml.") {
            "p4d.24xlarge" | "p5.48xlarge" | "g5.48xlarge" => ("8", "GPU instance"),
            "g5.12xlarge" | "g6.12xlarge" => ("4", "GPU instance"),
            "c7i.8xlarge" => ("0", "Compute optimized"),
            _ => ("1", "GPU instance"),
        };
        map.extend([
            ("gpu", gpus),
            ("instance_family", family),
            ("operating_system", "Linux"),
            ("tenancy", "Shared"),
        ]);
    }
    if line.usage_type.contains("VolumeUsage.gp3") {
        map.insert("volume_api_name", "gp3");
    }
    map.insert("product_name", line.product);
    map
}
