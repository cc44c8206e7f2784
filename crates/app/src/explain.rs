//! `why`: the charges, intervals, shares, rule and source version that add up to a cell of a statement.

use std::collections::BTreeSet;

use costing::attribution::{
    AttributionPlan, Claim, NamedBy, Overlap, Place, Resource, TagClaim, claim, divide, overlaps, shared_time,
};
use costing::capacity_block::spread;
use engine::ChargeRow;
use ledger::{
    Account, BillingPeriod, CostBasis, CreditTreatment, Day, DeliveryId, Evidence, ExperimentId, Figure,
    LineClass, ResourceKind, Rule, SourceId, Timestamp,
};
use money::Amount;
use store::DeliveryRecord;

use crate::books::{Books, ESTIMATES, add, in_window, measure};
use crate::list::RunCosts;
use crate::settle::{Charges, delivery_plan};
use crate::{AppError, Context, Meta, Query};

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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The part.
    pub amount: Amount,
    /// What the amount is, where it is not a plain part of the charge.
    pub note: Option<&'static str>,
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
    /// The lines, which sum to the figure exactly.
    pub lines: Vec<ExplainLine>,
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
    let total = figure(&books, &meta, &id, &selection)?;
    let mut lines = Vec::new();
    for delivery in books.current.iter().filter(|delivery| Some(delivery.currency) == meta.currency) {
        lines.extend(delivery_lines(context, (&books, &meta), delivery, &selection).await?);
    }
    lines.extend(estimate_lines(&books, &meta, &selection)?);
    let sum = Amount::sum(lines.iter().map(|line| line.amount))?;
    if sum != total.total()? {
        let message = format!("the lines sum to {sum} and the figure is {}", total.total()?);
        return Err(AppError::new("explain::does_not_tie", message).help("trainbill check"));
    }
    Ok(Explanation { meta, selection, total, lines })
}

fn figure(books: &Books, meta: &Meta, id: &ExperimentId, selection: &Selection) -> Result<Figure, AppError> {
    let wanted = wanted_attempts(books, selection)?;
    let mut total = Figure::nothing(measure(meta));
    books.postings(meta, |_, posting| {
        let of_attempt = match (posting.account, posting.attempt) {
            (Account::Attempt, Some(attempt)) => wanted.contains(&attempt),
            _ => posting.experiment.as_ref() == Some(id) && selection.attempt.is_none(),
        };
        if of_attempt && selection.kind.is_none_or(|kind| kind == posting.resource_kind) {
            add(&mut total, &posting)?;
        }
        Ok(())
    })?;
    Ok(total)
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

/// The estimates in the figure, each with the place of its price.
fn estimate_lines(books: &Books, meta: &Meta, selection: &Selection) -> Result<Vec<ExplainLine>, AppError> {
    let wanted = wanted_attempts(books, selection)?;
    let mut lines = Vec::new();
    for estimate in books.open_estimates() {
        let day = (estimate.day.start().0, Day(estimate.day.0 + 1).start().0);
        let asked = wanted.contains(&estimate.attempt)
            && Some(estimate.currency) == meta.currency
            && in_window(meta, day.0, day.0 + 1)
            && selection.kind.is_none_or(|kind| kind == estimate.resource_kind);
        if !asked {
            continue;
        }
        let cost = if meta.basis == CostBasis::List { estimate.list_cost } else { estimate.effective_cost };
        let attempt = books.attempts.iter().find(|attempt| attempt.id == estimate.attempt);
        lines.push(ExplainLine {
            source: SourceId(ESTIMATES.to_owned()),
            period: BillingPeriod::of(estimate.day.start()),
            delivery: DeliveryId(format!("made {}", estimate.made_at)),
            charge_cost: cost,
            attempt: attempt.map(|attempt| attempt.ordinal),
            rule: Rule::ResourceTime,
            evidence: Evidence::Estimated,
            overlaps: Vec::new(),
            shared_micros: None,
            amount: cost.unwrap_or_default(),
            note: Some("estimated until the bill is here: time held × price"),
            charge: ChargeRow {
                row: 0,
                file: estimate.price.clone(),
                line_item_id: String::new(),
                line_type: "Estimate".to_owned(),
                class: LineClass::Usage,
                resource_kind: estimate.resource_kind,
                service_name: String::new(),
                usage_type: String::new(),
                description: format!("machines of {} held on {}", estimate.provider, estimate.day),
                resource_id: None,
                tags: None,
                interval: day,
                costs: [
                    None,
                    estimate.list_cost.map(Amount::units),
                    estimate.effective_cost.map(Amount::units),
                    None,
                ],
            },
        });
    }
    Ok(lines)
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
}

impl Wanted<'_> {
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
    };
    let resources = plan.resources_of(|place| wanted.row_of(place, false).is_some());
    let rows = engine::scan_charges(&charges.files, selection.kind, &resources, context.limits).await?;
    let mut lines = Vec::new();
    for row in rows.into_iter().filter(|row| row_in_window(meta, row, delivery)) {
        row_lines(meta, delivery, &wanted, row, &mut lines)?;
    }
    let compute = selection.kind.is_none_or(|kind| kind == ResourceKind::Compute);
    if charges.capacity_block_rows > 0 && meta.basis == CostBasis::Effective && compute {
        lines.extend(block_lines(context, delivery, &wanted, &charges.files).await?);
    }
    Ok(lines)
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

