//! Which column of a file holds what, found by name alone.

use std::collections::BTreeMap;

use super::column::{COLUMNS, Column};
use crate::SourceError;
use crate::billing::table::column::{Kept, squashed};
use crate::billing::table::keyed::Keyed;
use crate::billing::table::{Form, Wanted};
use crate::billing::{BillFile, FileFormat, Unmapped};

/// The columns of one file.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    at: [Option<usize>; COLUMNS],
    headers: Vec<String>,
    /// Columns for `x_unmapped`, sorted by name.
    pub(super) kept: Vec<Keyed>,
}

/// The columns without which a row has no meaning.
const REQUIRED: [Column; 3] = [Column::Cost, Column::Currency, Column::UsageStart];

impl Layout {
    /// Matches the names of a file's columns.
    pub(super) fn of(headers: &[String]) -> Self {
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for (position, header) in headers.iter().enumerate() {
            by_name.entry(squashed(header)).or_insert(position);
        }
        let mut at = [None; COLUMNS];
        for (place, column) in at.iter_mut().zip(Column::ALL) {
            *place = column.spellings().iter().find_map(|spelling| by_name.get(*spelling).copied());
        }
        let mut kept = Vec::new();
        for (position, header) in headers.iter().enumerate() {
            let known = Column::ALL.iter().find(|c| at.get(**c as usize) == Some(&Some(position)));
            match known {
                Some(column) if column.kept() == Kept::Canonical => {}
                Some(column) => kept.push(Keyed::new(position, header, true, column.is_repeated())),
                None => kept.push(Keyed::new(position, header, false, header.ends_with(".ancestors"))),
            }
        }
        kept.sort_by(|a, b| a.key.cmp(&b.key));
        Self { at, headers: headers.to_vec(), kept }
    }

    /// Checks that the file can be an export. A row of JSON lines leaves out what it has no value for, so there it is
    /// enough that one of the needed columns is known; each row is judged by itself.
    ///
    /// # Errors
    /// `bill::missing_column`.
    pub(super) fn check(&self, file: &BillFile) -> Result<(), SourceError> {
        let lines = matches!(file.format, FileFormat::Json | FileFormat::JsonGz);
        if lines && REQUIRED.iter().any(|column| self.at(*column).is_some()) {
            return Ok(());
        }
        let Some(missing) = REQUIRED.iter().find(|column| self.at(**column).is_none()) else { return Ok(()) };
        let name = missing.shown();
        let has = |name: &str| self.headers.iter().any(|header| squashed(header) == name);
        let help = if has("billedcost") && has("chargecategory") {
            "the file looks like a FOCUS export: import it with `--source focus`".to_owned()
        } else {
            format!("add `{name}` to the query of the export, or export the table with all columns")
        };
        Err(SourceError::new("bill::missing_column", format!("the bill has no column `{name}`"))
            .at(&file.name)
            .expected(name, format!("{} columns, none of that name", self.headers.len()))
            .help(help))
    }

    /// Position of a column in the file.
    pub(super) const fn at(&self, column: Column) -> Option<usize> {
        self.at[column as usize]
    }

    /// The name under which the file holds a column, for messages.
    pub(super) fn name(&self, column: Column) -> &str {
        self.at(column).and_then(|at| self.headers.get(at)).map_or_else(|| column.shown(), String::as_str)
    }

    /// Everything that a row is made of.
    pub(super) fn wanted(&self, unmapped: Unmapped) -> Vec<Wanted> {
        let form = |column: Column| if column.is_text() { Form::Text } else { Form::AsIs };
        let known = Column::ALL.iter().filter_map(|c| self.at(*c).map(|column| (column, form(*c))));
        let mut wanted: Vec<Wanted> = known.map(|(column, form)| Wanted { column, form }).collect();
        if unmapped == Unmapped::Keep {
            let others = self.kept.iter().filter(|kept| !kept.skip_zero);
            wanted.extend(others.map(|kept| Wanted { column: kept.column, form: Form::AsIs }));
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(names: &[&str]) -> Layout {
        Layout::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    fn file(format: FileFormat) -> BillFile {
        BillFile { path: "x".into(), name: "bill".to_owned(), bytes: 0, format, period: None }
    }

    #[test]
    fn columns_are_found_under_every_spelling() {
        for names in [["service.id", "sku.description"], ["service_id", "SKU_DESCRIPTION"]] {
            let layout = layout(&names);
            assert_eq!((layout.at(Column::ServiceId), layout.at(Column::SkuDescription)), (Some(0), Some(1)));
            assert_eq!(layout.kept.iter().map(|k| k.key.as_str()).collect::<Vec<_>>(), [names[0]]);
        }
    }

    #[test]
    fn a_table_needs_its_columns_and_a_row_of_json_may_leave_them_out() {
        let partial = layout(&["cost", "currency"]);
        let fault = partial.check(&file(FileFormat::Csv)).unwrap_err();
        assert_eq!(
            (fault.code, fault.expected.as_deref()),
            ("bill::missing_column", Some("usage_start_time"))
        );
        assert!(partial.check(&file(FileFormat::Json)).is_ok());
        assert!(layout(&["a"]).check(&file(FileFormat::JsonGz)).is_err());
        let focus = layout(&["BilledCost", "ChargeCategory"]).check(&file(FileFormat::Parquet)).unwrap_err();
        assert!(focus.help.unwrap().contains("--source focus"));
    }
}
