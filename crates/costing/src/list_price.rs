//! The public price of a charge whose bill tells none, by the price lists in force at its time.
//!
//! A charge is priced by its SKU where a list knows it, else as a machine of its type, both on demand: list cost is the
//! public on-demand rate however the capacity was bought. What a list does not price wholly, in the charge's own unit and
//! currency, stays without a price.

use std::collections::BTreeMap;

use ledger::{Interval, PriceRow, PriceUnit, PurchaseOption, Tenancy};
use money::{Amount, Currency, Quantity, Ratio};

use crate::price_book::{Attached, MachineWanted, PriceBook, Rate, SkuWanted, UndeclaredSource, Unpriced};

/// A charge of usage, as far as a price list can tell its price.
#[derive(Debug, Clone)]
pub struct Unlisted<'a> {
    /// Provider in lower case.
    pub provider: &'a str,
    /// Region.
    pub region: &'a str,
    /// Zone, where known.
    pub zone: Option<&'a str>,
    /// SKU, where known.
    pub sku: Option<&'a str>,
    /// The machine whose hours these are, where they are that.
    pub machine: Option<MachineHours<'a>>,
    /// What `quantity` counts, as the provider writes it.
    pub unit: &'a str,
    /// How much was used.
    pub quantity: Quantity,
    /// When.
    pub interval: Interval,
    /// Currency of the bill.
    pub currency: Currency,
}

/// Hours of a machine.
#[derive(Debug, Clone, Copy)]
pub struct MachineHours<'a> {
    /// Machine type.
    pub machine: &'a str,
    /// Whose the hardware is.
    pub tenancy: Tenancy,
    /// Operating system in lower case.
    pub operating_system: &'a str,
}

/// What a charge costs at public rates, and the rows of the lists that say so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPrice<'a> {
    /// How much.
    pub amount: Amount,
    /// The rows, in order of time.
    pub rows: Vec<&'a PriceRow>,
}

/// Price lists by SKU and by machine.
#[derive(Debug, Clone)]
pub struct ListBook {
    book: PriceBook,
    /// What a provider sells under a SKU in a region.
    skus: BTreeMap<(String, String, String), SkuWanted>,
}

impl ListBook {
    /// A book of rows, with the sources in order of precedence, the first the strongest.
    ///
    /// # Errors
    /// The source of a row that is not in the order.
    pub fn new(precedence: Vec<String>, rows: Vec<PriceRow>) -> Result<Self, UndeclaredSource> {
        let mut skus = BTreeMap::new();
        for row in &rows {
            let Some(sku) = row.sku.clone() else { continue };
            let key = (row.key.provider.clone(), row.key.region.clone(), sku);
            skus.entry(key).or_insert_with(|| SkuWanted::of(row));
        }
        Ok(Self { book: PriceBook::new(precedence, rows)?, skus })
    }

    /// What the charge costs at public rates; `None` if no list tells.
    pub fn price(&self, charge: &Unlisted<'_>) -> Option<ListPrice<'_>> {
        let unit = unit(charge.unit)?;
        let by_sku = charge.sku.and_then(|sku| {
            let key = (charge.provider.to_owned(), charge.region.to_owned(), sku.to_owned());
            let rates = self.book.sku_rates(self.skus.get(&key)?, charge.interval);
            priced(charge, unit, rates)
        });
        by_sku.or_else(|| {
            let machine = charge.machine.filter(|_| unit == PriceUnit::Hour)?;
            let rates = self.book.machine_rates(&wanted(charge, machine), charge.interval);
            priced(charge, unit, rates)
        })
    }
}

fn wanted(charge: &Unlisted<'_>, machine: MachineHours<'_>) -> MachineWanted {
    MachineWanted {
        provider: charge.provider.to_owned(),
        region: charge.region.to_owned(),
        zone: charge.zone.map(str::to_owned),
        machine: machine.machine.to_owned(),
        option: PurchaseOption::OnDemand,
        tenancy: machine.tenancy,
        operating_system: machine.operating_system.to_owned(),
        accelerators: Attached::None,
    }
}

/// The unit of a price list that a provider's word stands for. AWS writes GB for 2³⁰ bytes, as its price lists do.
fn unit(word: &str) -> Option<PriceUnit> {
    match word.to_ascii_lowercase().as_str() {
        "hrs" | "hr" | "hours" | "hour" => Some(PriceUnit::Hour),
        "gb-mo" | "gb-month" | "gibibyte month" => Some(PriceUnit::GibibyteMonth),
        "gibibyte hour" => Some(PriceUnit::GibibyteHour),
        _ => None,
    }
}

/// The quantity at each rate, by the part of the time in which that is in force; nothing unless all of it has a price.
fn priced<'b>(
    charge: &Unlisted<'_>,
    unit: PriceUnit,
    rates: Vec<(Interval, Result<Rate<'b>, Unpriced>)>,
) -> Option<ListPrice<'b>> {
    let quantity = Ratio::try_from(charge.quantity).ok()?;
    let whole = micros(charge.interval).max(1);
    let mut price = ListPrice { amount: Amount::ZERO, rows: Vec::new() };
    for (interval, rate) in rates {
        let rate = rate.ok().filter(|rate| rate.currency() == charge.currency)?;
        let time = if micros(charge.interval) == 0 { 1 } else { micros(interval) };
        let part_of = quantity.times(Ratio::new(time, whole).ok()?).ok()?;
        for part in rate.parts {
            let units = match (unit, part.row.key.unit) {
                (wanted, told) if wanted == told => part_of,
                (PriceUnit::Hour, PriceUnit::Second) => part_of.times(Ratio::new(3_600, 1).ok()?).ok()?,
                _ => return None,
            };
            let cost = part.row.price.times(units.times(part.count).ok()?).ok()?;
            price.amount = price.amount.checked_add(cost).ok()?;
            price.rows.push(part.row);
        }
    }
    Some(price)
}

