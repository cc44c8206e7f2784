//! Which column of an Azure cost export holds what, and without which columns it cannot be read.

use super::column::{Column, other};
use crate::SourceError;
use crate::billing::table::layout::Layout as TableLayout;

/// The columns of one file.
pub(super) type Layout = TableLayout<Column>;

/// Columns without which a row has no meaning, as the user would look for them.
const REQUIRED: [(Column, &str); 4] = [
    (Column::Cost, "CostInBillingCurrency (older exports PreTaxCost)"),
    (Column::Date, "Date (older exports UsageDateTime)"),
    (Column::BillingCurrency, "BillingCurrency (older exports Currency)"),
    (Column::MeterCategory, "MeterCategory"),
];

/// Matches the headers of a file.
///
/// # Errors
/// `bill::missing_column` if a required column is not there.
pub(super) fn layout(headers: &[String], file: &str) -> Result<Layout, SourceError> {
    let layout = Layout::of(headers, other);
    let Some((_, names)) = REQUIRED.iter().find(|(column, _)| !layout.has(*column)) else {
        return Ok(layout);
    };
    let first = names.split(' ').next().unwrap_or(names);
    let focus = layout.has_header("BilledCost") && layout.has_header("ChargeCategory");
    let help = if focus {
        "the file looks like a FOCUS export: import it with `trainbill import focus`".to_owned()
    } else {
        format!("export the usage details of the billing account with all columns, `{first}` among them")
    };
    Err(SourceError::new("bill::missing_column", format!("the export has no column `{first}`"))
        .at(file)
        .expected(*names, format!("{} columns, none of that name", headers.len()))
        .help(help))
}
