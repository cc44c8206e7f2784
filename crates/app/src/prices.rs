//! `prices`: which price lists are in force, how old they are, and what a machine costs by them.

use ledger::{PriceRow, Timestamp};
use money::Amount;
use store::{PriceListRecord, Store};

use crate::{AppError, Context};

/// A price list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceListRow {
    /// Source.
    pub source: String,
    /// File that it was read from.
    pub place: String,
    /// When it arrived.
    pub arrived_at: Timestamp,
    /// When the publisher made it, if it tells.
    pub published_at: Option<Timestamp>,
    /// Whole days since it was published; `None` if that is not told.
    pub age_days: Option<i32>,
    /// Prices that may be used.
    pub prices: u64,
    /// Prices kept apart.
    pub quarantined: u64,
    /// True if it is the newest of its source.
    pub in_force: bool,
}

/// A price of a list in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceLine {
    /// The price.
    pub row: PriceRow,
    /// Its amount, for showing.
    pub price: Amount,
    /// Why it is kept apart; `None` if it may be used.
    pub doubt: Option<String>,
}

/// The answer of `prices`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTable {
    /// The lists, in order of arrival.
    pub lists: Vec<PriceListRow>,
    /// The prices of the item asked for.
    pub lines: Vec<PriceLine>,
    /// The item asked for.
    pub item: Option<String>,
}

/// The sources of price lists in order, the strongest first: those that the settings name, then the newest.
pub(crate) fn precedence(context: &Context<'_>, lists: &[PriceListRecord]) -> Vec<String> {
    let newest_first = lists.iter().rev().filter(|list| list.current).map(|list| list.source.clone());
    let mut precedence: Vec<String> = Vec::new();
    for source in context.estimates.price_lists.iter().cloned().chain(newest_first) {
        if !precedence.contains(&source) {
            precedence.push(source);
        }
    }
    precedence
}

/// The price lists of the store and, for a machine type or SKU, its prices.
///
/// # Errors
/// `prices::no_such_item` if no list in force has a price of the item; else of the store.
pub async fn price_table(context: &Context<'_>, item: Option<&str>) -> Result<PriceTable, AppError> {
    let store = Store::open(&context.store).await?;
    let lists = store.price_lists().await?.into_iter().map(|list| PriceListRow {
        age_days: list.published_at.map(|published| context.now.day().0 - published.day().0),
        source: list.source,
        place: list.place,
        arrived_at: list.arrived_at,
        published_at: list.published_at,
        prices: list.prices,
        quarantined: list.quarantined,
        in_force: list.current,
    });
    let lists: Vec<PriceListRow> = lists.collect();
    let Some(item) = item else { return Ok(PriceTable { lists, lines: Vec::new(), item: None }) };
    let asked = |row: &PriceRow| row.key.item == item || row.sku.as_deref() == Some(item);
    let mut lines: Vec<PriceLine> = store
        .prices()
        .await?
        .into_iter()
        .filter(|price| asked(&price.row))
        .map(|price| PriceLine { price: price.row.price, row: price.row, doubt: price.doubt })
        .collect();
    lines.sort_by(|a, b| a.row.key.cmp(&b.row.key));
    if lines.is_empty() {
        let message = format!("no price list in force has a price of `{item}`");
        return Err(AppError::new("prices::no_such_item", message).help("trainbill prices"));
    }
    Ok(PriceTable { lists, lines, item: Some(item.to_owned()) })
}
