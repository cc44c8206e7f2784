//! What the map of product attributes tells where its own columns are missing.

use super::column::Column;
use super::row::Row;
use crate::billing::table::cell::Cells;
use crate::billing::table::extra::find_entry;

/// Buffers for region and instance type, used again for every row.
#[derive(Debug, Default)]
pub(super) struct Product {
    region: String,
    instance_type: String,
}

impl Product {
    /// Looks into the product map of a row.
    pub(super) fn read<C: Cells>(&mut self, row: &Row<'_, C>) {
        find_entry(row, Column::Product, &["region_code", "region", "regionCode"], &mut self.region);
        find_entry(row, Column::Product, &["instance_type", "instanceType"], &mut self.instance_type);
    }

    /// The region of the row read last.
    pub(super) fn region(&self) -> Option<&str> {
        (!self.region.is_empty()).then_some(self.region.as_str())
    }

    /// The instance type of the row read last.
    pub(super) fn instance_type(&self) -> Option<&str> {
        (!self.instance_type.is_empty()).then_some(self.instance_type.as_str())
    }
}
