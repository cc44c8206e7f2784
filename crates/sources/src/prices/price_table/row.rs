//! The price that one row tells.

use ledger::{
    GpuSpec, Increment, PriceKey, PriceKind, PriceOrigin, PriceRow, PriceUnit, PurchaseOption, ResourceKind,
    Tenancy, Timestamp,
};
use money::Quantity;

use crate::price_list::{Fields, PriceOptions, Refusal, amount};
use crate::{Zone, instant};

/// The price of a row.
pub(super) fn of(fields: &Fields, options: &PriceOptions, origin: PriceOrigin) -> Result<PriceRow, Refusal> {
    let kind = word(fields.required("kind")?, "kind", PriceKind::ALL, PriceKind::word)?;
    let unit = unit(kind, fields.required("unit")?)?;
    let currency = fields.required("currency")?;
    let not_a_currency =
        |_| Refusal::new("row::not_a_currency", "currency", currency, "a code of three letters");
    let effective_from = time(fields, "effective_from")?.or(options.in_force_from).ok_or_else(|| {
        let expected = "a date, or one told beside the file for all rows";
        Refusal::new("row::missing_value", "effective_from", "", expected)
    })?;
    let effective_to = time(fields, "effective_to")?;
    if let Some(end) = effective_to.filter(|end| *end <= effective_from) {
        let expected = format!("a time after `effective_from`, {effective_from}");
        return Err(Refusal::new("row::ends_before_start", "effective_to", &end.to_string(), expected));
    }
    Ok(PriceRow {
        key: PriceKey {
            provider: fields.required("provider")?.to_lowercase(),
            region: fields.required("region")?.to_owned(),
            zone: fields.get("zone").map(str::to_owned),
            item: fields.required("item")?.to_owned(),
            kind,
            option: optional(fields, "option", (PurchaseOption::OnDemand, PurchaseOption::ALL), |w| {
                w.word()
            })?,
            unit,
            currency: currency.parse().map_err(not_a_currency)?,
            tenancy: optional(fields, "tenancy", (Tenancy::Shared, Tenancy::ALL), |w| w.word())?,
            operating_system: fields.get("operating_system").unwrap_or("linux").to_lowercase(),
            software: fields.get("software").map(str::to_lowercase),
            effective_from,
        },
        effective_to,
        price: amount(fields.required("price")?, "price")?,
        sku: fields.get("sku").map(str::to_owned),
        resource_kind: if kind == PriceKind::Component && unit != PriceUnit::Hour {
            ResourceKind::Disk
        } else {
            ResourceKind::Compute
        },
        increment: Increment {
            seconds: number(fields, "increment_seconds")?.unwrap_or(1).max(1),
            minimum_seconds: number(fields, "minimum_seconds")?.unwrap_or(0),
        },
        gpus: gpus(fields)?,
        origin,
    })
}

/// A machine is priced by time; only a component is priced by size as well.
fn unit(kind: PriceKind, text: &str) -> Result<PriceUnit, Refusal> {
    let unit = word(text, "unit", PriceUnit::ALL, PriceUnit::word)?;
    let by_time = matches!(unit, PriceUnit::Hour | PriceUnit::Second);
    if !by_time && kind != PriceKind::Component {
        return Err(Refusal::new(
            "row::unknown_unit",
            "unit",
            text,
            format!("`hour` or `second` for a {kind}"),
        ));
    }
    Ok(unit)
}

fn optional<T: Copy>(
    fields: &Fields,
    column: &str,
    (default, all): (T, &[T]),
    as_word: impl Fn(T) -> &'static str,
) -> Result<T, Refusal> {
    fields.get(column).map_or(Ok(default), |text| word(text, column, all, as_word))
}

fn word<T: Copy>(
    text: &str,
    column: &str,
    all: &[T],
    as_word: impl Fn(T) -> &'static str,
) -> Result<T, Refusal> {
    all.iter().copied().find(|value| as_word(*value).eq_ignore_ascii_case(text)).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|value| as_word(*value)).collect();
        Refusal::new("row::unknown_word", column, text, format!("one of {}", words.join(", ")))
    })
}

fn time(fields: &Fields, column: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = fields.get(column) else { return Ok(None) };
    let expected = "a date such as 2026-07-01, or a time";
    instant(text, &Zone::Utc).map(Some).map_err(|_| Refusal::new("row::not_a_time", column, text, expected))
}

fn number<T: std::str::FromStr>(fields: &Fields, column: &str) -> Result<Option<T>, Refusal> {
    let Some(text) = fields.get(column) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| Refusal::new("row::not_a_count", column, text, "a whole number"))
}

fn gpus(fields: &Fields) -> Result<Option<GpuSpec>, Refusal> {
    let memory_mib = number(fields, "gpu_memory_mib")?;
    let Some(model) = fields.get("gpu_model") else {
        return match fields.get("gpu_count") {
            Some(count) => {
                Err(Refusal::new("row::missing_value", "gpu_model", count, "the model of the GPUs"))
            }
            None => Ok(None),
        };
    };
    let text = fields.required("gpu_count")?;
    let not_a_count =
        || Refusal::new("row::not_a_count", "gpu_count", text, "a number above 0, such as 8 or 0.5");
    let count: Quantity = text.parse().map_err(|_| not_a_count())?;
    if count.is_zero() || count.is_negative() {
        return Err(not_a_count());
    }
    Ok(Some(GpuSpec { model: model.to_lowercase(), count, memory_mib }))
}
