//! What a reading verb is asked, and what stands above every answer.

use ledger::{CostBasis, CreditTreatment, Day, Scope, Timestamp};
use money::Currency;

use crate::AppError;
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

const MICROS_PER_DAY: i64 = 86_400_000_000;

impl Query {
    /// Refuses what no store could answer.
    ///
    /// # Errors
    /// `query::list_net_of_credits`, `query::fully_loaded_unavailable`, `query::not_a_day_border`.
    pub fn answerable(&self) -> Result<(), AppError> {
        if self.credits == CreditTreatment::NetOfCredits && self.basis == CostBasis::List {
            let message = "list cost has no credits: a public rate is the same for everybody";
            return Err(AppError::new("query::list_net_of_credits", message)
                .help("leave `--net-of-credits` out, or take `--basis effective`"));
        }
        if self.scope == Scope::FullyLoaded {
            let message = "fully-loaded figures need a policy for shared cost, and this version has none";
            return Err(AppError::new("query::fully_loaded_unavailable", message)
                .help("see the cost that is shared by `trainbill spend --by account`"));
        }
        for border in [self.since, self.until].into_iter().flatten() {
            if border.0.rem_euclid(MICROS_PER_DAY) != 0 {
                let message = format!("figures are kept by UTC day, and {border} is inside one");
                return Err(AppError::new("query::not_a_day_border", message)
                    .help(format!("use --since {} or the next day", border.day())));
            }
        }
        Ok(())
    }
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
