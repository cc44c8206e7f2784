//! Which column of a FOCUS file holds what, and without which columns it cannot be read.

use super::column::{Column, other, version};
use crate::SourceError;
use crate::billing::table::column::Name as _;
use crate::billing::table::layout::Layout as TableLayout;

/// The columns of one file.
pub(super) type Layout = TableLayout<Column>;

/// Columns without which a row has no meaning.
const REQUIRED: [Column; 6] = [
    Column::BilledCost,
    Column::EffectiveCost,
    Column::BillingCurrency,
    Column::ChargeCategory,
    Column::ChargePeriodStart,
    Column::ChargePeriodEnd,
];

/// Matches the headers of a file.
///
/// # Errors
/// `bill::missing_column` if a required column is not there.
pub(super) fn layout(headers: &[String], file: &str) -> Result<Layout, SourceError> {
    let layout = Layout::of(headers, other);
    let Some(missing) = REQUIRED.iter().find(|column| !layout.has(**column)) else { return Ok(layout) };
    let name = missing.shown();
    let found = if layout.has(Column::BilledCost) {
        format!("{} columns of FOCUS {}", headers.len(), version(&layout))
    } else {
        format!("{} columns, the first is `{}`", headers.len(), headers.first().map_or("", String::as_str))
    };
    Err(SourceError::new("bill::missing_column", format!("the file has no column `{name}` of FOCUS"))
        .at(file)
        .expected(name, found)
        .help(help(&layout, name)))
}

fn help(layout: &Layout, name: &str) -> String {
    let looks_like = |headers: &[&str]| headers.iter().all(|header| layout.has_header(header));
    if looks_like(&["line_item_line_item_type"]) || looks_like(&["lineItem/LineItemType"]) {
        "the file looks like an AWS cost and usage report: import it with `trainbill import aws-cur`"
            .to_owned()
    } else if looks_like(&["MeterCategory", "ConsumedService"]) {
        "the file looks like an Azure cost export: import it with `trainbill import azure-cost`".to_owned()
    } else if looks_like(&["lineItem/tenantId", "cost/myCost"]) {
        "the file is an OCI cost report: export the FOCUS report of the tenancy instead".to_owned()
    } else {
        format!("export with all columns of FOCUS, `{name}` among them")
    }
}
