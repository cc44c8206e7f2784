//! Figures of several currencies as figures of one, by the day rates of one list; part of what an answer states of itself.

use std::collections::{BTreeMap, BTreeSet};

use costing::conversion::{AGE_DAYS_MAX, DayRate, NoRate, RateTable, converted, is_nothing};
use ledger::{Day, Posting};
use money::{Amount, Currency};
use store::RateListRecord;

use crate::books::{Books, Estimated};
use crate::{AppError, Meta, Query};

/// How amounts of other currencies became amounts of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// The currency of the answer.
    pub to: Currency,
    /// Source of the list of rates.
    pub source: String,
    /// The list's version: a hash of its rates.
    pub version: String,
    /// The rate of every currency and day of which the answer has an amount.
    pub rates: BTreeMap<(Currency, Day), DayRate>,
}

impl Conversion {
    /// The currencies that were converted.
    pub fn currencies(&self) -> BTreeSet<Currency> {
        self.rates.keys().map(|(currency, _)| *currency).collect()
    }

    /// The days of which there are converted amounts, in order.
    pub fn days(&self) -> BTreeSet<Day> {
        self.rates.keys().map(|(_, day)| *day).collect()
    }

    /// The days that take the rate of an earlier day.
    pub fn carried(&self) -> BTreeSet<Day> {
        let carried = self.rates.iter().filter(|((_, day), rate)| rate.published != *day);
        carried.map(|((_, day), _)| *day).collect()
    }

    /// Days between a day and the rate that it takes, at most.
    pub fn oldest_days(&self) -> i32 {
        self.rates.iter().map(|((_, day), rate)| day.0 - rate.published.0).max().unwrap_or(0)
    }

    /// The most days that may lie between a day and the rate that it takes.
    pub const fn oldest_days_allowed(&self) -> i32 {
        AGE_DAYS_MAX
    }

    fn rate(&self, currency: Currency, day: Day) -> Result<DayRate, AppError> {
        let missing = NoRate::NotPublished(None);
        let rate = self.rates.get(&(currency, day)).copied();
        rate.ok_or_else(|| no_rate(&self.source, (currency, self.to), (day, missing), 0))
    }
}

impl Meta {
    /// True for amounts of this currency: it is that of the answer, or is converted to it.
    pub(crate) fn takes(&self, currency: Currency) -> bool {
        self.conversion.is_some() || self.currency == Some(currency)
    }

    /// True if amounts of this currency are converted.
    pub(crate) fn converts(&self, currency: Currency) -> bool {
        self.conversion.as_ref().is_some_and(|conversion| conversion.to != currency)
    }

    /// A posting in the currency of the answer, by the rate of a day.
    pub(crate) fn converted(&self, posting: Posting, day: Day) -> Result<Posting, AppError> {
        let Some(conversion) = self.conversion.as_ref().filter(|held| held.to != posting.currency) else {
            return Ok(posting);
        };
        if is_nothing(&posting) {
            return Ok(Posting { currency: conversion.to, ..posting });
        }
        let rate = conversion.rate(posting.currency, day)?;
        Ok(converted(posting, conversion.to, rate.exchange)?)
    }

    /// An amount in the currency of the answer, by the rate of a day.
    pub(crate) fn converted_amount(
        &self,
        (amount, currency): (Amount, Currency),
        day: Day,
    ) -> Result<Amount, AppError> {
        match self.conversion.as_ref().filter(|held| held.to != currency && !amount.is_zero()) {
            Some(conversion) => Ok(conversion.rate(currency, day)?.exchange.of(amount)?),
            None => Ok(amount),
        }
    }
}

