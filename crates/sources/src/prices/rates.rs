//! Reads dated rates of exchange as CSV: the European Central Bank's reference rates, or a table of one's own.
//!
//! # What it reads
//!
//! Names of columns are read without regard to case, and spaces around names and values do not count. Days are
//! `YYYY-MM-DD`; a rate is a decimal above 0 with at most 18 digits.
//!
//! A table of one's own has a row for each rate: on `date`, one unit of `from` was worth `rate` units of `to`.
//!
//! | column | also read as | meaning |
//! |---|---|---|
//! | `date` | `day`, `rate_date` | the UTC day for which the rate is published |
//! | `from` | `base`, `from_currency` | ISO 4217 code of the currency of the one unit |
//! | `to` | `quote`, `to_currency` | ISO 4217 code of the currency of the rate |
//! | `rate` | `value`, `exchange_rate` | what one unit of `from` was worth in `to` |
//!
//! The reference rates (`eurofxref-hist.csv`) have a row for each day and a column for each currency; a rate is what one
//! euro was worth in it.
//!
//! ```text
//! Date,USD,JPY,GBP,
//! 2026-10-02,1.0837,162.15,0.8571,
//! 2026-10-01,1.0812,161.90,N/A,
//! ```
//!
//! # How a row becomes a rate
//!
//! As it stands: nothing is made between two days, and nothing is divided when it is read. A cell that is empty or `N/A`
//! is no rate and is counted as passed over. Two different rates of one day and pair are both refused, and so is a rate
//! that is not above 0: the day then has a rate that cannot be used, and takes no older one in its place. Every rate of
//! the reference rates is counted, so a row of 30 currencies is 30 rows of the import.
//!
//! # What it cannot tell
//!
//! The rate at which a provider or a bank really exchanged: these are the rates by which a figure is shown in another
//! currency. Rates between two currencies neither of which is the list's base are made of two rates of the same day.
//!
//! # References
//!
//! * <https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html>
//! * <https://www.rfc-editor.org/rfc/rfc4180>

mod gather;
mod header;

use std::io::Read;

use ::csv::{ByteRecord, ReaderBuilder};
use ledger::{DatedRate, Day};
use money::{Currency, Rate};

use self::gather::Gather;
use self::header::Layout;
use crate::price_list::{Guard, Meter, Refusal, io_fault};
use crate::telemetry::Warning;
use crate::{Rejection, SourceError, Zone, instant};

pub use crate::price_list::PriceLimits;

/// How to read a list of rates.
#[derive(Debug, Clone)]
pub struct RateOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// What an input may cost.
    pub limits: PriceLimits,
}

impl RateOptions {
    /// Options with the usual bounds.
    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), limits: PriceLimits::default() }
    }
}

/// What a list of rates held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RateList {
    /// Rates found: those that may be used, passed over and rejected.
    pub rows: u64,
    /// The rates in order of day and pair; those that cannot be used have none.
    pub rates: Vec<DatedRate>,
    /// The one currency of which every rate tells the worth; `None` if there are several.
    pub base: Option<Currency>,
    /// True for the European Central Bank's form.
    pub is_reference: bool,
    /// Cells without a rate, and repetitions.
    pub passed_over: u64,
    /// Rates that could not be read or contradict each other.
    pub rejected: u64,
    /// The first of them with their places.
    pub rejections: Vec<Rejection>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// Reads one file.
///
/// # Errors
/// `rates::missing_column`, `rates::column_twice`, `rates::not_csv`, `rates::no_rates`, `rates::too_many`;
/// `prices::too_large`, `prices::unreadable`.
pub fn read(input: impl Read, options: &RateOptions) -> Result<RateList, SourceError> {
    let meter = Meter::new(&options.limits);
    let guarded = Guard::new(input, &meter);
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(guarded);
    let mut record = ByteRecord::new();
    let mut next = |record: &mut ByteRecord| {
        meter.mark();
        reader.read_byte_record(record).map_err(|error| unreadable(&options.file, error))
    };
    next(&mut record)?;
    let (layout, warning) = header::read(&record, options)?;
    let mut gather = Gather::new(options);
    gather.list.warnings.extend(warning);
    let mut number = 0;
    while next(&mut record)? {
        number += 1;
        row(&record, &layout, &mut gather, number)?;
    }
    let mut list = gather.finish()?;
    list.is_reference = matches!(layout, Layout::Reference { .. });
    Ok(list)
}

fn row(
    record: &ByteRecord,
    layout: &Layout,
    gather: &mut Gather<'_>,
    number: u64,
) -> Result<(), SourceError> {
    let fields = |expected: usize| {
        let found = format!("{} fields", record.len());
        Refusal::new(
            "row::wrong_number_of_fields",
            "",
            &found,
            format!("{expected} fields, as the header has"),
        )
    };
    match layout {
        Layout::Table { width, columns } => {
            gather.list.rows += 1;
            if record.len() != *width {
                gather.reject(number, fields(*width));
                return Ok(());
            }
            let [day, from, to, rate] = columns.map(|at| text(record, at));
            match pair(&day, &from, &to) {
                Ok(pair) => gather.take(number, pair, ("rate", &rate)),
                Err(refusal) => {
                    gather.reject(number, refusal);
                    Ok(())
                }
            }
        }
        Layout::Reference { width, columns } => {
            let euro = header::euro();
            let day = if record.len() == *width { day(&text(record, 0)) } else { Err(fields(*width)) };
            for (at, currency) in columns {
                gather.list.rows += 1;
                match &day {
                    Ok(day) => {
                        let rate = text(record, *at);
                        gather.take(number, (*day, euro, *currency), (currency.code(), &rate))?;
                    }
                    Err(refusal) => gather.reject(number, refusal.clone()),
                }
            }
            Ok(())
        }
    }
}

fn text(record: &ByteRecord, at: usize) -> String {
    String::from_utf8_lossy(record.get(at).unwrap_or_default()).trim().to_owned()
}

fn pair(on: &str, from: &str, to: &str) -> Result<(Day, Currency, Currency), Refusal> {
    let code = |column: &str, text: &str| {
        text.parse::<Currency>()
            .map_err(|_| Refusal::new("row::not_a_currency", column, text, "a code of three letters"))
    };
    let (day, from, to) = (day(on)?, code("from", from)?, code("to", to)?);
    if from == to {
        return Err(Refusal::new("row::same_currency", "to", to.code(), "another currency than `from`"));
    }
    Ok((day, from, to))
}

/// A day as it is published; a time in it would be of some place's clock.
fn day(text: &str) -> Result<Day, Refusal> {
    let read = (text.len() == "2026-10-01".len()).then(|| instant(text, &Zone::Utc).ok()).flatten();
    let day = read.map(ledger::Timestamp::day);
    day.ok_or_else(|| Refusal::new("row::not_a_day", "date", text, "a day such as 2026-10-01"))
}

/// The rate of a cell; `None` where it says that there is none.
fn rate(text: &str, column: &str) -> Result<Option<Rate>, Refusal> {
    if text.is_empty() || text.eq_ignore_ascii_case("n/a") {
        return Ok(None);
    }
    let expected = "a decimal above 0 with at most 18 digits, such as 1.0837";
    text.parse().map(Some).map_err(|_| Refusal::new("row::not_a_rate", column, text, expected))
}

fn unreadable(file: &str, error: ::csv::Error) -> SourceError {
    let message = format!("the file is no CSV: {error}");
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => io_fault(file, &error),
        _ => SourceError::new("rates::not_csv", message).at(file).help("give the rates as CSV with a header"),
    }
}
