//! The canonical charge batch: FOCUS 1.2 columns in `snake_case` plus `x_` extensions, one row a charge.
//!
//! Every bill reader makes batches of this schema and the store keeps them as Parquet. Text is dictionary-encoded,
//! money is `Decimal128(38, 24)`, times are microseconds in UTC. A column that a source cannot fill is null.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// Arrow type of every amount of money.
pub const MONEY: DataType = DataType::Decimal128(38, 24);

/// Arrow type of every instant.
pub fn instant_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// Arrow type of every text column.
pub fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Dictionary-encoded text.
    Text,
    /// Money in `billing_currency`.
    Money,
    /// A quantity, as the double that the source delivered; not money.
    Quantity,
    /// An instant.
    Instant,
    /// A row number.
    Row,
}

/// One column of the canonical batch.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// What it holds.
    pub kind: ColumnType,
    /// True if it is never null.
    pub required: bool,
    /// What it means.
    pub doc: &'static str,
}

/// A column from its parts.
pub(crate) const fn column(
    name: &'static str,
    kind: ColumnType,
    required: bool,
    doc: &'static str,
) -> Column {
    Column { name, kind, required, doc }
}

use ColumnType::{Instant, Money, Quantity, Row, Text};

/// The columns in order.
pub const COLUMNS: &[Column] = &[
    column("x_row", Row, true, "row in the file, from 1 after the header"),
    column("x_file", Text, true, "file that the row came from"),
    column("x_line_item_id", Text, false, "the provider's id of the row, unique inside one delivery only"),
    column("billing_account_id", Text, true, "account that pays"),
    column("billing_account_name", Text, false, "name of the account that pays"),
    column("billing_currency", Text, true, "currency of every cost in the row"),
    column("billing_period_start", Instant, true, "start of the billing period"),
    column("billing_period_end", Instant, true, "end of the billing period, exclusive"),
    column("charge_period_start", Instant, true, "start of the usage"),
    column("charge_period_end", Instant, true, "end of the usage, exclusive"),
    column("charge_category", Text, true, "Usage, Purchase, Tax, Credit or Adjustment"),
    column("charge_class", Text, false, "Correction, for rows that correct a closed period"),
    column("charge_description", Text, false, "the provider's description"),
    column("billed_cost", Money, true, "what is invoiced for the row"),
    column("effective_cost", Money, true, "amortised and negotiated"),
    column("list_cost", Money, false, "at public rates; null where no public price is known"),
    column("contracted_cost", Money, false, "at negotiated rates without commitments"),
    column("x_marginal_cost", Money, true, "what the row added beyond sunk commitments"),
    column("pricing_quantity", Quantity, false, "amount used, in pricing_unit"),
    column("pricing_unit", Text, false, "unit of pricing_quantity"),
    column("commitment_discount_id", Text, false, "savings plan or reservation"),
    column("commitment_discount_type", Text, false, "kind of commitment"),
    column("capacity_reservation_id", Text, false, "capacity reservation or block"),
    column("capacity_reservation_status", Text, false, "Used or Unused"),
    column("invoice_id", Text, false, "invoice; null while the bill is open"),
    column("invoice_issuer_name", Text, false, "who invoices"),
    column("provider_name", Text, true, "who provides the resource"),
    column("publisher_name", Text, false, "who sells it"),
    column("region_id", Text, false, "region"),
    column("availability_zone", Text, false, "zone"),
    column("resource_id", Text, false, "resource"),
    column("service_name", Text, true, "service, as the provider's code"),
    column("sku_id", Text, false, "SKU"),
    column("sku_price_id", Text, false, "rate"),
    column("sub_account_id", Text, false, "account that used it"),
    column("sub_account_name", Text, false, "name of the account that used it"),
    column("tags", Text, false, "flat JSON object of tags by the provider's key, keys sorted"),
    column("x_line_type", Text, true, "the provider's line type"),
    column("x_class", Text, true, "what the attribution makes of the row (ledger::LineClass)"),
    column("x_resource_kind", Text, true, "kind of resource (ledger::ResourceKind)"),
    column("x_usage_type", Text, false, "the provider's usage type"),
    column("x_operation", Text, false, "the provider's operation"),
    column("x_instance_type", Text, false, "instance type"),
    column(
        "x_credit_type",
        Text,
        false,
        "for a credit that the provider puts on a row of usage: its type; the row repeats that usage's resource and tags",
    ),
    column("x_split_role", Text, true, "none, or child for a row of split data"),
    column("x_parent_resource_id", Text, false, "for split rows: the resource whose cost is split"),
    column("x_split_cost", Money, false, "for split rows: the part of the parent's cost used"),
    column("x_split_unused_cost", Money, false, "for split rows: the part of the parent's idle cost"),
    column("x_unmapped", Text, false, "JSON object of the source's other non-empty columns"),
];

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let fields: Vec<Field> =
        COLUMNS.iter().map(|c| Field::new(c.name, arrow_type(c.kind), !c.required)).collect();
    Arc::new(Schema::new(fields))
});

/// The Arrow schema of the canonical batch.
pub fn schema() -> SchemaRef {
    Arc::clone(&SCHEMA)
}

/// The Arrow type of a kind of column.
pub fn arrow_type(kind: ColumnType) -> DataType {
    match kind {
        Text => text_type(),
        Money => MONEY,
        Quantity => DataType::Float64,
        Instant => instant_type(),
        Row => DataType::Int64,
    }
}

/// The tags of a charge from their flat JSON object; text that is no object gives none.
pub fn parse_tags(json: &str) -> Vec<(String, String)> {
    let object: std::collections::BTreeMap<String, serde_json::Value> =
        serde_json::from_str(json).unwrap_or_default();
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    object.into_iter().map(|(key, value)| (key, text(value))).collect()
}
