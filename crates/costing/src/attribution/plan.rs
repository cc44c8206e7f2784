//! The build side of attribution: attempts, experiments, timelines by resource and the names that tags may use.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Attempt, AttemptId, BindingKind, Evidence, ExperimentId, Rule, normalised_key};

use super::landing::INDEX_MAX;
use super::timeline::{Holder, RunningTime, Timeline};
use super::{Landing, Place, Resource};

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

/// Why no plan can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// More attempts than a landing can count.
    #[error("{count} attempts are more than {INDEX_MAX}")]
    TooManyAttempts {
        /// How many there are.
        count: usize,
    },
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
    attempt_names: BTreeMap<String, u32>,
    experiment_names: BTreeMap<String, u32>,
    resources: BTreeMap<String, Resource>,
    timelines: Vec<Timeline>,
    managed: BTreeMap<u32, ManagedJob>,
    keys: TagKeys,
}

/// Makes the plan of these attempts; `as_of` (microseconds) ends what is still held.
///
/// # Errors
/// `TooManyAttempts` past 2²⁸.
pub fn plan(
    attempts: &[Attempt],
    splits: &[SplitShare],
    keys: TagKeys,
    as_of: i64,
) -> Result<AttributionPlan, PlanError> {
    if attempts.len() > INDEX_MAX as usize {
        return Err(PlanError::TooManyAttempts { count: attempts.len() });
    }
    let mut plan = AttributionPlan {
        attempts: Vec::with_capacity(attempts.len()),
        experiments: Vec::new(),
        attempt_names: BTreeMap::new(),
        experiment_names: BTreeMap::new(),
        resources: BTreeMap::new(),
        timelines: Vec::new(),
        managed: BTreeMap::new(),
        keys,
    };
    let mut holders: BTreeMap<String, Vec<Holder>> = BTreeMap::new();
    let mut managed: BTreeSet<String> = BTreeSet::new();
    // Sorted by id, so that the same set of attempts gives the same plan whatever its order.
    let mut sorted: Vec<&Attempt> = attempts.iter().collect();
    sorted.sort_unstable_by_key(|attempt| attempt.id);
    for attempt in sorted {
        plan.add_attempt(attempt, as_of, &mut holders, &mut managed);
    }
    for (resource, holders) in holders {
        plan.add_timeline(resource, &holders, &managed);
    }
    plan.add_splits(splits);
    Ok(plan)
}

impl AttributionPlan {
    /// Tells how long resources ran inside windows that they did not fill.
    pub fn set_running(&mut self, running: BTreeMap<String, Vec<RunningTime>>) {
        for (resource, windows) in running {
            if let Some(Resource::Held(index) | Resource::ManagedJob(index)) = self.resources.get(&resource)
                && let Some(timeline) = self.timelines.get_mut(*index as usize)
            {
                timeline.set_running(windows);
            }
        }
    }

