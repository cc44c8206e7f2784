//! A column that a source stops telling is told at import, since no sum shows it.

use std::fmt::Write as _;
use std::fs;

use crate::program::run;

/// A month of hourly rows; `resources` says whether they name their machine.
fn bill(month: u32, rows: usize, resources: bool) -> String {
    let mut text = String::from(
        "bill_payer_account_id,line_item_line_item_type,line_item_product_code,line_item_usage_type,\
         line_item_resource_id,line_item_usage_start_date,line_item_usage_end_date,line_item_currency_code,\
         line_item_unblended_cost\n",
    );
    for row in 0..rows {
        let (day, hour) = (1 + row / 23, row % 23);
        let resource = if resources { "i-1" } else { "" };
        writeln!(
            text,
            "111111111111,Usage,AmazonEC2,BoxUsage:p4d.24xlarge,{resource},2026-{month:02}-{day:02}T{hour:02}:00:00Z,\
             2026-{month:02}-{day:02}T{:02}:00:00Z,USD,1.5",
            hour + 1
        )
        .unwrap();
    }
    text
}

#[test]
fn a_column_that_turned_null_is_told_and_a_small_bill_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let import = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        let told = run(folder.path(), ["import", "aws-cur", name]);
        assert_eq!(told.code, 0, "{told:?}");
        told.stderr
    };
    assert!(!import("july.csv", &bill(7, 60, true)).contains("quality::turned_null"));
    let august = import("august.csv", &bill(8, 60, false));
    assert!(august.contains("warning[quality::turned_null]"), "{august}");
    assert!(
        august.contains("`resource_id` is empty in 60 of 60 rows, and was told in the delivery for 2026-07")
    );
    assert!(!import("august.csv", &bill(8, 60, false)).contains("quality::turned_null"));
    assert!(!import("september.csv", &bill(9, 10, true)).contains("quality::turned_null"));
}
