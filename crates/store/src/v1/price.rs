//! The stored form of a price: JSON text that is the same for the same price for ever.

use ledger::{GpuSpec, Increment, PriceKey, PriceOrigin, Timestamp};
use serde::{Deserialize, Serialize};

use super::{instant, micros};
use crate::StoreError;
use crate::word::{Word as _, known};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRow {
    provider: String,
    region: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    item: String,
    kind: String,
    option: String,
    unit: String,
    currency: String,
    tenancy: String,
    operating_system: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    software: Option<String>,
    effective_from: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_to: Option<i64>,
    price: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
    resource_kind: String,
    increment_seconds: u32,
    minimum_seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpus: Option<Gpus>,
    source: String,
    file: String,
    row: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gpus {
    model: String,
    count: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_mib: Option<u64>,
}

/// The stored text of a price.
pub(crate) fn encode(row: &ledger::PriceRow) -> Result<String, StoreError> {
    let key = row.key.clone();
    let gpus = row.gpus.as_ref().map(|gpus| Gpus {
        model: gpus.model.clone(),
        count: gpus.count.to_string(),
        memory_mib: gpus.memory_mib,
    });
    let stored = PriceRow {
        provider: key.provider,
        region: key.region,
        zone: key.zone,
        item: key.item,
        kind: key.kind.text(),
        option: key.option.text(),
        unit: key.unit.text(),
        currency: key.currency.code().to_owned(),
        tenancy: key.tenancy.text(),
        operating_system: key.operating_system,
        software: key.software,
        effective_from: key.effective_from.0,
        effective_to: micros(row.effective_to),
        price: row.price.to_string(),
        sku: row.sku.clone(),
        resource_kind: row.resource_kind.text(),
        increment_seconds: row.increment.seconds,
        minimum_seconds: row.increment.minimum_seconds,
        gpus,
        source: row.origin.source.clone(),
        file: row.origin.file.clone(),
        row: row.origin.row,
        published_at: micros(row.origin.published_at),
    };
    Ok(serde_json::to_string(&stored)?)
}

/// The price of a stored text.
pub(crate) fn decode(text: &str) -> Result<ledger::PriceRow, StoreError> {
    let stored: PriceRow = serde_json::from_str(text)?;
    let damaged = |what: &str, found: &str| StoreError::damaged(format!("a price's {what} is `{found}`"));
    let gpus = |gpus: Gpus| {
        let count = gpus.count.parse().map_err(|_| damaged("count of accelerators", &gpus.count))?;
        Ok::<_, StoreError>(GpuSpec { model: gpus.model, count, memory_mib: gpus.memory_mib })
    };
    Ok(ledger::PriceRow {
        effective_to: instant(stored.effective_to),
        price: stored.price.parse().map_err(|_| damaged("amount", &stored.price))?,
        sku: stored.sku,
        resource_kind: known(&stored.resource_kind)?,
        increment: Increment { seconds: stored.increment_seconds, minimum_seconds: stored.minimum_seconds },
        gpus: stored.gpus.map(gpus).transpose()?,
        origin: PriceOrigin {
            source: stored.source,
            file: stored.file,
            row: stored.row,
            published_at: instant(stored.published_at),
        },
        key: PriceKey {
            provider: stored.provider,
            region: stored.region,
            zone: stored.zone,
            item: stored.item,
            kind: known(&stored.kind)?,
            option: known(&stored.option)?,
            unit: known(&stored.unit)?,
            currency: stored.currency.parse().map_err(|_| damaged("currency", &stored.currency))?,
            tenancy: known(&stored.tenancy)?,
            operating_system: stored.operating_system,
            software: stored.software,
            effective_from: Timestamp(stored.effective_from),
        },
    })
}
