//! What use costs before the bill is here: time × price by the providers' billing rules, a line for each amount.
//!
//! A machine is billed from each start by the increments of its price, at least the minimum of a start, while it runs;
//! a stopped machine bills nothing and its volumes go on. A month's price of storage is spread over the real length of
//! the month. What has no price is `unpriced` with the reason, never nothing. Every line is shared by those who held the
//! resource, as a charge of the bill will be, and the shares sum to the line to the last digit.

mod machine;
#[cfg(test)]
mod tests;
mod usage;
mod volume;

use std::collections::BTreeMap;

use ledger::{Interval, PriceUnit};
use money::{Amount, AmountError, Currency, Ratio};

use crate::attribution::{Claim, Landing, Place, divide};
use crate::price_book::{PriceBook, Rate, Unpriced};

pub use usage::{Machine, MachineFacts, MachineState, Stay, Volume, machines};

/// Who bears a share of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Payer {
    /// The attempt of this index.
    Attempt(u32),
    /// Time or units that no attempt held.
    Idle,
}

/// Why a line costs what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RatingRule {
    /// Time × rate.
    TimeUsed,
    /// The last increment of a run is billed whole.
    RoundedUp,
    /// A start costs at least its minimum.
    MinimumCharge,
    /// EC2 took a Linux spot instance back in its first hour.
    InterruptedInFirstHour,
    /// A stopped machine bills no compute.
    Stopped,
    /// Size × part of the month.
    SizeByMonth,
}

/// What a line came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// It costs this much.
    Priced {
        /// The rate that was in force, with the rows that it is from.
        rate: Rate<'a>,
        /// What it costs, in the rate's currency.
        amount: Amount,
        /// Who bears it; sums to the amount.
        shares: Vec<(Payer, Amount)>,
        /// Whose the time billed is, in microseconds; shared as the amount is, and sums to it.
        times: Vec<(Payer, i128)>,
    },
    /// The provider's rules bill nothing for it.
    Free,
    /// It has no price.
    Unpriced(Unpriced),
}

/// One estimated amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatedLine<'a> {
    /// What was used.
    pub resource_id: String,
    /// When.
    pub interval: Interval,
    /// Time billed, in microseconds; longer or shorter than the interval where the rule says so.
    pub billed_micros: i64,
    /// By which rule.
    pub rule: RatingRule,
    /// What it came to.
    pub outcome: Outcome<'a>,
}

/// Estimated amounts of any number of machines and volumes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Estimate<'a> {
    /// Lines by resource, in the order of time.
    pub lines: Vec<RatedLine<'a>>,
}

impl Estimate<'_> {
    /// The total of each currency; it is incomplete if anything is [`Self::unpriced`].
    ///
    /// # Errors
    /// `OutOfRange` on overflow.
    pub fn totals(&self) -> Result<BTreeMap<Currency, Amount>, AmountError> {
        let mut totals: BTreeMap<Currency, Amount> = BTreeMap::new();
        for line in &self.lines {
            if let Outcome::Priced { rate, amount, .. } = &line.outcome {
                let total = totals.entry(rate.currency()).or_default();
                *total = total.checked_add(*amount)?;
            }
        }
        Ok(totals)
    }

    /// What each payer bears, by currency; sums to the totals.
    ///
    /// # Errors
    /// `OutOfRange` on overflow.
    pub fn by_payer(&self) -> Result<BTreeMap<(Payer, Currency), Amount>, AmountError> {
        let mut payers: BTreeMap<(Payer, Currency), Amount> = BTreeMap::new();
        for line in &self.lines {
            if let Outcome::Priced { rate, shares, .. } = &line.outcome {
                for (payer, share) in shares {
                    let sum = payers.entry((*payer, rate.currency())).or_default();
                    *sum = sum.checked_add(*share)?;
                }
            }
        }
        Ok(payers)
    }

    /// The lines that have no price.
    pub fn unpriced(&self) -> impl Iterator<Item = &RatedLine<'_>> {
        self.lines.iter().filter(|line| matches!(line.outcome, Outcome::Unpriced(_)))
    }
}

