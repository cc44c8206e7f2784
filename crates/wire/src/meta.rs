//! What an answer states of itself.

use ledger::Timestamp;
use serde::Serialize;

/// Basis, scope, credits, currency and window of every figure in an answer, and how far its sources have come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Meta {
    /// `list`, `effective` or `marginal`.
    pub basis: &'static str,
    /// `direct` or `fully-loaded`.
    pub scope: &'static str,
    /// `before credits` or `net of credits`.
    pub credits: &'static str,
    /// Currency code; `null` for an empty store.
    pub currency: Option<String>,
    /// Start of the window.
    pub since: Option<String>,
    /// End of the window, exclusive.
    pub until: Option<String>,
    /// When the newest import arrived.
    pub as_of: Option<String>,
    /// Hash of the allocation policy.
    pub policy: Option<String>,
    /// The last UTC day for which every source has a bill.
    pub complete_to: Option<String>,
}

impl From<&app::Meta> for Meta {
    fn from(meta: &app::Meta) -> Self {
        let time = |stamp: Option<Timestamp>| stamp.map(|stamp| stamp.to_string());
        Self {
            basis: meta.basis.word(),
            scope: meta.scope.word(),
            credits: meta.credits.word(),
            currency: meta.currency.map(|currency| currency.to_string()),
            since: time(meta.since),
            until: time(meta.until),
            as_of: time(meta.as_of),
            policy: meta.policy.clone(),
            complete_to: meta.complete_to.map(|day| day.to_string()),
        }
    }
}
