//! From the command line and its surroundings to settings, a question and a context.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use app::filter::Filter;
use app::settings::{FILE_NAME, Format, Settings, SettingsFile, Sources, instant_of};
use app::{AppError, Context, Progress, Query};
use ledger::Timestamp;
use money::Currency;

use crate::arguments::Global;

/// What the program found around it.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Variables that settings may come from.
    pub(crate) environment: BTreeMap<String, String>,
    /// Now.
    pub(crate) now: Timestamp,
}

/// A run of the program with its settings resolved.
pub(crate) struct Session<'a> {
    pub(crate) global: &'a Global,
    pub(crate) settings: Settings,
    now: Timestamp,
}

/// Rows of a table where nobody says how many.
const TABLE_ROWS: usize = 25;

impl<'a> Session<'a> {
    /// Reads the settings; `time_zone` is the option of the imports that have one.
    pub(crate) fn open(
        global: &'a Global,
        time_zone: Option<&str>,
        surroundings: &Surroundings,
    ) -> Result<Self, AppError> {
        let mut flags: BTreeMap<&'static str, String> = BTreeMap::new();
        let mut flag = |name, value: Option<&str>| {
            if let Some(value) = value {
                flags.insert(name, value.to_owned());
            }
        };
        flag("store", global.store.as_deref());
        flag("basis", global.basis.as_deref());
        flag("net_of_credits", global.net_of_credits.then_some("true"));
        flag("scope", global.scope.as_deref());
        flag("currency", global.currency.as_deref());
        flag("convert_to", global.convert_to.as_deref());
        flag("rates", global.rates.as_deref());
        flag("format", global.format.as_deref());
        flag("time_zone", time_zone);
        let file = settings_file(global.config.as_deref())?;
        let sources = Sources { flags, environment: surroundings.environment.clone(), file };
        Ok(Self { global, settings: Settings::resolve(&sources)?, now: surroundings.now })
    }

    /// The context of a verb.
    pub(crate) fn context<'p>(&self, progress: &'p dyn Progress) -> Context<'p> {
        Context {
            store: self.settings.store.clone(),
            now: self.now,
            limits: self.settings.limits(),
            keys: self.settings.keys(),
            estimates: self.settings.estimates.clone(),
            progress,
        }
    }

    /// The question of a reading verb.
    pub(crate) fn query(&self) -> Result<Query, AppError> {
        let instant =
            |option, text: &Option<String>| text.as_deref().map(|text| instant_of(option, text)).transpose();
        let (since, until) =
            (instant("--since", &self.global.since)?, instant("--until", &self.global.until)?);
        if let (Some(since), Some(until)) = (since, until)
            && until <= since
        {
            let message = format!("the window ends at {until}, not after its start {since}");
            return Err(
                AppError::new("query::empty_window", message).help("--until is exclusive; give a later day")
            );
        }
        let (currency, convert_to) = self.currencies()?;
        let query = Query {
            basis: self.settings.basis,
            credits: self.settings.credits,
            scope: self.settings.scope,
            since,
            until,
            filter: self.global.filter.as_deref().map(Filter::parse).transpose()?,
            currency,
            convert_to,
            rates: self.settings.rates.clone(),
            limit: self.limit(),
        };
        query.answerable()?;
        Ok(query)
    }

    /// The one currency that is asked for, or the one to convert to; the command line decides between the two.
    fn currencies(&self) -> Result<(Option<Currency>, Option<Currency>), AppError> {
        let (only, to) = (self.settings.currency, self.settings.convert_to);
        let (only, to) = match (self.global.currency.is_some(), self.global.convert_to.is_some()) {
            (true, false) => (only, None),
            (false, true) => (None, to),
            _ => (only, to),
        };
        if self.global.rates.is_some() && to.is_none() {
            return Err(AppError::new(
                "cli::option_without_effect",
                "`--rates` has no effect without `--convert-to`",
            )
            .help("say to which currency: --convert-to USD"));
        }
        Ok((only, to))
    }

    /// The most rows to show.
    pub(crate) fn limit(&self) -> Option<usize> {
        let for_people = matches!(self.settings.format, Format::Table | Format::Markdown);
        match self.global.limit {
            Some(limit) => Some(limit),
            None if self.global.all || !for_people => None,
            None => Some(TABLE_ROWS),
        }
    }

    /// Refuses options of a question to a command that asks none, rather than leaving them unheard.
    pub(crate) fn refuse_question(&self, command: &str) -> Result<(), AppError> {
        let given = [
            ("--where", self.global.filter.is_some()),
            ("--since", self.global.since.is_some()),
            ("--until", self.global.until.is_some()),
            ("--convert-to", self.global.convert_to.is_some()),
            ("--rates", self.global.rates.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(AppError::new(
                "cli::option_without_effect",
                format!("`{option}` has no effect on `trainbill {command}`"),
            )
            .help(format!("leave it out: trainbill {command}"))),
            None => Ok(()),
        }
    }

    /// A command to type next, with the store and the currency named if the command line named them.
    pub(crate) fn hint(&self, command: &str) -> String {
        let given = [
            ("--currency", &self.global.currency),
            ("--convert-to", &self.global.convert_to),
            ("--rates", &self.global.rates),
            ("--store", &self.global.store),
        ];
        let given =
            given.iter().filter_map(|(option, value)| Some(format!(" {option} {}", value.as_deref()?)));
        format!("trainbill {command}{}", given.collect::<String>())
    }
}

fn settings_file(named: Option<&Path>) -> Result<Option<SettingsFile>, AppError> {
    let path = named.map_or_else(|| PathBuf::from(FILE_NAME), Path::to_path_buf);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(SettingsFile { path, text })),
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => Ok(None),
        Err(error) => {
            Err(AppError::new("config::cannot_read", error.to_string()).at(path.display().to_string()))
        }
    }
}
