//! The two JSON columns of a run of rows: tags are looked for together, and unmapped texts that lie in dictionaries are
//! written once for all rows that have them alike.

use std::ops::Range;

use super::{Extra, Writing};
use crate::batches::Gathered;
use crate::billing::table::alike::Alike;
use crate::billing::table::cell::Cells as _;
use crate::billing::table::column::Name;
use crate::billing::table::columns::Columns;
use crate::billing::table::layout::{Keyed, Layout, Shape};
use crate::billing::table::made::AT_ONCE;
use crate::billing::table::row::Row;
use crate::text::{Symbol, Text};

/// Neighbouring members of the rows' objects.
enum Members<'a> {
    /// Those of columns whose texts lie in dictionaries.
    Alike(Shared),
    /// Those that are written for each row.
    Own(&'a [&'a Keyed]),
}

/// Members as they are written, by the numbers of the rows that have them.
#[derive(Debug, Default)]
pub(super) struct Shared {
    alike: Alike,
    /// Each with the comma before it.
    text: String,
    places: Vec<Range<usize>>,
}

/// What is kept from one run to the next.
#[derive(Debug, Default)]
pub(super) struct Runs {
    shared: Vec<Shared>,
    /// Rows and bytes of the last run's tags and unmapped columns.
    tags: (usize, usize),
    unmapped: (usize, usize),
}

impl Extra {
    /// The tags of each row of a run.
    pub(in crate::billing) fn tags_of<N: Name>(
        &mut self,
        layout: &Layout<N>,
        columns: &Columns<'_>,
    ) -> Gathered {
        let mut gathered = Gathered::like(self.runs.tags);
        let of_tags = || layout.tags.iter().chain(&layout.tag_maps);
        for start in (0..columns.len()).step_by(AT_ONCE) {
            let rows = start..columns.len().min(start + AT_ONCE);
            let found = self.tags.recall_some(rows.clone(), |row, key| {
                let cells = columns.row(row);
                of_tags().all(|tag| cells.identify(tag.column, key))
            });
            let age = self.tags.age();
            for (row, found) in rows.zip(found) {
                match found.filter(|_| self.tags.age() == age) {
                    Some(known) => gathered.push(self.tags.known(known)),
                    None => {
                        self.read_tags(&Row { layout, cells: &columns.row(row) });
                        gathered.push(self.tags());
                    }
                }
            }
        }
        self.runs.tags = gathered.size();
        gathered
    }

    /// The unmapped columns of each row of a run.
    pub(in crate::billing) fn unmapped_of<N: Name>(
        &mut self,
        layout: &Layout<N>,
        columns: &Columns<'_>,
    ) -> Gathered {
        let mut gathered = Gathered::like(self.runs.unmapped);
        let kept: Vec<&Keyed> = layout.kept_here().collect();
        let is_value = |kept: &&Keyed| {
            matches!(kept.shape, Shape::Value | Shape::Input) && !columns.is_nested(kept.column)
        };
        // What holds no tags is an unmapped column too.
        let is_map = |map: &Keyed| columns.is_nested(map.column) || columns.is_absent(map.column);
        if !kept.iter().all(is_value) || !layout.tag_maps.iter().all(is_map) {
            for cells in columns.each_row() {
                self.read_unmapped(&Row { layout, cells: &cells }, None);
                gathered.push(self.unmapped());
            }
            return gathered;
        }
        let members = self.members(&kept, columns);
        match members.as_slice() {
            [Members::Alike(shared)] => shared.gather(&mut gathered),
            members => self.gather_members(members, columns, &mut gathered),
        }
        for member in members {
            if let Members::Alike(shared) = member {
                self.runs.shared.push(shared);
            }
        }
        self.runs.unmapped = gathered.size();
        gathered
    }

    fn members<'a>(&mut self, kept: &'a [&'a Keyed], columns: &Columns<'_>) -> Vec<Members<'a>> {
        let is_coded = |kept: &Keyed| columns.dictionary(kept.column).is_some();
        let neighbours = kept.chunk_by(|one, other| is_coded(one) == is_coded(other));
        neighbours
            .map(|kept| {
                if !kept.first().is_some_and(|kept| is_coded(kept)) {
                    return Members::Own(kept);
                }
                let mut shared = self.runs.shared.pop().unwrap_or_default();
                shared.write(kept, columns);
                Members::Alike(shared)
            })
            .collect()
    }

    fn gather_members(&mut self, members: &[Members<'_>], columns: &Columns<'_>, gathered: &mut Gathered) {
        for (at, cells) in columns.each_row().enumerate() {
            gathered.push_written(|out| {
                let start = out.len();
                for member in members {
                    match member {
                        Members::Alike(shared) => match shared.of(at) {
                            "" => {}
                            text if out.len() == start => {
                                out.push('{');
                                out.push_str(text.get(1..).unwrap_or(""));
                            }
                            text => out.push_str(text),
                        },
                        Members::Own(kept) => {
                            let mut writing = Writing { out: &mut *out, start };
                            kept.iter().for_each(|kept| writing.push_value(kept, cells.cell(kept.column)));
                        }
                    }
                }
                if out.len() > start {
                    out.push('}');
                }
            });
        }
    }
}

impl Shared {
    /// Writes the members of all rows.
    fn write(&mut self, kept: &[&Keyed], columns: &Columns<'_>) {
        let Self { alike, text, places } = self;
        alike.begin(columns.len());
        for codes in kept.iter().filter_map(|kept| columns.codes(kept.column)) {
            alike.tell_apart(codes);
        }
        text.clear();
        places.clear();
        for first in alike.firsts() {
            let (start, cells) = (text.len(), columns.row(*first));
            // It starts before the text, so that a comma comes first.
            let mut writing = Writing { out: text, start: usize::MAX };
            kept.iter().for_each(|kept| writing.push_value(kept, cells.cell(kept.column)));
            places.push(start..text.len());
        }
    }

    fn of(&self, row: usize) -> &str {
        let place = self.alike.numbers().get(row).and_then(|number| self.places.get(*number as usize));
        place.and_then(|place| self.text.get(place.clone())).unwrap_or("")
    }

    /// The objects of all rows, which have no other members.
    fn gather(&self, gathered: &mut Gathered) {
        let first = Symbol::range(self.places.len());
        let whole = |(number, place): (u64, &Range<usize>)| {
            let members = self.text.get(place.clone()).and_then(|text| text.get(1..))?;
            let text = format!("{{{members}}}");
            Some(gathered.keep(Text::known(&text, Some(Symbol::at(first, number)))))
        };
        let kept: Vec<_> = (0..).zip(&self.places).map(whole).collect();
        for number in self.alike.numbers() {
            gathered.push_kept(kept.get(*number as usize).copied().flatten());
        }
    }
}
