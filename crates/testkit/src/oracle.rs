//! The naive oracle of attribution: one charge at a time, one instant border at a time, no index and no cache.
//!
//! It follows the words of the rules and shares no code with `costing::attribution` but the apportionment of money.

use std::collections::BTreeMap;

use ledger::{Attempt, LineClass, ShareDriver, normalised_key};
use money::{Amount, apportion};

use crate::build::TestCharge;

/// Where a part lands, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Landed {
    /// An attempt, by its canonical key.
    Attempt(String),
    /// An experiment as a whole.
    Experiment(String),
    /// Idle.
    Idle,
    /// Nobody's.
    Unattributed,
    /// The account of a class.
    Class(LineClass),
}

/// The four costs by landing.
pub type Sums = BTreeMap<Landed, [i128; 4]>;

/// Attributes every charge.
pub fn attribute(charges: &[TestCharge], attempts: &[Attempt]) -> Sums {
    let mut attempts: Vec<&Attempt> = attempts.iter().collect();
    attempts.sort_by_key(|attempt| attempt.id);
    let mut sums = Sums::new();
    for charge in charges {
        for (measure, cost) in charge.costs.iter().enumerate() {
            let total = Amount::from_units(cost.unwrap_or(0)).unwrap();
            for (landed, part) in one(charge, total, &attempts) {
                sums.entry(landed).or_default()[measure] += part.units();
            }
        }
    }
    sums.retain(|_, costs| costs.iter().any(|cost| *cost != 0));
    sums
}

fn one(charge: &TestCharge, total: Amount, attempts: &[&Attempt]) -> Vec<(Landed, Amount)> {
    if !matches!(charge.class, LineClass::Usage | LineClass::CapacityBlockUsage) {
        return vec![(Landed::Class(charge.class), total)];
    }
    let tag = |keys: [&str; 3]| {
        keys.iter()
            .find_map(|key| charge.tags.iter().find(|(k, _)| normalised_key(k) == *key))
            .map(|(_, v)| v.clone())
    };
    if let Some(name) = tag(["attempt_id", "attempt", "trainbill_attempt"])
        && let Some(attempt) = attempts.iter().find(|a| a.canonical_key == name || a.id.to_string() == name)
    {
        return vec![(Landed::Attempt(attempt.canonical_key.clone()), total)];
    }
    let experiment = tag(["experiment_id", "experiment", "trainbill_experiment"]);
    let rest = experiment.clone().map_or(Landed::Idle, Landed::Experiment);
    let known = charge.resource.as_ref().is_some_and(|resource| {
        attempts.iter().any(|a| a.bindings.iter().any(|b| b.resource_id.as_ref() == Some(resource)))
    });
    if !known {
        return vec![(experiment.map_or(Landed::Unattributed, Landed::Experiment), total)];
    }
    by_time(charge, total, attempts, (experiment.as_deref(), rest))
}

/// Holders with their units, units that nobody holds, and length in microseconds.
type Cut = (Vec<(usize, u64)>, u64, u64);

/// Cuts by time at every border of a holding, then shares each cut by units.
fn by_time(
    charge: &TestCharge,
    total: Amount,
    attempts: &[&Attempt],
    (only, rest): (Option<&str>, Landed),
) -> Vec<(Landed, Amount)> {
    let (start, end) = charge.interval;
    let mut borders = vec![start, end];
    for holding in attempts.iter().flat_map(|a| &a.bindings).filter(|b| b.resource_id == charge.resource) {
        borders
            .extend([holding.start.0, holding.end.unwrap().0].iter().filter(|at| start < **at && **at < end));
    }
    borders.sort_unstable();
    borders.dedup();
    // Cuts with the same holders that touch are one cut, as are all cuts that nobody holds.
    let mut cuts: Vec<Cut> = Vec::new();
    let mut unheld = 0_u64;
    let mut last_end = None;
    let pairs: Vec<(i64, i64)> =
        if start == end { vec![(start, end)] } else { borders.windows(2).map(|w| (w[0], w[1])).collect() };
    for (from, to) in pairs {
        let length = (to - from) as u64;
        let (shares, idle) = holders(charge, attempts, from);
        if shares.is_empty() && idle == 0 {
            unheld += length;
            continue;
        }
        match cuts.last_mut().filter(|cut| last_end == Some(from) && cut.0 == shares && cut.1 == idle) {
            Some(cut) => cut.2 += length,
            None => cuts.push((shares, idle, length)),
        }
        last_end = Some(to);
    }
    let mut weights: Vec<u64> = cuts.iter().map(|cut| cut.2).collect();
    weights.push(unheld);
    if start == end {
        weights = vec![u64::from(!cuts.is_empty()), u64::from(cuts.is_empty())];
        weights.drain(..usize::from(cuts.is_empty()));
    }
    let parts = apportion(total, &weights).unwrap();
    let mut landed = vec![(rest.clone(), *parts.last().unwrap())];
    for ((shares, idle, _), part) in cuts.iter().zip(&parts) {
        landed.extend(share(shares, *idle, *part, (attempts, only, &rest)));
    }
    landed
}

fn share(
    shares: &[(usize, u64)],
    idle: u64,
    part: Amount,
    (attempts, only, rest): (&[&Attempt], Option<&str>, &Landed),
) -> Vec<(Landed, Amount)> {
    let chosen: Vec<&(usize, u64)> = shares
        .iter()
        .filter(|(a, _)| only.is_none_or(|only| attempts[*a].link.experiment.0 == only))
        .collect();
    let mut weights: Vec<u64> = chosen.iter().map(|(_, weight)| *weight).collect();
    weights.push(if only.is_none() { idle } else { 0 });
    if weights.iter().all(|weight| *weight == 0) {
        return vec![(rest.clone(), part)];
    }
    let parts = apportion(part, &weights).unwrap();
    let mut landed: Vec<(Landed, Amount)> = chosen
        .iter()
        .zip(&parts)
        .map(|((attempt, _), part)| (Landed::Attempt(attempts[*attempt].canonical_key.clone()), *part))
        .collect();
    landed.push((rest.clone(), *parts.last().unwrap()));
    landed
}

/// Who holds the charge's resource at an instant, in units, and the units that nobody holds.
fn holders(charge: &TestCharge, attempts: &[&Attempt], at: i64) -> (Vec<(usize, u64)>, u64) {
    let mut shares: Vec<(usize, u64)> = Vec::new();
    let mut capacity = 0;
    for (index, attempt) in attempts.iter().enumerate() {
        let mut seen: Vec<&ledger::Binding> = Vec::new();
        for binding in attempt.bindings.iter().filter(|b| b.resource_id == charge.resource) {
            let held = binding.start.0 <= at && at < binding.end.unwrap().0;
            if !held || seen.contains(&binding) {
                continue;
            }
            assert_eq!(binding.driver, ShareDriver::Gpu, "the oracle knows holdings of accelerators only");
            seen.push(binding);
            capacity = capacity.max(binding.capacity.unwrap());
            match shares.iter_mut().find(|(held, _)| *held == index) {
                Some((_, weight)) => *weight += binding.weight,
                None => shares.push((index, binding.weight)),
            }
        }
    }
    let held: u64 = shares.iter().map(|(_, weight)| weight).sum();
    (shares, capacity.saturating_sub(held))
}