fn row_in_window(meta: &Meta, row: &ChargeRow, delivery: &DeliveryRecord) -> bool {
    let (start, end) = row.interval;
    if end - start > MICROS_PER_DAY {
        let period = delivery.period.interval();
        return in_window(meta, period.start.0, period.end.0);
    }
    let day = Timestamp(start).day().start().0;
    in_window(meta, day, day + 1)
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
    let note = is_credit.then_some("provider credit on usage");
    let cost = row.costs[meta.basis as usize];
    for (landing, units) in divide(&claim, row.interval, cost.unwrap_or(0)) {
        let Some(row_of) = wanted.row_of(landing.place(), new_experiment) else { continue };
        let attempt = row_of.ordinal();
        let line = Line { claim: &claim, landing, units, attempt, note };
        lines.push(line.of(meta, delivery, &row)?);
    }
    Ok(())
}

struct Line<'a> {
    claim: &'a Claim<'a>,
    landing: costing::attribution::Landing,
    units: i128,
    attempt: Option<u32>,
    note: Option<&'static str>,
}

impl Line<'_> {
    fn of(&self, meta: &Meta, delivery: &DeliveryRecord, row: &ChargeRow) -> Result<ExplainLine, AppError> {
        let (rule, evidence) = match self.landing.place() {
            Place::Attempt { rule, evidence, .. } | Place::Experiment { rule, evidence, .. } => {
                (rule, evidence)
            }
            Place::Class(_) | Place::Idle | Place::Unattributed(_) => (Rule::None, Evidence::Billed),
        };
        let evidence = if meta.basis == CostBasis::Marginal { Evidence::Modelled } else { evidence };
        Ok(ExplainLine {
            source: delivery.source.clone(),
            period: delivery.period,
            delivery: delivery.id.clone(),
            charge_cost: row.costs[meta.basis as usize].map(Amount::from_units).transpose()?,
            attempt: self.attempt,
            rule,
            evidence,
            overlaps: overlaps(self.claim, row.interval, self.landing),
            shared_micros: shared_time(self.claim, row.interval),
            amount: Amount::from_units(self.units)?,
            note: self.note,
            charge: row.clone(),
        })
    }
}

/// The parts of capacity-block fees that landed with the selection.
async fn block_lines(
    context: &Context<'_>,
    delivery: &DeliveryRecord,
    wanted: &Wanted<'_>,
    files: &[std::path::PathBuf],
) -> Result<Vec<ExplainLine>, AppError> {
    let (fees, usage) = engine::capacity_blocks(files, context.limits).await?;
    let (_, spreads) = spread(&fees, &usage, wanted.plan);
    let mut lines = Vec::new();
    for spread in spreads {
        let Some(row_of) = wanted.row_of(spread.landing.place(), false) else { continue };
        let attempt = row_of.ordinal();
        let (rule, evidence) = match spread.landing.place() {
            Place::Attempt { rule, evidence, .. } | Place::Experiment { rule, evidence, .. } => {
                (rule, evidence)
            }
            Place::Class(_) | Place::Idle | Place::Unattributed(_) => continue,
        };
        lines.push(ExplainLine {
            source: delivery.source.clone(),
            period: delivery.period,
            delivery: delivery.id.clone(),
            charge: block_charge(spread.usage),
            charge_cost: None,
            attempt,
            rule,
            evidence,
            overlaps: Vec::new(),
            shared_micros: None,
            amount: Amount::from_units(spread.units)?,
            note: Some("part of the capacity block's fee, by instance time"),
        });
    }
    Ok(lines)
}

fn block_charge(usage: &costing::capacity_block::BlockUsage) -> ChargeRow {
    ChargeRow {
        row: 0,
        file: String::new(),
        line_item_id: String::new(),
        line_type: usage.line_type.clone(),
        class: ledger::LineClass::CapacityBlockUsage,
        resource_kind: ResourceKind::Compute,
        service_name: usage.service_name.clone(),
        usage_type: usage.instance_type.clone(),
        description: "capacity block fee".to_owned(),
        resource_id: Some(usage.resource_id.clone()),
        tags: None,
        interval: usage.interval,
        costs: [None; 4],
    }
}
