//! Which column of a file holds what, found by name alone.

use std::collections::BTreeMap;

use super::column::{COLUMNS, Column, Family, map_family, tag_key};
use crate::SourceError;
use crate::billing::Unmapped;
use crate::billing::table::column::{Kept, squashed};
use crate::billing::table::keyed::Keyed;
use crate::billing::table::{Form, Wanted};

/// The columns of one file.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    at: [Option<usize>; COLUMNS],
    /// The headers of the file.
    pub(super) headers: Vec<String>,
    /// Columns of one tag each, sorted by key.
    pub(super) tags: Vec<Keyed>,
    /// Columns that hold a map of tags.
    pub(super) tag_maps: Vec<Keyed>,
    /// The map of product attributes.
    pub(super) product_map: Option<usize>,
    /// Columns for `x_unmapped`, sorted by name.
    pub(super) kept: Vec<Keyed>,
}

/// A column without which a row has no meaning, as the user would look for it.
struct Required {
    column: Column,
    names: &'static str,
}

const REQUIRED: [Required; 5] = [
    Required { column: Column::LineType, names: "line_item_line_item_type (legacy lineItem/LineItemType)" },
    Required {
        column: Column::UnblendedCost,
        names: "line_item_unblended_cost (legacy lineItem/UnblendedCost)",
    },
    Required {
        column: Column::UsageStart,
        names: "line_item_usage_start_date (legacy lineItem/UsageStartDate)",
    },
    Required { column: Column::ProductCode, names: "line_item_product_code (legacy lineItem/ProductCode)" },
    Required { column: Column::Currency, names: "line_item_currency_code (legacy lineItem/CurrencyCode)" },
];

impl Layout {
    /// Matches the headers of a file.
    ///
    /// # Errors
    /// `bill::missing_column` if a required column is not there.
    pub(super) fn of(headers: &[String], file: &str) -> Result<Self, SourceError> {
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for (position, header) in headers.iter().enumerate() {
            by_name.entry(squashed(header)).or_insert(position);
        }
        let mut at = [None; COLUMNS];
        for (place, column) in at.iter_mut().zip(Column::ALL) {
            *place = column.spellings().iter().find_map(|spelling| by_name.get(*spelling).copied());
        }
        let mut layout = Self {
            at,
            headers: headers.to_vec(),
            tags: Vec::new(),
            tag_maps: Vec::new(),
            product_map: None,
            kept: Vec::new(),
        };
        layout.check(&by_name, file)?;
        layout.sort_others(headers);
        Ok(layout)
    }

    /// Position of a column in the file.
    pub(super) const fn at(&self, column: Column) -> Option<usize> {
        self.at[column as usize]
    }

    /// True if the file has the column.
    pub(super) const fn has(&self, column: Column) -> bool {
        self.at(column).is_some()
    }

    /// True if negotiated discounts stand in columns of their own.
    pub(super) fn has_net_columns(&self) -> bool {
        [Column::NetUnblendedCost, Column::RiNetEffective, Column::SpNetEffective]
            .iter()
            .any(|c| self.has(*c))
    }

    /// The name under which the file holds a column, for messages.
    pub(super) fn name(&self, column: Column) -> &str {
        self.at(column).and_then(|at| self.headers.get(at)).map_or_else(|| column.shown(), String::as_str)
    }

    /// Everything that a row is made of.
    pub(super) fn wanted(&self, unmapped: Unmapped) -> Vec<Wanted> {
        let form = |text| if text { Form::Text } else { Form::AsIs };
        let known = Column::ALL
            .iter()
            .filter(|column| column.kept() != Kept::Dropped || **column == Column::TimeInterval);
        let mut wanted: Vec<Wanted> = known
            .filter_map(|c| self.at(*c).map(|column| Wanted { column, form: form(c.is_text()) }))
            .collect();
        wanted.extend(self.tags.iter().map(|tag| Wanted { column: tag.column, form: Form::Text }));
        wanted.extend(self.tag_maps.iter().map(|map| Wanted { column: map.column, form: Form::AsIs }));
        wanted.extend(self.product_map.map(|column| Wanted { column, form: Form::AsIs }));
        if unmapped == Unmapped::Keep {
            let other = self.kept.iter().filter(|kept| !kept.skip_zero);
            wanted.extend(other.map(|kept| Wanted { column: kept.column, form: Form::AsIs }));
        }
        wanted
    }

