//! Where one charge lands, for questions that look at charges one by one.

use costing::attribution::{AttributionPlan, Landing, NamedBy, Resource, TagClaim, claim, divide};
use ledger::LineClass;

/// A row of usage as far as it decides where it lands; times in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used<'a> {
    /// Resource.
    pub(crate) resource_id: Option<&'a str>,
    /// Tags as JSON.
    pub(crate) tags: Option<&'a str>,
    /// When.
    pub(crate) interval: (i64, i64),
}

/// Divides a whole number of any unit as the row's cost is divided; `experiment` gives the number by which landings count
/// an experiment that only tags name, if it has one.
pub(crate) fn land(
    plan: &AttributionPlan,
    used: Used<'_>,
    experiment: impl Fn(&str) -> Option<u32>,
    whole: i128,
) -> Vec<(Landing, i128)> {
    let tags = used.tags.map(sources::charges::parse_tags).unwrap_or_default();
    let tag = match plan.named_by(&tags) {
        NamedBy::Nobody => TagClaim::None,
        NamedBy::Attempt(index) => TagClaim::Attempt(index),
        NamedBy::Experiment(index) => TagClaim::Experiment(index),
        NamedBy::UnknownAttempt => TagClaim::UnknownAttempt,
        NamedBy::NewExperiment(name) => experiment(&name).map_or(TagClaim::None, TagClaim::Experiment),
    };
    let resource = used.resource_id.map_or(Resource::Absent, |id| plan.resource(id));
    divide(&claim(plan, LineClass::Usage, tag, resource), used.interval, whole)
}
