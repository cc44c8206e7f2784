//! Which column of a file holds what, found by name alone.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::column::{Kept, Name, squashed};
use super::json::push_json_text;
use super::{Form, Wanted};
use crate::billing::Unmapped;

/// The columns of one file.
#[derive(Debug, Clone)]
pub(in crate::billing) struct Layout<N> {
    at: Vec<Option<usize>>,
    /// As `at`, without the columns in which the rows read now have no value.
    here: Vec<Option<usize>>,
    /// The headers of the file.
    pub(in crate::billing) headers: Vec<String>,
    /// Columns of one tag each, sorted by key.
    pub(in crate::billing) tags: Vec<Keyed>,
    /// Columns that hold a map or a list of tags.
    pub(in crate::billing) tag_maps: Vec<Keyed>,
    /// Columns for `x_unmapped`, sorted by name.
    pub(in crate::billing) kept: Vec<Keyed>,
    /// Those of `kept` in which the rows read now have any value.
    kept_here: Vec<usize>,
    columns: PhantomData<N>,
}

/// A column whose values are written into a JSON object.
#[derive(Debug, Clone)]
pub(in crate::billing) struct Keyed {
    /// Position in the file.
    pub(in crate::billing) column: usize,
    /// The key as JSON text with its quotes and colon.
    pub(in crate::billing) json_key: String,
    /// The key.
    pub(in crate::billing) key: String,
    /// As what they are written.
    pub(in crate::billing) shape: Shape,
}

/// As what the values of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::billing) enum Shape {
    /// As texts.
    Value,
    /// As texts, where they are not zero: they feed a computation.
    Input,
    /// As objects.
    Map,
    /// As arrays of objects.
    Records,
}

/// What a column is that the format does not know by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::billing) enum Other<'h> {
    /// One tag of this key.
    Tag(&'h str),
    /// A map of tags.
    TagMap,
    /// A map for `x_unmapped`.
    Map,
    /// A list of records for `x_unmapped`.
    Records,
    /// A value for `x_unmapped`.
    Value,
}

impl<N: Name> Layout<N> {
    /// Matches the headers of a file; `other` tells what a header is that is not among the known columns.
    pub(in crate::billing) fn of(headers: &[String], other: impl for<'h> Fn(&'h str) -> Other<'h>) -> Self {
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for (position, header) in headers.iter().enumerate() {
            by_name.entry(squashed(header)).or_insert(position);
        }
        let find = |column: &N| column.spellings().iter().find_map(|s| by_name.get(&squashed(s)).copied());
        let mut layout = Self {
            at: N::ALL.iter().map(find).collect(),
            here: Vec::new(),
            headers: headers.to_vec(),
            tags: Vec::new(),
            tag_maps: Vec::new(),
            kept: Vec::new(),
            kept_here: Vec::new(),
            columns: PhantomData,
        };
        for (position, header) in headers.iter().enumerate() {
            let known = N::ALL.iter().find(|column| layout.at(**column) == Some(position));
            match known {
                Some(column) => layout.place_known(position, header, column.kept()),
                None => layout.place_other(position, header, other(header)),
            }
        }
        layout.tags.sort_by(|a, b| a.key.cmp(&b.key));
        layout.kept.sort_by(|a, b| a.key.cmp(&b.key));
        layout.narrow(&|_| true);
        layout
    }

    /// Narrows the columns that are looked at to those in which the next rows have any value: most of a bill's hundreds
    /// of columns have none for thousands of rows.
    pub(in crate::billing) fn narrow(&mut self, occupied: &dyn Fn(usize) -> bool) {
        self.here.clear();
        self.here.extend(self.at.iter().map(|at| at.filter(|column| occupied(*column))));
        self.kept_here.clear();
        let kept = self.kept.iter().enumerate();
        self.kept_here.extend(kept.filter(|(_, kept)| occupied(kept.column)).map(|(at, _)| at));
    }

    /// Position of a column in the file, if the rows read now have any value in it.
    pub(in crate::billing) fn here(&self, column: N) -> Option<usize> {
        self.here.get(column.index()).copied().flatten()
    }

    /// The columns for `x_unmapped` in which the rows read now have any value, sorted by name.
    pub(in crate::billing) fn kept_here(&self) -> impl Iterator<Item = &Keyed> {
        self.kept_here.iter().filter_map(|at| self.kept.get(*at))
    }

    /// Position of a column in the file.
    pub(in crate::billing) fn at(&self, column: N) -> Option<usize> {
        self.at.get(column.index()).copied().flatten()
    }

    /// True if the file has the column.
    pub(in crate::billing) fn has(&self, column: N) -> bool {
        self.at(column).is_some()
    }

    /// True if the file has a header of this name, in any spelling of it.
    pub(in crate::billing) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|header| squashed(header) == squashed(name))
    }

    /// The name under which the file holds a column, for messages.
    pub(in crate::billing) fn name(&self, column: N) -> &str {
        self.at(column).and_then(|at| self.headers.get(at)).map_or_else(|| column.shown(), String::as_str)
    }

    /// Everything that a row is made of.
    pub(in crate::billing) fn wanted(&self, unmapped: Unmapped) -> Vec<Wanted> {
        let known = N::ALL.iter().filter(|column| column.kept() != Kept::Dropped);
        let mut wanted: Vec<Wanted> =
            known.filter_map(|c| self.at(*c).map(|column| Wanted { column, form: c.form() })).collect();
        wanted.extend(self.tags.iter().map(|tag| Wanted { column: tag.column, form: Form::Text }));
        wanted.extend(self.tag_maps.iter().map(|map| Wanted { column: map.column, form: Form::AsIs }));
        if unmapped == Unmapped::Keep {
            let other = self.kept.iter().filter(|kept| kept.shape != Shape::Input);
            wanted.extend(other.map(|kept| Wanted { column: kept.column, form: Form::AsIs }));
        }
        wanted
    }

    /// The columns of `which` in the form in which they are wanted.
    pub(in crate::billing) fn wanted_of(&self, which: &[N]) -> Vec<Wanted> {
        which.iter().filter_map(|c| self.at(*c).map(|column| Wanted { column, form: c.form() })).collect()
    }

    fn place_known(&mut self, position: usize, header: &str, kept: Kept) {
        match kept {
            Kept::Canonical | Kept::Read | Kept::Dropped => {}
            Kept::Input => self.kept.push(Keyed::new(position, header, Shape::Input)),
            Kept::Map => self.kept.push(Keyed::new(position, header, Shape::Map)),
            Kept::Records => self.kept.push(Keyed::new(position, header, Shape::Records)),
            Kept::Labels => self.tag_maps.push(Keyed::new(position, header, Shape::Records)),
        }
    }

    fn place_other(&mut self, position: usize, header: &str, other: Other<'_>) {
        match other {
            Other::Tag(key) => self.tags.push(Keyed::new(position, key, Shape::Value)),
            Other::TagMap => self.tag_maps.push(Keyed::new(position, header, Shape::Map)),
            Other::Map => self.kept.push(Keyed::new(position, header, Shape::Map)),
            Other::Records => self.kept.push(Keyed::new(position, header, Shape::Records)),
            Other::Value => self.kept.push(Keyed::new(position, header, Shape::Value)),
        }
    }
}

impl Keyed {
    fn new(column: usize, key: &str, shape: Shape) -> Self {
        let mut json_key = String::with_capacity(key.len() + 3);
        push_json_text(&mut json_key, key);
        json_key.push(':');
        Self { column, json_key, key: key.to_owned(), shape }
    }
}
