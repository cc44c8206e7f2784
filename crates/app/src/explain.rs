//! `why`: the charges, intervals, shares, rule and source version that add up to a cell of a statement.

mod block;
mod estimated;
mod tie;

use std::collections::BTreeSet;

use costing::attribution::{
    AttributionPlan, Claim, NamedBy, Overlap, Place, Resource, TagClaim, claim, divide, overlaps, shared_time,
};
use costing::list_price::ListBook;
use engine::ChargeRow;
use ledger::{
    BillingPeriod, CostBasis, CreditTreatment, Day, DeliveryId, Evidence, Figure, LineClass, ResourceKind,
    Rule, SourceId, Timestamp,
};
use money::{Amount, Currency};
use store::DeliveryRecord;

use crate::books::{Books, last_day};
use crate::list::RunCosts;
use crate::settle::{Charges, delivery_plan};
use crate::{AppError, Context, Meta, Query, list_fill};

pub use tie::ConvertedPart;

/// Which cells are to be explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The experiment, by name or a unique beginning.
    pub experiment: String,
    /// One attempt, by its ordinal; all if `None`.
    pub attempt: Option<u32>,
    /// One kind of resource; all if `None`.
    pub kind: Option<ResourceKind>,
}

/// A part of one charge.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainLine {
    /// Source of the bill.
    pub source: SourceId,
    /// Month billed.
    pub period: BillingPeriod,
    /// Delivery: the version of the source.
    pub delivery: DeliveryId,
    /// The charge, as the store holds it.
    pub charge: ChargeRow,
    /// The whole charge under the basis; `None` if it is not priced.
    pub charge_cost: Option<Amount>,
    /// The attempt's ordinal; `None` for the experiment as a whole.
    pub attempt: Option<u32>,
    /// The rule that claimed the charge.
    pub rule: Rule,
    /// How the amount was got.
    pub evidence: Evidence,
    /// When the resource was held, and how much of it.
    pub overlaps: Vec<Overlap>,
    /// Microseconds over which the charge is shared out: held time and the billed rest.
    pub shared_micros: Option<u64>,
    /// The part, as it is billed.
    pub amount: Amount,
    /// The currency in which it is billed.
    pub currency: Currency,
    /// The UTC day whose rate it takes where it is converted.
    pub rate_day: Day,
    /// What the amount is, where it is not a plain part of the charge.
    pub note: Option<String>,
}

/// The answer of `why`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What stands above it.
    pub meta: Meta,
    /// What is explained, with the experiment's whole name.
    pub selection: Selection,
    /// The figure, from the postings.
    pub total: Figure,
    /// The lines, which sum to the figure exactly, or to the parts by day and currency where it is converted.
    pub lines: Vec<ExplainLine>,
    /// How the lines of each day and currency became part of the figure; empty if nothing is converted.
    pub conversions: Vec<ConvertedPart>,
}

/// Explains cells of a statement by the charges behind them.
///
/// # Errors
/// `explain::does_not_tie` if the lines do not sum to the figure; else as [`crate::show`].
pub async fn why(
    context: &Context<'_>,
    query: &Query,
    selection: &Selection,
) -> Result<Explanation, AppError> {
    let books = Books::open(context).await?;
    let meta = books.meta(query).await?;
    let costs = RunCosts::read(&books, &meta)?;
    let id = books.experiment(&selection.experiment, &costs.billed())?;
    let selection = Selection { experiment: id.0.clone(), ..selection.clone() };
    let reckoned = tie::reckon(&books, &meta, &id, &selection)?;
    let mut lines = Vec::new();
    for delivery in books.current.iter().filter(|delivery| meta.takes(delivery.currency)) {
        lines.extend(delivery_lines(context, (&books, &meta), delivery, &selection).await?);
    }
    lines.extend(estimated::lines(&books, &meta, &selection)?);
    let (total, conversions) = reckoned.tied(&meta, &lines)?;
    Ok(Explanation { meta, selection, total, lines, conversions })
}

fn wanted_attempts(books: &Books, selection: &Selection) -> Result<BTreeSet<ledger::AttemptId>, AppError> {
    let of_experiment = books.attempts.iter().filter(|a| a.link.experiment.0 == selection.experiment);
    let wanted: BTreeSet<_> = of_experiment
        .filter(|attempt| selection.attempt.is_none_or(|ordinal| attempt.ordinal == ordinal))
        .map(|attempt| attempt.id)
        .collect();
    match selection.attempt {
        Some(ordinal) if wanted.is_empty() => {
            let message = format!("`{}` has no attempt {ordinal}", selection.experiment);
            Err(AppError::new("query::no_such_attempt", message)
                .help(format!("trainbill show {}", selection.experiment)))
        }
        _ => Ok(wanted),
    }
}

