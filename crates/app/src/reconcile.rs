//! `reconcile`: what was estimated, what the bill says, and why they differ, in parts that sum to the difference.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Account, AttemptId, Day, ResourceKind, Settlement};
use money::Amount;
use store::EstimateRecord;

use crate::books::{Books, Estimated, cost};
use crate::estimate::{amount_of, is_billed};
use crate::provider::{provider_of, speaks_of};
use crate::{AppError, Context, Meta, Query};

/// By what the comparison is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReconcileBy {
    /// Provider and UTC day.
    Day,
    /// Provider and experiment.
    Experiment,
}

/// Why an estimate and the bill differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Both speak of the attempt's day and say different amounts: another rate, or another time.
    PriceOrTime,
    /// The bill has cost of an attempt's day that nobody had estimated.
    NotEstimated,
    /// The bill covers the day and has no cost of the attempt on it.
    NotOnTheBill,
}

impl Cause {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PriceOrTime => "price_or_time",
            Self::NotEstimated => "not_estimated",
            Self::NotOnTheBill => "not_on_the_bill",
        }
    }
}

/// One row of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReconcileRow {
    /// Provider, as price lists name it.
    pub provider: String,
    /// Day, or name of the experiment.
    pub key: String,
    /// What was estimated; `None` if nothing was.
    pub estimate: Option<Amount>,
    /// The part of the estimate that no bill covers yet; `None` if there is none.
    pub awaiting: Option<Amount>,
    /// What the bill says of the same attempts' machines; `None` if it does not cover the day.
    pub bill: Option<Amount>,
    /// Bill less the estimate of what it covers; `None` until there is a bill.
    pub difference: Option<Amount>,
    /// Parts of the difference by cause; they sum to it.
    pub causes: BTreeMap<Cause, Amount>,
    /// How far the bill has come.
    pub state: Settlement,
}

impl ReconcileRow {
    /// The difference in thousandths of the bill, rounded towards zero; `None` without both or with a bill of nothing.
    pub fn per_mille(&self) -> Option<i128> {
        let (difference, bill) = (self.difference?.units(), self.bill?.units());
        if bill == 0 { None } else { difference.checked_mul(1000)?.checked_div(bill) }
    }
}

/// The answer of `reconcile`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciliation {
    /// What stands above it.
    pub meta: Meta,
    /// By what it is split.
    pub by: ReconcileBy,
    /// Rows in order of provider and key.
    pub rows: Vec<ReconcileRow>,
    /// A query for each provider that must give the bill's side, to be run by hand.
    pub by_hand: Vec<(String, String)>,
}

/// Of one provider, key and attempt's day: both sides.
#[derive(Debug, Default, Clone)]
struct Pair {
    estimate: Option<Amount>,
    bill: Option<Amount>,
}

type Pairs = BTreeMap<(String, AttemptId, Day), Pair>;

/// Compares the estimates of attempts' machines with what the bill says of them.
///
/// # Errors
/// As [`crate::ls`]; a filter on runs or net of credits is refused, since estimates know neither.
pub async fn reconcile(
    context: &Context<'_>,
    query: &Query,
    by: ReconcileBy,
) -> Result<Reconciliation, AppError> {
    if query.filter.is_some() || query.credits == ledger::CreditTreatment::NetOfCredits {
        let message =
            "estimates are compared whole and before credits: a filter or net of credits has no meaning here";
        return Err(AppError::new("reconcile::not_comparable", message).help("trainbill reconcile"));
    }
    let books = Books::open(context).await?;
    let meta = books.meta_of(query, Estimated::Ever).await?;
    let pairs = pairs(&books, &meta)?;
    let experiments: BTreeMap<_, _> = books.attempts.iter().map(|a| (a.id, &a.link.experiment.0)).collect();
    let days: BTreeSet<Day> = pairs.keys().map(|(_, _, day)| *day).collect();
    let span = days.first().zip(days.last()).map(|(first, last)| (*first, Day(last.0 + 1)));
    let mut rows: BTreeMap<(String, String), Vec<(Day, Pair)>> = BTreeMap::new();
    for ((provider, attempt, day), pair) in pairs {
        let key = match by {
            ReconcileBy::Day => day.to_string(),
            ReconcileBy::Experiment => experiments.get(&attempt).map_or_else(String::new, |id| (*id).clone()),
        };
        rows.entry((provider, key)).or_default().push((day, pair));
    }
    let providers: BTreeSet<String> = rows.keys().map(|(provider, _)| provider.clone()).collect();
    let by_hand =
        providers.iter().filter_map(|provider| Some((provider.clone(), by_hand(provider, (&meta, span?))?)));
    // A provider's own view is in the currency in which it bills.
    let by_hand = if meta.conversion.is_some() { Vec::new() } else { by_hand.collect() };
    let rows = rows
        .into_iter()
        .map(|((provider, key), pairs)| row(&books, (provider, key), &pairs))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Reconciliation { meta, by, rows, by_hand })
}

