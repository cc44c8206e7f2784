//! What an answer states of itself.

use ledger::Timestamp;
use serde::Serialize;

/// Basis, scope, credits, currency and window of every figure in an answer, and how far its sources have come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Meta {
    /// `list`, `effective` or `marginal`.
    pub basis: &'static str,
    /// `direct` or `fully-loaded`.
    pub scope: &'static str,
    /// `before credits` or `net of credits`.
    pub credits: &'static str,
    /// Currency code; `null` for an empty store.
    pub currency: Option<String>,
    /// How amounts of other currencies were converted to it; `null` if none was.
    pub conversion: Option<Conversion>,
    /// Start of the window.
    pub since: Option<String>,
    /// End of the window, exclusive.
    pub until: Option<String>,
    /// When the newest import arrived.
    pub as_of: Option<String>,
    /// Hash of the allocation policy.
    pub policy: Option<String>,
    /// The last UTC day for which every source has a bill.
    pub complete_to: Option<String>,
}

/// The list of rates by which amounts were converted, and how old its rates are on the days of the amounts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Conversion {
    /// Source of the list.
    pub rates: String,
    /// The list's version: a hash of its rates.
    pub version: String,
    /// Codes of the currencies that were converted.
    pub from: Vec<String>,
    /// First day of which there are converted amounts; `null` if there are none.
    pub first_day: Option<String>,
    /// Last day of them.
    pub last_day: Option<String>,
    /// Days of which there are converted amounts.
    pub days: usize,
    /// Days among them for which no rate is published, with the day whose rate they take.
    pub carried: Vec<CarriedDay>,
    /// Days between a day and the rate that it takes, at most.
    pub oldest_days: i32,
    /// Days that may lie between them; an older rate is refused.
    pub oldest_days_allowed: i32,
}

/// A day without a rate of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CarriedDay {
    /// The currency.
    pub from: String,
    /// The day.
    pub day: String,
    /// The day of the rate that it takes.
    pub rate_day: String,
}

impl Conversion {
    fn of(conversion: &app::Conversion) -> Self {
        let days = conversion.days();
        let carried = conversion.rates.iter().filter(|((_, day), rate)| rate.published != *day);
        Self {
            rates: conversion.source.clone(),
            version: conversion.version.clone(),
            from: conversion.currencies().iter().map(ToString::to_string).collect(),
            first_day: days.first().map(ToString::to_string),
            last_day: days.last().map(ToString::to_string),
            days: days.len(),
            carried: carried
                .map(|((from, day), rate)| CarriedDay {
                    from: from.to_string(),
                    day: day.to_string(),
                    rate_day: rate.published.to_string(),
                })
                .collect(),
            oldest_days: conversion.oldest_days(),
            oldest_days_allowed: conversion.oldest_days_allowed(),
        }
    }

    /// The list and its version in one cell of a flat file.
    pub fn cell(&self) -> String {
        format!("{} {}", self.rates, self.version)
    }
}

impl From<&app::Meta> for Meta {
    fn from(meta: &app::Meta) -> Self {
        let time = |stamp: Option<Timestamp>| stamp.map(|stamp| stamp.to_string());
        Self {
            basis: meta.basis.word(),
            scope: meta.scope.word(),
            credits: meta.credits.word(),
            currency: meta.currency.map(|currency| currency.to_string()),
            conversion: meta.conversion.as_ref().map(Conversion::of),
            since: time(meta.since),
            until: time(meta.until),
            as_of: time(meta.as_of),
            policy: meta.policy.clone(),
            complete_to: meta.complete_to.map(|day| day.to_string()),
        }
    }
}
