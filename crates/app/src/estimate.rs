//! Estimates: what the bill of an attempt's machines will say, by price lists, for the days that no bill covers yet.

use std::collections::{BTreeMap, BTreeSet};

use costing::price_book::PriceBook;
use costing::rating::{Estimate, Machine, MachineFacts, Outcome, Payer, machines, rate};
use ledger::{
    Account, Attempt, AttemptId, Binding, BindingKind, CostBasis, Day, Evidence, ExperimentId, Posting,
    PriceRow, PurchaseOption, ResourceKind, Rule, Step, Tenancy, Timestamp,
};
use money::{Amount, Currency, apportion};
use store::{DeliveryRecord, EstimateRecord, Store, WriteLock};

use crate::provider::speaks_of;
use crate::{AppError, Context};

/// What records of runs do not tell of their machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EstimateSettings {
    /// Provider of machines whose id does not tell it, in lower case.
    pub provider: Option<String>,
    /// Region of the machines.
    pub region: Option<String>,
    /// Operating system, in lower case.
    pub operating_system: String,
    /// Price lists, the strongest first; those not named follow, the newest first.
    pub price_lists: Vec<String>,
}

impl Default for EstimateSettings {
    fn default() -> Self {
        Self { provider: None, region: None, operating_system: "linux".to_owned(), price_lists: Vec::new() }
    }
}

/// Makes the estimates of the days that no bill covers, and keeps them beside those made before.
///
/// # Errors
/// Of the store; an amount out of range.
pub(crate) async fn keep(
    context: &Context<'_>,
    store: &Store,
    lock: &WriteLock,
    attempts: &[Attempt],
) -> Result<(), AppError> {
    let lists = store.price_lists().await?;
    if lists.is_empty() || attempts.is_empty() {
        return Ok(());
    }
    context.progress.stage("estimating what is not billed yet");
    let facts = facts(attempts, &context.estimates);
    // A list may have a million prices: they are read only if there is something to price.
    let held = if facts.is_empty() { Vec::new() } else { store.prices().await? };
    let usable = held.into_iter().filter(|price| price.doubt.is_none()).map(|price| price.row);
    let precedence = crate::prices::precedence(context, &lists);
    let current = store.current_deliveries().await?;
    let made = estimates(context, (attempts, &facts), (precedence, usable.collect()))?;
    let is_open = |estimate: &EstimateRecord| !is_billed(&current, &estimate.provider, estimate.day);
    let open: Vec<EstimateRecord> = made.into_iter().filter(is_open).collect();
    let key = |estimate: &EstimateRecord| {
        (estimate.attempt, estimate.day, estimate.resource_kind, estimate.currency)
    };
    let supported: BTreeSet<_> = open.iter().map(key).collect();
    let held = store.estimates().await?;
    let dropped: Vec<&EstimateRecord> =
        held.iter().filter(|estimate| is_open(estimate) && !supported.contains(&key(estimate))).collect();
    Ok(store.keep_estimates(lock, &open, &dropped).await?)
}

/// What an estimate is under a basis; `None` where no price list tells, which is not the same as nothing.
pub(crate) fn amount_of(estimate: &EstimateRecord, basis: CostBasis) -> Option<Amount> {
    match basis {
        CostBasis::List => estimate.list_cost,
        CostBasis::Billed | CostBasis::Effective | CostBasis::Marginal => estimate.effective_cost,
    }
}

