//! Gathers the rates of a list, sorts out what contradicts, and counts everything.

use std::collections::BTreeMap;

use ledger::{DatedRate, Day};
use money::{Currency, Rate};

use super::{RateList, RateOptions, rate};
use crate::SourceError;
use crate::price_list::Refusal;

type Key = (Day, Currency, Currency);

/// What a list says of a day and pair.
#[derive(Debug, Clone, Copy)]
enum Met {
    /// One rate, in this row.
    Rate(Rate, u64),
    /// A rate that cannot be used.
    Unusable,
}

/// The rates of one list while it is read.
pub(super) struct Gather<'o> {
    options: &'o RateOptions,
    pub(super) list: RateList,
    met: BTreeMap<Key, Met>,
}

impl<'o> Gather<'o> {
    pub(super) fn new(options: &'o RateOptions) -> Self {
        Self { options, list: RateList::default(), met: BTreeMap::new() }
    }

    /// Takes the rate of a row and column; the row is counted already.
    pub(super) fn take(
        &mut self,
        row: u64,
        key: Key,
        (column, text): (&str, &str),
    ) -> Result<(), SourceError> {
        let found = match rate(text, column) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.list.passed_over += 1;
                return Ok(());
            }
            Err(refusal) => {
                self.unusable(key, column);
                self.reject(row, refusal);
                return self.within_limits();
            }
        };
        match self.met.get(&key).copied() {
            None => {
                self.met.insert(key, Met::Rate(found, row));
            }
            Some(Met::Rate(known, _)) if known == found => self.list.passed_over += 1,
            Some(Met::Rate(known, first)) => {
                self.met.insert(key, Met::Unusable);
                self.contradicted((first, column, known), format!("row {row} has {found}"));
                self.contradicted((row, column, found), format!("row {first} has {known}"));
            }
            Some(Met::Unusable) => {
                self.contradicted((row, column, found), "another row has one that cannot be used".to_owned());
            }
        }
        self.within_limits()
    }

    pub(super) fn reject(&mut self, row: u64, refusal: Refusal) {
        self.list.rejected += 1;
        if self.list.rejections.len() < self.options.limits.rejections {
            self.list.rejections.push(refusal.at(&self.options.file, row));
        }
    }

    /// The list, once every row is read.
    pub(super) fn finish(mut self) -> Result<RateList, SourceError> {
        if self.list.rows == 0 {
            return Err(SourceError::new("rates::no_rates", "the file holds no rates")
                .at(&self.options.file)
                .help("check that the file is a list of rates and that it is whole"));
        }
        let mut froms: Vec<Currency> = self.met.keys().map(|(_, from, _)| *from).collect();
        froms.sort_unstable();
        froms.dedup();
        self.list.base = if let [only] = froms.as_slice() { Some(*only) } else { None };
        self.list.rates = (self.met.into_iter())
            .map(|((day, from, to), met)| {
                let rate = match met {
                    Met::Rate(rate, _) => Some(rate),
                    Met::Unusable => None,
                };
                DatedRate { day, from, to, rate }
            })
            .collect();
        Ok(self.list)
    }

    /// A rate that cannot be read makes another one of the same day and pair doubtful too.
    fn unusable(&mut self, key: Key, column: &str) {
        if let Some(Met::Rate(known, first)) = self.met.insert(key, Met::Unusable) {
            self.contradicted((first, column, known), "another row has one that cannot be used".to_owned());
        }
    }

    fn contradicted(&mut self, (row, column, found): (u64, &str, Rate), other: String) {
        let expected = format!("one rate of a day and pair: {other}");
        self.reject(row, Refusal::new("row::contradicting_rate", column, &found.to_string(), expected));
    }

    fn within_limits(&self) -> Result<(), SourceError> {
        let most = self.options.limits.prices;
        if self.met.len() <= most {
            return Ok(());
        }
        Err(SourceError::new("rates::too_many", format!("the file holds more than {most} rates"))
            .at(&self.options.file)
            .help("read a list of fewer years or currencies"))
    }
}