/// A row of the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowOf {
    /// Of an attempt, by its ordinal.
    Attempt(u32),
    /// Of the experiment as a whole.
    Experiment,
}

impl RowOf {
    const fn ordinal(self) -> Option<u32> {
        match self {
            Self::Attempt(ordinal) => Some(ordinal),
            Self::Experiment => None,
        }
    }
}

/// The places of one delivery's plan that a selection means.
struct Wanted<'a> {
    plan: &'a AttributionPlan,
    /// Index in the plan and ordinal of each attempt.
    attempts: Vec<(u32, u32)>,
    /// The experiment's name, if charges to it as a whole are meant.
    experiment: Option<&'a str>,
    /// Public prices of charges whose bill tells none; for the list basis only.
    prices: Option<&'a ListBook>,
}

impl Wanted<'_> {
    /// What price lists say of a charge of usage whose bill tells no public price, and where they say so.
    fn listed(&self, row: &ChargeRow, delivery: &DeliveryRecord) -> Option<(Amount, String)> {
        let unlisted = row.class == LineClass::Usage && row.costs[CostBasis::List as usize].is_none();
        let book = self.prices.filter(|_| unlisted)?;
        let price = list_fill::price(book, &row.sold, row.interval, delivery.currency)?;
        let places: BTreeSet<String> =
            price.rows.iter().map(|row| format!("{} {}", row.origin.source, row.origin)).collect();
        Some((price.amount, places.into_iter().collect::<Vec<_>>().join(", ")))
    }

    /// The row of the statement that a place is in, if the place is meant.
    fn row_of(&self, place: Place, new_experiment: bool) -> Option<RowOf> {
        match place {
            Place::Attempt { index, .. } => self
                .attempts
                .iter()
                .find(|(attempt, _)| *attempt == index)
                .map(|(_, ordinal)| RowOf::Attempt(*ordinal)),
            Place::Experiment { index, .. } => {
                let named = self.plan.experiments.get(index as usize).map(|id| id.0.as_str());
                let meant = self.experiment.is_some_and(|wanted| named == Some(wanted) || new_experiment);
                meant.then_some(RowOf::Experiment)
            }
            Place::Class(_) | Place::Idle | Place::Unattributed(_) => None,
        }
    }
}

