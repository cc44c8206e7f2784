//! The helpers of the bill tests for AWS reports, and the small reports that the tests are made of.

use std::path::{Path, PathBuf};

use sources::SourceError;
use sources::billing::{BillLimits, BillOptions, aws_cur};

use super::bill::{self};
pub(crate) use super::bill::{Bill, amount, gzip, open, parquet_file, shuffled, without_place};

pub(crate) fn testdata(name: &str) -> PathBuf {
    bill::testdata(&format!("aws_cur/{name}"))
}

/// A sample that is kept beside the repository, not in it.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    bill::shared(&format!("aws_cur/{name}"))
}

pub(crate) fn read(path: &Path) -> Result<Bill, SourceError> {
    bill::read_with(aws_cur::read, path, &BillOptions::default())
}

/// The code of what comes of a file under other limits.
pub(crate) fn limited(limits: BillLimits, name: &str, bytes: &[u8]) -> &'static str {
    bill::limited(aws_cur::read, limits, (name, bytes))
}

/// Reads files of the given names and content as one folder.
pub(crate) fn read_files(files: &[(&str, &[u8])]) -> Result<Bill, SourceError> {
    bill::read_files(aws_cur::read, files)
}

pub(crate) fn read_csv(text: &str) -> Result<Bill, SourceError> {
    read_files(&[("bill.csv", text.as_bytes())])
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
