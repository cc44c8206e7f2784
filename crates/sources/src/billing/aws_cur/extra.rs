//! The two JSON columns of a row, tags and unmapped columns, and what is found in the product map.

use super::row::Row;
use crate::billing::table::cell::{Cell, Cells};
use crate::billing::table::json::Pairs;
use crate::billing::table::keyed::{Keyed, close, push_key, push_member};

/// Buffers for the texts that a row does not hold ready, used again for every row.
#[derive(Debug, Default)]
pub(super) struct Extra {
    tags: String,
    unmapped: String,
    region: String,
    instance_type: String,
    value: String,
    pairs: Pairs,
    /// Cells of a map column that hold no map.
    pub(super) unreadable_maps: u64,
}

impl Extra {
    /// The tags of the row read last, or `None` if it has none.
    pub(super) fn tags(&self) -> Option<&str> {
        (!self.tags.is_empty()).then_some(self.tags.as_str())
    }

    /// The unmapped columns of the row read last, or `None`.
    pub(super) fn unmapped(&self) -> Option<&str> {
        (!self.unmapped.is_empty()).then_some(self.unmapped.as_str())
    }

    /// The region in the product map of the row read last.
    pub(super) fn region(&self) -> Option<&str> {
        (!self.region.is_empty()).then_some(self.region.as_str())
    }

    /// The instance type in the product map of the row read last.
    pub(super) fn instance_type(&self) -> Option<&str> {
        (!self.instance_type.is_empty()).then_some(self.instance_type.as_str())
    }

    /// Reads the tags of a row: columns of one tag each, and maps of tags.
    pub(super) fn read_tags<C: Cells>(&mut self, row: &Row<'_, C>) {
        self.tags.clear();
        if row.layout.tag_maps.is_empty() {
            for tag in &row.layout.tags {
                if let Cell::Text(value) = row.cells.cell(tag.column) {
                    push_member(&mut self.tags, tag, value);
                }
            }
            close(&mut self.tags);
            return;
        }
        self.pairs.clear();
        let pairs = &mut self.pairs;
        row.layout.tags.iter().for_each(|tag| pairs.push(&tag.key, row.cells.cell(tag.column)));
        for map in &row.layout.tag_maps {
            let readable = row.cells.entries(map.column, &mut |key, value| pairs.push(key, value));
            self.unreadable_maps += u64::from(!readable);
        }
        if !pairs.is_empty() {
            pairs.write_object(&mut self.tags);
        }
    }

    /// Reads region and instance type out of the product map.
    pub(super) fn read_product<C: Cells>(&mut self, row: &Row<'_, C>) {
        let (region, instance_type) = (&mut self.region, &mut self.instance_type);
        region.clear();
        instance_type.clear();
        let Some(column) = row.layout.product_map else { return };
        row.cells.entries(column, &mut |key, value| match key {
            "region_code" | "region" | "regionCode" if region.is_empty() => value.write_to(region),
            "instance_type" | "instanceType" if instance_type.is_empty() => value.write_to(instance_type),
            _ => {}
        });
    }

    /// Writes every column without a canonical place, maps as objects and a map that cannot be read as its text.
    pub(super) fn read_unmapped<C: Cells>(&mut self, row: &Row<'_, C>) {
        self.unmapped.clear();
        for kept in &row.layout.kept {
            if kept.map {
                self.push_map(row, kept);
                continue;
            }
            match row.cells.cell(kept.column) {
                Cell::Null => {}
                cell if kept.skip_zero && cell.is_zero() => {}
                Cell::Text(text) => push_member(&mut self.unmapped, kept, text),
                cell => {
                    self.value.clear();
                    cell.write_to(&mut self.value);
                    push_member(&mut self.unmapped, kept, &self.value);
                }
            }
        }
        for map in &row.layout.tag_maps {
            if !row.cells.entries(map.column, &mut |_, _| {}) {
                self.push_map(row, map);
            }
        }
        close(&mut self.unmapped);
    }

    fn push_map<C: Cells>(&mut self, row: &Row<'_, C>, map: &Keyed) {
        self.pairs.clear();
        let pairs = &mut self.pairs;
        if row.cells.entries(map.column, &mut |key, value| pairs.push(key, value)) {
            if !pairs.is_empty() {
                push_key(&mut self.unmapped, map);
                pairs.write_object(&mut self.unmapped);
            }
            return;
        }
        self.value.clear();
        row.cells.cell(map.column).write_to(&mut self.value);
        push_member(&mut self.unmapped, map, &self.value);
    }
}
