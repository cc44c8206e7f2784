//! The two JSON columns of a row, tags and unmapped columns, and single entries of a map.

use super::cell::{Cell, Cells};
use super::column::Name;
use super::json::{Pairs, Written, push_json_text};
use super::layout::{Keyed, Shape};
use super::made::Made;
use super::row::Row;
use crate::text::Text;

mod run;

/// Buffers for the texts that a row does not hold ready, used again for every row.
#[derive(Debug, Default)]
pub(in crate::billing) struct Extra {
    tags: Made,
    unmapped: Made,
    value: String,
    pairs: Pairs,
    written: Written,
    runs: run::Runs,
    /// Cells of tags or labels that hold none.
    pub(in crate::billing) unreadable_maps: u64,
}

impl Extra {
    /// The tags of the row read last, or `None` if it has none.
    pub(in crate::billing) fn tags(&self) -> Option<Text<'_>> {
        self.tags.get()
    }

    /// The unmapped columns of the row read last, or `None`.
    pub(in crate::billing) fn unmapped(&self) -> Option<Text<'_>> {
        self.unmapped.get()
    }

    /// Forgets the rows before: the next ones have other columns.
    pub(in crate::billing) fn forget(&mut self) {
        self.tags.forget();
        self.unmapped.forget();
    }

    /// Reads the tags of a row: columns of one tag each, and maps of tags.
    pub(in crate::billing) fn read_tags<N: Name, C: Cells>(&mut self, row: &Row<'_, N, C>) {
        let of_tags = || row.layout.tags.iter().chain(&row.layout.tag_maps);
        if self.tags.recall(|key| of_tags().all(|tag| row.cells.identify(tag.column, key))) {
            return;
        }
        let out = &mut self.tags.text;
        if row.layout.tag_maps.is_empty() {
            for tag in &row.layout.tags {
                if let Cell::Text(value) = row.cells.cell(tag.column) {
                    push_member(out, &tag.json_key, value);
                }
            }
            close(out);
            self.tags.keep();
            return;
        }
        self.pairs.clear();
        let pairs = &mut self.pairs;
        row.layout.tags.iter().for_each(|tag| pairs.push(&tag.key, row.cells.cell(tag.column)));
        let mut unreadable = 0;
        for map in &row.layout.tag_maps {
            let readable = row.cells.entries(map.column, &mut |key, value| pairs.push(key, value));
            unreadable += u64::from(!readable);
        }
        if !pairs.is_empty() {
            self.written.write_object(pairs, out);
        }
        // What cannot be read is counted row by row.
        if unreadable == 0 {
            self.tags.keep();
        }
        self.unreadable_maps += unreadable;
    }

    /// Writes every column without a canonical place: maps as objects, lists of records as arrays, and either as its text
    /// where it cannot be read.
    ///
    /// `more` is a key with a value that the row's own columns do not bring.
    pub(in crate::billing) fn read_unmapped<N: Name, C: Cells>(
        &mut self,
        row: &Row<'_, N, C>,
        more: Option<(&str, Cell<'_>)>,
    ) {
        let maps = &row.layout.tag_maps;
        let identify = |key: &mut Vec<u64>| {
            let columns = row.layout.kept_here().chain(maps).map(|kept| kept.column);
            more.is_none()
                && columns.into_iter().all(|column| {
                    key.push(column as u64);
                    row.cells.identify(column, key)
                })
        };
        if self.unmapped.recall(identify) {
            return;
        }
        for kept in row.layout.kept_here() {
            match kept.shape {
                Shape::Map => self.push_map(row, kept),
                Shape::Records => self.push_records(row, kept),
                Shape::Value | Shape::Input => self.push_value(row, kept),
            }
        }
        for tags in &row.layout.tag_maps {
            let readable = match tags.shape {
                Shape::Records => row.cells.records(tags.column, &mut |_, _, _| {}),
                Shape::Map | Shape::Value | Shape::Input => row.cells.entries(tags.column, &mut |_, _| {}),
            };
            if !readable {
                self.push_cell(&tags.json_key, row.cells.cell(tags.column));
            }
        }
        if let Some((key, cell)) = more {
            let mut json_key = String::new();
            push_json_text(&mut json_key, key);
            json_key.push(':');
            self.push_cell(&json_key, cell);
        }
        close(&mut self.unmapped.text);
        self.unmapped.keep();
    }

    fn push_value<N: Name, C: Cells>(&mut self, row: &Row<'_, N, C>, kept: &Keyed) {
        match row.cells.cell(kept.column) {
            Cell::Null if row.cells.is_nested(kept.column) => self.push_records(row, kept),
            cell => self.writing().push_value(kept, cell),
        }
    }

    fn push_cell(&mut self, json_key: &str, cell: Cell<'_>) {
        self.writing().push_cell(json_key, cell);
    }

    const fn writing(&mut self) -> Writing<'_> {
        Writing { out: &mut self.unmapped.text, start: 0 }
    }

    fn push_map<N: Name, C: Cells>(&mut self, row: &Row<'_, N, C>, map: &Keyed) {
        self.pairs.clear();
        let pairs = &mut self.pairs;
        if row.cells.entries(map.column, &mut |key, value| pairs.push(key, value)) {
            if !pairs.is_empty() {
                push_key(&mut self.unmapped.text, &map.json_key);
                pairs.write_object(&mut self.unmapped.text);
            }
            return;
        }
        self.push_cell(&map.json_key, row.cells.cell(map.column));
    }

    fn push_records<N: Name, C: Cells>(&mut self, row: &Row<'_, N, C>, kept: &Keyed) {
        let Self { unmapped, value, .. } = self;
        let unmapped = &mut unmapped.text;
        let mut last = None;
        let readable = row.cells.records(kept.column, &mut |position, name, cell| {
            match last {
                Some(known) if known == position => unmapped.push(','),
                Some(_) => unmapped.push_str("},{"),
                None => {
                    push_key(unmapped, &kept.json_key);
                    unmapped.push_str("[{");
                }
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
        } else if !readable {
            self.push_cell(&kept.json_key, row.cells.cell(kept.column));
        }
    }
}

/// An object that is being written at the end of a text.
struct Writing<'a> {
    out: &'a mut String,
    /// Where it starts.
    start: usize,
}

