//! A posting: an amount moved to an account by a rule, kept per day and resource kind.

use money::{Amount, Currency};

use crate::basis::words;
use crate::{Account, AttemptId, Day, Evidence, ExperimentId, ResourceKind};

words! {
    /// The step of the money path that made a posting; the postings of one step balance to zero.
    Step {
        /// Charges enter from the bill.
        Intake => "intake",
        /// Rows that are no usage go to their own accounts.
        Classification => "classification",
        /// Usage goes to attempts, experiments and idle.
        Attribution => "attribution",
        /// Usage whose bill tells no public price gets that of a price list.
        Valuation => "valuation",
        /// Capacity-block fees are spread over their instance-hours.
        Amortisation => "amortisation",
        /// Provider credits go to the usage that they belong to; only figures net of credits contain this step.
        Credits => "credits",
    }
}

words! {
    /// The rule that claimed a charge, by its number in the order of attribution.
    Rule {
        /// Not claimed by a rule of attribution.
        None => "none",
        /// 1: an attempt or experiment tag on the charge.
        Tag => "tag",
        /// 2: a managed job's own resource id.
        ManagedJob => "managed_job",
        /// 3: the provider's split rows.
        SplitRows => "split_rows",
        /// 5: resource id and time.
        ResourceTime => "resource_time",
    }
}

/// An amount in one account, aggregated over the charges that share every field here.
///
/// The four costs are in `currency`; `list_cost` holds only priced charges and `unpriced` counts the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    /// The step that made it.
    pub step: Step,
    /// Where the money is.
    pub account: Account,
    /// The attempt, for account `attempt`.
    pub attempt: Option<AttemptId>,
    /// The experiment, for accounts `attempt` (if linked) and `experiment`.
    pub experiment: Option<ExperimentId>,
    /// The rule that claimed the charges.
    pub rule: Rule,
    /// How the amount was got.
    pub evidence: Evidence,
    /// Why the money is here, for accounts that are not a run's.
    pub reason: String,
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Service, as the provider names it.
    pub service_name: String,
    /// Account that used it.
    pub sub_account_id: String,
    /// The provider's line type.
    pub line_type: String,
    /// Day of usage; `None` for rows that span more than a day.
    pub usage_day: Option<Day>,
    /// Currency of the costs.
    pub currency: Currency,
    /// Invoiced.
    pub billed_cost: Amount,
    /// At public rates.
    pub list_cost: Amount,
    /// Amortised and negotiated.
    pub effective_cost: Amount,
    /// Added by the run.
    pub marginal_cost: Amount,
    /// Charges behind the amounts.
    pub charges: u64,
    /// Charges among them without a list price.
    pub unpriced: u64,
}
