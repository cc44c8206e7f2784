//! What a reading verb is asked, and what stands above every answer.

use ledger::{CostBasis, CreditTreatment, Day, Scope, Timestamp};
use money::Currency;

use crate::filter::Filter;

/// The question that all reading verbs share.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Basis of valuation: list, effective or marginal.
    pub basis: CostBasis,
    /// Whether credits are subtracted.
    pub credits: CreditTreatment,
    /// Direct or fully loaded.
    pub scope: Scope,
    /// Usage on or after this UTC instant.
    pub since: Option<Timestamp>,
    /// Usage before this UTC instant.
    pub until: Option<Timestamp>,
    /// Which experiments.
    pub filter: Option<Filter>,
    /// Currency of the figures; needed where the store has several.
    pub currency: Option<Currency>,
    /// The most rows to show; the rest is summed in a row of its own.
    pub limit: Option<usize>,
}

/// What every answer states of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Basis of valuation.
    pub basis: CostBasis,
    /// Scope.
    pub scope: Scope,
    /// Credit treatment.
    pub credits: CreditTreatment,
    /// Currency; `None` only for an empty store.
    pub currency: Option<Currency>,
    /// Start of the window, if one was asked for.
    pub since: Option<Timestamp>,
    /// End of the window, exclusive.
    pub until: Option<Timestamp>,
    /// When the newest import arrived; `None` for an empty store.
    pub as_of: Option<Timestamp>,
    /// Hash of the allocation policy; `None` for direct figures.
    pub policy: Option<String>,
    /// The last UTC day for which every source has a bill.
    pub complete_to: Option<Day>,
}
