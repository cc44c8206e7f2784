//! The prices of one SKU: what it is by its description, and what it costs in each region.

mod item;

use ledger::{Increment, PriceKey, PriceRow, PriceUnit, PurchaseOption, Tenancy};
use money::Amount;
use serde::Deserialize;

use self::item::Item;
use crate::price_list::{Doubt, Gather, Refusal, amount};
use crate::{SourceError, Zone, instant};

/// A SKU as the catalogue has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sku {
    sku_id: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    category: Category,
    #[serde(default)]
    service_regions: Vec<String>,
    #[serde(default)]
    pricing_info: Vec<PricingInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Category {
    usage_type: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingInfo {
    pricing_expression: PricingExpression,
    #[serde(default, alias = "EffectiveTime")]
    effective_time: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingExpression {
    #[serde(default)]
    usage_unit: String,
    #[serde(default)]
    tiered_rates: Vec<TieredRate>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TieredRate {
    unit_price: UnitPrice,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UnitPrice {
    #[serde(default)]
    currency_code: String,
    /// Whole units, as text; absent for none.
    #[serde(default)]
    units: Option<String>,
    /// Parts of 10⁻⁹.
    #[serde(default)]
    nanos: i64,
}

/// Takes every price of a SKU.
pub(super) fn take(gather: &mut Gather<'_>, sku: &Sku) -> Result<(), SourceError> {
    let item = match item::of(&sku.description, &sku.category.usage_type) {
        Ok(item) => item,
        Err(why) => {
            gather.pass_over(why);
            return Ok(());
        }
    };
    let option = item::option(&sku.description, &sku.category.usage_type);
    if sku.service_regions.is_empty() || sku.pricing_info.is_empty() {
        let row = gather.next_origin().row;
        let column = if sku.service_regions.is_empty() { "serviceRegions" } else { "pricingInfo" };
        return gather
            .take(row, Err(Refusal::new("row::missing_value", column, &sku.sku_id, "at least one")));
    }
    for pricing in &sku.pricing_info {
        for region in &sku.service_regions {
            let number = gather.next_origin().row;
            let tiers = pricing.pricing_expression.tiered_rates.len();
            match row(gather, (sku, &item, option), (pricing, region)) {
                Ok(row) if tiers > 1 => gather.quarantine(row, Doubt::Tiered)?,
                price => gather.take(number, price)?,
            }
        }
    }
    Ok(())
}

fn row(
    gather: &Gather<'_>,
    (sku, item, option): (&Sku, &Item, PurchaseOption),
    (pricing, region): (&PricingInfo, &str),
) -> Result<PriceRow, Refusal> {
    let expression = &pricing.pricing_expression;
    // Of several tiers the last one is shown where the price is kept apart.
    let rate = expression
        .tiered_rates
        .last()
        .ok_or_else(|| Refusal::new("row::missing_value", "tieredRates", &sku.sku_id, "a rate"))?;
    let (since, currency) = (&pricing.effective_time, &rate.unit_price.currency_code);
    let not_a_time =
        |_| Refusal::new("row::not_a_time", "effectiveTime", since, "a time such as 2023-03-24T10:52:50Z");
    let not_a_currency =
        |_| Refusal::new("row::not_a_currency", "currencyCode", currency, "a code of three letters");
    Ok(PriceRow {
        key: PriceKey {
            provider: "gcp".to_owned(),
            region: region.to_owned(),
            zone: None,
            item: item.name.clone(),
            kind: item.kind,
            option,
            unit: unit(&expression.usage_unit)?,
            currency: currency.parse().map_err(not_a_currency)?,
            tenancy: Tenancy::Shared,
            operating_system: "linux".to_owned(),
            software: None,
            effective_from: instant(since, &Zone::Utc).map_err(not_a_time)?,
        },
        effective_to: None,
        price: price(&rate.unit_price)?,
        sku: Some(sku.sku_id.clone()),
        resource_kind: item.resource_kind,
        increment: Increment::SECOND,
        gpus: None,
        origin: gather.next_origin(),
    })
}

fn price(price: &UnitPrice) -> Result<Amount, Refusal> {
    let units = amount(price.units.as_deref().unwrap_or("0"), "units")?;
    let text = price.nanos.to_string();
    let out_of_range = || Refusal::new("row::not_a_price", "nanos", &text, "from 0 to 999999999");
    if !(0..1_000_000_000).contains(&price.nanos) {
        return Err(out_of_range());
    }
    units.checked_add(amount(&format!("{text}e-9"), "nanos")?).map_err(|_| out_of_range())
}

fn unit(text: &str) -> Result<PriceUnit, Refusal> {
    match text {
        "s" => Ok(PriceUnit::Second),
        "h" => Ok(PriceUnit::Hour),
        "GiBy.h" => Ok(PriceUnit::GibibyteHour),
        "GiBy.mo" => Ok(PriceUnit::GibibyteMonth),
        _ => Err(Refusal::new("row::unknown_unit", "usageUnit", text, "`s`, `h`, `GiBy.h` or `GiBy.mo`")),
    }
}
