//! Lists of exchange rates: each source's newest list is in force, and older ones stay.

use ledger::{DatedRate, Day, Timestamp};
use money::Currency;

use crate::{ImportRecord, Store, StoreError, WriteLock, catalog};

/// A list of rates on its way into the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateArrival {
    /// Source of the list.
    pub source: String,
    /// The one currency of which every rate tells the worth, if there is one.
    pub base: Option<Currency>,
    /// The rates, one a day and pair, in order.
    pub rates: Vec<DatedRate>,
}

/// A list of rates that the store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateListRecord {
    /// A hash of its source and rates.
    pub id: String,
    /// Source of the list.
    pub source: String,
    /// File that it was read from.
    pub place: String,
    /// When it arrived.
    pub arrived_at: Timestamp,
    /// The one currency of which every rate tells the worth, if there is one.
    pub base: Option<Currency>,
    /// First day with a rate.
    pub first_day: Option<Day>,
    /// Last day with a rate.
    pub last_day: Option<Day>,
    /// Rates, those that cannot be used included.
    pub rates: u64,
    /// True if it is the newest of its source.
    pub current: bool,
}

impl Store {
    /// Takes a list of rates in and makes it the one in force of its source; false if it was in force already.
    ///
    /// # Errors
    /// `ForeignLock`; else of the catalog. On any error the store is as it was.
    pub async fn take_rates(
        &self,
        lock: &WriteLock,
        arrival: &RateArrival,
        import: &ImportRecord,
    ) -> Result<bool, StoreError> {
        lock.must_be_of(self.root())?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(arrival.source.as_bytes());
        for rate in &arrival.rates {
            let told = rate.rate.map_or_else(|| "unusable".to_owned(), |rate| rate.to_string());
            hasher.update(format!("\n{} {} {} {told}", rate.day, rate.from, rate.to).as_bytes());
        }
        let id = hasher.finalize().to_hex().as_str()[..32].to_owned();
        let mut transaction = self.pool.begin().await?;
        let is_new = catalog::take_rate_list(&mut transaction, &id, (arrival, import)).await?;
        if is_new {
            catalog::insert_import(&mut transaction, import).await?;
        }
        transaction.commit().await?;
        Ok(is_new)
    }

    /// Every list of rates in order of arrival.
    ///
    /// # Errors
    /// Of the catalog.
    pub async fn rate_lists(&self) -> Result<Vec<RateListRecord>, StoreError> {
        catalog::rate_lists(&self.pool).await
    }

    /// The rates of a list for the days from `first` to `last`.
    ///
    /// # Errors
    /// `Damaged`; else of the catalog.
    pub async fn rates(&self, list: &str, (first, last): (Day, Day)) -> Result<Vec<DatedRate>, StoreError> {
        catalog::rates(&self.pool, list, (first, last)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{empty_change, new_store};

    fn rate(day: i32, rate: Option<&str>) -> DatedRate {
        DatedRate {
            day: Day(day),
            from: "EUR".parse().unwrap(),
            to: "USD".parse().unwrap(),
            rate: rate.map(|text| text.parse().unwrap()),
        }
    }

    fn arrival(source: &str, rates: &[DatedRate]) -> RateArrival {
        RateArrival { source: source.to_owned(), base: "EUR".parse().ok(), rates: rates.to_vec() }
    }

    #[tokio::test]
    async fn the_newest_list_of_a_source_is_in_force_and_older_ones_stay() {
        let (_folder, store) = new_store().await;
        let lock = store.lock().unwrap();
        let first = arrival("ecb", &[rate(10, Some("1.08")), rate(11, None), rate(12, Some("1.09"))]);
        assert!(store.take_rates(&lock, &first, &empty_change().import).await.unwrap());
        assert!(
            !store.take_rates(&lock, &first, &empty_change().import).await.unwrap(),
            "the same list changes nothing"
        );
        let second = arrival("ecb", &[rate(10, Some("1.081")), rate(13, Some("1.1"))]);
        assert!(store.take_rates(&lock, &second, &empty_change().import).await.unwrap());
        assert!(
            store
                .take_rates(&lock, &arrival("bank", &[rate(10, Some("2"))]), &empty_change().import)
                .await
                .unwrap()
        );
        let lists = store.rate_lists().await.unwrap();
        let told: Vec<_> =
            lists.iter().map(|list| (list.source.as_str(), list.rates, list.current)).collect();
        assert_eq!(told, [("ecb", 3, false), ("ecb", 2, true), ("bank", 1, true)]);
        assert_eq!((lists[0].first_day, lists[0].last_day), (Some(Day(10)), Some(Day(12))));
        assert_eq!(lists[0].base, "EUR".parse().ok());
        let held = store.rates(&lists[0].id, (Day(11), Day(12))).await.unwrap();
        assert_eq!(
            held,
            [rate(11, None), rate(12, Some("1.09"))],
            "one that cannot be used stays known as such"
        );
        assert!(
            store.take_rates(&lock, &first, &empty_change().import).await.unwrap(),
            "and an older one can come back"
        );
        assert!(store.rate_lists().await.unwrap()[0].current);
    }
}
