//! Adds up the price of a machine: bundled, or its host and accelerators, or its processors, memory and accelerators.

use ledger::{GpuSpec, PriceKind, PriceRow, Timestamp};
use money::Ratio;

use super::{Attached, MachineWanted, Match, PriceBook, Rate, RatePart, Shelf, Unpriced};
use crate::gpu_catalogue::{self, GpuMachine, Host, Parts};

/// A machine's price from the row of the machine and the row of an accelerator, of which it has `count`.
///
/// # Errors
/// `AcceleratorOnBundledMachine` if the machine's price holds its accelerators already, `Currencies` if the two differ.
pub fn compose<'a>(
    machine: &'a PriceRow,
    accelerator: &'a PriceRow,
    count: Ratio,
) -> Result<Rate<'a>, Unpriced> {
    if machine.key.kind == PriceKind::BundledMachine {
        return Err(Unpriced::AcceleratorOnBundledMachine {
            machine: machine.key.item.clone(),
            accelerator: accelerator.key.item.clone(),
        });
    }
    let host = RatePart { row: machine, count: Ratio::ONE };
    in_one_currency(&machine.key.item, vec![host, RatePart { row: accelerator, count }])
}

/// Every shelf that may hold a part of the machine's price.
pub(super) fn shelves(wanted: &MachineWanted) -> Vec<Shelf> {
    let mut shelves = vec![
        shelf(wanted, &wanted.machine, PriceKind::BundledMachine),
        shelf(wanted, &wanted.machine, PriceKind::HostOnly),
    ];
    if let Gpus::Of(gpus) = gpus(wanted) {
        shelves.push(shelf(wanted, &gpus.model, PriceKind::Accelerator));
    }
    if let Some(host) = host(wanted) {
        shelves.extend(components(wanted, host).into_iter().map(|(shelf, _)| shelf));
    }
    shelves
}

/// The rate at an instant: of the ways to add it up that have all their parts, the one whose weakest source is strongest.
pub(super) fn rate<'a>(
    book: &'a PriceBook,
    wanted: &MachineWanted,
    at: Timestamp,
) -> Result<Rate<'a>, Unpriced> {
    let system = wanted.operating_system.as_str();
    let machine = Match {
        zone: wanted.zone.as_deref(),
        option: wanted.option,
        machine: Some((wanted.tenancy, system)),
        sku: None,
        at,
    };
    if let (Attached::Gpus(gpus), Some(_)) = (&wanted.accelerators, of_type(wanted)) {
        let (machine, accelerator) = (wanted.machine.clone(), gpus.model.clone());
        return Err(Unpriced::AcceleratorOnBundledMachine { machine, accelerator });
    }
    let look = Look { book, wanted, machine };
    let ways = [look.bundled(), look.hosted(), look.of_components()];
    let mut best: Option<(usize, Rate<'a>)> = None;
    let mut missing = None;
    for way in ways {
        match way {
            Ok(Some(rate)) => {
                let rank = rate.parts.iter().map(|part| book.rank(part.row)).max().unwrap_or(usize::MAX);
                if best.as_ref().is_none_or(|(known, _)| rank < *known) {
                    best = Some((rank, rate));
                }
            }
            Ok(None) => {}
            Err(refused @ Unpriced::AcceleratorOnBundledMachine { .. }) => return Err(refused),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    let none = || look.machine.missing(&shelf(wanted, &wanted.machine, PriceKind::BundledMachine));
    best.map(|(_, rate)| rate).ok_or_else(|| missing.unwrap_or_else(none))
}

/// One look-up of one machine.
struct Look<'a, 'w> {
    book: &'a PriceBook,
    wanted: &'w MachineWanted,
    machine: Match<'w>,
}

impl<'a> Look<'a, '_> {
    fn bundled(&self) -> Result<Option<Rate<'a>>, Unpriced> {
        let machine = &self.wanted.machine;
        let row =
            self.book.in_force(&shelf(self.wanted, machine, PriceKind::BundledMachine), &self.machine)?;
        let Some(row) = row else { return Ok(None) };
        if let Attached::Gpus(gpus) = &self.wanted.accelerators {
            let (machine, accelerator) = (machine.clone(), gpus.model.clone());
            return Err(Unpriced::AcceleratorOnBundledMachine { machine, accelerator });
        }
        Ok(Some(Rate { parts: vec![RatePart { row, count: Ratio::ONE }] }))
    }

    fn hosted(&self) -> Result<Option<Rate<'a>>, Unpriced> {
        let machine = &self.wanted.machine;
        let host = self.book.in_force(&shelf(self.wanted, machine, PriceKind::HostOnly), &self.machine)?;
        let Some(host) = host else { return Ok(None) };
        match gpus(self.wanted) {
            Gpus::Unknown => Err(Unpriced::UnknownAccelerators { machine: machine.clone() }),
            Gpus::None => Ok(Some(Rate { parts: vec![RatePart { row: host, count: Ratio::ONE }] })),
            Gpus::Of(gpus) => {
                let accelerator = self.part(&shelf(self.wanted, &gpus.model, PriceKind::Accelerator))?;
                compose(host, accelerator, count(&gpus)?).map(Some)
            }
        }
    }

    fn of_components(&self) -> Result<Option<Rate<'a>>, Unpriced> {
        let Some(host) = host(self.wanted) else { return Ok(None) };
        let machine = &self.wanted.machine;
        let mut parts = Vec::new();
        for (shelf, count) in components(self.wanted, host) {
            parts.push(RatePart { row: self.part(&shelf)?, count });
        }
        match gpus(self.wanted) {
            Gpus::Unknown => return Err(Unpriced::UnknownAccelerators { machine: machine.clone() }),
            Gpus::None => {}
            Gpus::Of(gpus) => {
                let row = self.part(&shelf(self.wanted, &gpus.model, PriceKind::Accelerator))?;
                parts.push(RatePart { row, count: count(&gpus)? });
            }
        }
        in_one_currency(machine, parts).map(Some)
    }

    /// A part without which the machine is not priced. A local SSD has no spot price of its own on some lists, and no
    /// part has an operating system.
    fn part(&self, shelf: &Shelf) -> Result<&'a PriceRow, Unpriced> {
        let part = Match { machine: None, at: self.machine.at, ..self.machine };
        self.book.in_force(shelf, &part)?.ok_or_else(|| part.missing(shelf))
    }
}

