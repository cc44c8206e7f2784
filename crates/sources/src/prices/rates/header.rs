//! Which columns a list of rates has.

use ::csv::ByteRecord;
use money::Currency;

use super::RateOptions;
use crate::SourceError;
use crate::telemetry::Warning;

/// The columns of a table of one's own, each with the other names that it is known by.
const COLUMNS: [&[&str]; 4] = [
    &["date", "day", "rate_date"],
    &["from", "base", "from_currency"],
    &["to", "quote", "to_currency"],
    &["rate", "value", "exchange_rate"],
];

/// The currency of which the reference rates tell the worth.
pub(super) fn euro() -> Currency {
    "EUR".parse().unwrap_or(Currency::NONE)
}

/// The form of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    /// A row for each rate; where day, from, to and rate stand.
    Table {
        /// Fields of a row.
        width: usize,
        /// Where they stand.
        columns: [usize; 4],
    },
    /// A row for each day; where each currency stands.
    Reference {
        /// Fields of a row.
        width: usize,
        /// Where they stand.
        columns: Vec<(usize, Currency)>,
    },
}

/// The form that a header tells, and what is not read of it.
///
/// # Errors
/// `rates::missing_column`, `rates::column_twice`.
pub(super) fn read(
    record: &ByteRecord,
    options: &RateOptions,
) -> Result<(Layout, Option<Warning>), SourceError> {
    let name = |field: &[u8]| {
        let text = String::from_utf8_lossy(field);
        text.trim_start_matches('\u{feff}').trim().to_lowercase()
    };
    let names: Vec<String> = record.iter().map(name).collect();
    let place = format!("{}:header", options.file);
    let currencies: Vec<(usize, Currency)> = (names.iter().enumerate().skip(1))
        .filter(|(_, name)| !name.is_empty())
        .filter_map(|(at, name)| Some((at, name.parse().ok()?)))
        .collect();
    let named = names.iter().skip(1).filter(|name| !name.is_empty()).count();
    let first_is_day = names.first().is_some_and(|name| COLUMNS[0].contains(&name.as_str()));
    if first_is_day && named > 0 && currencies.len() == named {
        once(currencies.iter().map(|(_, currency)| currency.code().to_owned()), &place)?;
        return Ok((Layout::Reference { width: names.len(), columns: currencies }, None));
    }
    let mut columns = [0; 4];
    for (column, known) in columns.iter_mut().zip(COLUMNS) {
        let found = names.iter().position(|name| known.contains(&name.as_str()));
        *column = found.ok_or_else(|| missing(known[0], &names, &place))?;
    }
    let which = |name: &String| COLUMNS.iter().find(|known| known.contains(&name.as_str()));
    once(names.iter().filter_map(which).map(|known| known[0].to_owned()), &place)?;
    let unknown: Vec<&str> =
        names.iter().filter(|name| which(name).is_none() && !name.is_empty()).map(String::as_str).collect();
    let warning = (!unknown.is_empty()).then(|| Warning {
        code: "rates::unknown_column",
        message: format!(
            "not read in {}, since no such column is known: {}",
            options.file,
            unknown.join(", ")
        ),
        help: "the columns that are read: date, from, to, rate".to_owned(),
    });
    Ok((Layout::Table { width: names.len(), columns }, warning))
}

fn missing(column: &str, names: &[String], place: &str) -> SourceError {
    SourceError::new("rates::missing_column", format!("the header has no column `{column}`"))
        .at(place)
        .expected("date, from, to, rate; or date and a currency code for each further column", names.join(", "))
        .help("check that the file is a list of rates and that its header is there; docs/sources.md has both forms")
}

fn once(names: impl Iterator<Item = String>, place: &str) -> Result<(), SourceError> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            Err(SourceError::new("rates::column_twice", format!("the header has `{}` twice", pair[0]))
                .at(place)
                .help("remove or rename one of the two columns"))
        }
    }
}