impl Writing<'_> {
    /// Writes a value, unless it is one of those that are left out.
    fn push_value(&mut self, kept: &Keyed, cell: Cell<'_>) {
        match cell {
            Cell::Null => {}
            cell if kept.shape == Shape::Input && cell.is_zero() => {}
            cell => self.push_cell(&kept.json_key, cell),
        }
    }

    fn push_cell(&mut self, json_key: &str, cell: Cell<'_>) {
        self.out.push(if self.out.len() == self.start { '{' } else { ',' });
        self.out.push_str(json_key);
        if let Cell::Text(text) = cell {
            push_json_text(self.out, text);
            return;
        }
        // What is no text has no character that JSON would have otherwise.
        self.out.push('"');
        cell.write_to(self.out);
        self.out.push('"');
    }
}

/// Writes the first value of a map column whose key is one of `keys`, where there is one.
pub(in crate::billing) fn find_entry<N: Name, C: Cells>(
    row: &Row<'_, N, C>,
    column: N,
    keys: &[&str],
    out: &mut Made,
) {
    let at = row.layout.here(column);
    let identify = |key: &mut Vec<u64>| {
        at.is_some_and(|at| {
            key.push(at as u64);
            row.cells.identify(at, key)
        })
    };
    if out.recall(identify) {
        return;
    }
    let Some(at) = at else { return };
    let text = &mut out.text;
    row.cells.entries(at, &mut |key, value| {
        if text.is_empty() && keys.contains(&key) {
            value.write_to(text);
        }
    });
    out.keep();
}

fn push_key(out: &mut String, json_key: &str) {
    out.push(if out.is_empty() { '{' } else { ',' });
    out.push_str(json_key);
}

fn push_member(out: &mut String, json_key: &str, value: &str) {
    push_key(out, json_key);
    push_json_text(out, value);
}

fn close(out: &mut String) {
    if !out.is_empty() {
        out.push('}');
    }
}
