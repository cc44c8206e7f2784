//! What is known of a delivery beyond its totals, and the JSON in which the catalog holds it.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{CostBasis, Timestamp};
use money::Amount;
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// The version of the JSON.
pub(crate) const VERSION: i64 = 1;

/// What a delivery's own rows say about one of its bases.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BasisQuality {
    /// The basis; `None` if it is about the delivery as a whole.
    pub basis: Option<CostBasis>,
    /// False if no figure of the basis may be shown.
    pub usable: bool,
    /// Stable code, such as `quality::rounded`.
    pub code: String,
    /// What is so, in one line.
    pub message: String,
    /// Rows that show it.
    pub rows: u64,
}

/// What is known of a delivery beyond its totals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliveryDetails {
    /// What its rows say about its bases.
    pub quality: Vec<BasisQuality>,
    /// First and last time at which the provider exported its rows, where the export tells.
    pub export_times: Option<(Timestamp, Timestamp)>,
    /// Provider credits on rows of usage, by type.
    pub credits_by_type: BTreeMap<String, Amount>,
    /// Rows in which a column is null, for each column that may be.
    pub null_counts: BTreeMap<String, u64>,
    /// The arrivals of an append-only export that were added to the first one, by their ids.
    pub added: Vec<String>,
    /// Tag keys with a column of their own, where the source gives each a column.
    pub tag_columns: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    quality: Vec<QualityPayload>,
    export_times: Option<(i64, i64)>,
    credits_by_type: BTreeMap<String, String>,
    null_counts: BTreeMap<String, u64>,
    #[serde(default)]
    added: Vec<String>,
    #[serde(default)]
    tag_columns: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
struct QualityPayload {
    basis: Option<String>,
    usable: bool,
    code: String,
    message: String,
    rows: u64,
}

impl DeliveryDetails {
    /// Why no figure of a basis may be shown, if that is so.
    pub fn withheld(&self, basis: CostBasis) -> Option<&BasisQuality> {
        self.quality.iter().find(|quality| quality.basis == Some(basis) && !quality.usable)
    }

    pub(crate) fn to_json(&self) -> Result<String, StoreError> {
        let payload = Payload {
            quality: self.quality.iter().map(QualityPayload::of).collect(),
            export_times: self.export_times.map(|(first, last)| (first.0, last.0)),
            credits_by_type: self.credits_by_type.iter().map(|(k, v)| (k.clone(), v.to_string())).collect(),
            null_counts: self.null_counts.clone(),
            added: self.added.clone(),
            tag_columns: self.tag_columns.clone(),
        };
        Ok(serde_json::to_string(&payload)?)
    }

    pub(crate) fn from_json(text: &str) -> Result<Self, StoreError> {
        let payload: Payload = serde_json::from_str(text)?;
        let amount = |(key, text): (String, String)| match text.parse() {
            Ok(amount) => Ok((key, amount)),
            Err(_) => Err(StoreError::damaged(format!("the credit `{key}` holds `{text}`"))),
        };
        Ok(Self {
            quality: payload.quality.into_iter().map(QualityPayload::read).collect::<Result<_, _>>()?,
            export_times: payload.export_times.map(|(first, last)| (Timestamp(first), Timestamp(last))),
            credits_by_type: payload.credits_by_type.into_iter().map(amount).collect::<Result<_, _>>()?,
            null_counts: payload.null_counts,
            added: payload.added,
            tag_columns: payload.tag_columns,
        })
    }
}

impl QualityPayload {
    fn of(quality: &BasisQuality) -> Self {
        Self {
            basis: quality.basis.map(|basis| basis.word().to_owned()),
            usable: quality.usable,
            code: quality.code.clone(),
            message: quality.message.clone(),
            rows: quality.rows,
        }
    }

    fn read(self) -> Result<BasisQuality, StoreError> {
        let Self { basis, usable, code, message, rows } = self;
        let unknown = |word: &str| StoreError::damaged(format!("no basis is called `{word}`"));
        let basis =
            basis.map(|word| CostBasis::from_word(&word).ok_or_else(|| unknown(&word))).transpose()?;
        Ok(BasisQuality { basis, usable, code, message, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_survive_the_catalog() {
        let quality = BasisQuality {
            basis: Some(CostBasis::Effective),
            usable: false,
            code: "quality::rounded".to_owned(),
            message: "whole numbers".to_owned(),
            rows: 7,
        };
        let details = DeliveryDetails {
            quality: vec![quality.clone(), BasisQuality { basis: None, usable: true, ..quality }],
            export_times: Some((Timestamp(1), Timestamp(2))),
            credits_by_type: [("PROMOTION".to_owned(), "-0.000005".parse().unwrap())].into(),
            null_counts: [("tags".to_owned(), 3)].into(),
            added: vec!["cafe".to_owned()],
            tag_columns: ["user:team".to_owned()].into(),
        };
        assert_eq!(DeliveryDetails::from_json(&details.to_json().unwrap()).unwrap(), details);
        assert_eq!(details.withheld(CostBasis::Effective), details.quality.first());
        assert_eq!(details.withheld(CostBasis::List), None);
        assert!(DeliveryDetails::from_json("{}").is_err());
        assert_eq!(
            DeliveryDetails::from_json(&DeliveryDetails::default().to_json().unwrap()).unwrap(),
            DeliveryDetails::default()
        );
    }
}