/// Both sides of each attempt's day. The bill's side is what it says of machines; days that no bill covers have none.
fn pairs(books: &Books, meta: &Meta) -> Result<Pairs, AppError> {
    let mut pairs = Pairs::new();
    let mut estimated_by: BTreeMap<AttemptId, BTreeSet<String>> = BTreeMap::new();
    for estimate in &books.estimates {
        let asked = meta.takes(estimate.currency) && meta.has_day(estimate.day);
        let (Some(amount), true) = (amount_of(estimate, meta.basis), asked) else { continue };
        let amount = meta.converted_amount((amount, estimate.currency), estimate.day)?;
        estimated_by.entry(estimate.attempt).or_default().insert(estimate.provider.clone());
        let pair = pairs.entry((estimate.provider.clone(), estimate.attempt, estimate.day)).or_default();
        pair.estimate = Some(pair.estimate.unwrap_or_default().checked_add(amount)?);
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
        let told = estimated_by
            .get(&attempt)
            .and_then(|providers| providers.iter().find(|provider| speaks_of(delivery, provider)).cloned());
        let provider =
            told.unwrap_or_else(|| provider_of(delivery).map_or("any", |provider| provider.id).to_owned());
        let pair = pairs.entry((provider, attempt, day)).or_default();
        pair.bill = Some(pair.bill.unwrap_or_default().checked_add(cost(&posting, meta.basis))?);
        Ok(())
    })?;
    Ok(pairs)
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

fn row(
    books: &Books,
    (provider, key): (String, String),
    pairs: &[(Day, Pair)],
) -> Result<ReconcileRow, AppError> {
    let (mut estimate, mut awaiting, mut bill) = (None::<Amount>, None::<Amount>, None::<Amount>);
    let (mut compared_estimate, mut causes) = (Amount::ZERO, BTreeMap::<Cause, Amount>::new());
    for (_, pair) in pairs {
        if let Some(amount) = pair.estimate {
            estimate = Some(estimate.unwrap_or_default().checked_add(amount)?);
        }
        let Some(billed) = pair.bill else {
            let part = pair.estimate.unwrap_or_default();
            awaiting = Some(awaiting.unwrap_or_default().checked_add(part)?);
            continue;
        };
        bill = Some(bill.unwrap_or_default().checked_add(billed)?);
        let estimated = pair.estimate.unwrap_or_default();
        compared_estimate = compared_estimate.checked_add(estimated)?;
        let cause = match pair.estimate {
            None => Cause::NotEstimated,
            Some(_) if billed.is_zero() => Cause::NotOnTheBill,
            Some(_) => Cause::PriceOrTime,
        };
        let part = billed.checked_sub(estimated)?;
        if !part.is_zero() {
            let sum = causes.entry(cause).or_default();
            *sum = sum.checked_add(part)?;
        }
    }
    let difference = bill.map(|bill| bill.checked_sub(compared_estimate)).transpose()?;
    let parts = Amount::sum(causes.values().copied())?;
    // Pair assertion: the parts by cause are summed apart from the two sides.
    if difference.is_some_and(|difference| difference != parts) {
        return Err(AppError::new("reconcile::does_not_tie", format!("the causes of {key} sum to {parts}")));
    }
    let state =
        pairs.iter().map(|(day, _)| state(books, &provider, *day)).min().unwrap_or(Settlement::AwaitingBill);
    Ok(ReconcileRow { provider, key, estimate, awaiting, bill, difference, causes, state })
}

/// How far a provider's bill for a day has come.
fn state(books: &Books, provider: &str, day: Day) -> Settlement {
    let covering: Vec<_> = books
        .current
        .iter()
        .filter(|delivery| {
            (provider == "any" || speaks_of(delivery, provider)) && delivery.days.contains(&day)
        })
        .collect();
    if covering.is_empty() {
        Settlement::AwaitingBill
    } else if covering.iter().any(|delivery| !delivery.is_final) {
        Settlement::Open
    } else if covering.iter().any(|delivery| books.restates(delivery)) {
        Settlement::Restated
    } else {
        Settlement::Final
    }
}

/// A query that gives the provider's own view of the bill's side, where it has one.
fn by_hand(provider: &str, (meta, (since, until)): (&Meta, (Day, Day))) -> Option<String> {
    let metric = match meta.basis {
        ledger::CostBasis::Effective => "AmortizedCost",
        _ => "UnblendedCost",
    };
    match provider {
        "aws" => Some(format!(
            "aws ce get-cost-and-usage --time-period Start={since},End={until} --granularity DAILY --metrics {metric} \
             --filter '{{\"Dimensions\":{{\"Key\":\"SERVICE\",\"Values\":[\"Amazon Elastic Compute Cloud - Compute\"]}}}}'"
        )),
        "gcp" => Some(format!(
            "SELECT DATE(usage_start_time) day, SUM(cost) + SUM(IFNULL((SELECT SUM(c.amount) FROM UNNEST(credits) c), 0)) \
             net FROM `PROJECT.DATASET.gcp_billing_export_resource_v1_ACCOUNT` \
             WHERE service.description = 'Compute Engine' AND DATE(usage_start_time) >= '{since}' \
             AND DATE(usage_start_time) < '{until}' GROUP BY 1 ORDER BY 1"
        )),
        _ => None,
    }
}
