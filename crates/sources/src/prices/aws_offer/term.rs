//! The prices of one term.

use std::collections::BTreeMap;

use ledger::{PriceKey, PriceKind, PriceOrigin, PriceRow, PriceUnit, Timestamp};
use serde::Deserialize;

use super::product::{Product, Wanted};
use crate::price_list::{Doubt, Gather, Refusal, amount};
use crate::{SourceError, Zone, instant};

/// A term as the list has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Term {
    pub(super) sku: String,
    #[serde(default)]
    effective_date: String,
    #[serde(default)]
    price_dimensions: BTreeMap<String, Dimension>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Dimension {
    unit: String,
    begin_range: Option<String>,
    end_range: Option<String>,
    price_per_unit: BTreeMap<String, String>,
}

impl Term {
    /// Every price dimension.
    pub(super) fn dimensions(&self) -> impl Iterator<Item = &Dimension> {
        self.price_dimensions.values()
    }
}

/// Takes every price of an on-demand term.
pub(super) fn take(
    gather: &mut Gather<'_>,
    term: &Term,
    product: Option<&Product>,
) -> Result<(), SourceError> {
    for dimension in term.dimensions() {
        let wanted = match product {
            Some(Ok(wanted)) => wanted,
            Some(Err(why)) => {
                gather.pass_over(why);
                continue;
            }
            None => {
                gather.pass_over("prices of products that the list does not have");
                continue;
            }
        };
        if dimension.price_per_unit.is_empty() {
            let row = gather.next_origin().row;
            let refusal = Refusal::new("row::missing_value", "pricePerUnit", "", "a price in a currency");
            gather.take(row, Err(refusal))?;
        }
        for (currency, text) in &dimension.price_per_unit {
            let origin = gather.next_origin();
            let number = origin.row;
            let price = row(term, (wanted, dimension), (currency, text), origin);
            let is_tier = dimension.begin_range.as_deref().is_some_and(|begin| begin != "0")
                || dimension.end_range.as_deref().is_some_and(|end| end != "Inf");
            match price {
                Ok(row) if is_tier => gather.quarantine(row, Doubt::Tiered)?,
                price => gather.take(number, price)?,
            }
        }
    }
    Ok(())
}

fn row(
    term: &Term,
    (wanted, dimension): (&Wanted, &Dimension),
    (currency, text): (&str, &str),
    origin: PriceOrigin,
) -> Result<PriceRow, Refusal> {
    let told = |value: &Option<String>, column: &str| {
        value.clone().ok_or_else(|| Refusal::new("row::missing_value", column, "", "a value"))
    };
    let code = |_| Refusal::new("row::not_a_currency", "pricePerUnit", currency, "a code of three letters");
    Ok(PriceRow {
        key: PriceKey {
            provider: "aws".to_owned(),
            region: told(&wanted.region, "regionCode")?,
            zone: None,
            item: told(&wanted.item, "instanceType")?,
            kind: wanted.kind,
            option: wanted.option,
            unit: unit(wanted.kind, &dimension.unit)?,
            currency: currency.parse().map_err(code)?,
            tenancy: wanted.tenancy,
            operating_system: wanted.operating_system.clone(),
            software: wanted.software.clone(),
            effective_from: since(&term.effective_date)?,
        },
        effective_to: None,
        price: amount(text, "pricePerUnit")?,
        sku: Some(term.sku.clone()),
        resource_kind: wanted.resource_kind,
        increment: wanted.increment,
        gpus: None,
        origin,
    })
}

fn since(text: &str) -> Result<Timestamp, Refusal> {
    let expected = "a time such as 2024-05-01T00:00:00Z";
    instant(text, &Zone::Utc).map_err(|_| Refusal::new("row::not_a_time", "effectiveDate", text, expected))
}

/// AWS writes GB for 2³⁰ bytes: EBS provisions volumes in GiB and bills them as `GB-Mo`
/// (docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html).
fn unit(kind: PriceKind, text: &str) -> Result<PriceUnit, Refusal> {
    match (kind, text) {
        (PriceKind::BundledMachine, "Hrs") => Ok(PriceUnit::Hour),
        (PriceKind::BundledMachine, "Second" | "seconds") => Ok(PriceUnit::Second),
        (PriceKind::Component, "GB-Mo" | "GB-month") => Ok(PriceUnit::GibibyteMonth),
        _ => Err(Refusal::new("row::unknown_unit", "unit", text, "`Hrs`, `Second` or `GB-Mo`")),
    }
}
