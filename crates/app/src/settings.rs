//! The settings: one `trainbill.toml`, the environment and the command line, each value with its origin.
//!
//! A flag stands before the environment (`TRAINBILL_…`), the environment before the file, the file before the default.
//! The caller passes in the environment and the text of the file; nothing here reads them.

mod file;
mod key;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use costing::attribution::TagKeys;
use engine::Limits;
use ledger::{CostBasis, CreditTreatment, Scope, Timestamp};
use money::Currency;

use crate::filter::Moment;
use crate::{AppError, EstimateSettings};

pub use key::{KEYS, Key};
pub use value::Format;

/// The name of the file that is read where no other is named.
pub const FILE_NAME: &str = "trainbill.toml";

/// The text of a settings file and where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Its path, as shown in errors; a relative store in it is relative to its folder.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

/// Where settings come from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// What the command line says, by the name of the key.
    pub flags: BTreeMap<&'static str, String>,
    /// The environment.
    pub environment: BTreeMap<String, String>,
    /// The file, if there is one.
    pub file: Option<SettingsFile>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(&'static str),
    /// A line of a file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Nothing says otherwise.
    Default,
}

/// A key with its value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: &'static Key,
    /// Its value as text; `None` if it has none.
    pub value: Option<String>,
    /// Where the value comes from.
    pub origin: Origin,
}

/// The settings in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Folder of the store.
    pub store: PathBuf,
    /// Basis of valuation.
    pub basis: CostBasis,
    /// Credit treatment.
    pub credits: CreditTreatment,
    /// Scope.
    pub scope: Scope,
    /// Only what is billed in this currency, where one is chosen.
    pub currency: Option<Currency>,
    /// Currency to which all is converted, where one is chosen.
    pub convert_to: Option<Currency>,
    /// List of rates, where one is named.
    pub rates: Option<String>,
    /// Form of the output.
    pub format: Format,
    /// Zone of times in imports that carry none.
    pub time_zone: Option<String>,
    /// Threads; `None` for as many as the machine has.
    pub threads: Option<usize>,
    /// Bytes of working memory.
    pub memory_bytes: usize,
    /// What estimates need to know of machines.
    pub estimates: EstimateSettings,
    /// Tag keys whose value is an experiment.
    pub experiment_keys: Vec<String>,
    /// Tag keys whose value is an attempt.
    pub attempt_keys: Vec<String>,
    /// Every key with its value and origin, in the order of the manual.
    pub entries: Vec<Entry>,
}

/// A text that a source gives for a key, and what to blame if it is wrong.
struct Given {
    texts: Vec<String>,
    origin: Origin,
    blame: Option<(String, Range<usize>)>,
}

impl Settings {
    /// The settings in force.
    ///
    /// # Errors
    /// Codes `config::…`, with the place and, in a file, the span.
    pub fn resolve(sources: &Sources) -> Result<Self, AppError> {
        let mut in_file = match &sources.file {
            Some(file) => file::values(file)?,
            None => BTreeMap::new(),
        };
        let mut settings = Self::defaults();
        for key in KEYS {
            // A wrong value is an error even where another source stands before it.
            let file = in_file.remove(key.name);
            let environment =
                sources.environment.get(key.variable).map(|text| key.given_by_environment(text));
            let flag = sources.flags.get(key.name).map(|text| key.given_by_flag(text));
            let mut entry = Entry { key, value: key.default.map(str::to_owned), origin: Origin::Default };
            for given in [file, environment, flag].into_iter().flatten() {
                value::set(&mut settings, key, &given)?;
                entry = Entry { key, value: Some(given.texts.join(", ")), origin: given.origin };
            }
            settings.entries.push(entry);
        }
        Ok(settings)
    }

    /// Threads and memory.
    pub fn limits(&self) -> Limits {
        let machine = Limits::of_machine();
        Limits { threads: self.threads.unwrap_or(machine.threads), memory_bytes: self.memory_bytes }
    }

    /// Tag keys that name runs.
    pub fn keys(&self) -> TagKeys {
        TagKeys { experiment: self.experiment_keys.clone(), attempt: self.attempt_keys.clone() }
    }

    fn defaults() -> Self {
        let keys = TagKeys::documented();
        Self {
            store: PathBuf::from(key::STORE_DEFAULT),
            basis: CostBasis::Effective,
            credits: CreditTreatment::BeforeCredits,
            scope: Scope::Direct,
            currency: None,
            convert_to: None,
            rates: None,
            format: Format::Table,
            time_zone: None,
            threads: None,
            memory_bytes: 1 << 30,
            estimates: EstimateSettings::default(),
            experiment_keys: keys.experiment,
            attempt_keys: keys.attempt,
            entries: Vec::with_capacity(KEYS.len()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File { path, line } => write!(f, "file {}:{line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The instant of an option such as `--since`: RFC 3339, or the start of a UTC day.
///
/// # Errors
/// `query::not_a_time`.
pub fn instant_of(option: &str, text: &str) -> Result<Timestamp, AppError> {
    Moment::read(text).map(Moment::start).ok_or_else(|| {
        AppError::new("query::not_a_time", format!("`{text}` is not a day or an instant"))
            .at(option)
            .span(text, 0..text.len())
            .help("write `2026-11-01` for the start of the UTC day, or an instant with its zone: `2026-11-01T09:30:00Z`")
    })
}
