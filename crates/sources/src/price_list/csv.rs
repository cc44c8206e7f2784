//! A price list in CSV as rows of named fields.

use std::collections::BTreeMap;
use std::io::Read;
use std::rc::Rc;

use ::csv::{ByteRecord, ReaderBuilder};

use super::{Gather, Guard, Meter, PriceOptions, Refusal, io_fault};
use crate::SourceError;
use crate::telemetry::Warning;

/// The filled fields of one row by the names of their columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fields(BTreeMap<&'static str, String>);

impl Fields {
    /// The value of a column, or `None` where it is empty.
    pub(crate) fn get(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str)
    }

    /// The value of a column that must have one.
    pub(crate) fn required(&self, column: &str) -> Result<&str, Refusal> {
        self.get(column).ok_or_else(|| Refusal::new("row::missing_value", column, "", "a value"))
    }

    /// Sets a value; an empty one is none.
    pub(crate) fn put(&mut self, column: &'static str, value: &str) {
        if !value.trim().is_empty() {
            self.0.insert(column, value.trim().to_owned());
        }
    }

    /// These fields, with those of `other` where these have none.
    pub(crate) fn or(mut self, other: &Self) -> Self {
        for (column, value) in &other.0 {
            self.0.entry(column).or_insert_with(|| value.clone());
        }
        self
    }
}

/// Which columns a format has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    /// Columns that are read.
    pub(crate) columns: &'static [&'static str],
    /// Columns that every file has.
    pub(crate) required: &'static [&'static str],
}

impl Table {
    /// The column that a name in a file means, without regard to case.
    pub(crate) fn named(&self, name: &str) -> Option<&'static str> {
        self.columns.iter().copied().find(|known| known.eq_ignore_ascii_case(name.trim()))
    }

    /// Shows every row with its number from 1, or why it is none.
    ///
    /// # Errors
    /// `prices::missing_column`, `prices::column_twice`, and faults of the file as a whole.
    pub(crate) fn read(
        &self,
        input: impl Read,
        gather: &mut Gather<'_>,
        mut each: impl FnMut(&mut Gather<'_>, u64, Result<Fields, Refusal>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        let options = gather.options;
        let meter = Meter::new(&options.limits);
        let guarded = Guard::new(input, &meter);
        let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(guarded);
        let mut record = ByteRecord::new();
        let mut next = |record: &mut ByteRecord, meter: &Rc<Meter>| {
            meter.mark();
            reader.read_byte_record(record).map_err(|error| unreadable(&options.file, error))
        };
        next(&mut record, &meter)?;
        let columns = self.header(&record, gather)?;
        let mut number = 0;
        while next(&mut record, &meter)? {
            number += 1;
            each(gather, number, fields(&record, &columns))?;
        }
        Ok(())
    }

    /// Which column each field of a row is.
    fn header(
        &self,
        record: &ByteRecord,
        gather: &mut Gather<'_>,
    ) -> Result<Vec<Option<&'static str>>, SourceError> {
        let text =
            |field: &[u8]| String::from_utf8_lossy(field).trim_start_matches('\u{feff}').trim().to_owned();
        let names: Vec<String> = record.iter().map(text).collect();
        let columns: Vec<Option<&'static str>> = names.iter().map(|name| self.named(name)).collect();
        let place = format!("{}:header", gather.options.file);
        if let Some(absent) = self.required.iter().find(|required| !columns.contains(&Some(**required))) {
            return Err(SourceError::new(
                "prices::missing_column",
                format!("the header has no column `{absent}`"),
            )
            .at(place)
            .expected(self.required.join(", "), names.join(", "))
            .help("check that the file is the list that the command names, and that its header is there"));
        }
        let known: Vec<&str> = columns.iter().flatten().copied().collect();
        if let Some(twice) = known.iter().find(|name| known.iter().filter(|other| other == name).count() > 1)
        {
            return Err(SourceError::new("prices::column_twice", format!("the header has `{twice}` twice"))
                .at(place)
                .help("remove or rename one of the two columns"));
        }
        let unknown: Vec<&str> =
            names.iter().map(String::as_str).filter(|n| self.named(n).is_none()).collect();
        if !unknown.is_empty() {
            gather.warn(not_read(&unknown.join(", "), self, gather.options));
        }
        Ok(columns)
    }
}

/// The warning of columns that no reader takes.
pub(crate) fn not_read(columns: &str, table: &Table, options: &PriceOptions) -> Warning {
    Warning {
        code: "prices::unknown_column",
        message: format!("not read in {}, since no such column is known: {columns}", options.file),
        help: format!("the columns that are read: {}", table.columns.join(", ")),
    }
}

fn fields(record: &ByteRecord, columns: &[Option<&'static str>]) -> Result<Fields, Refusal> {
    if record.len() != columns.len() {
        let found = format!("{} fields", record.len());
        let expected = format!("{} fields, as the header has", columns.len());
        return Err(Refusal::new("row::wrong_number_of_fields", "", &found, expected));
    }
    let mut fields = Fields::default();
    for (field, column) in record.iter().zip(columns) {
        let Some(column) = column else { continue };
        let text = std::str::from_utf8(field).map_err(|_| {
            Refusal::new("row::not_utf8", column, &String::from_utf8_lossy(field), "UTF-8 text")
        })?;
        fields.put(column, text);
    }
    Ok(fields)
}

fn unreadable(file: &str, error: ::csv::Error) -> SourceError {
    let message = format!("the file is no CSV: {error}");
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => io_fault(file, &error),
        _ => SourceError::new("prices::not_csv", message).at(file),
    }
}
