//! `config show`: the settings in force and where each comes from.

use app::settings::Settings;
use serde::Serialize;

/// The settings in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigAnswer {
    /// One row a key.
    pub rows: Vec<ConfigRow>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ConfigRow {
    /// The key.
    pub key: &'static str,
    /// Its value in force.
    pub value: Option<String>,
    /// Where the value comes from.
    pub origin: String,
}

/// The public shape of `config show`.
pub fn config(settings: &Settings) -> ConfigAnswer {
    let rows = settings.entries.iter().map(|entry| ConfigRow {
        key: entry.key.name,
        value: entry.value.clone(),
        origin: entry.origin.to_string(),
    });
    ConfigAnswer { rows: rows.collect() }
}
