//! Settles a delivery: attributes its charges to the runs known now and makes the postings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use costing::attribution::{AttributionPlan, Place, SplitShare, TagKeys, class_account, plan};
use costing::capacity_block::{BlockFee, Spread, spread};
use costing::list_price::ListBook;
use costing::postings::{Destination, Dimensions, Landed, moves, postings};
use engine::{Attributed, Group, Measures, Run};
use ledger::{
    Account, Attempt, Day, Evidence, ExperimentId, LineClass, Posting, ResourceKind, Rule, Step, Timestamp,
};
use money::{Amount, AmountError, Currency};
use store::{DeliveryKey, DeliveryRecord, Store};

use crate::list_fill::{self, Filled};
use crate::{AppError, Context};

/// Changes whenever the rules of attribution or of postings do, so that stale postings are made again.
const RULES_VERSION: &str = "attribution-4";

/// A delivery to be settled.
#[derive(Debug)]
pub(crate) struct Charges {
    pub(crate) key: DeliveryKey,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) currency: Currency,
    pub(crate) rows: u64,
    pub(crate) split_rows: u64,
    pub(crate) capacity_block_rows: u64,
    /// Charges of which the bill tells no public price.
    pub(crate) unpriced: u64,
}

impl Charges {
    /// The charges of a delivery that the store holds.
    pub(crate) fn at_rest(store: &Store, delivery: &DeliveryRecord) -> Self {
        Self {
            key: delivery.key(),
            files: delivery.files.iter().map(|file| store.root().join(file)).collect(),
            currency: delivery.currency,
            rows: delivery.accepted,
            split_rows: delivery.split_rows,
            capacity_block_rows: delivery.capacity_block_rows,
            unpriced: delivery.unpriced,
        }
    }
}

/// Hash of everything that the postings of a delivery depend on; `prices` is what [`list_fill::mark`] gives.
pub(crate) fn inputs_hash(charges: &Charges, attempts: &[Attempt], keys: &TagKeys, prices: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(prices.as_bytes());
    hasher.update(RULES_VERSION.as_bytes());
    hasher.update(charges.key.delivery.0.as_bytes());
    hasher.update(format!("{keys:?}").as_bytes());
    let mut sorted: Vec<&Attempt> = attempts.iter().collect();
    sorted.sort_unstable_by_key(|attempt| attempt.id);
    for attempt in sorted {
        let told = (attempt.id, &attempt.canonical_key, &attempt.aliases, &attempt.link, attempt.ended_at);
        hasher.update(format!("{told:?}{:?}", attempt.bindings).as_bytes());
    }
    hasher.finalize().to_hex().as_str()[..32].to_owned()
}

/// The build side of attribution for one delivery; what is still held is held to the end of its period.
pub(crate) async fn delivery_plan(
    context: &Context<'_>,
    charges: &Charges,
    attempts: &[Attempt],
) -> Result<AttributionPlan, AppError> {
    let splits: Vec<SplitShare> = if charges.split_rows > 0 {
        engine::split_shares(&charges.files, context.limits).await?
    } else {
        Vec::new()
    };
    let as_of = charges.key.period.interval().end.0;
    let mut plan = plan(attempts, &splits, context.keys.clone(), as_of)
        .map_err(|error| AppError::new("attribution::too_many_attempts", error.to_string()))?;
    plan.set_running(engine::running_times(&charges.files, context.limits).await?);
    Ok(plan)
}

/// Attributes the charges and makes the postings.
pub(crate) async fn settle(
    context: &Context<'_>,
    charges: &Charges,
    attempts: &[Attempt],
    prices: Option<&ListBook>,
) -> Result<Vec<Posting>, AppError> {
    let plan = Arc::new(delivery_plan(context, charges, attempts).await?);
    let mut attributed = engine::attribute(run(context, charges, &plan, engine::Charges::All)).await?;
    if attributed.witness.rows != charges.rows {
        return Err(
            engine::EngineError::Rows { read: attributed.witness.rows, expected: charges.rows }.into()
        );
    }
    let experiments = std::mem::take(&mut attributed.experiments);
    let names = Names::of(attempts, &plan, &experiments);
    let mut landed = landed_all(&attributed, &names)?;
    drop(attributed);
    let mut filled = Filled::default();
    if let Some(book) = prices {
        filled = list_fill::fill(context, charges, (plan.as_ref(), &names), book).await?;
        filled.count_priced(&mut landed);
    }
    let has_credits = landed.iter().any(|part| part.destination.account == Account::Credit);
    let mut made = postings(landed, charges.currency)?;
    made.extend(filled.postings(charges.currency));
    if charges.capacity_block_rows > 0 {
        made.extend(amortisation(context, charges, &plan, &names).await?);
    }
    if has_credits {
        made.extend(credits(context, charges, &plan, attempts).await?);
    }
    Ok(made)
}

fn run(context: &Context<'_>, charges: &Charges, plan: &Arc<AttributionPlan>, which: engine::Charges) -> Run {
    Run {
        files: charges.files.clone(),
        plan: Arc::clone(plan),
        charges: which,
        measures: Measures::All,
        limits: context.limits,
    }
}

/// Moves each credit to whom the usage belongs that it was given on; one that names no usage of a run or of a machine
/// stays in its account.
async fn credits(
    context: &Context<'_>,
    charges: &Charges,
    plan: &Arc<AttributionPlan>,
    attempts: &[Attempt],
) -> Result<Vec<Posting>, AppError> {
    let attributed = engine::attribute(run(context, charges, plan, engine::Charges::Credits)).await?;
    let names = Names::of(attempts, plan, &attributed.experiments);
    let mut given = landed_all(&attributed, &names)?;
    given.retain(|part| {
        matches!(part.destination.account, Account::Attempt | Account::Experiment | Account::Idle)
    });
    for part in &mut given {
        // The credit stays counted where it entered.
        (part.charges, part.unpriced) = (0, 0);
    }
    let credit = names.destination(Place::Class(LineClass::Credit));
    let taken: Vec<Landed> =
        given.iter().map(|part| Landed { destination: credit.clone(), ..part.clone() }).collect();
    Ok(moves(Step::Credits, taken, given, charges.currency))
}

