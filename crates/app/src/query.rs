//! What a reading verb is asked, and what stands above every answer.

use ledger::{CostBasis, CreditTreatment, Day, Scope, Timestamp};
use money::Currency;

use crate::AppError;
use crate::conversion::Conversion;
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
    /// Only what is billed in this currency; this or a conversion is needed where the store has several.
    pub currency: Option<Currency>,
    /// Everything, in this currency by day rates.
    pub convert_to: Option<Currency>,
    /// The list of rates, by its source; needed where the store has several.
    pub rates: Option<String>,
    /// The most rows to show; the rest is summed in a row of its own.
    pub limit: Option<usize>,
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

impl Query {
    /// Refuses what no store could answer.
    ///
    /// # Errors
    /// `query::list_net_of_credits`, `query::fully_loaded_unavailable`, `query::currency_and_conversion`,
    /// `query::not_a_day_border`.
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
        if let (Some(only), Some(to)) = (self.currency, self.convert_to) {
            let message =
                format!("--currency {only} leaves other currencies out, and --convert-to {to} takes them in");
            return Err(AppError::new("query::currency_and_conversion", message)
                .help(format!("trainbill ls --convert-to {to}")));
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
    /// How amounts of other currencies were converted to it; `None` if none was.
    pub conversion: Option<Conversion>,
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

impl Meta {
    /// True if a UTC day is inside the window.
    pub(crate) fn has_day(&self, day: Day) -> bool {
        let start = day.start().0;
        self.has(start, start + 1)
    }

    /// True if an interval is inside the window.
    pub(crate) fn has(&self, start: i64, end: i64) -> bool {
        self.since.is_none_or(|since| start >= since.0) && self.until.is_none_or(|until| end <= until.0)
    }
}