async fn delivery_lines(
    context: &Context<'_>,
    (books, meta): (&Books, &Meta),
    delivery: &DeliveryRecord,
    selection: &Selection,
) -> Result<Vec<ExplainLine>, AppError> {
    let charges = Charges::at_rest(&books.store, delivery);
    let plan = delivery_plan(context, &charges, &books.attempts).await?;
    let book = match meta.basis {
        CostBasis::List => list_fill::book(context, &books.store, &charges).await?,
        CostBasis::Billed | CostBasis::Effective | CostBasis::Marginal => None,
    };
    let attempts = wanted_attempts(books, selection)?;
    let ordinal =
        |id: &ledger::AttemptId| books.attempts.iter().find(|a| a.id == *id).map_or(0, |a| a.ordinal);
    let indexed = plan.attempts.iter().enumerate().filter(|(_, id)| attempts.contains(id));
    let wanted = Wanted {
        plan: &plan,
        attempts: indexed
            .map(|(index, id)| (u32::try_from(index).unwrap_or(u32::MAX), ordinal(id)))
            .collect(),
        experiment: selection.attempt.is_none().then_some(selection.experiment.as_str()),
        prices: book.as_ref(),
    };
    let resources = plan.resources_of(|place| wanted.row_of(place, false).is_some());
    let rows = engine::scan_charges(&charges.files, selection.kind, &resources, context.limits).await?;
    let mut lines = Vec::new();
    for row in rows.into_iter().filter(|row| row_in_window(meta, row, delivery)) {
        row_lines(meta, delivery, &wanted, row, &mut lines)?;
    }
    let compute = selection.kind.is_none_or(|kind| kind == ResourceKind::Compute);
    if charges.capacity_block_rows > 0 && meta.basis == CostBasis::Effective && compute {
        let of = block::of(context, delivery, &wanted, &charges.files).await?;
        lines.extend(of.into_iter().filter(|line| meta.has_day(line.rate_day)));
    }
    Ok(lines)
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// The UTC day that a charge counts to; `None` for one that is for more than a day.
fn usage_day(row: &ChargeRow) -> Option<Day> {
    let (start, end) = row.interval;
    (end - start <= MICROS_PER_DAY).then(|| Timestamp(start).day())
}

fn row_in_window(meta: &Meta, row: &ChargeRow, delivery: &DeliveryRecord) -> bool {
    let period = delivery.period.interval();
    usage_day(row).map_or_else(|| meta.has(period.start.0, period.end.0), |day| meta.has_day(day))
}

fn row_lines(
    meta: &Meta,
    delivery: &DeliveryRecord,
    wanted: &Wanted<'_>,
    row: ChargeRow,
    lines: &mut Vec<ExplainLine>,
) -> Result<(), AppError> {
    let tags = row.tags.as_deref().map(sources::charges::parse_tags).unwrap_or_default();
    let mut new_experiment = false;
    let tag = match wanted.plan.named_by(&tags) {
        NamedBy::Nobody => TagClaim::None,
        NamedBy::Attempt(index) => TagClaim::Attempt(index),
        NamedBy::Experiment(index) => TagClaim::Experiment(index),
        NamedBy::UnknownAttempt => TagClaim::UnknownAttempt,
        NamedBy::NewExperiment(name) => {
            new_experiment = wanted.experiment == Some(name.as_str());
            // An index past the plan's: an experiment that no record tells of.
            TagClaim::Experiment(u32::try_from(wanted.plan.experiments.len()).unwrap_or(u32::MAX))
        }
    };
    let resource = row.resource_id.as_deref().map_or(Resource::Absent, |id| wanted.plan.resource(id));
    let is_credit = row.class == LineClass::Credit && meta.credits == CreditTreatment::NetOfCredits;
    let claim = claim(wanted.plan, if is_credit { LineClass::Usage } else { row.class }, tag, resource);
    let listed = wanted.listed(&row, delivery);
    let note = match &listed {
        Some((_, place)) => Some(format!("at the public price of {place}")),
        None => is_credit.then(|| "provider credit on usage".to_owned()),
    };
    let cost = listed.as_ref().map(|(amount, _)| amount.units()).or(row.costs[meta.basis as usize]);
    for (landing, units) in divide(&claim, row.interval, cost.unwrap_or(0)) {
        let Some(row_of) = wanted.row_of(landing.place(), new_experiment) else { continue };
        let attempt = row_of.ordinal();
        let is_listed = listed.is_some();
        let line = Line { claim: &claim, landing, units, cost, attempt, is_listed, note: note.clone() };
        lines.push(line.of(meta, delivery, &row)?);
    }
    Ok(())
}

struct Line<'a> {
    claim: &'a Claim<'a>,
    landing: costing::attribution::Landing,
    units: i128,
    /// The whole charge.
    cost: Option<i128>,
    attempt: Option<u32>,
    /// True if a price list tells the cost and not the bill.
    is_listed: bool,
    note: Option<String>,
}

impl Line<'_> {
    fn of(&self, meta: &Meta, delivery: &DeliveryRecord, row: &ChargeRow) -> Result<ExplainLine, AppError> {
        let (rule, evidence) = match self.landing.place() {
            Place::Attempt { rule, evidence, .. } | Place::Experiment { rule, evidence, .. } => {
                (rule, evidence)
            }
            Place::Class(_) | Place::Idle | Place::Unattributed(_) => (Rule::None, Evidence::Billed),
        };
        let is_modelled = self.is_listed || meta.basis == CostBasis::Marginal;
        let evidence = if is_modelled { Evidence::Modelled } else { evidence };
        Ok(ExplainLine {
            source: delivery.source.clone(),
            period: delivery.period,
            delivery: delivery.id.clone(),
            charge_cost: self.cost.map(Amount::from_units).transpose()?,
            attempt: self.attempt,
            rule,
            evidence,
            overlaps: overlaps(self.claim, row.interval, self.landing),
            shared_micros: shared_time(self.claim, row.interval),
            amount: Amount::from_units(self.units)?,
            currency: delivery.currency,
            rate_day: usage_day(row).unwrap_or_else(|| last_day(delivery)),
            note: self.note.clone(),
            charge: row.clone(),
        })
    }
}
