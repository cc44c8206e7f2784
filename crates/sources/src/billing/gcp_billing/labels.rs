//! The labels and tags of a row as one object, and what its system labels tell.

use super::column::Column;
use super::credit::{RECORDS, too_many};
use super::row::{Fault, Row};
use crate::billing::table::cell::{Cell, Cells};
use crate::billing::table::json::Pairs;

/// Buffers for what is read of the labels of a row, used again for every row.
#[derive(Debug, Default)]
pub(super) struct Labels {
    tags: String,
    machine: String,
    is_unused: bool,
    value: String,
    pairs: Pairs,
    label: Label,
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

impl Labels {
    /// The tags of the row read last, or `None` if it has none.
    pub(super) fn tags(&self) -> Option<&str> {
        (!self.tags.is_empty()).then_some(self.tags.as_str())
    }

    /// The machine type that the system labels of the row read last name.
    pub(super) fn machine(&self) -> Option<&str> {
        (!self.machine.is_empty()).then_some(self.machine.as_str())
    }

    /// True if the system labels of the row read last say that a reservation ran empty.
    pub(super) const fn is_unused(&self) -> bool {
        self.is_unused
    }

    /// Reads the labels of a row and gives the number of columns that hold none, which are left to `x_unmapped`.
    ///
    /// # Errors
    /// `row::too_many_records`.
    pub(super) fn read<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<u64, Fault> {
        let Self { tags, machine, is_unused, value, pairs, label } = self;
        let mut unreadable = 0;
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
            unreadable += u64::from(!readable);
            if over {
                return Err(too_many(column));
            }
        }
        if !pairs.is_empty() {
            pairs.write_object(tags);
        }
        Ok(unreadable)
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
