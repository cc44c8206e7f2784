//! Which column of a report holds what, and without which columns it cannot be read.

use super::column::{Column, other};
use crate::SourceError;
use crate::billing::table::layout::Layout as TableLayout;

/// The columns of one file.
pub(super) type Layout = TableLayout<Column>;

/// A column without which a row has no meaning, as the user would look for it.
struct Required {
    column: Column,
    names: &'static str,
}

const REQUIRED: [Required; 5] = [
    Required { column: Column::LineType, names: "line_item_line_item_type (legacy lineItem/LineItemType)" },
    Required {
        column: Column::UnblendedCost,
        names: "line_item_unblended_cost (legacy lineItem/UnblendedCost)",
    },
    Required {
        column: Column::UsageStart,
        names: "line_item_usage_start_date (legacy lineItem/UsageStartDate)",
    },
    Required { column: Column::ProductCode, names: "line_item_product_code (legacy lineItem/ProductCode)" },
    Required { column: Column::Currency, names: "line_item_currency_code (legacy lineItem/CurrencyCode)" },
];

/// Matches the headers of a file.
///
/// # Errors
/// `bill::missing_column` if a required column is not there.
pub(super) fn layout(headers: &[String], file: &str) -> Result<Layout, SourceError> {
    let layout = Layout::of(headers, other);
    check(&layout, file)?;
    Ok(layout)
}

/// True if negotiated discounts stand in columns of their own.
pub(super) fn has_net_columns(layout: &Layout) -> bool {
    [Column::NetUnblendedCost, Column::RiNetEffective, Column::SpNetEffective].iter().any(|c| layout.has(*c))
}

fn check(layout: &Layout, file: &str) -> Result<(), SourceError> {
    let missing = REQUIRED.iter().find(|required| !layout.has(required.column));
    let names = match missing {
        Some(required) => required.names,
        None if layout.has(Column::UsageEnd) || layout.has(Column::TimeInterval) => return Ok(()),
        None => {
            "line_item_usage_end_date (legacy lineItem/UsageEndDate) or identity_time_interval \
             (legacy identity/TimeInterval)"
        }
    };
    let first = names.split(' ').next().unwrap_or(names);
    let focus = layout.has_header("BilledCost") && layout.has_header("ChargeCategory");
    let help = if focus {
        "the file looks like a FOCUS export: import it with `trainbill import focus`".to_owned()
    } else {
        format!("add `{first}` to the query of the data export, or export the legacy report with all columns")
    };
    Err(SourceError::new("bill::missing_column", format!("the bill has no column `{first}`"))
        .at(file)
        .expected(names, format!("{} columns, none of that name", layout.headers.len()))
        .help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    const LEGACY: [&str; 6] = [
        "lineItem/LineItemType",
        "lineItem/UnblendedCost",
        "lineItem/UsageStartDate",
        "lineItem/UsageEndDate",
        "lineItem/ProductCode",
        "lineItem/CurrencyCode",
    ];

    #[test]
    fn a_missing_column_is_named_with_its_spellings() {
        let fault = layout(&headers(&LEGACY[1..]), "cur.csv").unwrap_err();
        assert_eq!(fault.code, "bill::missing_column");
        assert!(fault.expected.unwrap().contains("lineItem/LineItemType"));
        assert!(fault.help.unwrap().contains("line_item_line_item_type"));
    }

    #[test]
    fn a_focus_file_is_sent_to_its_reader() {
        let fault = layout(&headers(&["BilledCost", "ChargeCategory"]), "focus.csv").unwrap_err();
        assert!(fault.help.unwrap().contains("import focus"));
    }

    #[test]
    fn the_same_columns_are_found_under_any_spelling() {
        let athena = [
            "line_item_line_item_type",
            "LINE_ITEM_UNBLENDED_COST",
            "usage_start",
            "identity_time_interval",
            "product_code",
            "currency_code",
            "resource_tags_user_team",
            "extra",
        ];
        let found = layout(&headers(&athena), "cur.parquet").unwrap();
        assert_eq!(found.at(Column::UnblendedCost), Some(1));
        assert_eq!(found.at(Column::UsageStart), Some(2));
        assert_eq!(found.tags.iter().map(|t| t.json_key.as_str()).collect::<Vec<_>>(), ["\"user_team\":"]);
        assert_eq!(found.kept.iter().map(|k| k.key.as_str()).collect::<Vec<_>>(), ["extra"]);
        assert!(layout(&headers(&LEGACY), "cur.csv").is_ok());
    }
}