fn micros(interval: Interval) -> u128 {
    u128::try_from(interval.end.0 - interval.start.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use ledger::{Increment, PriceKey, PriceKind, PriceOrigin, ResourceKind, Timestamp};

    use super::*;

    fn row(price: &str, (item, sku): (&str, Option<&str>), from: i64) -> PriceRow {
        PriceRow {
            key: PriceKey {
                provider: "aws".to_owned(),
                region: "r".to_owned(),
                zone: None,
                item: item.to_owned(),
                kind: PriceKind::BundledMachine,
                option: PurchaseOption::OnDemand,
                unit: PriceUnit::Hour,
                currency: "USD".parse().unwrap(),
                tenancy: Tenancy::Shared,
                operating_system: "linux".to_owned(),
                software: None,
                effective_from: Timestamp::from_seconds(from),
            },
            effective_to: None,
            price: price.parse().unwrap(),
            sku: sku.map(str::to_owned),
            resource_kind: ResourceKind::Compute,
            increment: Increment::SECOND,
            gpus: None,
            origin: PriceOrigin { source: "s".to_owned(), file: "f".to_owned(), row: 1, published_at: None },
        }
    }

    fn book(rows: Vec<PriceRow>) -> ListBook {
        ListBook::new(vec!["s".to_owned()], rows).unwrap()
    }

    fn hours(quantity: &str, (from, to): (i64, i64)) -> Unlisted<'_> {
        Unlisted {
            provider: "aws",
            region: "r",
            zone: None,
            sku: None,
            machine: Some(MachineHours {
                machine: "box",
                tenancy: Tenancy::Shared,
                operating_system: "linux",
            }),
            unit: "Hrs",
            quantity: quantity.parse().unwrap(),
            interval: Interval { start: Timestamp::from_seconds(from), end: Timestamp::from_seconds(to) },
            currency: "USD".parse().unwrap(),
        }
    }

    fn cost(book: &ListBook, charge: &Unlisted<'_>) -> Option<String> {
        book.price(charge).map(|price| price.amount.to_string())
    }

    #[test]
    fn a_charge_is_quantity_times_price_and_the_sku_goes_before_the_machine() {
        let book = book(vec![row("20", ("box", None), 0), row("21", ("box-windows", Some("W")), 0)]);
        assert_eq!(cost(&book, &hours("0.5", (0, 3600))), Some("10".to_owned()));
        let windows = Unlisted { sku: Some("W"), ..hours("0.5", (0, 3600)) };
        assert_eq!(cost(&book, &windows), Some("10.5".to_owned()));
        let unknown = Unlisted { sku: Some("X"), ..hours("0.5", (0, 3600)) };
        assert_eq!(cost(&book, &unknown), Some("10".to_owned()));
    }

    #[test]
    fn a_price_that_changes_inside_the_charge_holds_for_its_time() {
        let book = book(vec![row("20", ("box", None), 0), row("40", ("box", None), 1800)]);
        assert_eq!(cost(&book, &hours("1", (0, 3600))), Some("30".to_owned()));
        assert_eq!(cost(&book, &hours("1", (1800, 1800))), Some("40".to_owned()));
    }

    #[test]
    fn what_no_list_tells_wholly_stays_without_a_price() {
        let book = book(vec![row("20", ("box", None), 1800)]);
        let charge = hours("1", (3600, 7200));
        assert_eq!(cost(&book, &charge), Some("20".to_owned()));
        for other in [
            hours("1", (0, 3600)),
            Unlisted { region: "elsewhere", ..charge.clone() },
            Unlisted { unit: "GB-Mo", ..charge.clone() },
            Unlisted { unit: "Requests", ..charge.clone() },
            Unlisted { currency: "EUR".parse().unwrap(), ..charge.clone() },
            Unlisted { machine: None, ..charge.clone() },
            Unlisted { quantity: "-1".parse().unwrap(), ..charge },
        ] {
            assert_eq!(cost(&book, &other), None, "{other:?}");
        }
    }
}
