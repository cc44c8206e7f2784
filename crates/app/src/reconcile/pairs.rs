//! Both sides of every attempt's day, what was estimated and what the bill says, and why they differ.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Account, AttemptId, Day, ResourceKind};
use money::{Amount, Ratio};
use store::{DeliveryRecord, EstimateRecord};

use super::Cause;
use crate::books::{Books, cost};
use crate::estimate::{amount_of, is_billed};
use crate::provider::{provider_of, speaks_of};
use crate::{AppError, Context, Meta, running};

/// Of one provider and attempt's day: both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) estimate: Option<Amount>,
    pub(super) bill: Option<Amount>,
    /// How long machines were thought to run, the attempt's share; `None` where an estimate does not tell.
    estimated_micros: Option<i64>,
    /// How long they ran by the bill; `None` where it does not tell.
    billed_micros: Option<i128>,
}

impl Default for Pair {
    fn default() -> Self {
        Self { estimate: None, bill: None, estimated_micros: Some(0), billed_micros: None }
    }
}

impl Pair {
    /// Why `billed` differs from the estimate, in parts that sum to the difference.
    pub(super) fn causes(&self, billed: Amount) -> Result<Vec<(Cause, Amount)>, AppError> {
        let Some(estimate) = self.estimate else { return Ok(vec![(Cause::NotEstimated, billed)]) };
        let difference = billed.checked_sub(estimate)?;
        if billed.is_zero() {
            return Ok(vec![(Cause::NotOnTheBill, difference)]);
        }
        let Some(ratio) = self.time_ratio() else { return Ok(vec![(Cause::PriceOrTime, difference)]) };
        let time = estimate.times(ratio)?.checked_sub(estimate)?;
        Ok(vec![(Cause::Time, time), (Cause::Price, difference.checked_sub(time)?)])
    }

    /// Time by the bill over time estimated.
    fn time_ratio(&self) -> Option<Ratio> {
        let estimated = u128::try_from(self.estimated_micros?).ok().filter(|micros| *micros > 0)?;
        Ratio::new(u128::try_from(self.billed_micros?).ok()?, estimated).ok()
    }
}

pub(super) type Pairs = BTreeMap<(String, AttemptId, Day), Pair>;

/// Both sides of each attempt's day. The bill's side is what it says of machines; days that no bill covers have none.
pub(super) async fn pairs(context: &Context<'_>, books: &Books, meta: &Meta) -> Result<Pairs, AppError> {
    let mut pairs = Pairs::new();
    let mut estimated_by: BTreeMap<AttemptId, BTreeSet<String>> = BTreeMap::new();
    for estimate in &books.estimates {
        let asked = meta.takes(estimate.currency) && meta.has_day(estimate.day);
        let (Some(amount), true) = (amount_of(estimate, meta.basis), asked) else { continue };
        let amount = meta.converted_amount((amount, estimate.currency), estimate.day)?;
        estimated_by.entry(estimate.attempt).or_default().insert(estimate.provider.clone());
        let pair = pairs.entry((estimate.provider.clone(), estimate.attempt, estimate.day)).or_default();
        pair.estimate = Some(pair.estimate.unwrap_or_default().checked_add(amount)?);
        pair.estimated_micros = pair.estimated_micros.zip(estimate.used_micros).map(|(a, b)| a + b);
        if is_billed(&books.current, &estimate.provider, estimate.day) {
            pair.bill.get_or_insert(Amount::ZERO);
            refuse_other_currency(books, meta, estimate)?;
        }
    }
    books.billed_postings(meta, |delivery, posting| {
        let machine = posting.account == Account::Attempt && posting.resource_kind == ResourceKind::Compute;
        let (Some(attempt), Some(day), true) = (posting.attempt, posting.usage_day, machine) else {
            return Ok(());
        };
        let provider = side_of(delivery, estimated_by.get(&attempt));
        let pair = pairs.entry((provider, attempt, day)).or_default();
        pair.bill = Some(pair.bill.unwrap_or_default().checked_add(cost(&posting, meta.basis))?);
        Ok(())
    })?;
    add_times(context, books, (&mut pairs, &estimated_by)).await?;
    Ok(pairs)
}

