//! Public prices for usage whose bill tells none: prices may arrive after costs, and list cost is complete once they have.
//!
//! The charges at rest stay as the provider delivered them. What the price lists in force say of them is a step of the
//! postings, modelled, and made anew whenever a price list arrives.

use std::collections::BTreeMap;

use costing::attribution::AttributionPlan;
use costing::list_price::{ListBook, ListPrice, MachineHours, Unlisted};
use costing::postings::{Destination, Dimensions, Landed, moves};
use engine::{Sold, UnlistedCharge};
use ledger::{Account, Day, Evidence, Interval, Posting, Rule, Step, Tenancy, Timestamp};
use money::{Amount, Currency};
use sources::prices::aws_spot_history::region_of_zone;
use store::Store;

use crate::landing::{Used, land};
use crate::prices::precedence;
use crate::provider;
use crate::settle::{Charges, Names};
use crate::{AppError, Context};

/// What tells whether the price lists in force are those by which a delivery's charges were priced; empty if the bill
/// prices all of them itself.
pub(crate) async fn mark(
    context: &Context<'_>,
    store: &Store,
    charges: &Charges,
) -> Result<String, AppError> {
    if charges.unpriced == 0 {
        return Ok(String::new());
    }
    let lists = store.price_lists().await?;
    let ids: Vec<&str> = lists.iter().filter(|list| list.current).map(|list| list.id.as_str()).collect();
    if ids.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("{ids:?} {:?}", precedence(context, &lists)))
}

/// The prices of what a delivery has no public price of; `None` if no list knows any of it.
pub(crate) async fn book(
    context: &Context<'_>,
    store: &Store,
    charges: &Charges,
) -> Result<Option<ListBook>, AppError> {
    let lists = if charges.unpriced == 0 { Vec::new() } else { store.price_lists().await? };
    if lists.is_empty() {
        return Ok(None);
    }
    let kinds = engine::unlisted_kinds(&charges.files, context.limits).await?;
    // A list may have a million prices; the book holds those of this bill.
    let is_sold = |row: &ledger::PriceRow| {
        kinds.machines.contains(&row.key.item) || row.sku.as_ref().is_some_and(|sku| kinds.skus.contains(sku))
    };
    let held = store.prices().await?.into_iter().filter(|price| price.doubt.is_none());
    let rows: Vec<_> = held.map(|price| price.row).filter(is_sold).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let book = ListBook::new(precedence(context, &lists), rows)
        .map_err(|error| AppError::new("prices::no_precedence", error.to_string()))?;
    Ok(Some(book))
}

/// The public price of a charge by the lists; `None` if they do not tell.
pub(crate) fn price<'b>(
    book: &'b ListBook,
    sold: &Sold,
    interval: (i64, i64),
    currency: Currency,
) -> Option<ListPrice<'b>> {
    let provider = provider::of_name(&sold.provider_name);
    let interval = Interval { start: Timestamp(interval.0), end: Timestamp(interval.1) };
    // A quantity is no money; its shortest text is that from which the source's double was read.
    let quantity = sold.quantity?.to_string().parse().ok()?;
    // Rows of spot instances have no product, and so no region but that of their zone.
    let of_zone = || sold.zone.as_deref().and_then(region_of_zone);
    let region = sold.region.clone().or_else(of_zone)?;
    book.price(&Unlisted {
        provider: &provider,
        region: &region,
        zone: sold.zone.as_deref(),
        sku: sold.sku.as_deref(),
        machine: (provider == "aws").then(|| ec2_hours(sold)).flatten(),
        unit: sold.unit.as_deref()?,
        quantity,
        interval,
        currency,
    })
}

/// The hours of an EC2 instance: usage type and operation tell whose hardware and which system it is.
///
/// docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-info-fields.html
fn ec2_hours(sold: &Sold) -> Option<MachineHours<'_>> {
    let usage = sold.usage_type.as_deref()?;
    // A usage type has the region's prefix before a hyphen: `USE2-BoxUsage:p5.48xlarge`.
    let is = |meter: &str| usage.split('-').any(|part| part.starts_with(meter));
    let tenancy = if is("BoxUsage:") || is("SpotUsage:") {
        Tenancy::Shared
    } else if is("DedicatedUsage:") {
        Tenancy::Dedicated
    } else {
        return None;
    };
    let operating_system = match sold.operation.as_deref()?.split(":SV").next()? {
        "RunInstances" => "linux",
        "RunInstances:0002" => "windows",
        "RunInstances:0010" => "rhel",
        "RunInstances:000g" => "suse",
        _ => return None,
    };
    Some(MachineHours { machine: sold.instance_type.as_deref()?, tenancy, operating_system })
}

/// What the lists add to the list cost of a delivery, and for how many charges.
pub(crate) async fn total(
    context: &Context<'_>,
    store: &Store,
    (charges, currency): (&Charges, Currency),
) -> Result<(Amount, u64), AppError> {
    let (mut sum, mut priced) = (Amount::ZERO, 0);
    let Some(book) = book(context, store, charges).await? else { return Ok((sum, priced)) };
    engine::unlisted_charges(&charges.files, context.limits, |charge| {
        if let Some(price) = price(&book, &charge.sold, charge.interval, currency) {
            sum = sum.checked_add(price.amount)?;
            priced += 1;
        }
        Ok::<(), AppError>(())
    })
    .await?;
    Ok((sum, priced))
}