/// The estimate as a posting to its attempt, which no bill confirms yet.
pub(crate) fn posting(estimate: &EstimateRecord, experiment: Option<ExperimentId>) -> Posting {
    Posting {
        step: Step::Attribution,
        account: Account::Attempt,
        attempt: Some(estimate.attempt),
        experiment,
        rule: Rule::ResourceTime,
        evidence: Evidence::Estimated,
        reason: "estimated until the bill is here".to_owned(),
        resource_kind: estimate.resource_kind,
        service_name: String::new(),
        sub_account_id: String::new(),
        line_type: "Estimate".to_owned(),
        usage_day: Some(estimate.day),
        currency: estimate.currency,
        billed_cost: Amount::ZERO,
        list_cost: estimate.list_cost.unwrap_or_default(),
        effective_cost: estimate.effective_cost.unwrap_or_default(),
        marginal_cost: estimate.effective_cost.unwrap_or_default(),
        charges: 0,
        unpriced: u64::from(estimate.list_cost.is_none()),
    }
}

/// True if a delivery of the provider covers the day.
pub(crate) fn is_billed(current: &[DeliveryRecord], provider: &str, day: Day) -> bool {
    current.iter().any(|delivery| speaks_of(delivery, provider) && delivery.days.binary_search(&day).is_ok())
}