/// The provider under which what a delivery says of an attempt stands: the one whose bill was estimated for it, if any.
fn side_of(delivery: &DeliveryRecord, estimated_by: Option<&BTreeSet<String>>) -> String {
    let told = estimated_by.into_iter().flatten().find(|provider| speaks_of(delivery, provider));
    told.cloned().unwrap_or_else(|| provider_of(delivery).map_or("any", |provider| provider.id).to_owned())
}

/// Adds how long machines ran by the bill, where both sides speak and differ.
async fn add_times(
    context: &Context<'_>,
    books: &Books,
    (pairs, estimated_by): (&mut Pairs, &BTreeMap<AttemptId, BTreeSet<String>>),
) -> Result<(), AppError> {
    let differs = |pair: &Pair| pair.estimate.is_some() && pair.bill.is_some() && pair.estimate != pair.bill;
    let days: BTreeSet<Day> =
        pairs.iter().filter(|(_, pair)| differs(pair)).map(|((_, _, day), _)| *day).collect();
    for delivery in books.current.iter().filter(|held| held.days.iter().any(|day| days.contains(day))) {
        for ((attempt, day), micros) in running::times(context, books, (delivery, &days)).await? {
            let provider = side_of(delivery, estimated_by.get(&attempt));
            if let Some(pair) = pairs.get_mut(&(provider, attempt, day)) {
                pair.billed_micros = Some(pair.billed_micros.unwrap_or_default() + micros);
            }
        }
    }
    Ok(())
}

/// An estimate is compared with a bill of its currency only; that there is none is not a bill of nothing.
fn refuse_other_currency(books: &Books, meta: &Meta, estimate: &EstimateRecord) -> Result<(), AppError> {
    let day = estimate.day;
    let covering = || {
        let current = books.current.iter();
        current.filter(|held| speaks_of(held, &estimate.provider) && held.days.binary_search(&day).is_ok())
    };
    match covering().next() {
        Some(other) if !covering().any(|delivery| meta.takes(delivery.currency)) => {
            let (provider, currency) = (&estimate.provider, estimate.currency);
            let message = format!(
                "what was estimated in {currency} for {provider} on {day} is billed in {}",
                other.currency
            );
            Err(AppError::new("reconcile::other_currency", message).help(format!(
                "trainbill reconcile --convert-to {currency}, by a list of day rates (import rates)"
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(estimate: Option<&str>, micros: (Option<i64>, Option<i128>)) -> Pair {
        let estimate = estimate.map(|text| text.parse().unwrap());
        Pair { estimate, bill: None, estimated_micros: micros.0, billed_micros: micros.1 }
    }

    fn causes(pair: &Pair, billed: &str) -> Vec<(Cause, String)> {
        let causes = pair.causes(billed.parse().unwrap()).unwrap();
        causes.into_iter().map(|(cause, part)| (cause, part.to_string())).collect()
    }

    #[test]
    fn a_longer_time_is_told_from_a_higher_price() {
        // Two hours at 10 were estimated; the bill has three hours at 11.
        let pair = pair(Some("20"), (Some(7_200_000_000), Some(10_800_000_000)));
        assert_eq!(causes(&pair, "33"), [(Cause::Time, "10".to_owned()), (Cause::Price, "3".to_owned())]);
    }

    #[test]
    fn a_time_that_is_not_told_is_not_guessed() {
        for micros in [(None, Some(1)), (Some(1), None), (Some(0), Some(1))] {
            let parts = causes(&pair(Some("20"), micros), "33");
            assert_eq!(parts, [(Cause::PriceOrTime, "13".to_owned())], "{micros:?}");
        }
        assert_eq!(causes(&pair(None, (None, None)), "33"), [(Cause::NotEstimated, "33".to_owned())]);
        assert_eq!(
            causes(&pair(Some("20"), (Some(1), Some(1))), "0"),
            [(Cause::NotOnTheBill, "-20".to_owned())]
        );
    }

    #[test]
    fn the_parts_sum_to_the_difference_when_the_time_does_not_divide() {
        let pair = pair(Some("0.000000000000000000000001"), (Some(3), Some(7)));
        let parts = pair.causes("1".parse().unwrap()).unwrap();
        let sum = Amount::sum(parts.into_iter().map(|(_, part)| part)).unwrap();
        assert_eq!(sum.to_string(), "0.999999999999999999999999");
    }
}
