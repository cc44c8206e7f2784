//! `prices`: price lists, and the prices of an item.

use app::PriceTable;
use serde::Serialize;

/// The price lists of the store and the prices of the item asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PricesAnswer {
    /// The lists in order of arrival; the prices of the item, if one is asked for.
    pub rows: Vec<PriceListAnswer>,
    /// The prices of the item asked for.
    pub prices: Vec<PriceAnswer>,
}

/// A price list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PriceListAnswer {
    /// Source.
    pub source: String,
    /// File that it was read from.
    pub place: String,
    /// When it arrived.
    pub arrived_at: String,
    /// When the publisher made it.
    pub published_at: Option<String>,
    /// Whole days since then.
    pub age_days: Option<i32>,
    /// Prices that may be used.
    pub prices: u64,
    /// Prices kept apart.
    pub quarantined: u64,
    /// True if it is the newest of its source.
    pub in_force: bool,
}

/// A price.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PriceAnswer {
    /// Provider.
    pub provider: String,
    /// Region.
    pub region: String,
    /// Zone.
    pub zone: Option<String>,
    /// Machine type or other item.
    pub item: String,
    /// `bundled_machine`, `host_only`, `accelerator` or `component`.
    pub kind: &'static str,
    /// `on_demand`, `spot`, …
    pub option: &'static str,
    /// Tenancy.
    pub tenancy: &'static str,
    /// Operating system.
    pub operating_system: String,
    /// Software that comes with it.
    pub software: Option<String>,
    /// Price of one unit.
    pub price: String,
    /// Currency code.
    pub currency: String,
    /// Unit.
    pub unit: &'static str,
    /// First instant in force.
    pub effective_from: String,
    /// First instant not in force any more.
    pub effective_to: Option<String>,
    /// Source.
    pub source: String,
    /// File and row.
    pub at: String,
    /// Why it is kept apart.
    pub doubt: Option<String>,
}

/// The public shape of `prices`.
pub fn prices(table: &PriceTable) -> PricesAnswer {
    let list = |list: &app::PriceListRow| PriceListAnswer {
        source: list.source.clone(),
        place: list.place.clone(),
        arrived_at: list.arrived_at.to_string(),
        published_at: list.published_at.map(|at| at.to_string()),
        age_days: list.age_days,
        prices: list.prices,
        quarantined: list.quarantined,
        in_force: list.in_force,
    };
    let price = |line: &app::PriceLine| {
        let key = &line.row.key;
        PriceAnswer {
            provider: key.provider.clone(),
            region: key.region.clone(),
            zone: key.zone.clone(),
            item: key.item.clone(),
            kind: key.kind.word(),
            option: key.option.word(),
            tenancy: key.tenancy.word(),
            operating_system: key.operating_system.clone(),
            software: key.software.clone(),
            price: line.price.to_string(),
            currency: key.currency.to_string(),
            unit: key.unit.word(),
            effective_from: key.effective_from.to_string(),
            effective_to: line.row.effective_to.map(|at| at.to_string()),
            source: line.row.origin.source.clone(),
            at: line.row.origin.to_string(),
            doubt: line.doubt.clone(),
        }
    };
    PricesAnswer {
        rows: table.lists.iter().map(list).collect(),
        prices: table.lines.iter().map(price).collect(),
    }
}
