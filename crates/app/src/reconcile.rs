//! `reconcile`: what was estimated, what the bill says, and why they differ, in parts that sum to the difference.

mod pairs;

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Attempt, AttemptId, Day, Settlement};
use money::Amount;

use crate::books::{Books, Estimated};
use crate::provider::speaks_of;
use crate::{AppError, Context, Meta, Query};
use pairs::{Pair, pairs};

/// By what the comparison is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReconcileBy {
    /// Provider and UTC day.
    Day,
    /// Provider and experiment.
    Experiment,
    /// Provider, experiment and attempt.
    Attempt,
}

/// Why an estimate and the bill differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The machines ran longer or shorter than estimated: that time at the estimate's own rate.
    Time,
    /// The same time at another rate, and whatever else the bill has for it.
    Price,
    /// Both speak of the attempt's day and say different amounts, and the bill does not tell in hours how long machines ran.
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
            Self::Time => "time",
            Self::Price => "price",
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
    /// Day, name of the experiment, or that and the attempt's number as `name#2`.
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
    let pairs = pairs(context, &books, &meta).await?;
    let attempts: BTreeMap<AttemptId, &Attempt> = books.attempts.iter().map(|a| (a.id, a)).collect();
    let days: BTreeSet<Day> = pairs.keys().map(|(_, _, day)| *day).collect();
    let span = days.first().zip(days.last()).map(|(first, last)| (*first, Day(last.0 + 1)));
    let mut rows: BTreeMap<(String, String), Vec<(Day, Pair)>> = BTreeMap::new();
    for ((provider, attempt, day), pair) in pairs {
        let key = match by {
            ReconcileBy::Day => day.to_string(),
            ReconcileBy::Experiment => {
                attempts.get(&attempt).map_or_else(String::new, |a| a.link.experiment.0.clone())
            }
            ReconcileBy::Attempt => attempts
                .get(&attempt)
                .map_or_else(String::new, |a| format!("{}#{}", a.link.experiment.0, a.ordinal)),
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
        for (cause, part) in pair.causes(billed)? {
            let sum = causes.entry(cause).or_default();
            *sum = sum.checked_add(part)?;
        }
    }
    causes.retain(|_, part| !part.is_zero());
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