fn estimates(
    context: &Context<'_>,
    (attempts, facts): (&[Attempt], &BTreeMap<String, MachineFacts>),
    (precedence, prices): (Vec<String>, Vec<PriceRow>),
) -> Result<Vec<EstimateRecord>, AppError> {
    let as_bought = machines(attempts, facts, context.now);
    let on_demand: Vec<Machine> = as_bought.iter().cloned().map(at_list).collect();
    let book = PriceBook::new(precedence, prices)
        .map_err(|error| AppError::new("prices::no_precedence", error.to_string()))?;
    let mut sums: BTreeMap<(AttemptId, Day, Currency), Sum> = BTreeMap::new();
    let sides = [(Side::Effective, rate(&book, &as_bought, &[])), (Side::List, rate(&book, &on_demand, &[]))];
    for (side, estimate) in &sides {
        add(attempts, facts, (*side, estimate), &mut sums)?;
    }
    let records = sums.into_iter().map(|((attempt, day, currency), sum)| EstimateRecord {
        attempt,
        day,
        resource_kind: ResourceKind::Compute,
        currency,
        provider: sum.provider,
        list_cost: sum.list,
        effective_cost: sum.effective,
        used_micros: sum.effective.and_then(|_| i64::try_from(sum.used_micros).ok()),
        price: sum.prices.into_iter().collect::<Vec<_>>().join(", "),
        made_at: context.now,
    });
    Ok(records.collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Effective,
    List,
}

#[derive(Debug, Default)]
struct Sum {
    provider: String,
    list: Option<Amount>,
    effective: Option<Amount>,
    /// Share of the time billed at the rate by which it was bought.
    used_micros: i128,
    prices: BTreeSet<String>,
}

/// The machine at the public on-demand rate, however it was bought.
fn at_list(mut machine: Machine) -> Machine {
    if let Ok(wanted) = &mut machine.wanted {
        wanted.option = PurchaseOption::OnDemand;
    }
    // Time that spot's first-hour rule gives free has a public price all the same.
    machine.interruptions.clear();
    machine
}

/// Adds the shares of attempts, each cut over its days.
fn add(
    attempts: &[Attempt],
    facts: &BTreeMap<String, MachineFacts>,
    (side, estimate): (Side, &Estimate<'_>),
    sums: &mut BTreeMap<(AttemptId, Day, Currency), Sum>,
) -> Result<(), AppError> {
    for line in &estimate.lines {
        let Outcome::Priced { rate, shares, times, .. } = &line.outcome else { continue };
        let days = days_of(line.interval.start, line.interval.end);
        let weights: Vec<u64> = days.iter().map(|(_, micros)| *micros).collect();
        let provider = facts.get(&line.resource_id).map_or("", |facts| facts.provider.as_str());
        // Both are the same division of the line, in the same order.
        for ((payer, share), (_, time)) in shares.iter().zip(times) {
            let Payer::Attempt(index) = payer else { continue };
            let Some(attempt) = attempts.get(*index as usize) else { continue };
            let cut = |whole: Amount| apportion(whole, &weights).unwrap_or_else(|_| vec![whole]);
            let (parts, times) = (cut(*share), cut(Amount::from_units(*time)?));
            for (((day, _), part), time) in days.iter().zip(parts).zip(times) {
                let sum = sums.entry((attempt.id, *day, rate.currency())).or_default();
                sum.provider = provider.to_owned();
                sum.prices.extend(
                    rate.parts.iter().map(|part| format!("{} {}", part.row.origin.source, part.row.origin)),
                );
                let held = if side == Side::List { &mut sum.list } else { &mut sum.effective };
                sum.used_micros += if side == Side::Effective { time.units() } else { 0 };
                *held = Some(held.unwrap_or_default().checked_add(part)?);
            }
        }
    }
    Ok(())
}

/// The UTC days of a time with how much of it is in each; an instant is in its day.
fn days_of(start: Timestamp, end: Timestamp) -> Vec<(Day, u64)> {
    let mut days = Vec::new();
    let mut at = start;
    while at < end {
        let next = Day(at.day().0 + 1).start().min(end);
        days.push((at.day(), u64::try_from(next.0 - at.0).unwrap_or(0)));
        at = next;
    }
    if days.is_empty() {
        days.push((start.day(), 1));
    }
    days
}

/// What is known of each machine that attempts held.
fn facts(attempts: &[Attempt], settings: &EstimateSettings) -> BTreeMap<String, MachineFacts> {
    let mut facts = BTreeMap::new();
    for binding in attempts.iter().flat_map(|attempt| &attempt.bindings) {
        let Some(name) = machine_name(binding) else { continue };
        let provider = provider_of(name).map(str::to_owned).or_else(|| settings.provider.clone());
        let (Some(provider), Some(region)) = (provider, settings.region.clone()) else { continue };
        facts.entry(name.to_owned()).or_insert_with(|| MachineFacts {
            provider,
            region,
            zone: None,
            machine_type: None,
            tenancy: Tenancy::Shared,
            operating_system: settings.operating_system.clone(),
            accelerators: None,
            stays: Vec::new(),
            interruptions: Vec::new(),
        });
    }
    facts
}

fn machine_name(binding: &Binding) -> Option<&str> {
    let is_machine = matches!(binding.kind, BindingKind::Instance | BindingKind::Node);
    binding.resource_id.as_deref().or(binding.node_name.as_deref()).filter(|_| is_machine)
}

/// The provider whose ids look like this.
fn provider_of(resource: &str) -> Option<&'static str> {
    let ec2 = resource.strip_prefix("i-").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
    if ec2 || resource.starts_with("arn:aws") {
        Some("aws")
    } else if resource.starts_with("//compute.googleapis.com/") || resource.starts_with("projects/") {
        Some("gcp")
    } else if resource.to_ascii_lowercase().starts_with("/subscriptions/") {
        Some("azure")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_cut_at_midnight_and_an_instant_is_in_its_day() {
        let at = |text: &str| sources::instant(text, &sources::Zone::Utc).unwrap();
        let days = days_of(at("2026-07-01T23:00:00Z"), at("2026-07-03T01:00:00Z"));
        let hours: Vec<u64> = days.iter().map(|(_, micros)| micros / 3_600_000_000).collect();
        assert_eq!(hours, [1, 24, 1]);
        assert_eq!(days_of(at("2026-07-01T00:00:00Z"), at("2026-07-01T00:00:00Z")).len(), 1);
    }

    #[test]
    fn an_id_tells_its_provider_or_nothing() {
        assert_eq!(provider_of("i-0a1b2c3d"), Some("aws"));
        assert_eq!(provider_of("i-nstance"), None);
        assert_eq!(provider_of("//compute.googleapis.com/projects/p/zones/z/instances/1"), Some("gcp"));
        assert_eq!(provider_of("/subscriptions/x/virtualMachines/y"), Some("azure"));
        assert_eq!(provider_of("node-7"), None);
    }
}
