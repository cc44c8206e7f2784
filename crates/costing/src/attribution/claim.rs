//! The order of the rules: which claim a charge meets first.

use ledger::{Evidence, LineClass, Rule};

use super::{AttributionPlan, Landing, Place, Reason, Timeline};

/// What a tag on the charge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagClaim {
    /// Nothing.
    None,
    /// It names an attempt of the plan.
    Attempt(u32),
    /// It names an experiment of the plan.
    Experiment(u32),
    /// It names an attempt that no record tells of.
    UnknownAttempt,
}

/// What the plan knows of the charge's resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// The row has no resource id.
    Absent,
    /// Nobody is known to have held it.
    Unknown,
    /// It is a managed job's own; the timeline is of the attempts inside the job.
    ManagedJob(u32),
    /// Attempts held it.
    Held(u32),
}

/// How a charge is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<'a> {
    /// It lands whole.
    Whole(Landing),
    /// It is split over a timeline; time and units that nobody held land in `rest`.
    Shared {
        /// Who held the resource.
        timeline: &'a Timeline,
        /// Where the rest lands.
        rest: Landing,
    },
    /// It belongs to one experiment and is split over that experiment's attempts.
    SharedWithin {
        /// Who held the resource.
        timeline: &'a Timeline,
        /// The experiment.
        experiment: u32,
        /// Where the rest lands: the experiment itself.
        rest: Landing,
    },
}

/// The claim that wins a charge of this class, tag and resource.
#[inline]
pub fn claim<'a>(
    plan: &'a AttributionPlan,
    class: LineClass,
    tag: TagClaim,
    resource: Resource,
) -> Claim<'a> {
    if !matches!(class, LineClass::Usage | LineClass::CapacityBlockUsage) {
        return Claim::Whole(Landing::of(Place::Class(class)));
    }
    let held = match resource {
        Resource::Held(index) | Resource::ManagedJob(index) => plan.timeline(index),
        Resource::Absent | Resource::Unknown => None,
    };
    let (rule, evidence) = (Rule::Tag, Evidence::Billed);
    match tag {
        TagClaim::Attempt(index) => {
            return Claim::Whole(Landing::of(Place::Attempt { index, rule, evidence }));
        }
        TagClaim::Experiment(index) => {
            let rest = Landing::of(Place::Experiment { index, rule, evidence });
            return held.map_or(Claim::Whole(rest), |timeline| Claim::SharedWithin {
                timeline,
                experiment: index,
                rest,
            });
        }
        TagClaim::None | TagClaim::UnknownAttempt => {}
    }
    match (resource, held) {
        (Resource::ManagedJob(index), Some(timeline)) => managed(plan, index, timeline),
        (Resource::Held(_), Some(timeline)) => Claim::Shared { timeline, rest: Landing::IDLE },
        (Resource::Absent, _) => unattributed(tag, Reason::NoResourceId),
        (Resource::Unknown | Resource::Held(_) | Resource::ManagedJob(_), _) => {
            unattributed(tag, Reason::NoAttempt)
        }
    }
}

/// A managed job of one attempt is that attempt's, whatever its times; of several, it is split by their time, and what
/// lies between them goes to the experiment.
fn managed<'a>(plan: &AttributionPlan, index: u32, timeline: &'a Timeline) -> Claim<'a> {
    let Some(job) = plan.managed_job(index) else { return Claim::Whole(Landing::IDLE) };
    match job.attempts.as_slice() {
        [attempt] => Claim::Whole(Landing::of(Place::Attempt {
            index: *attempt,
            rule: Rule::ManagedJob,
            evidence: Evidence::Billed,
        })),
        _ => Claim::Shared {
            timeline,
            rest: Landing::of(Place::Experiment {
                index: job.experiment,
                rule: Rule::ManagedJob,
                evidence: Evidence::Billed,
            }),
        },
    }
}

fn unattributed<'a>(tag: TagClaim, reason: Reason) -> Claim<'a> {
    let reason = if tag == TagClaim::UnknownAttempt { Reason::UnknownAttempt } else { reason };
    Claim::Whole(Landing::of(Place::Unattributed(reason)))
}
