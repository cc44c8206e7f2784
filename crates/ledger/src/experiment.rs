//! An experiment: the logical trial, with all its attempts.

use crate::basis::words;
use crate::{AttemptId, ExperimentId};

words! {
    /// How an attempt was found to belong to an experiment.
    LinkMethod {
        /// The record names the experiment in a field meant for it.
        Explicit => "explicit",
        /// A label, comment or tag names it.
        Label => "label",
        /// The job's name matches the naming rule.
        NameRule => "name_rule",
        /// Nothing names one: the job is its own experiment.
        OwnJob => "own_job",
    }
}

/// The link from an attempt to its experiment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExperimentLink {
    /// The experiment.
    pub experiment: ExperimentId,
    /// How it was found.
    pub method: LinkMethod,
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
