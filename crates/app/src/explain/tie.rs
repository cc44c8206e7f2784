//! The figure that is explained, made of its postings, and whether the lines behind it add up to it.

use std::collections::BTreeMap;

use costing::conversion::DayRate;
use ledger::{Account, Day, ExperimentId, Figure};
use money::{Amount, Currency};

use super::{ExplainLine, Selection, wanted_attempts};
use crate::books::{Books, add, cost, measure};
use crate::{AppError, Meta};

/// What was billed in one currency for one day, and what it came to in the currency of the figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertedPart {
    /// Currency of the bill.
    pub currency: Currency,
    /// The day whose rate it takes; `None` for what is billed in the currency of the figure.
    pub day: Option<Day>,
    /// The sum of its lines, in that currency.
    pub amount: Amount,
    /// The rate; `None` for what is not converted, or comes to nothing.
    pub rate: Option<DayRate>,
    /// The sum in the currency of the figure.
    pub converted: Amount,
    /// Amounts that were converted, each rounded once: one for each place where money of the day rests.
    pub roundings: u64,
}

type Key = (Currency, Option<Day>);

/// A figure and its parts by currency and day.
pub(super) struct Reckoned {
    total: Figure,
    parts: BTreeMap<Key, ConvertedPart>,
}

/// Only what is converted is kept by day.
fn key(meta: &Meta, currency: Currency, day: Day) -> Key {
    (currency, meta.converts(currency).then_some(day))
}

/// The figure of a selection, from the postings.
pub(super) fn reckon(
    books: &Books,
    meta: &Meta,
    id: &ExperimentId,
    selection: &Selection,
) -> Result<Reckoned, AppError> {
    let wanted = wanted_attempts(books, selection)?;
    let mut total = Figure::nothing(measure(meta));
    let mut parts: BTreeMap<Key, ConvertedPart> = BTreeMap::new();
    books.originals(meta, |_, day, posting| {
        let of_attempt = match (posting.account, posting.attempt) {
            (Account::Attempt, Some(attempt)) => wanted.contains(&attempt),
            _ => posting.experiment.as_ref() == Some(id) && selection.attempt.is_none(),
        };
        if !of_attempt || selection.kind.is_some_and(|kind| kind != posting.resource_kind) {
            return Ok(());
        }
        let (currency, original) = (posting.currency, cost(&posting, meta.basis));
        let posting = meta.converted(posting, day)?;
        add(&mut total, &posting)?;
        let (currency, day) = key(meta, currency, day);
        let part = parts.entry((currency, day)).or_insert_with(|| ConvertedPart {
            currency,
            day,
            amount: Amount::ZERO,
            rate: day.and_then(|day| meta.conversion.as_ref()?.rates.get(&(currency, day)).copied()),
            converted: Amount::ZERO,
            roundings: 0,
        });
        part.amount = part.amount.checked_add(original)?;
        part.converted = part.converted.checked_add(cost(&posting, meta.basis))?;
        part.roundings += u64::from(day.is_some() && !original.is_zero());
        Ok(())
    })?;
    Ok(Reckoned { total, parts })
}

impl Reckoned {
    /// The figure with its parts, if the lines add up to them in every currency and day.
    ///
    /// # Errors
    /// `explain::does_not_tie`; a sum out of range.
    pub(super) fn tied(
        mut self,
        meta: &Meta,
        lines: &[ExplainLine],
    ) -> Result<(Figure, Vec<ConvertedPart>), AppError> {
        let mut sums: BTreeMap<Key, Amount> = BTreeMap::new();
        for line in lines {
            let sum = sums.entry(key(meta, line.currency, line.rate_day)).or_default();
            *sum = sum.checked_add(line.amount)?;
        }
        for (key, sum) in &sums {
            let figure = self.parts.get(key).map_or(Amount::ZERO, |part| part.amount);
            let same = figure == *sum;
            same.then_some(()).ok_or_else(|| does_not_tie(*sum, figure))?;
        }
        let without_lines =
            self.parts.iter().find(|(key, part)| !part.amount.is_zero() && !sums.contains_key(*key));
        if let Some((_, part)) = without_lines {
            return Err(does_not_tie(Amount::ZERO, part.amount));
        }
        // Pair assertion: the figure is summed by evidence, and its parts by day.
        let (parts, total) =
            (Amount::sum(self.parts.values().map(|part| part.converted))?, self.total.total()?);
        if parts != total {
            return Err(does_not_tie(parts, total));
        }
        self.parts.retain(|_, part| !part.amount.is_zero());
        let parts = if meta.conversion.is_some() { self.parts.into_values().collect() } else { Vec::new() };
        Ok((self.total, parts))
    }
}

fn does_not_tie(sum: Amount, figure: Amount) -> AppError {
    let message = format!("the lines sum to {sum} and the figure is {figure}");
    AppError::new("explain::does_not_tie", message).help("trainbill check")
}
