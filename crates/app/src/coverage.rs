//! `coverage`: which attempts, and how much money, lack which field, and what would supply it.

use std::collections::BTreeMap;

use costing::completeness::{Completeness, Field, FieldCoverage, FromBill, Remedy, completeness, coverage};
use engine::ResourceFacts;
use ledger::{Attempt, Figure};

use crate::books::{Books, measure};
use crate::list::{RunCosts, selected};
use crate::settle::Charges;
use crate::{AppError, Context, Meta, Query};

/// One field over all attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageRow {
    /// Of how many attempts, and how much money, it is missing.
    pub coverage: FieldCoverage,
    /// What would supply it for the most attempts; `None` if it is missing of none.
    pub remedy: Option<Remedy>,
    /// Attempts that it would supply it for.
    pub remedied: u64,
}

/// The completeness of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptScore {
    /// Experiment.
    pub experiment: String,
    /// Number in it.
    pub ordinal: u32,
    /// Fields known.
    pub known: usize,
    /// Fields due.
    pub due: usize,
    /// The missing ones.
    pub missing: Vec<Field>,
}

/// The answer of `coverage`.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageReport {
    /// What stands above it.
    pub meta: Meta,
    /// Attempts asked for.
    pub attempts: u64,
    /// Their cost.
    pub cost: Figure,
    /// Attempts without a cost that is known.
    pub without_cost: u64,
    /// Every field.
    pub fields: Vec<CoverageRow>,
    /// The attempts by score, the least complete first.
    pub scores: Vec<AttemptScore>,
}

/// Sums the completeness of the attempts that the question lets through.
///
/// # Errors
/// As [`crate::ls`].
pub async fn coverage_report(context: &Context<'_>, query: &Query) -> Result<CoverageReport, AppError> {
    let books = Books::open(context).await?;
    let meta = books.meta(query).await?;
    let costs = RunCosts::read(&books, &meta)?;
    let facts = facts(context, &books).await?;
    let chosen = selected(&books, (query, &meta), &costs)?;
    let attempts: Vec<&Attempt> = chosen.into_iter().flat_map(|(_, attempts)| attempts).collect();
    let all: Vec<Completeness> =
        attempts.iter().map(|attempt| completeness(attempt, from_bill(&facts, attempt))).collect();
    let summed = coverage(&all, &costs.attempts, measure(&meta))
        .map_err(|error| AppError::new("coverage::unlike_amounts", error.to_string()))?;
    let fields = summed.fields.into_iter().map(|coverage| row(&all, coverage)).collect();
    let mut scores: Vec<AttemptScore> =
        attempts.iter().zip(&all).map(|(attempt, one)| score(attempt, one)).collect();
    scores.sort_by(|a, b| {
        let rest = |s: &AttemptScore| (s.due - s.known, s.experiment.clone(), s.ordinal);
        let (a, b) = (rest(a), rest(b));
        b.0.cmp(&a.0).then_with(|| (&a.1, a.2).cmp(&(&b.1, b.2)))
    });
    Ok(CoverageReport {
        meta,
        attempts: summed.attempts,
        cost: summed.cost,
        without_cost: summed.without_cost,
        fields,
        scores,
    })
}

fn row(all: &[Completeness], coverage: FieldCoverage) -> CoverageRow {
    let mut remedies: BTreeMap<Remedy, u64> = BTreeMap::new();
    for remedy in all.iter().flat_map(|one| &one.remedies).filter(|remedy| remedy.field == coverage.field) {
        *remedies.entry(*remedy).or_default() += 1;
    }
    let most = remedies.into_iter().max_by_key(|(remedy, count)| (*count, std::cmp::Reverse(*remedy)));
    CoverageRow { coverage, remedy: most.map(|(remedy, _)| remedy), remedied: most.map_or(0, |(_, n)| n) }
}

fn score(attempt: &Attempt, one: &Completeness) -> AttemptScore {
    let (known, due) = one.score();
    AttemptScore {
        experiment: attempt.link.experiment.0.clone(),
        ordinal: attempt.ordinal,
        known,
        due,
        missing: one.remedies.iter().map(|remedy| remedy.field).collect(),
    }
}

/// What current bills tell of machines.
async fn facts(context: &Context<'_>, books: &Books) -> Result<BTreeMap<String, ResourceFacts>, AppError> {
    let mut all: BTreeMap<String, ResourceFacts> = BTreeMap::new();
    for delivery in &books.current {
        let files = Charges::at_rest(&books.store, delivery).files;
        for (resource, told) in engine::resource_facts(&files, context.limits).await? {
            let known = all.entry(resource).or_default();
            known.account |= told.account;
            known.region |= told.region;
            known.sku |= told.sku;
        }
    }
    Ok(all)
}

/// What the bill tells of the machines that an attempt held; of several machines each must be told.
fn from_bill(facts: &BTreeMap<String, ResourceFacts>, attempt: &Attempt) -> FromBill {
    let ids = attempt.bindings.iter().filter_map(|held| held.resource_id.as_deref());
    let told: Vec<ResourceFacts> = ids.filter_map(|id| facts.get(id).copied()).collect();
    let every = |test: fn(&ResourceFacts) -> bool| !told.is_empty() && told.iter().all(test);
    FromBill { account: every(|one| one.account), region: every(|one| one.region), sku: every(|one| one.sku) }
}
