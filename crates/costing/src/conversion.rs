//! Conversion by dated rates: which rate a day has, and what rests in one place as an amount of another currency.
//!
//! A day without a rate of its own takes the last one published before it, if that is at most [`AGE_DAYS_MAX`] days old.
//! An amount is converted where it rests, and rounded there once; every sum is made of such amounts, so that the same
//! question gives the same figure however its rows are cut.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use ledger::{DatedRate, Day, Posting};
use money::{AmountError, Currency, Exchange, Rate};

/// Days after which a rate is too old for a day that has none: the longest run of bank holidays fits into a week.
pub const AGE_DAYS_MAX: i32 = 7;

/// The rate that a day takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRate {
    /// The day for which it was published.
    pub published: Day,
    /// How it is applied.
    pub exchange: Exchange,
}

/// Why a day has no rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRate {
    /// The list has none for the day or the days before; the last one before them, if there is any.
    NotPublished(Option<Day>),
    /// The list has one for this day that cannot be used.
    Unusable(Day),
}

/// The rates of one list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RateTable {
    base: Option<Currency>,
    by_pair: BTreeMap<(Currency, Currency), BTreeMap<Day, Option<Rate>>>,
}

impl RateTable {
    /// A table of the rates of a list; `base` is the currency by way of which two others may be exchanged.
    pub fn new(base: Option<Currency>, rates: impl IntoIterator<Item = DatedRate>) -> Self {
        let mut table = Self { base, by_pair: BTreeMap::new() };
        for rate in rates {
            table.by_pair.entry((rate.from, rate.to)).or_default().insert(rate.day, rate.rate);
        }
        table
    }

    /// The rate that a day takes: of the pair itself, else of the pair the other way round, else by way of the base.
    ///
    /// # Errors
    /// Why there is none.
    pub fn rate(&self, from: Currency, to: Currency, day: Day) -> Result<DayRate, NoRate> {
        for age in 0..=AGE_DAYS_MAX {
            let published = Day(day.0.saturating_sub(age));
            if let Some(exchange) = self.on(from, to, published)? {
                return Ok(DayRate { published, exchange });
            }
        }
        Err(NoRate::NotPublished(self.last_before(from, to, day)))
    }

    /// The exchange of a pair on a day, if the list has the rates that it needs.
    ///
    /// # Errors
    /// `Unusable` if it has them and one cannot be used.
    fn on(&self, from: Currency, to: Currency, day: Day) -> Result<Option<Exchange>, NoRate> {
        let rate = |from, to| match self.by_pair.get(&(from, to)).and_then(|days| days.get(&day)) {
            None => Ok(None),
            Some(Some(rate)) => Ok(Some(*rate)),
            Some(None) => Err(NoRate::Unusable(day)),
        };
        if let Some(direct) = rate(from, to)? {
            return Ok(Some(Exchange::Times(direct)));
        }
        if let Some(inverse) = rate(to, from)? {
            return Ok(Some(Exchange::Over(inverse)));
        }
        let Some(base) = self.base else { return Ok(None) };
        match (rate(base, to), rate(base, from)) {
            (Ok(Some(times)), Ok(Some(over))) => Ok(Some(Exchange::Cross { times, over })),
            // One of two is no way from the one to the other, whatever it says.
            (Ok(None), _) | (_, Ok(None)) => Ok(None),
            (Err(unusable), _) | (_, Err(unusable)) => Err(unusable),
        }
    }

    /// The last day before the days that were looked at for which there is a rate.
    fn last_before(&self, from: Currency, to: Currency, day: Day) -> Option<Day> {
        let oldest = Day(day.0.saturating_sub(AGE_DAYS_MAX));
        let days = self.by_pair.values().flat_map(|days| days.range(..oldest).map(|(day, _)| *day));
        days.filter(|day| matches!(self.on(from, to, *day), Ok(Some(_)))).max()
    }
}

/// What rests in each place: postings of one delivery that differ in their step only are brought together, so that
/// money which came and went on leaves nothing behind, in any currency.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn resting(mut postings: Vec<Posting>) -> Result<Vec<Posting>, AmountError> {
    postings.sort_by(place);
    let mut resting: Vec<Posting> = Vec::with_capacity(postings.len());
    for posting in postings {
        match resting.last_mut().filter(|held| place(held, &posting) == Ordering::Equal) {
            Some(held) => add(held, &posting)?,
            None => resting.push(posting),
        }
    }
    Ok(resting)
}

fn place(a: &Posting, b: &Posting) -> Ordering {
    let whose =
        |p: &Posting| (p.account, p.attempt, p.rule, p.evidence, p.resource_kind, p.usage_day, p.currency);
    whose(a)
        .cmp(&whose(b))
        .then_with(|| a.experiment.cmp(&b.experiment))
        .then_with(|| a.reason.cmp(&b.reason))
        .then_with(|| a.service_name.cmp(&b.service_name))
        .then_with(|| a.sub_account_id.cmp(&b.sub_account_id))
        .then_with(|| a.line_type.cmp(&b.line_type))
}

fn add(held: &mut Posting, posting: &Posting) -> Result<(), AmountError> {
    held.billed_cost = held.billed_cost.checked_add(posting.billed_cost)?;
    held.list_cost = held.list_cost.checked_add(posting.list_cost)?;
    held.effective_cost = held.effective_cost.checked_add(posting.effective_cost)?;
    held.marginal_cost = held.marginal_cost.checked_add(posting.marginal_cost)?;
    held.charges += posting.charges;
    held.unpriced += posting.unpriced;
    Ok(())
}

/// True if there is nothing to convert in a posting, and so no need of a rate.
pub const fn is_nothing(posting: &Posting) -> bool {
    posting.billed_cost.is_zero()
        && posting.list_cost.is_zero()
        && posting.effective_cost.is_zero()
        && posting.marginal_cost.is_zero()
}

/// The posting in another currency.
///
/// # Errors
/// `OutOfRange` if an amount leaves its range.
pub fn converted(posting: Posting, to: Currency, exchange: Exchange) -> Result<Posting, AmountError> {
    Ok(Posting {
        currency: to,
        billed_cost: exchange.of(posting.billed_cost)?,
        list_cost: exchange.of(posting.list_cost)?,
        effective_cost: exchange.of(posting.effective_cost)?,
        marginal_cost: exchange.of(posting.marginal_cost)?,
        ..posting
    })
}

#[cfg(test)]
mod tests;
