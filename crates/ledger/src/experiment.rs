//! An experiment: the logical trial, with all its attempts; and how an attempt came to belong to it.

use crate::basis::words;
use crate::{AttemptId, Confidence, ExperimentId, Timestamp};

words! {
    /// How an attempt was found to belong to an experiment, the strongest first.
    LinkMethod {
        /// A person says so.
        Manual => "manual",
        /// The record names the experiment in a field meant for it.
        Explicit => "explicit",
        /// A label, comment or tag names it.
        Label => "label",
        /// A tracker keeps the run in a group, under a parent run or in an experiment of its own.
        Tracker => "tracker",
        /// The job's name matches the naming rule.
        NameRule => "name_rule",
        /// Nothing names one: the job is its own experiment.
        OwnJob => "own_job",
    }
}

impl LinkMethod {
    /// How sure a link by this method is. What a person or a field meant for it says is certain; a label may be copied
    /// from another job, a group of a tracker may hold more than one trial, a name may match a rule by accident, and a
    /// job of its own may be the retry of another.
    pub const fn confidence(self) -> Confidence {
        Confidence::thousandths(match self {
            Self::Manual | Self::Explicit => 1_000,
            Self::Label => 950,
            Self::Tracker => 900,
            Self::NameRule => 700,
            Self::OwnJob => 500,
        })
    }
}

/// What one record says of the experiment of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExperimentLink {
    /// The experiment.
    pub experiment: ExperimentId,
    /// How it was found.
    pub method: LinkMethod,
}

/// The link from an attempt to its experiment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptLink {
    /// The experiment.
    pub experiment: ExperimentId,
    /// How it was found.
    pub method: LinkMethod,
    /// How sure it is: that of the method, or of the join by which the record that names it came to the attempt.
    pub confidence: Confidence,
    /// The decision behind a manual link.
    pub decision: Option<LinkDecision>,
}

impl From<ExperimentLink> for AttemptLink {
    fn from(link: ExperimentLink) -> Self {
        let ExperimentLink { experiment, method } = link;
        Self { experiment, method, confidence: method.confidence(), decision: None }
    }
}

/// What a person decided of the experiment of an attempt. The latest decision on an attempt holds, whatever records say
/// and whenever they are imported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkDecision {
    /// When; of two decisions the later one holds.
    pub at: Timestamp,
    /// The experiment; `None` takes an earlier decision back, so that records decide again.
    pub experiment: Option<ExperimentId>,
    /// Who.
    pub by: String,
    /// Why, in their words.
    pub reason: Option<String>,
}

/// A logical trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Its name.
    pub id: ExperimentId,
    /// Its attempts in order of start, the first try first.
    pub attempts: Vec<AttemptId>,
    /// Who owns it, where a record says so.
    pub team: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stronger_method_is_never_less_sure() {
        let sure: Vec<Confidence> = LinkMethod::ALL.iter().map(|method| method.confidence()).collect();
        assert!(sure.is_sorted_by(|stronger, weaker| stronger >= weaker), "{sure:?}");
        assert_eq!(LinkMethod::Manual.confidence(), Confidence::CERTAIN);
    }
}
