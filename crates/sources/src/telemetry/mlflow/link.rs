//! Which experiment a run belongs to.

use std::collections::BTreeMap;

use ledger::{ExperimentId, ExperimentLink, LinkMethod, normalised_key};

use super::facts::Facts;
use crate::telemetry::slurm::experiment_of_name;

/// Parents of parents that are followed.
const MAX_NESTING: usize = 16;

/// What is known of MLflow's experiments, and of parent runs.
#[derive(Debug, Default)]
pub(super) struct Experiments {
    names: BTreeMap<String, String>,
    teams: BTreeMap<String, String>,
    /// For every run its parent and the experiment that a tag names.
    runs: BTreeMap<String, (Option<String>, Option<String>)>,
}

impl Experiments {
    /// Takes an experiment of MLflow.
    pub(super) fn note(&mut self, id: &str, name: Option<&str>) {
        if let Some(name) = name.filter(|name| *name != "Default") {
            self.names.insert(id.to_owned(), name.to_owned());
        }
    }

    /// Takes a tag of an experiment.
    pub(super) fn tag(&mut self, id: &str, key: &str, value: &str) {
        if normalised_key(key) == "team" && !value.trim().is_empty() {
            self.teams.insert(id.to_owned(), value.trim().to_owned());
        }
    }

    pub(super) fn team(&self, id: &str) -> Option<String> {
        self.teams.get(id).cloned()
    }

    /// Looks at the nesting of all runs.
    pub(super) fn parents(&mut self, runs: &BTreeMap<String, Vec<Facts>>) {
        for facts in runs.values().flatten() {
            let parent = facts.told("mlflow_parent_run_id").map(str::to_owned);
            self.runs.insert(facts.id.clone(), (parent, labelled(facts)));
        }
    }

    /// The experiment of a run: by its tag, its parent's, its job run, its name, the name of MLflow's experiment.
    pub(super) fn link(&self, facts: &Facts, tracking: &str) -> ExperimentLink {
        let named =
            |experiment: String, method| ExperimentLink { experiment: ExperimentId(experiment), method };
        if let Some(experiment) = labelled(facts) {
            return named(experiment, LinkMethod::Label);
        }
        if facts.told("mlflow_parent_run_id").is_some() {
            return named(self.of_ancestors(&facts.id, tracking), LinkMethod::Tracker);
        }
        if let Some(job) = facts.told("mlflow_databricks_job_run_id") {
            return named(format!("mlflow:{tracking}/job-runs/{job}"), LinkMethod::Tracker);
        }
        if let Some(experiment) = facts.name.as_deref().and_then(experiment_of_name) {
            return named(experiment.to_owned(), LinkMethod::NameRule);
        }
        if let Some(name) = self.names.get(&facts.experiment_id) {
            return named(name.clone(), LinkMethod::NameRule);
        }
        named(format!("mlflow:{tracking}/{}", facts.id), LinkMethod::OwnJob)
    }

    /// The first experiment that a run above names, else the topmost run itself.
    fn of_ancestors(&self, run: &str, tracking: &str) -> String {
        let mut at = run;
        for _ in 0..MAX_NESTING {
            match self.runs.get(at) {
                Some((_, Some(experiment))) => return experiment.clone(),
                Some((Some(parent), None)) => at = parent,
                Some((None, None)) | None => break,
            }
        }
        format!("mlflow:{tracking}/{at}")
    }
}

fn labelled(facts: &Facts) -> Option<String> {
    ["experiment_id", "experiment"].iter().find_map(|key| facts.told(key)).map(str::to_owned)
}
