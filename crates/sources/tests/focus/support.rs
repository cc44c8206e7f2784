//! Small FOCUS files, written as columns with values.

use std::collections::BTreeSet;
use std::path::Path;

use sources::SourceError;
use sources::billing::{BillOptions, focus};

use super::bill::{self, Bill};

/// An hour on demand at ten, for twelve at public rates.
pub(crate) const USAGE: &str = "BilledCost=10;EffectiveCost=10;ListCost=12;ListUnitPrice=12;PricingQuantity=1;\
BillingAccountId=1;BillingCurrency=USD;BillingPeriodStart=2026-07-01T00:00:00Z;BillingPeriodEnd=2026-08-01T00:00:00Z;\
ChargeCategory=Usage;ChargePeriodStart=2026-07-01T00:00:00Z;ChargePeriodEnd=2026-07-01T01:00:00Z;ProviderName=AWS;\
ServiceCategory=Compute;ServiceName=Compute;ResourceId=i-1;SkuId=sku-1;SubAccountId=2;RegionId=us-east-1";

/// A file of rows `Column=value;…`; of a repeated column the last value stands, and a missing one is empty.
pub(crate) fn file(rows: &[&str]) -> String {
    let cells = |row: &str| -> Vec<(String, String)> {
        row.split(';')
            .map(|cell| cell.split_once('=').unwrap())
            .map(|(column, value)| (column.to_owned(), value.to_owned()))
            .collect()
    };
    let rows: Vec<_> = rows.iter().map(|row| cells(row)).collect();
    let columns: BTreeSet<&String> = rows.iter().flatten().map(|(column, _)| column).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&columns).unwrap();
    for row in &rows {
        let value = |column: &&&String| row.iter().rev().find(|(name, _)| name == **column);
        let values = columns.iter().map(|column| value(&column).map_or("", |(_, value)| value));
        writer.write_record(values).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

pub(crate) fn read(path: &Path) -> Result<Bill, SourceError> {
    bill::read_with(focus::read, path, &BillOptions::default())
}

pub(crate) fn read_files(files: &[(&str, &[u8])]) -> Result<Bill, SourceError> {
    bill::read_files(focus::read, files)
}

pub(crate) fn read_csv(text: &str) -> Result<Bill, SourceError> {
    read_files(&[("bill.csv", text.as_bytes())])
}
