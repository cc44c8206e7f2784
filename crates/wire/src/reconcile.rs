//! `reconcile`: estimates against the bill.

use std::collections::BTreeMap;

use app::Reconciliation;
use serde::Serialize;

use crate::Meta;

/// The comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReconcileAnswer {
    /// What stands above it.
    pub meta: Meta,
    /// Rows in order of provider and day, experiment or attempt.
    pub rows: Vec<ReconcileRow>,
    /// A query for each provider that must give the bill's side.
    pub by_hand: BTreeMap<String, String>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ReconcileRow {
    /// Provider.
    pub provider: String,
    /// UTC day, experiment, or `experiment#attempt`.
    pub key: String,
    /// What was estimated.
    pub estimate: Option<String>,
    /// The part of it that no bill covers yet.
    pub awaiting: Option<String>,
    /// What the bill says.
    pub bill: Option<String>,
    /// Bill less the estimate of what it covers.
    pub difference: Option<String>,
    /// Part of the difference that is time beyond what was estimated, or short of it, at the estimate's own rate.
    pub time: String,
    /// Part of it that is another rate for the same time.
    pub price: String,
    /// Part of it where both speak of the same use and the bill does not tell the time in hours.
    pub price_or_time: String,
    /// Part of it that nobody had estimated.
    pub not_estimated: String,
    /// Part of it that is not on the bill.
    pub not_on_the_bill: String,
    /// How far the bill has come.
    pub settlement: &'static str,
}

/// The public shape of `reconcile`.
pub fn reconcile(answer: &Reconciliation) -> ReconcileAnswer {
    let text = |amount: Option<money::Amount>| amount.map(|amount| amount.to_string());
    let row = |row: &app::ReconcileRow| {
        let cause = |cause: app::Cause| row.causes.get(&cause).copied().unwrap_or_default().to_string();
        ReconcileRow {
            provider: row.provider.clone(),
            key: row.key.clone(),
            estimate: text(row.estimate),
            awaiting: text(row.awaiting),
            bill: text(row.bill),
            difference: text(row.difference),
            time: cause(app::Cause::Time),
            price: cause(app::Cause::Price),
            price_or_time: cause(app::Cause::PriceOrTime),
            not_estimated: cause(app::Cause::NotEstimated),
            not_on_the_bill: cause(app::Cause::NotOnTheBill),
            settlement: row.state.word(),
        }
    };
    ReconcileAnswer {
        meta: Meta::from(&answer.meta),
        rows: answer.rows.iter().map(row).collect(),
        by_hand: answer.by_hand.iter().cloned().collect(),
    }
}