/// Rates the use of machines and volumes with a price book; their order does not matter.
pub fn rate<'a>(book: &'a PriceBook, machines: &[Machine], volumes: &[Volume]) -> Estimate<'a> {
    let mut lines: Vec<RatedLine<'a>> = machines.iter().flat_map(|one| machine::lines(book, one)).collect();
    lines.extend(volumes.iter().flat_map(|one| volume::lines(book, one)));
    lines.sort_by(|a, b| {
        let key = |line: &RatedLine<'_>| (line.interval, line.rule, line.billed_micros);
        a.resource_id.cmp(&b.resource_id).then_with(|| key(a).cmp(&key(b)))
    });
    Estimate { lines }
}

/// A line whose amount is still to be worked out.
struct Draft<'d> {
    resource_id: &'d str,
    interval: Interval,
    billed_micros: i64,
    rule: RatingRule,
    /// Length of the month that a month's price is spread over, in microseconds.
    month_micros: i64,
}

impl Draft<'_> {
    /// The line at a rate of which `size` times the units of every part are used, shared as the claim says.
    fn at_rate<'a>(&self, rate: Rate<'a>, size: Ratio, claim: &Claim<'_>) -> RatedLine<'a> {
        let outcome =
            match self.amount(&rate, size).and_then(|amount| Ok((amount, self.shares(amount, claim)?))) {
                Ok((amount, shares)) => {
                    let times = self.divided(i128::from(self.billed_micros), claim);
                    Outcome::Priced { rate, amount, shares, times: times.into_iter().collect() }
                }
                Err(_) => {
                    let item = rate.parts.first().map_or_else(String::new, |part| part.row.key.item.clone());
                    Outcome::Unpriced(Unpriced::OutOfRange { item })
                }
            };
        self.came_to(outcome)
    }

    fn came_to<'a>(&self, outcome: Outcome<'a>) -> RatedLine<'a> {
        RatedLine {
            resource_id: self.resource_id.to_owned(),
            interval: self.interval,
            billed_micros: self.billed_micros,
            rule: self.rule,
            outcome,
        }
    }

    fn amount(&self, rate: &Rate<'_>, size: Ratio) -> Result<Amount, AmountError> {
        let out_of_range = |_| AmountError::OutOfRange;
        let micros = u128::try_from(self.billed_micros).map_err(|_| AmountError::OutOfRange)?;
        rate.parts.iter().try_fold(Amount::ZERO, |sum, part| {
            let time = Ratio::new(micros, self.unit_micros(part.row.key.unit)).map_err(out_of_range)?;
            let units = time.times(part.count).and_then(|units| units.times(size)).map_err(out_of_range)?;
            sum.checked_add(part.row.price.times(units)?)
        })
    }

    /// How long a unit lasts.
    fn unit_micros(&self, unit: PriceUnit) -> u128 {
        match unit {
            PriceUnit::Second => 1_000_000,
            PriceUnit::Hour | PriceUnit::GibibyteHour => 3_600_000_000,
            PriceUnit::GigabyteMonth | PriceUnit::GibibyteMonth => {
                u128::try_from(self.month_micros).unwrap_or_default()
            }
        }
    }

    fn shares(&self, amount: Amount, claim: &Claim<'_>) -> Result<Vec<(Payer, Amount)>, AmountError> {
        let parts = self.divided(amount.units(), claim).into_iter();
        parts.map(|(payer, units)| Ok((payer, Amount::from_units(units)?))).collect()
    }

    /// A whole number of any unit, shared by who held the resource.
    fn divided(&self, whole: i128, claim: &Claim<'_>) -> BTreeMap<Payer, i128> {
        let mut shares: BTreeMap<Payer, i128> = BTreeMap::new();
        for (landing, part) in divide(claim, (self.interval.start.0, self.interval.end.0), whole) {
            // Parts of a whole cannot come to more than it.
            *shares.entry(payer(landing)).or_default() += part;
        }
        shares
    }
}

fn payer(landing: Landing) -> Payer {
    match landing.place() {
        Place::Attempt { index, .. } => Payer::Attempt(index),
        Place::Class(_) | Place::Idle | Place::Unattributed(_) | Place::Experiment { .. } => Payer::Idle,
    }
}
