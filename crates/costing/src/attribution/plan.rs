//! The build side of attribution: attempts, experiments, timelines by resource and the names that tags may use.

use std::collections::BTreeMap;

use ledger::{AttemptId, ExperimentId, normalised_key};

use super::timeline::{RunningTime, Timeline};
use super::{Place, Resource};

/// The tag keys by which a charge names its run, in normalised form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagKeys {
    /// Keys whose value is an experiment.
    pub experiment: Vec<String>,
    /// Keys whose value is an attempt's id, key or alias.
    pub attempt: Vec<String>,
}

impl TagKeys {
    /// The documented keys: `experiment_id`, `experiment`, `trainbill_experiment`, `attempt_id`, `attempt`,
    /// `trainbill_attempt`.
    pub fn documented() -> Self {
        let keys = |stem: &str| vec![format!("{stem}_id"), stem.to_owned(), format!("trainbill_{stem}")];
        Self { experiment: keys("experiment"), attempt: keys("attempt") }
    }
}

/// A part of a resource's cost as the provider's split rows tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitShare {
    /// The resource whose cost is split.
    pub parent: String,
    /// The pod or task.
    pub child: String,
    /// Time of the row, in microseconds.
    pub interval: (i64, i64),
    /// Its part, in any unit that is the same for all parts of the parent.
    pub weight: u64,
    /// Tags of the row.
    pub tags: Vec<(String, String)>,
}

/// Whom the tags of a charge name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedBy {
    /// Nobody.
    Nobody,
    /// An attempt of the plan.
    Attempt(u32),
    /// An experiment of the plan.
    Experiment(u32),
    /// An experiment of which no record tells.
    NewExperiment(String),
    /// An attempt of which no record tells.
    UnknownAttempt,
}

/// A managed job and the attempts inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManagedJob {
    pub(super) attempts: Vec<u32>,
    pub(super) experiment: u32,
}

/// What attribution needs to know of the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributionPlan {
    /// The attempts that a landing counts.
    pub attempts: Vec<AttemptId>,
    /// The experiments that a landing counts; those that only tags name are counted behind these by the caller.
    pub experiments: Vec<ExperimentId>,
    pub(super) attempt_names: BTreeMap<String, u32>,
    pub(super) experiment_names: BTreeMap<String, u32>,
    pub(super) resources: BTreeMap<String, Resource>,
    pub(super) timelines: Timelines,
    pub(super) managed: BTreeMap<u32, ManagedJob>,
    pub(super) keys: TagKeys,
}

/// The timelines of all resources. Resources that were held alike share one: an instance and its volumes are one entry
/// here, and what an inner loop remembers of it serves them all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Timelines {
    all: Vec<Timeline>,
    /// How many resources have it.
    users: Vec<u32>,
}

impl Timelines {
    pub(super) fn get(&self, index: u32) -> Option<&Timeline> {
        self.all.get(index as usize)
    }

    pub(super) fn push(&mut self, timeline: Timeline) -> u32 {
        self.all.push(timeline);
        self.users.push(1);
        super::number(self.all.len() - 1)
    }

    /// Gives an entry to one more resource.
    pub(super) fn share(&mut self, index: u32) {
        if let Some(users) = self.users.get_mut(index as usize) {
            *users += 1;
        }
    }

    /// Changes the timeline of one resource and of no other; gives its number, which is new if others had it too.
    fn change(&mut self, index: u32, change: impl FnOnce(&mut Timeline)) -> u32 {
        let at = index as usize;
        match (self.all.get_mut(at), self.users.get_mut(at)) {
            (Some(timeline), Some(users)) if *users > 1 => {
                *users -= 1;
                let mut own = timeline.clone();
                change(&mut own);
                self.push(own)
            }
            (Some(timeline), _) => {
                change(timeline);
                index
            }
            (None, _) => index,
        }
    }
}

impl AttributionPlan {
    /// Tells how long resources ran inside windows that they did not fill.
    pub fn set_running(&mut self, running: BTreeMap<String, Vec<RunningTime>>) {
        for (resource, windows) in running {
            self.change(&resource, |timeline| timeline.set_running(windows));
        }
    }

    /// Changes the timeline of a resource, if it has one.
    pub(super) fn change(&mut self, resource: &str, change: impl FnOnce(&mut Timeline)) {
        match self.resources.get_mut(resource) {
            Some(Resource::Held(index) | Resource::ManagedJob(index)) => {
                *index = self.timelines.change(*index, change);
            }
            Some(Resource::Absent | Resource::Unknown) | None => {}
        }
    }

    /// What the plan knows of a resource id.
    pub fn resource(&self, id: &str) -> Resource {
        self.resources.get(id).copied().unwrap_or(Resource::Unknown)
    }

    /// Every resource that is known.
    pub fn resources(&self) -> impl Iterator<Item = (&str, Resource)> {
        self.resources.iter().map(|(id, resource)| (id.as_str(), *resource))
    }

    /// What the tags of a charge say.
    pub fn named_by(&self, tags: &[(String, String)]) -> NamedBy {
        let value = |keys: &[String]| {
            keys.iter().find_map(|key| {
                let found = tags.iter().find(|(k, v)| !v.is_empty() && normalised_key(k) == *key);
                found.map(|(_, value)| value.clone())
            })
        };
        let attempt = value(&self.keys.attempt);
        if let Some(index) = attempt.as_ref().and_then(|name| self.attempt_names.get(name)) {
            return NamedBy::Attempt(*index);
        }
        if let Some(name) = value(&self.keys.experiment) {
            return self
                .experiment_names
                .get(&name)
                .map_or(NamedBy::NewExperiment(name), |i| NamedBy::Experiment(*i));
        }
        if attempt.is_some() { NamedBy::UnknownAttempt } else { NamedBy::Nobody }
    }

    /// The resources of which some part may land in a place that `wanted` accepts.
    pub fn resources_of(&self, wanted: impl Fn(Place) -> bool) -> Vec<String> {
        let held = |index: u32| {
            let timeline = self.timelines.get(index);
            timeline.is_some_and(|timeline| timeline.landings().any(|landing| wanted(landing.place())))
        };
        let mut found = Vec::new();
        for (id, resource) in &self.resources {
            if let Resource::Held(index) | Resource::ManagedJob(index) = resource
                && held(*index)
            {
                found.push(id.clone());
            }
        }
        found
    }

    /// How many timelines there are; `Resource` counts them from 0.
    pub fn timelines(&self) -> usize {
        self.timelines.all.len()
    }

    pub(super) fn timeline(&self, index: u32) -> Option<&Timeline> {
        self.timelines.get(index)
    }

    pub(super) fn managed_job(&self, index: u32) -> Option<&ManagedJob> {
        self.managed.get(&index)
    }
}