fn landed_all(attributed: &Attributed, names: &Names<'_>) -> Result<Vec<Landed>, AmountError> {
    attributed.groups().map(|group| landed(&group, names)).collect()
}

/// Turns the numbers of landings back into attempts and experiments.
pub(crate) struct Names<'a> {
    plan: &'a AttributionPlan,
    experiments: &'a [String],
    experiment_of: BTreeMap<ledger::AttemptId, &'a ExperimentId>,
}

impl<'a> Names<'a> {
    fn of(attempts: &'a [Attempt], plan: &'a AttributionPlan, experiments: &'a [String]) -> Self {
        let experiment_of = attempts.iter().map(|attempt| (attempt.id, &attempt.link.experiment)).collect();
        Self { plan, experiments, experiment_of }
    }

    /// The number by which landings count an experiment.
    pub(crate) fn experiment_index(&self, name: &str) -> Option<u32> {
        let place = self.experiments.iter().position(|known| known == name)?;
        u32::try_from(place).ok()
    }

    pub(crate) fn destination(&self, place: Place) -> Destination {
        let nobody = |account, reason: &str, evidence| Destination {
            account,
            attempt: None,
            experiment: None,
            rule: Rule::None,
            evidence,
            reason: reason.to_owned(),
        };
        match place {
            Place::Class(class) => {
                let (account, reason) = class_account(class);
                nobody(account, reason, Evidence::Billed)
            }
            Place::Idle => nobody(Account::Idle, "no attempt held the resource then", Evidence::Modelled),
            Place::Unattributed(reason) => nobody(Account::Unattributed, reason.text(), Evidence::Billed),
            Place::Attempt { index, rule, evidence } => {
                let attempt = self.plan.attempts.get(index as usize).copied();
                let experiment = attempt.and_then(|id| self.experiment_of.get(&id)).map(|id| (*id).clone());
                Destination {
                    account: Account::Attempt,
                    attempt,
                    experiment,
                    rule,
                    evidence,
                    reason: String::new(),
                }
            }
            Place::Experiment { index, rule, evidence } => Destination {
                account: Account::Experiment,
                attempt: None,
                experiment: self.experiments.get(index as usize).cloned().map(ExperimentId),
                rule,
                evidence,
                reason: "no single attempt of it can be named".to_owned(),
            },
        }
    }
}

fn landed(group: &Group<'_>, names: &Names<'_>) -> Result<Landed, AmountError> {
    let mut costs = [Amount::ZERO; 4];
    for (cost, units) in costs.iter_mut().zip(&group.units) {
        *cost = Amount::from_units(*units)?;
    }
    Ok(Landed {
        destination: names.destination(group.landing.place()),
        dimensions: Dimensions {
            resource_kind: group.resource_kind,
            service_name: group.service_name.to_owned(),
            sub_account_id: group.sub_account_id.to_owned(),
            line_type: group.line_type.to_owned(),
            usage_day: group.usage_day,
        },
        costs,
        charges: group.charges,
        unpriced: group.unpriced,
    })
}

async fn amortisation(
    context: &Context<'_>,
    charges: &Charges,
    plan: &AttributionPlan,
    names: &Names<'_>,
) -> Result<Vec<Posting>, AppError> {
    let (fees, usage) = engine::capacity_blocks(&charges.files, context.limits).await?;
    let (spent, spreads) = spread(&fees, &usage, plan);
    let taken = spent.into_iter().map(|fee| fee_landed(fee, names)).collect::<Result<Vec<_>, _>>()?;
    let given = spreads.iter().map(|spread| spread_landed(spread, names)).collect::<Result<Vec<_>, _>>()?;
    Ok(moves(Step::Amortisation, taken, given, charges.currency))
}

const EFFECTIVE: usize = 2;

fn effective_only(units: i128) -> Result<[Amount; 4], AmountError> {
    let mut costs = [Amount::ZERO; 4];
    costs[EFFECTIVE] = Amount::from_units(units)?;
    Ok(costs)
}

fn fee_landed(fee: &BlockFee, names: &Names<'_>) -> Result<Landed, AmountError> {
    Ok(Landed {
        destination: names.destination(Place::Class(LineClass::CapacityBlockFee)),
        dimensions: Dimensions {
            resource_kind: ResourceKind::Compute,
            service_name: fee.service_name.clone(),
            sub_account_id: fee.sub_account_id.clone(),
            line_type: fee.line_type.clone(),
            usage_day: fee.day.map(Day),
        },
        costs: effective_only(fee.effective)?,
        charges: 0,
        unpriced: 0,
    })
}

fn spread_landed(spread: &Spread<'_>, names: &Names<'_>) -> Result<Landed, AmountError> {
    Ok(Landed {
        destination: names.destination(spread.landing.place()),
        dimensions: Dimensions {
            resource_kind: ResourceKind::Compute,
            service_name: spread.usage.service_name.clone(),
            sub_account_id: spread.usage.sub_account_id.clone(),
            line_type: spread.usage.line_type.clone(),
            usage_day: Some(Timestamp(spread.usage.interval.0).day()),
        },
        costs: effective_only(spread.units)?,
        charges: 0,
        unpriced: 0,
    })
}
