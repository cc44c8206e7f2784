//! What an import remembers of the place that it read, so that the next one reads only what changed there.

use std::collections::BTreeMap;

use ledger::{BillingPeriod, DeliveryId, SourceId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{DeliveryKey, Store, StoreError, catalog};

/// The version of the JSON.
pub(crate) const VERSION: i64 = 1;

/// Which place, and how it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceKey {
    /// Reader, such as `aws-cur`.
    pub reader: String,
    /// Name that the user gave the source; empty if none.
    pub source: String,
    /// Path or address.
    pub place: String,
}

/// What was read of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRead {
    /// Which place, and how it is read.
    pub key: PlaceKey,
    /// When.
    pub read_at: Timestamp,
    /// Fingerprint of all that the place listed, if all of it was read.
    pub listing: Option<String>,
    /// Fingerprints of its parts: billing periods, or the place as a whole.
    pub parts: BTreeMap<Option<BillingPeriod>, String>,
    /// True if a part may be read without the others.
    pub apart: bool,
    /// What was made of the parts.
    pub deliveries: Vec<DeliveryKey>,
    /// Code and message of each warning of the reader.
    pub warnings: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    listing: Option<String>,
    parts: Vec<(Option<String>, String)>,
    apart: bool,
    deliveries: Vec<(String, String, String)>,
    warnings: Vec<(String, String)>,
}

impl PlaceRead {
    pub(crate) fn to_json(&self) -> Result<String, StoreError> {
        let delivery =
            |key: &DeliveryKey| (key.source.0.clone(), key.period.to_string(), key.delivery.0.clone());
        let part = |(period, fingerprint): (&Option<BillingPeriod>, &String)| {
            (period.map(|period| period.to_string()), fingerprint.clone())
        };
        let payload = Payload {
            listing: self.listing.clone(),
            parts: self.parts.iter().map(part).collect(),
            apart: self.apart,
            deliveries: self.deliveries.iter().map(delivery).collect(),
            warnings: self.warnings.clone(),
        };
        Ok(serde_json::to_string(&payload)?)
    }

    pub(crate) fn from_json(key: &PlaceKey, read_at: Timestamp, text: &str) -> Result<Self, StoreError> {
        let payload: Payload = serde_json::from_str(text)?;
        let mut parts = BTreeMap::new();
        for (period, fingerprint) in payload.parts {
            parts.insert(period.as_deref().map(month).transpose()?, fingerprint);
        }
        let delivery = |(source, period, id): (String, String, String)| {
            Ok(DeliveryKey { source: SourceId(source), period: month(&period)?, delivery: DeliveryId(id) })
        };
        Ok(Self {
            key: key.clone(),
            read_at,
            listing: payload.listing,
            parts,
            apart: payload.apart,
            deliveries: payload.deliveries.into_iter().map(delivery).collect::<Result<_, StoreError>>()?,
            warnings: payload.warnings,
        })
    }
}

fn month(text: &str) -> Result<BillingPeriod, StoreError> {
    text.parse().map_err(|_| StoreError::damaged(format!("no billing period is called `{text}`")))
}

impl Store {
    /// What the last import of a place remembers of it.
    ///
    /// # Errors
    /// `Damaged`; else of the catalog.
    pub async fn place_read(&self, key: &PlaceKey) -> Result<Option<PlaceRead>, StoreError> {
        catalog::place(&self.pool, key).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_survives_the_catalog() {
        let key = PlaceKey { reader: "r".to_owned(), source: String::new(), place: "/p".to_owned() };
        let july: BillingPeriod = "2026-07".parse().unwrap();
        let read = PlaceRead {
            key: key.clone(),
            read_at: Timestamp(7),
            listing: Some("cafe".to_owned()),
            parts: [(None, "1".to_owned()), (Some(july), "2".to_owned())].into(),
            apart: true,
            deliveries: vec![DeliveryKey {
                source: SourceId("r:1".to_owned()),
                period: july,
                delivery: DeliveryId("d".to_owned()),
            }],
            warnings: vec![("bill::cut_digits".to_owned(), "1 amount".to_owned())],
        };
        let json = read.to_json().unwrap();
        assert_eq!(PlaceRead::from_json(&key, Timestamp(7), &json).unwrap(), read);
        let damaged = PlaceRead::from_json(&key, Timestamp(7), &json.replace("2026-07", "July")).unwrap_err();
        assert_eq!(damaged.code(), "store::damaged");
    }
}
