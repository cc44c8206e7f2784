//! Price lists: each source's newest list is in force, older ones stay, and prices kept apart stay beside the others.

use ledger::{PriceRow, Timestamp};

use crate::{ImportRecord, Store, StoreError, WriteLock, catalog, v1};

/// A price list on its way into the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceArrival {
    /// Source of the list.
    pub source: String,
    /// When the publisher made it, if it tells.
    pub published_at: Option<Timestamp>,
    /// Prices that may be used.
    pub prices: Vec<PriceRow>,
    /// Prices that may not, each with why.
    pub quarantined: Vec<(PriceRow, String)>,
}

/// A price list that the store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceListRecord {
    /// A hash of its source and prices.
    pub id: String,
    /// Source of the list.
    pub source: String,
    /// File that it was read from.
    pub place: String,
    /// When it arrived.
    pub arrived_at: Timestamp,
    /// When the publisher made it, if it tells.
    pub published_at: Option<Timestamp>,
    /// Prices that may be used.
    pub prices: u64,
    /// Prices kept apart.
    pub quarantined: u64,
    /// True if it is the newest of its source.
    pub current: bool,
}

/// A price as its list holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPrice {
    /// The price.
    pub row: PriceRow,
    /// Why it is kept apart; `None` if it may be used.
    pub doubt: Option<String>,
}

impl Store {
    /// Takes a price list in and makes it the one in force of its source; false if it was in force already.
    ///
    /// # Errors
    /// `ForeignLock`; else of the catalog. On any error the store is as it was.
    pub async fn take_prices(
        &self,
        lock: &WriteLock,
        arrival: &PriceArrival,
        import: &ImportRecord,
    ) -> Result<bool, StoreError> {
        lock.must_be_of(self.root())?;
        let mut payloads = Vec::with_capacity(arrival.prices.len() + arrival.quarantined.len());
        let mut hasher = blake3::Hasher::new();
        hasher.update(arrival.source.as_bytes());
        let usable = arrival.prices.iter().map(|row| (row, None));
        let doubtful = arrival.quarantined.iter().map(|(row, doubt)| (row, Some(doubt.as_str())));
        for (row, doubt) in usable.chain(doubtful) {
            let payload = v1::price::encode(row)?;
            hasher.update(payload.as_bytes()).update(doubt.unwrap_or_default().as_bytes());
            payloads.push((payload, doubt));
        }
        let id = hasher.finalize().to_hex().as_str()[..32].to_owned();
        let mut transaction = self.pool.begin().await?;
        let is_new = catalog::take_price_list(&mut transaction, &id, (arrival, import), &payloads).await?;
        if is_new {
            catalog::insert_import(&mut transaction, import).await?;
        }
        transaction.commit().await?;
        Ok(is_new)
    }

    /// Every price list in order of arrival.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn price_lists(&self) -> Result<Vec<PriceListRecord>, StoreError> {
        catalog::price_lists(&self.pool).await
    }

    /// The prices of the lists in force, in order of source and place.
    ///
    /// # Errors
    /// `Damaged`, `UnknownWord`; else of the catalog.
    pub async fn prices(&self) -> Result<Vec<StoredPrice>, StoreError> {
        catalog::prices(&self.pool).await
    }
}
