//! Which column of an export holds what, and without which columns it cannot be read.

use super::column::{Column, other};
use crate::SourceError;
use crate::billing::BillFile;
use crate::billing::table::column::Name as _;
use crate::billing::table::layout::Layout as TableLayout;

/// The columns of one file.
pub(super) type Layout = TableLayout<Column>;

/// The columns without which a row has no meaning.
const REQUIRED: [Column; 3] = [Column::Cost, Column::Currency, Column::UsageStart];

/// Matches the headers of a file.
///
/// A row of JSON lines leaves out what it has no value for. There it is enough that one of the needed columns is known,
/// once there is a row; each row is judged by itself.
///
/// # Errors
/// `bill::missing_column` if the file cannot be an export.
pub(super) fn layout(file: &BillFile, headers: &[String]) -> Result<Layout, SourceError> {
    let layout = Layout::of(headers, other);
    let is_partial = headers.is_empty() || REQUIRED.iter().any(|column| layout.has(*column));
    let Some(missing) = REQUIRED.iter().find(|column| !layout.has(**column)) else { return Ok(layout) };
    if file.format.is_json() && is_partial {
        return Ok(layout);
    }
    let name = missing.shown();
    let help = if layout.has_header("BilledCost") && layout.has_header("ChargeCategory") {
        "the file looks like a FOCUS export: import it with `trainbill import focus`".to_owned()
    } else {
        format!("add `{name}` to the query of the export, or export the table with all columns")
    };
    Err(SourceError::new("bill::missing_column", format!("the bill has no column `{name}`"))
        .at(&file.name)
        .expected(name, format!("{} columns, none of that name", headers.len()))
        .help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::billing::FileFormat;

    fn matched(format: FileFormat, names: &[&str]) -> Result<Layout, SourceError> {
        let file = BillFile { path: "x".into(), name: "bill".to_owned(), bytes: 0, format, period: None };
        layout(&file, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn columns_are_found_under_every_spelling() {
        for names in [["service.id", "sku.description", "cost"], ["service_id", "SKU_DESCRIPTION", "Cost"]] {
            let layout = matched(FileFormat::Json, &names).unwrap();
            assert_eq!((layout.at(Column::ServiceId), layout.at(Column::SkuDescription)), (Some(0), Some(1)));
            assert_eq!(layout.kept.iter().map(|k| k.key.as_str()).collect::<Vec<_>>(), [names[0]]);
        }
    }

    #[test]
    fn a_table_needs_its_columns_and_a_row_of_json_may_leave_them_out() {
        let partial = ["cost", "currency"];
        let fault = matched(FileFormat::Csv, &partial).unwrap_err();
        assert_eq!(
            (fault.code, fault.expected.as_deref()),
            ("bill::missing_column", Some("usage_start_time"))
        );
        assert!(matched(FileFormat::Json, &partial).is_ok() && matched(FileFormat::Json, &[]).is_ok());
        assert!(matched(FileFormat::JsonGz, &["a"]).is_err() && matched(FileFormat::Csv, &[]).is_err());
        let focus = matched(FileFormat::Parquet, &["BilledCost", "ChargeCategory"]).unwrap_err();
        assert!(focus.help.unwrap().contains("import focus"));
    }
}