impl Books {
    /// The rates by which a question is answered in one currency; refused where a day has none.
    pub(crate) async fn conversion(
        &self,
        (query, to): (&Query, Currency),
        meta: &Meta,
        estimated: Estimated,
    ) -> Result<Conversion, AppError> {
        let list = self.rate_list(query, to).await?;
        let RateListRecord { id: version, source, base, .. } = list;
        let nothing = Conversion { to, source, version, rates: BTreeMap::new() };
        let days =
            self.days_to_convert(&Meta { conversion: Some(nothing.clone()), ..meta.clone() }, estimated)?;
        let (first, last) =
            match (days.iter().map(|(_, day)| *day).min(), days.iter().map(|(_, day)| *day).max()) {
                (Some(first), Some(last)) => (first, last),
                _ => return Ok(nothing),
            };
        // Older rates are of use to an error only, which then can name the last one.
        let held = self.store.rates(&nothing.version, (Day(first.0 - AGE_DAYS_MAX * 60), last)).await?;
        let table = RateTable::new(base, held);
        let mut rates = BTreeMap::new();
        let mut missing = Vec::new();
        for (currency, day) in days {
            match table.rate(currency, to, day) {
                Ok(rate) => {
                    rates.insert((currency, day), rate);
                }
                Err(fault) => missing.push((currency, day, fault)),
            }
        }
        match missing.as_slice() {
            [] => Ok(Conversion { rates, ..nothing }),
            [(currency, day, fault), more @ ..] => {
                Err(no_rate(&nothing.source, (*currency, to), (*day, *fault), more.len()))
            }
        }
    }

    /// The currencies and days of which there are amounts to convert.
    fn days_to_convert(
        &self,
        meta: &Meta,
        estimated: Estimated,
    ) -> Result<BTreeSet<(Currency, Day)>, AppError> {
        let mut days = BTreeSet::new();
        self.originals(meta, |_, day, posting| {
            if meta.converts(posting.currency) && !is_nothing(&posting) {
                days.insert((posting.currency, day));
            }
            Ok(())
        })?;
        if estimated == Estimated::Ever {
            let foreign = self.estimates.iter().filter(|estimate| meta.converts(estimate.currency));
            let inside = foreign.filter(|estimate| meta.has_day(estimate.day));
            days.extend(inside.map(|estimate| (estimate.currency, estimate.day)));
        }
        Ok(days)
    }

    /// The list in force that the question names, or the only one there is.
    async fn rate_list(&self, query: &Query, to: Currency) -> Result<RateListRecord, AppError> {
        let mut lists = self.store.rate_lists().await?;
        lists.retain(|list| list.current);
        let names: Vec<&str> = lists.iter().map(|list| list.source.as_str()).collect();
        let Some(first) = names.first() else {
            let message = format!("no list of rates is in the store, so nothing is converted to {to}");
            return Err(AppError::new("query::no_rates", message)
                .help("trainbill import rates FILE; or take one currency as it is billed by --currency"));
        };
        let convert = |name: &str| format!("trainbill ls --convert-to {to} --rates {name}");
        let at = match &query.rates {
            None if names.len() == 1 => Some(0),
            None => {
                let message = format!("the store has rates of {}, and none is named", names.join(", "));
                return Err(AppError::new("query::several_rates", message).help(convert(first)));
            }
            Some(name) => names.iter().position(|held| held == name),
        };
        match at {
            Some(at) => Ok(lists.swap_remove(at)),
            None => {
                let asked = query.rates.as_deref().unwrap_or_default();
                let message =
                    format!("no list of rates is named `{asked}` (there are: {})", names.join(", "));
                Err(AppError::new("query::no_such_rates", message).help(convert(first)))
            }
        }
    }
}

fn no_rate(
    source: &str,
    (from, to): (Currency, Currency),
    (day, fault): (Day, NoRate),
    more: usize,
) -> AppError {
    let import = format!("trainbill import rates FILE --source {source}");
    let (mut error, found) = match fault {
        NoRate::Unusable(published) => {
            let message =
                format!("the rate of {from} in {to} for {published} that `{source}` has cannot be used");
            let help = format!("correct the row and import the list again: {import}");
            let found = format!("a rejected row of {published}");
            (AppError::new("query::unusable_rate", message).help(help), found)
        }
        NoRate::NotPublished(last) => {
            let message = format!("`{source}` has no rate of {from} in {to} for {day}");
            let help =
                format!("import a list that has it: {import}; or ask for other days by --since and --until");
            let found =
                last.map_or_else(|| "none before it".to_owned(), |last| format!("the last one is of {last}"));
            (AppError::new("query::no_rate", message).help(help), found)
        }
    };
    let others = if more == 0 { String::new() } else { format!("; {more} more days lack one") };
    error.expected = Some(format!("a rate of {day}, or of at most {AGE_DAYS_MAX} days before it"));
    error.found = Some(found + &others);
    error
}
