//! Reads the text of a key into its value.

use std::path::{Path, PathBuf};

use ledger::{CostBasis, CreditTreatment, Scope};
use sources::Zone;

use super::{Given, Key, Origin, Settings};
use crate::AppError;

/// A form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    Table,
    /// Comma-separated values with exact amounts.
    Csv,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// A table for a comment or page in Markdown.
    Markdown,
}

impl Format {
    /// Every form.
    pub const ALL: &'static [Self] = &[Self::Table, Self::Csv, Self::Json, Self::Jsonl, Self::Markdown];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Markdown => "markdown",
        }
    }
}

const MEMORY_BYTES_MIN: usize = 64 << 20;
const THREADS_MAX: usize = 1024;

/// Puts what a source gives for a key into the settings.
pub(super) fn set(settings: &mut Settings, key: &'static Key, given: &Given) -> Result<(), AppError> {
    let text = given.texts.first().map_or("", String::as_str);
    if key.name == "format" && text == "parquet" {
        return Err(parquet(key, given));
    }
    let read = match key.name {
        "store" => store(text, &given.origin).map(|store| settings.store = store),
        "basis" => basis(text).map(|basis| settings.basis = basis),
        "net_of_credits" => credits(text).map(|credits| settings.credits = credits),
        "scope" => Scope::from_word(text).map(|scope| settings.scope = scope),
        "currency" => text.parse().ok().map(|currency| settings.currency = Some(currency)),
        "convert_to" => text.parse().ok().map(|currency| settings.convert_to = Some(currency)),
        "rates" => {
            let named = Some(text.trim().to_owned()).filter(|name| !name.is_empty());
            named.map(|name| settings.rates = Some(name))
        }
        "format" => {
            let format = Format::ALL.iter().find(|format| format.word() == text);
            format.map(|format| settings.format = *format)
        }
        "time_zone" => Zone::declared(text).ok().map(|_| settings.time_zone = Some(text.to_owned())),
        "threads" => {
            let threads = text.parse().ok().filter(|threads| (1..=THREADS_MAX).contains(threads));
            threads.map(|threads| settings.threads = Some(threads))
        }
        "memory" => bytes(text).map(|bytes| settings.memory_bytes = bytes),
        "estimate.provider" => word(text).map(|name| settings.estimates.provider = Some(name)),
        "estimate.region" => word(text).map(|name| settings.estimates.region = Some(name)),
        "estimate.operating_system" => word(text).map(|name| settings.estimates.operating_system = name),
        "estimate.price_lists" => names(&given.texts).map(|names| settings.estimates.price_lists = names),
        "keys.experiment" => names(&given.texts).map(|names| settings.experiment_keys = names),
        "keys.attempt" => names(&given.texts).map(|names| settings.attempt_keys = names),
        _ => None,
    };
    read.ok_or_else(|| bad_value(key, given))
}

fn store(text: &str, origin: &Origin) -> Option<PathBuf> {
    if text.is_empty() {
        return None;
    }
    let folder = match origin {
        Origin::File { path, .. } => path.parent().unwrap_or(Path::new("")),
        Origin::Flag(_) | Origin::Environment(_) | Origin::Default => Path::new(""),
    };
    Some(folder.join(text))
}

fn basis(text: &str) -> Option<CostBasis> {
    CostBasis::from_word(text).filter(|basis| *basis != CostBasis::Billed)
}

fn credits(text: &str) -> Option<CreditTreatment> {
    match text {
        "true" => Some(CreditTreatment::NetOfCredits),
        "false" => Some(CreditTreatment::BeforeCredits),
        _ => None,
    }
}

/// A name as price lists have it: in lower case, and not empty.
fn word(text: &str) -> Option<String> {
    Some(text.trim().to_ascii_lowercase()).filter(|name| !name.is_empty())
}

fn names(texts: &[String]) -> Option<Vec<String>> {
    let named = !texts.is_empty() && texts.iter().all(|text| !text.trim().is_empty());
    named.then(|| texts.to_vec())
}

fn bytes(text: &str) -> Option<usize> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: usize = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1000 * 1000,
        "gb" => 1000 * 1000 * 1000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(factor).filter(|bytes| *bytes >= MEMORY_BYTES_MIN)
}

fn bad_value(key: &Key, given: &Given) -> AppError {
    let found = given.texts.join(", ");
    let error = AppError::new("config::bad_value", format!("`{found}` is no value of `{}`", key.name));
    blamed(error, given, key.expected, found)
}

fn parquet(key: &Key, given: &Given) -> AppError {
    let message = "this version does not write Parquet";
    let error = AppError::new("config::parquet_unavailable", message).help(
        "take `--format csv` or `jsonl`; the charges and postings of a store are Parquet files already",
    );
    blamed(error, given, key.expected, "parquet".to_owned())
}

fn blamed(mut error: AppError, given: &Given, expected: &str, found: String) -> AppError {
    error.place = match &given.origin {
        Origin::File { path, line } => Some(format!("{}:{line}", path.display())),
        Origin::Flag(name) => Some((*name).to_owned()),
        Origin::Environment(name) => Some((*name).to_owned()),
        Origin::Default => None,
    };
    error.expected = Some(expected.to_owned());
    error.found = Some(found);
    error.span = given.blame.clone();
    error
}