    fn check(&self, by_name: &BTreeMap<String, usize>, file: &str) -> Result<(), SourceError> {
        let missing = REQUIRED.iter().find(|required| !self.has(required.column));
        let names = match missing {
            Some(required) => required.names,
            None if self.has(Column::UsageEnd) || self.has(Column::TimeInterval) => return Ok(()),
            None => {
                "line_item_usage_end_date (legacy lineItem/UsageEndDate) or identity_time_interval \
                 (legacy identity/TimeInterval)"
            }
        };
        let first = names.split(' ').next().unwrap_or(names);
        let focus = by_name.contains_key("billedcost") && by_name.contains_key("chargecategory");
        let help = if focus {
            "the file looks like a FOCUS export: import it with `--source focus`".to_owned()
        } else {
            format!(
                "add `{first}` to the query of the data export, or export the legacy report with all columns"
            )
        };
        Err(SourceError::new("bill::missing_column", format!("the bill has no column `{first}`"))
            .at(file)
            .expected(names, format!("{} columns, none of that name", by_name.len()))
            .help(help))
    }

    /// Finds a place for every column that is not itself canonical.
    fn sort_others(&mut self, headers: &[String]) {
        for (position, header) in headers.iter().enumerate() {
            let known = Column::ALL.iter().find(|column| self.at(**column) == Some(position));
            match known.map(|column| column.kept()) {
                Some(Kept::Canonical | Kept::Dropped) => {}
                Some(Kept::Input) => self.kept.push(Keyed::new(position, header, true, false)),
                None => self.place_other(position, header),
            }
        }
        self.tags.sort_by(|a, b| a.key.cmp(&b.key));
        self.kept.sort_by(|a, b| a.key.cmp(&b.key));
    }

    fn place_other(&mut self, position: usize, header: &str) {
        let family = map_family(&squashed(header));
        match family {
            Some(Family::Tags) => self.tag_maps.push(Keyed::new(position, header, false, true)),
            Some(Family::Product) => {
                self.product_map = self.product_map.or(Some(position));
                self.kept.push(Keyed::new(position, header, false, true));
            }
            Some(Family::Kept) => self.kept.push(Keyed::new(position, header, false, true)),
            None => match tag_key(header) {
                Some(key) => self.tags.push(Keyed::new(position, key, false, false)),
                None => self.kept.push(Keyed::new(position, header, false, false)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    const LEGACY: [&str; 6] = [
        "lineItem/LineItemType",
        "lineItem/UnblendedCost",
        "lineItem/UsageStartDate",
        "lineItem/UsageEndDate",
        "lineItem/ProductCode",
        "lineItem/CurrencyCode",
    ];

    #[test]
    fn a_missing_column_is_named_with_its_spellings() {
        let fault = Layout::of(&headers(&LEGACY[1..]), "cur.csv").unwrap_err();
        assert_eq!(fault.code, "bill::missing_column");
        assert!(fault.expected.unwrap().contains("lineItem/LineItemType"));
        assert!(fault.help.unwrap().contains("line_item_line_item_type"));
    }

    #[test]
    fn a_focus_file_is_sent_to_its_reader() {
        let fault = Layout::of(&headers(&["BilledCost", "ChargeCategory"]), "focus.csv").unwrap_err();
        assert!(fault.help.unwrap().contains("--source focus"));
    }

    #[test]
    fn the_same_columns_are_found_under_any_spelling() {
        let athena = [
            "line_item_line_item_type",
            "LINE_ITEM_UNBLENDED_COST",
            "usage_start",
            "identity_time_interval",
            "product_code",
            "currency_code",
            "resource_tags_user_team",
            "extra",
        ];
        let layout = Layout::of(&headers(&athena), "cur.parquet").unwrap();
        assert_eq!(layout.at(Column::UnblendedCost), Some(1));
        assert_eq!(layout.at(Column::UsageStart), Some(2));
        assert_eq!(layout.tags.iter().map(|t| t.json_key.as_str()).collect::<Vec<_>>(), ["\"user_team\":"]);
        assert_eq!(layout.kept.iter().map(|k| k.key.as_str()).collect::<Vec<_>>(), ["extra"]);
        assert!(Layout::of(&headers(&LEGACY), "cur.csv").is_ok());
    }
}
