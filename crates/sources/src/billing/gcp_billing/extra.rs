//! The two JSON columns of a row, tags and unmapped columns, and what the system labels tell.

use super::column::Column;
use super::credit::{RECORDS, too_many};
use super::row::{Fault, Row};
use crate::billing::table::cell::{Cell, Cells};
use crate::billing::table::json::{Pairs, push_json_text};
use crate::billing::table::keyed::{Keyed, close, push_key, push_member};

/// Buffers for the texts that a row does not hold ready, used again for every row.
#[derive(Debug, Default)]
pub(super) struct Extra {
    tags: String,
    unmapped: String,
    machine: String,
    is_unused: bool,
    value: String,
    pairs: Pairs,
    label: Label,
    /// Cells of labels that hold no labels.
    pub(super) unreadable_labels: u64,
}

/// The columns of labels in the order in which they claim a key, and what stands before a key that is claimed.
///
/// System labels always carry theirs: the provider's own facts are told apart from the user's words.
const LABELS: [(Column, &str); 4] = [
    (Column::Labels, "label:"),
    (Column::Tags, "tag:"),
    (Column::ProjectLabels, "project:"),
    (Column::SystemLabels, "system:"),
];

impl Extra {
    /// The tags of the row read last, or `None` if it has none.
    pub(super) fn tags(&self) -> Option<&str> {
        (!self.tags.is_empty()).then_some(self.tags.as_str())
    }

    /// The unmapped columns of the row read last, or `None`.
    pub(super) fn unmapped(&self) -> Option<&str> {
        (!self.unmapped.is_empty()).then_some(self.unmapped.as_str())
    }

    /// The machine type that the system labels of the row read last name.
    pub(super) fn machine(&self) -> Option<&str> {
        (!self.machine.is_empty()).then_some(self.machine.as_str())
    }

    /// True if the system labels of the row read last say that a reservation ran empty.
    pub(super) const fn is_unused(&self) -> bool {
        self.is_unused
    }

    /// Reads the labels of a row; a column that holds none is left to `x_unmapped`.
    ///
    /// # Errors
    /// `row::too_many_records`.
    pub(super) fn read_labels<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<(), Fault> {
        let Self { tags, machine, is_unused, value, pairs, label, unreadable_labels, .. } = self;
        tags.clear();
        machine.clear();
        *is_unused = false;
        pairs.clear();
        for (column, prefix) in LABELS {
            let Some(at) = row.layout.at(column) else { continue };
            let system = column == Column::SystemLabels;
            let mut left = RECORDS;
            let mut over = false;
            let mut add = |key: &str, text: &str| {
                over |= left == 0;
                left = left.saturating_sub(1);
                if over {
                    return;
                }
                if system {
                    match key {
                        "compute.googleapis.com/machine_spec" => machine.replace_range(.., text),
                        "compute.googleapis.com/is_unused_reservation" => *is_unused = text == "true",
                        _ => {}
                    }
                }
                if system || pairs.has(key) {
                    value.clear();
                    value.push_str(prefix);
                    value.push_str(key);
                    pairs.push_text(value, text);
                } else {
                    pairs.push_text(key, text);
                }
            };
            label.start();
            let readable = row.cells.records(at, &mut |position, name, cell| {
                label.take((position, name, cell), &mut add);
            });
            label.finish(&mut add);
            *unreadable_labels += u64::from(!readable);
            if over {
                return Err(too_many(column));
            }
        }
        if !pairs.is_empty() {
            pairs.write_object(tags);
        }
        Ok(())
    }

    /// Writes every column without a canonical place, lists as arrays and a list that cannot be read as its text; the
    /// cost only where credits change it.
    pub(super) fn read_unmapped<C: Cells>(&mut self, row: &Row<'_, C>, has_credits: bool) {
        self.unmapped.clear();
        let cost = row.layout.at(Column::Cost);
        for kept in &row.layout.kept {
            if Some(kept.column) == cost && !has_credits {
                continue;
            }
            match row.cells.cell(kept.column) {
                Cell::Text(text) if !kept.map => {
                    if !(kept.skip_zero && Cell::Text(text).is_zero()) {
                        push_member(&mut self.unmapped, kept, text);
                    }
                }
                cell if cell.is_null() || kept.map => self.push_records(row, kept),
                cell if kept.skip_zero && cell.is_zero() => {}
                cell => self.push_cell(kept, cell),
            }
        }
        for (column, _) in LABELS {
            let at = row.layout.at(column).filter(|_| column != Column::Tags);
            if let Some(at) = at.filter(|at| !row.cells.records(*at, &mut |_, _, _| {})) {
                self.push_cell(&Keyed::new(at, column.shown(), false, false), row.cells.cell(at));
            }
        }
        close(&mut self.unmapped);
    }

    fn push_cell(&mut self, kept: &Keyed, cell: Cell<'_>) {
        self.value.clear();
        cell.write_to(&mut self.value);
        push_member(&mut self.unmapped, kept, &self.value);
    }

    fn push_records<C: Cells>(&mut self, row: &Row<'_, C>, kept: &Keyed) {
        let Self { unmapped, value, .. } = self;
        let opened = unmapped.len();
        push_key(unmapped, kept);
        unmapped.push('[');
        let mut last = None;
        let readable = row.cells.records(kept.column, &mut |position, name, cell| {
            match last {
                Some(known) if known == position => unmapped.push(','),
                Some(_) => unmapped.push_str("},{"),
                None => unmapped.push('{'),
            }
            last = Some(position);
            push_json_text(unmapped, name);
            unmapped.push(':');
            value.clear();
            cell.write_to(value);
            push_json_text(unmapped, value);
        });
        if last.is_some() {
            unmapped.push_str("}]");
            return;
        }
        unmapped.truncate(opened);
        if !readable {
            self.push_cell(kept, row.cells.cell(kept.column));
        }
    }
}

/// A label as far as its fields were seen.
#[derive(Debug, Default)]
struct Label {
    at: usize,
    key: String,
    value: String,
}

impl Label {
    fn start(&mut self) {
        self.at = 0;
        self.key.clear();
        self.value.clear();
    }

    /// Takes a field of a record. Labels come as records of key and value, or as an object whose fields are the labels.
    fn take(&mut self, (at, name, cell): (usize, &str, Cell<'_>), add: &mut dyn FnMut(&str, &str)) {
        if self.at != at {
            self.finish(add);
            self.at = at;
        }
        let text = match name {
            "key" => &mut self.key,
            "value" => &mut self.value,
            // What a tag says beyond key and value stays in `x_unmapped`.
            "inherited" | "namespace" => return,
            label => {
                let mut text = String::new();
                cell.write_to(&mut text);
                return add(label, &text);
            }
        };
        text.clear();
        cell.write_to(text);
    }

    fn finish(&mut self, add: &mut dyn FnMut(&str, &str)) {
        if !self.key.is_empty() {
            add(&self.key, &self.value);
        }
        self.key.clear();
        self.value.clear();
    }
}
