//! What was used: machines with their states, volumes with their size, and who held them when.

use std::collections::BTreeMap;

use ledger::{
    Attempt, Binding, BindingKind, Capacity, Evidence, Interval, PurchaseOption, Rule, Tenancy, Timestamp,
};

use crate::attribution::{Holder, Landing, Place};
use crate::price_book::{Attached, ComponentWanted, MachineWanted, Unpriced};

/// What a machine was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MachineState {
    /// Coming up or going down; it bills no compute.
    Pending,
    /// Running, and billed.
    Running,
    /// Stopped; its volumes stay.
    Stopped,
}

/// A time in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stay {
    /// Which.
    pub state: MachineState,
    /// When.
    pub interval: Interval,
}

/// A machine's use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The id by which a bill names it, or the name of the node.
    pub resource_id: String,
    /// What is to be priced, or what is missing for that.
    pub wanted: Result<MachineWanted, Unpriced>,
    /// Its states in any order; neighbouring times of one state are one stay.
    pub stays: Vec<Stay>,
    /// When its provider took it back.
    pub interruptions: Vec<Timestamp>,
    /// Who held it.
    pub holders: Vec<Holder>,
}

/// A volume's use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// The id by which a bill names it.
    pub resource_id: String,
    /// What is to be priced.
    pub wanted: ComponentWanted,
    /// Provisioned size, in bytes.
    pub bytes: u64,
    /// From its creation to its deletion, whatever its machine does.
    pub interval: Interval,
    /// Who held it.
    pub holders: Vec<Holder>,
    /// The attempt that bears the time in which nobody holds it; `None` if that is idle.
    pub owner: Option<u32>,
}

/// What the bindings of attempts do not tell of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineFacts {
    /// Provider in lower case.
    pub provider: String,
    /// Region.
    pub region: String,
    /// Zone, where known.
    pub zone: Option<String>,
    /// Machine type, where the bindings do not tell it.
    pub machine_type: Option<String>,
    /// Whose the hardware is.
    pub tenancy: Tenancy,
    /// Operating system in lower case.
    pub operating_system: String,
    /// Accelerators beside the machine type, where known.
    pub accelerators: Option<Attached>,
    /// Its states; if there are none, it ran while an attempt held it.
    pub stays: Vec<Stay>,
    /// When its provider took it back.
    pub interruptions: Vec<Timestamp>,
}

/// The machines that attempts held, each once, with the attempts by their index in the slice.
///
/// What an attempt still holds is held until `as_of`. A machine is named by its resource id, else by its node; one
/// without facts, or whose purchase nobody tells, has no price.
pub fn machines(
    attempts: &[Attempt],
    facts: &BTreeMap<String, MachineFacts>,
    as_of: Timestamp,
) -> Vec<Machine> {
    let mut held: BTreeMap<&str, Vec<(u32, &Attempt, &Binding)>> = BTreeMap::new();
    for (index, attempt) in (0..).zip(attempts) {
        for binding in &attempt.bindings {
            let is_machine = matches!(binding.kind, BindingKind::Instance | BindingKind::Node);
            let name = binding.resource_id.as_deref().or(binding.node_name.as_deref());
            if let Some(name) = name.filter(|_| is_machine) {
                held.entry(name).or_default().push((index, attempt, binding));
            }
        }
    }
    held.into_iter()
        .map(|(name, held)| {
            let known = facts.get(name);
            let holders: Vec<Holder> =
                held.iter().map(|(index, _, binding)| holder(*index, binding, as_of)).collect();
            let stays = known.map(|facts| facts.stays.clone()).filter(|stays| !stays.is_empty());
            Machine {
                resource_id: name.to_owned(),
                wanted: wanted(name, known, &held),
                stays: stays.unwrap_or_else(|| holders.iter().map(ran).collect()),
                interruptions: known.map_or_else(Vec::new, |facts| facts.interruptions.clone()),
                holders,
            }
        })
        .collect()
}

fn holder(index: u32, binding: &Binding, as_of: Timestamp) -> Holder {
    Holder {
        start: binding.start.0,
        end: binding.end.unwrap_or(as_of).max(binding.start).0,
        landing: Landing::of(Place::Attempt {
            index,
            rule: Rule::ResourceTime,
            evidence: Evidence::Modelled,
        }),
        experiment: 0,
        weight: binding.weight,
        capacity: binding.capacity,
        driver: binding.driver,
    }
}

fn ran(holder: &Holder) -> Stay {
    let interval = Interval { start: Timestamp(holder.start), end: Timestamp(holder.end) };
    Stay { state: MachineState::Running, interval }
}

fn wanted(
    name: &str,
    facts: Option<&MachineFacts>,
    held: &[(u32, &Attempt, &Binding)],
) -> Result<MachineWanted, Unpriced> {
    let unknown = || Unpriced::UnknownMachine { resource: name.to_owned() };
    let facts = facts.ok_or_else(unknown)?;
    let of_bindings = held.iter().find_map(|(_, _, binding)| binding.sku.clone());
    let machine = facts.machine_type.clone().or(of_bindings).ok_or_else(unknown)?;
    let holds_gpus = held.iter().any(|(_, _, binding)| binding.gpus > 0);
    let guess = if holds_gpus { Attached::Unknown } else { Attached::None };
    Ok(MachineWanted {
        provider: facts.provider.clone(),
        region: facts.region.clone(),
        zone: facts.zone.clone(),
        option: option(&machine, held)?,
        machine,
        tenancy: facts.tenancy,
        operating_system: facts.operating_system.clone(),
        accelerators: facts.accelerators.clone().unwrap_or(guess),
    })
}

/// How the machine was bought, on which all attempts that know it must agree.
fn option(machine: &str, held: &[(u32, &Attempt, &Binding)]) -> Result<PurchaseOption, Unpriced> {
    let mut options: Vec<PurchaseOption> = held
        .iter()
        .filter_map(|(_, attempt, _)| match attempt.capacity {
            Capacity::OnDemand => Some(PurchaseOption::OnDemand),
            Capacity::Spot => Some(PurchaseOption::Spot),
            Capacity::Reserved => Some(PurchaseOption::Reserved),
            Capacity::Unknown => None,
        })
        .collect();
    options.sort_unstable();
    options.dedup();
    match options.as_slice() {
        [option] => Ok(*option),
        _ => Err(Unpriced::UnknownPurchase { machine: machine.to_owned() }),
    }
}