/// What was priced by the lists, by where the charges landed.
#[derive(Debug, Default)]
pub(crate) struct Filled(BTreeMap<(Destination, Dimensions), (Amount, u64)>);

/// Prices the charges of a delivery and finds where each part of them landed.
pub(crate) async fn fill(
    context: &Context<'_>,
    charges: &Charges,
    (plan, names): (&AttributionPlan, &Names<'_>),
    book: &ListBook,
) -> Result<Filled, AppError> {
    let mut filled = Filled::default();
    engine::unlisted_charges(&charges.files, context.limits, |charge| {
        if let Some(price) = price(book, &charge.sold, charge.interval, charges.currency) {
            filled.add(&charge, price.amount, (plan, names))?;
        }
        Ok::<(), AppError>(())
    })
    .await?;
    Ok(filled)
}

impl Filled {
    fn add(
        &mut self,
        charge: &UnlistedCharge,
        amount: Amount,
        (plan, names): (&AttributionPlan, &Names<'_>),
    ) -> Result<(), AppError> {
        let used = Used {
            resource_id: charge.resource_id.as_deref(),
            tags: charge.tags.as_deref(),
            interval: charge.interval,
        };
        let experiment = |name: &str| names.experiment_index(name);
        for (landing, units) in land(plan, used, experiment, amount.units()) {
            let key = (names.destination(landing.place()), dimensions(charge));
            let (sum, parts) = self.0.entry(key).or_default();
            *sum = sum.checked_add(Amount::from_units(units)?)?;
            *parts += 1;
        }
        Ok(())
    }

    /// Takes the charges that have a price now from those counted as unpriced.
    pub(crate) fn count_priced(&self, landed: &mut [Landed]) {
        for part in landed {
            let key = (part.destination.clone(), part.dimensions.clone());
            if let Some((_, parts)) = self.0.get(&key) {
                part.unpriced = part.unpriced.saturating_sub(*parts);
            }
        }
    }

    /// The step that gives each place its public prices: they are our join of a list, whatever the charge itself is.
    pub(crate) fn postings(self, currency: Currency) -> Vec<Posting> {
        let mut taken: Vec<Landed> = Vec::new();
        let mut given: Vec<Landed> = Vec::new();
        for ((destination, dimensions), (amount, _)) in self.0 {
            let costs = [Amount::ZERO, amount, Amount::ZERO, Amount::ZERO];
            let part = |destination: Destination| Landed {
                destination,
                dimensions: dimensions.clone(),
                costs,
                charges: 0,
                unpriced: 0,
            };
            taken.push(part(lists()));
            given.push(part(Destination { evidence: Evidence::Modelled, ..destination }));
        }
        moves(Step::Valuation, taken, given, currency)
    }
}

/// Where public prices come from: the side of the bill.
fn lists() -> Destination {
    Destination {
        account: Account::Bill,
        attempt: None,
        experiment: None,
        rule: Rule::None,
        evidence: Evidence::Modelled,
        reason: "public prices of price lists".to_owned(),
    }
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// As the engine keeps the charges apart.
fn dimensions(charge: &UnlistedCharge) -> Dimensions {
    let (start, end) = charge.interval;
    Dimensions {
        resource_kind: charge.resource_kind,
        service_name: charge.service_name.clone(),
        sub_account_id: charge.sub_account_id.clone(),
        line_type: charge.line_type.clone(),
        usage_day: (end - start <= MICROS_PER_DAY).then(|| day(start)),
    }
}

fn day(micros: i64) -> Day {
    Timestamp(micros).day()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hours_of_an_instance_are_priced_as_a_machine() {
        let sold = |usage: &str, operation: &str| Sold {
            usage_type: Some(usage.to_owned()),
            operation: Some(operation.to_owned()),
            instance_type: Some("p4d.24xlarge".to_owned()),
            ..Sold::default()
        };
        let hours = |usage: &str, operation: &str| {
            let sold = sold(usage, operation);
            ec2_hours(&sold).map(|hours| (hours.tenancy, hours.operating_system.to_owned()))
        };
        let linux = "linux".to_owned();
        assert_eq!(hours("BoxUsage:p4d.24xlarge", "RunInstances"), Some((Tenancy::Shared, linux.clone())));
        assert_eq!(hours("USE2-SpotUsage:p4d", "RunInstances:SV002"), Some((Tenancy::Shared, linux.clone())));
        assert_eq!(hours("EU-DedicatedUsage:p4d", "RunInstances"), Some((Tenancy::Dedicated, linux)));
        let windows = Some((Tenancy::Shared, "windows".to_owned()));
        assert_eq!(hours("BoxUsage:p4d.24xlarge", "RunInstances:0002"), windows);
        assert_eq!(hours("HostBoxUsage:p4d.24xlarge", "RunInstances"), None);
        assert_eq!(hours("EBSOptimized:p4d.24xlarge", "Hourly"), None);
        assert_eq!(hours("BoxUsage:p4d.24xlarge", "RunInstances:0800"), None, "a system that is not known");
    }
}