    /// What the plan knows of a resource id.
    pub fn resource(&self, id: &str) -> Resource {
        self.resources.get(id).copied().unwrap_or(Resource::Unknown)
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
            let timeline = self.timelines.get(index as usize);
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

    /// How many resources have a timeline; `Resource` counts them from 0.
    pub fn timelines(&self) -> usize {
        self.timelines.len()
    }

    pub(super) fn timeline(&self, index: u32) -> Option<&Timeline> {
        self.timelines.get(index as usize)
    }

    pub(super) fn managed_job(&self, index: u32) -> Option<&ManagedJob> {
        self.managed.get(&index)
    }

    fn experiment(&mut self, name: &str) -> u32 {
        if let Some(index) = self.experiment_names.get(name) {
            return *index;
        }
        let index = super::number(self.experiments.len());
        self.experiments.push(ExperimentId(name.to_owned()));
        self.experiment_names.insert(name.to_owned(), index);
        index
    }

    fn add_attempt(
        &mut self,
        attempt: &Attempt,
        as_of: i64,
        holders: &mut BTreeMap<String, Vec<Holder>>,
        managed: &mut BTreeSet<String>,
    ) {
        let index = super::number(self.attempts.len());
        self.attempts.push(attempt.id);
        let experiment = self.experiment(&attempt.link.experiment.0);
        let names = [attempt.id.to_string(), attempt.canonical_key.clone()];
        for name in names.into_iter().chain(attempt.aliases.iter().cloned()) {
            self.attempt_names.entry(name).or_insert(index);
        }
        // The same binding told by two records is held once.
        let bindings: BTreeSet<_> = attempt.bindings.iter().collect();
        for binding in bindings {
            let Some(resource) = &binding.resource_id else { continue };
            let own_job = binding.kind == BindingKind::ManagedJob;
            let (rule, evidence) = if own_job {
                (Rule::ManagedJob, Evidence::Modelled)
            } else {
                (Rule::ResourceTime, Evidence::Modelled)
            };
            if own_job {
                managed.insert(resource.clone());
            }
            holders.entry(resource.clone()).or_default().push(Holder {
                start: binding.start.0,
                end: binding.end.or(attempt.ended_at).map_or(as_of, |end| end.0),
                landing: Landing::of(Place::Attempt { index, rule, evidence }),
                experiment,
                weight: binding.weight,
                capacity: binding.capacity,
                driver: binding.driver,
            });
        }
    }

    fn add_timeline(&mut self, resource: String, holders: &[Holder], managed: &BTreeSet<String>) {
        let index = super::number(self.timelines.len());
        self.timelines.push(Timeline::of(holders));
        let own = managed.contains(&resource);
        if own {
            let mut attempts: Vec<u32> = holders.iter().filter_map(attempt_of).collect();
            attempts.sort_unstable();
            attempts.dedup();
            let experiment = holders.first().map_or(0, |holder| holder.experiment);
            self.managed.insert(index, ManagedJob { attempts, experiment });
        }
        let entry = if own { Resource::ManagedJob(index) } else { Resource::Held(index) };
        self.resources.insert(resource, entry);
    }

    fn add_splits(&mut self, splits: &[SplitShare]) {
        let mut by_parent: BTreeMap<&str, Vec<Holder>> = BTreeMap::new();
        for split in splits {
            let (landing, experiment) = self.split_landing(split);
            by_parent.entry(&split.parent).or_default().push(Holder {
                start: split.interval.0,
                end: split.interval.1,
                landing,
                experiment,
                weight: split.weight,
                capacity: None,
                driver: ledger::ShareDriver::Gpu,
            });
        }
        for (parent, holders) in by_parent {
            let told = Timeline::of(&holders);
            match self.resources.get(parent).copied() {
                Some(Resource::Held(index) | Resource::ManagedJob(index)) => {
                    let merged = self.timelines[index as usize].overridden_by(&told);
                    self.timelines[index as usize] = merged;
                }
                Some(Resource::Absent | Resource::Unknown) | None => {
                    let index = super::number(self.timelines.len());
                    self.timelines.push(told);
                    self.resources.insert(parent.to_owned(), Resource::Held(index));
                }
            }
        }
    }

    /// Where a pod's part lands: its tags first, then the attempt that is bound to the pod.
    fn split_landing(&mut self, split: &SplitShare) -> (Landing, u32) {
        let (rule, evidence) = (Rule::SplitRows, Evidence::Split);
        let named = match self.named_by(&split.tags) {
            NamedBy::NewExperiment(name) => NamedBy::Experiment(self.experiment(&name)),
            other => other,
        };
        let bound = match named {
            NamedBy::Attempt(index) => Some(index),
            NamedBy::Experiment(index) => {
                return (Landing::of(Place::Experiment { index, rule, evidence }), index);
            }
            NamedBy::Nobody | NamedBy::UnknownAttempt | NamedBy::NewExperiment(_) => {
                self.pod_attempt(&split.child)
            }
        };
        match bound {
            Some(index) => (Landing::of(Place::Attempt { index, rule, evidence }), u32::MAX),
            None => (Landing::of(Place::Unattributed(super::Reason::UnknownPod)), u32::MAX),
        }
    }

    fn pod_attempt(&self, child: &str) -> Option<u32> {
        // A pod is bound by its ARN or, as Kubernetes names it, by its uid: the ARN's last part.
        let uid = child.rsplit('/').next().unwrap_or(child);
        let index = [child, uid].iter().find_map(|id| match self.resource(id) {
            Resource::Held(index) | Resource::ManagedJob(index) => Some(index),
            Resource::Absent | Resource::Unknown => None,
        })?;
        let timeline = self.timeline(index)?;
        let segment = timeline.segments().first()?;
        timeline.shares(segment).first().and_then(|share| match share.landing.place() {
            Place::Attempt { index, .. } => Some(index),
            Place::Class(_) | Place::Idle | Place::Unattributed(_) | Place::Experiment { .. } => None,
        })
    }
}

fn attempt_of(holder: &Holder) -> Option<u32> {
    match holder.landing.place() {
        Place::Attempt { index, .. } => Some(index),
        Place::Class(_) | Place::Idle | Place::Unattributed(_) | Place::Experiment { .. } => None,
    }
}
