//! What is kept of a product until its prices come.

use ledger::{Increment, PriceKind, PurchaseOption, ResourceKind, Tenancy};
use serde::Deserialize;

/// A product as the list has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawProduct {
    pub(super) sku: String,
    #[serde(default)]
    product_family: String,
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    instance_type: Option<String>,
    location_type: Option<String>,
    region_code: Option<String>,
    operating_system: Option<String>,
    license_model: Option<String>,
    tenancy: Option<String>,
    capacitystatus: Option<String>,
    pre_installed_sw: Option<String>,
    marketoption: Option<String>,
    volume_api_name: Option<String>,
}

/// A product, or why its prices are passed over; boxed, since most of a list is passed over.
pub(super) type Product = Result<Box<Wanted>, &'static str>;

/// A product that trainbill rates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// `None` where the list does not tell it: its prices are rejected.
    pub(super) region: Option<String>,
    pub(super) item: Option<String>,
    pub(super) kind: PriceKind,
    pub(super) resource_kind: ResourceKind,
    pub(super) option: PurchaseOption,
    pub(super) tenancy: Tenancy,
    pub(super) operating_system: String,
    pub(super) software: Option<String>,
    pub(super) increment: Increment,
}

/// The product, or why its prices are passed over.
pub(super) fn of(raw: RawProduct) -> Product {
    let attributes = raw.attributes;
    if attributes.location_type.as_deref().is_some_and(|place| place != "AWS Region") {
        return Err("local and wavelength zones");
    }
    match raw.product_family.as_str() {
        "Compute Instance" | "Compute Instance (bare metal)" => instance(attributes),
        "Storage" if attributes.volume_api_name.is_some() => Ok(Box::new(volume(attributes))),
        _ => Err("other product families"),
    }
}

fn instance(attributes: Attributes) -> Product {
    let tenancy = match attributes.tenancy.as_deref() {
        Some("Shared") => Tenancy::Shared,
        Some("Dedicated") => Tenancy::Dedicated,
        Some("Host") => Tenancy::Host,
        Some(_) | None => return Err("other tenancies"),
    };
    let option = match (attributes.marketoption.as_deref(), attributes.capacitystatus.as_deref()) {
        (Some("CapacityBlock"), _) => PurchaseOption::CapacityBlock,
        (Some("OnDemand") | None, Some("Used") | None) => PurchaseOption::OnDemand,
        // The marker rows of a reservation in use are $0 and therefore kept apart; the instance is priced as ever.
        (Some("OnDemand") | None, Some("UnusedCapacityReservation" | "AllocatedCapacityReservation")) => {
            PurchaseOption::CapacityReservation
        }
        _ => return Err("other market options"),
    };
    let operating_system = system(&attributes);
    let by_second = operating_system == "linux" || operating_system.starts_with("windows");
    Ok(Box::new(Wanted {
        region: attributes.region_code,
        item: attributes.instance_type,
        kind: PriceKind::BundledMachine,
        resource_kind: ResourceKind::Compute,
        option,
        tenancy,
        operating_system,
        software: attributes.pre_installed_sw.filter(|name| name != "NA").map(|name| name.to_lowercase()),
        increment: if by_second { Increment::SECOND } else { Increment::HOUR },
    }))
}

fn system(attributes: &Attributes) -> String {
    let system = attributes.operating_system.as_deref().unwrap_or("unknown").to_lowercase();
    let own_licence = attributes.license_model.as_deref() == Some("Bring your own license");
    if own_licence { format!("{system}-byol") } else { system }
}

fn volume(attributes: Attributes) -> Wanted {
    Wanted {
        region: attributes.region_code,
        item: attributes.volume_api_name.map(|name| name.to_lowercase()),
        kind: PriceKind::Component,
        resource_kind: ResourceKind::Disk,
        option: PurchaseOption::OnDemand,
        tenancy: Tenancy::Shared,
        operating_system: "linux".to_owned(),
        software: None,
        increment: Increment::SECOND,
    }
}
