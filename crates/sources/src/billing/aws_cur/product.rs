//! What the map of product attributes tells where its own columns are missing.

use super::column::Column;
use super::row::Row;
use crate::billing::table::cell::Cells;
use crate::billing::table::extra::find_entry;
use crate::billing::table::made::Made;
use crate::text::Text;

/// Buffers for region and instance type, used again for every row.
#[derive(Debug, Default)]
pub(super) struct Product {
    region: Made,
    instance_type: Made,
}

impl Product {
    /// Forgets the rows before: the next ones have other columns.
    pub(super) fn forget(&mut self) {
        self.region.forget();
        self.instance_type.forget();
    }

    /// Looks into the product map of a row.
    pub(super) fn read<C: Cells>(&mut self, row: &Row<'_, C>) {
        find_entry(row, Column::Product, &["region_code", "region", "regionCode"], &mut self.region);
        find_entry(row, Column::Product, &["instance_type", "instanceType"], &mut self.instance_type);
    }

    /// The region of the row read last.
    pub(super) fn region(&self) -> Option<Text<'_>> {
        self.region.get()
    }

    /// The instance type of the row read last.
    pub(super) fn instance_type(&self) -> Option<Text<'_>> {
        self.instance_type.get()
    }
}