/// The accelerators of the machine: attached, or those of its type.
enum Gpus {
    None,
    Of(GpuSpec),
    Unknown,
}

fn gpus(wanted: &MachineWanted) -> Gpus {
    match (&wanted.accelerators, of_type(wanted)) {
        (_, Some(machine)) => Gpus::Of(machine.gpus()),
        (Attached::Gpus(gpus), None) => Gpus::Of(gpus.clone()),
        (Attached::Unknown, None) => Gpus::Unknown,
        (Attached::None, None) => Gpus::None,
    }
}

fn of_type(wanted: &MachineWanted) -> Option<&'static GpuMachine> {
    gpu_catalogue::find(&wanted.machine).filter(|machine| machine.provider.word() == wanted.provider)
}

fn host(wanted: &MachineWanted) -> Option<Host> {
    (wanted.provider == "gcp").then(|| gpu_catalogue::host(&wanted.machine)).flatten()
}

/// Processors, memory and local SSDs, with how many units of each the host has; none for a machine sold in slices.
fn components(wanted: &MachineWanted, host: Host) -> Vec<(Shelf, Ratio)> {
    if host.parts == Parts::Slices {
        return Vec::new();
    }
    let family = host.family;
    let sized = [
        (format!("{family}-core"), host.vcpus * 1_000),
        (format!("{family}-ram"), host.memory_gib_thousandths),
        ("local-ssd".to_owned(), host.local_ssd_gib * 1_000),
    ];
    sized
        .into_iter()
        .filter(|(_, thousandths)| *thousandths > 0)
        .filter_map(|(item, thousandths)| {
            let count = Ratio::new(u128::from(thousandths), 1_000).ok()?;
            Some((shelf(wanted, &item, PriceKind::Component), count))
        })
        .collect()
}

fn shelf(wanted: &MachineWanted, item: &str, kind: PriceKind) -> Shelf {
    (wanted.provider.clone(), wanted.region.clone(), item.to_owned(), kind)
}

fn count(gpus: &GpuSpec) -> Result<Ratio, Unpriced> {
    Ratio::try_from(gpus.count).map_err(|_| Unpriced::OutOfRange { item: gpus.model.clone() })
}

fn in_one_currency<'a>(machine: &str, parts: Vec<RatePart<'a>>) -> Result<Rate<'a>, Unpriced> {
    let rate = Rate { parts };
    let first = rate.currency();
    match rate.parts.iter().map(|part| part.row.key.currency).find(|other| *other != first) {
        Some(second) => Err(Unpriced::Currencies { machine: machine.to_owned(), first, second }),
        None => Ok(rate),
    }
}
