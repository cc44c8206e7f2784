//! Helpers of the tests of the AWS reader: small bills from text.

use std::path::{Path, PathBuf};

use sources::SourceError;
use sources::billing::{BillOptions, aws_cur};

pub(crate) use crate::bills::{Bill, Row, amount, gzip, open, parquet_file};
use crate::bills::{Reader, beside, code_with, fixture, read_bill, read_folder};

/// The reader under test.
pub(crate) const READER: Reader = aws_cur::read;

impl Bill {
    /// The row of a line item.
    pub(crate) fn line(&self, id: &str) -> &Row {
        self.rows.iter().find(|row| row.get("x_line_item_id").is_some_and(|known| known == id)).unwrap()
    }
}

pub(crate) fn testdata(name: &str) -> PathBuf {
    fixture(&format!("aws_cur/{name}"))
}

pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    beside(&format!("aws_cur/{name}"))
}

pub(crate) fn read(path: &Path) -> Result<Bill, SourceError> {
    read_bill(READER, path, &BillOptions::default()).map(one_charge_a_row)
}

/// A row of a report is one charge.
fn one_charge_a_row(bill: Bill) -> Bill {
    assert_eq!(bill.summary.accepted, bill.rows.len() as u64);
    bill
}

pub(crate) fn read_files(files: &[(&str, &[u8])]) -> Result<Bill, SourceError> {
    read_folder(READER, files).map(one_charge_a_row)
}

pub(crate) fn read_csv(text: &str) -> Result<Bill, SourceError> {
    read_files(&[("bill.csv", text.as_bytes())])
}

/// The code of what comes of a file under other limits.
pub(crate) fn limited(limits: sources::billing::BillLimits, name: &str, bytes: &[u8]) -> &'static str {
    code_with(READER, &BillOptions { limits, ..BillOptions::default() }, (name, bytes))
}

/// The header of the small bills of the tests, in the spelling of CUR 2.0.
pub(crate) const HEADER: &str = "line_item_line_item_type,line_item_unblended_cost,line_item_usage_start_date,\
line_item_usage_end_date,line_item_product_code,line_item_currency_code,line_item_usage_type,line_item_operation,\
line_item_resource_id,identity_line_item_id,bill_payer_account_id,line_item_usage_amount";

/// A row below [`HEADER`]: an hour of a type at a cost, for a line item.
pub(crate) fn hour(line_type: &str, cost: &str, id: &str) -> String {
    format!(
        "{line_type},{cost},2026-07-01T00:00:00Z,2026-07-01T01:00:00Z,AmazonEC2,USD,BoxUsage:p4d.24xlarge,\
         RunInstances,i-0,{id},111111111111,1"
    )
}
