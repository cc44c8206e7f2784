//! Makes the build side of attribution, attempt by attempt, so that the attempts need not be held all at once.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use ledger::{Attempt, AttemptId, BindingKind, Evidence, ExperimentId, Rule};

use super::landing::INDEX_MAX;
use super::plan::ManagedJob;
use super::timeline::{Holder, Timeline};
use super::{AttributionPlan, Landing, NamedBy, Place, Reason, Resource, SplitShare, TagKeys};

/// Why no plan can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// More attempts than a landing can count.
    #[error("there are more than {INDEX_MAX} attempts")]
    TooManyAttempts,
    /// Attempts out of the order of their ids, in which they are numbered.
    #[error("attempt {id} comes after one with a larger id")]
    OutOfOrder {
        /// The attempt.
        id: AttemptId,
    },
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
    // Sorted by id, so that the same set of attempts gives the same plan whatever its order.
    let mut sorted: Vec<&Attempt> = attempts.iter().collect();
    sorted.sort_unstable_by_key(|attempt| attempt.id);
    let mut builder = PlanBuilder::new(keys, as_of);
    for attempt in sorted {
        builder.add(attempt)?;
    }
    Ok(builder.finish(splits))
}

/// A plan in the making.
#[derive(Debug)]
pub struct PlanBuilder {
    plan: AttributionPlan,
    as_of: i64,
    /// Resources by name, numbered in order of arrival.
    resources: BTreeMap<String, u32>,
    /// Who held which resource: one list for all, since a list for each costs half as much again.
    holders: Vec<(u32, Holder)>,
    managed: BTreeSet<u32>,
}

impl PlanBuilder {
    /// A plan of no attempts; `as_of` (microseconds) ends what is still held.
    pub fn new(keys: TagKeys, as_of: i64) -> Self {
        let plan = AttributionPlan {
            attempts: Vec::new(),
            experiments: Vec::new(),
            attempt_names: BTreeMap::new(),
            experiment_names: BTreeMap::new(),
            resources: BTreeMap::new(),
            timelines: super::plan::Timelines::default(),
            managed: BTreeMap::new(),
            keys,
        };
        Self { plan, as_of, resources: BTreeMap::new(), holders: Vec::new(), managed: BTreeSet::new() }
    }

    /// Takes an attempt in. They come in the order of their ids, which is the order in which a split breaks ties.
    ///
    /// # Errors
    /// `OutOfOrder`; `TooManyAttempts` past 2²⁸.
    pub fn add(&mut self, attempt: &Attempt) -> Result<(), PlanError> {
        if self.plan.attempts.last().is_some_and(|last| *last > attempt.id) {
            return Err(PlanError::OutOfOrder { id: attempt.id });
        }
        let index = super::number(self.plan.attempts.len());
        if index >= INDEX_MAX {
            return Err(PlanError::TooManyAttempts);
        }
        self.plan.attempts.push(attempt.id);
        let experiment = experiment(&mut self.plan, &attempt.link.experiment.0);
        let names = [attempt.id.to_string(), attempt.canonical_key.clone()];
        for name in names.into_iter().chain(attempt.aliases.iter().cloned()) {
            self.plan.attempt_names.entry(name).or_insert(index);
        }
        self.hold(attempt, index, experiment);
        Ok(())
    }

    fn hold(&mut self, attempt: &Attempt, index: u32, experiment: u32) {
        // The same binding told by two records is held once.
        let mut bindings: Vec<_> = attempt.bindings.iter().collect();
        bindings.sort_unstable();
        bindings.dedup();
        for binding in bindings {
            let Some(resource) = &binding.resource_id else { continue };
            let own_job = binding.kind == BindingKind::ManagedJob;
            let rule = if own_job { Rule::ManagedJob } else { Rule::ResourceTime };
            let number = self.number(resource);
            if own_job {
                self.managed.insert(number);
            }
            let holder = Holder {
                start: binding.start.0,
                end: binding.end.or(attempt.ended_at).map_or(self.as_of, |end| end.0),
                landing: Landing::of(Place::Attempt { index, rule, evidence: Evidence::Modelled }),
                experiment,
                weight: binding.weight,
                capacity: binding.capacity,
                driver: binding.driver,
            };
            self.holders.push((number, holder));
        }
    }

    fn number(&mut self, resource: &str) -> u32 {
        if let Some(number) = self.resources.get(resource) {
            return *number;
        }
        let number = super::number(self.resources.len());
        self.resources.insert(resource.to_owned(), number);
        number
    }

    /// The plan, with what the provider's split rows tell in place of the join wherever they tell something.
    pub fn finish(mut self, splits: &[SplitShare]) -> AttributionPlan {
        let mut known: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        // A timeline does not depend on the order of its holders, so they need only lie together.
        self.holders.sort_unstable_by_key(|(number, _)| *number);
        let mut entries = vec![Resource::Unknown; self.resources.len()];
        for holders in self.holders.chunk_by(|a, b| a.0 == b.0) {
            let Some(number) = holders.first().map(|(number, _)| *number) else { continue };
            let of_one: Vec<Holder> = holders.iter().map(|(_, holder)| *holder).collect();
            entries[number as usize] = if self.managed.contains(&number) {
                Resource::ManagedJob(managed_job(&mut self.plan, &of_one))
            } else {
                Resource::Held(held(&mut self.plan, &of_one, &mut known))
            };
        }
        self.plan.resources =
            self.resources.into_iter().map(|(name, number)| (name, entries[number as usize])).collect();
        add_splits(&mut self.plan, splits);
        self.plan
    }
}

fn experiment(plan: &mut AttributionPlan, name: &str) -> u32 {
    if let Some(index) = plan.experiment_names.get(name) {
        return *index;
    }
    let index = super::number(plan.experiments.len());
    plan.experiments.push(ExperimentId(name.to_owned()));
    plan.experiment_names.insert(name.to_owned(), index);
    index
}

/// The timeline of these holders: one that another resource has already, or a new one.
fn held(plan: &mut AttributionPlan, holders: &[Holder], known: &mut BTreeMap<u64, Vec<u32>>) -> u32 {
    let timeline = Timeline::of(holders);
    let mut hasher = DefaultHasher::new();
    timeline.hash(&mut hasher);
    let alike = known.entry(hasher.finish()).or_default();
    if let Some(index) = alike.iter().find(|index| plan.timelines.get(**index) == Some(&timeline)) {
        plan.timelines.share(*index);
        return *index;
    }
    let index = plan.timelines.push(timeline);
    alike.push(index);
    index
}

fn managed_job(plan: &mut AttributionPlan, holders: &[Holder]) -> u32 {
    let index = plan.timelines.push(Timeline::of(holders));
    let mut attempts: Vec<u32> = holders.iter().filter_map(attempt_of).collect();
    attempts.sort_unstable();
    attempts.dedup();
    let experiment = holders.first().map_or(0, |holder| holder.experiment);
    plan.managed.insert(index, ManagedJob { attempts, experiment });
    index
}

fn add_splits(plan: &mut AttributionPlan, splits: &[SplitShare]) {
    let mut by_parent: BTreeMap<&str, Vec<Holder>> = BTreeMap::new();
    for split in splits {
        let (landing, experiment) = split_landing(plan, split);
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
        match plan.resources.get(parent) {
            Some(Resource::Held(_) | Resource::ManagedJob(_)) => {
                plan.change(parent, |timeline| *timeline = timeline.overridden_by(&told));
            }
            Some(Resource::Absent | Resource::Unknown) | None => {
                let index = plan.timelines.push(told);
                plan.resources.insert(parent.to_owned(), Resource::Held(index));
            }
        }
    }
}

/// Where a pod's part lands: its tags first, then the attempt that is bound to the pod.
fn split_landing(plan: &mut AttributionPlan, split: &SplitShare) -> (Landing, u32) {
    let (rule, evidence) = (Rule::SplitRows, Evidence::Split);
    let named = match plan.named_by(&split.tags) {
        NamedBy::NewExperiment(name) => NamedBy::Experiment(experiment(plan, &name)),
        other => other,
    };
    let bound = match named {
        NamedBy::Attempt(index) => Some(index),
        NamedBy::Experiment(index) => {
            return (Landing::of(Place::Experiment { index, rule, evidence }), index);
        }
        NamedBy::Nobody | NamedBy::UnknownAttempt | NamedBy::NewExperiment(_) => {
            pod_attempt(plan, &split.child)
        }
    };
    match bound {
        Some(index) => (Landing::of(Place::Attempt { index, rule, evidence }), u32::MAX),
        None => (Landing::of(Place::Unattributed(Reason::UnknownPod)), u32::MAX),
    }
}

fn pod_attempt(plan: &AttributionPlan, child: &str) -> Option<u32> {
    // A pod is bound by its ARN or, as Kubernetes names it, by its uid: the ARN's last part.
    let uid = child.rsplit('/').next().unwrap_or(child);
    let index = [child, uid].iter().find_map(|id| match plan.resource(id) {
        Resource::Held(index) | Resource::ManagedJob(index) => Some(index),
        Resource::Absent | Resource::Unknown => None,
    })?;
    let timeline = plan.timeline(index)?;
    let segment = timeline.segments().first()?;
    timeline.shares(segment).first().and_then(|share| match share.landing.place() {
        Place::Attempt { index, .. } => Some(index),
        Place::Class(_) | Place::Idle | Place::Unattributed(_) | Place::Experiment { .. } => None,
    })
}

fn attempt_of(holder: &Holder) -> Option<u32> {
    match holder.landing.place() {
        Place::Attempt { index, .. } => Some(index),
        Place::Class(_) | Place::Idle | Place::Unattributed(_) | Place::Experiment { .. } => None,
    }
}
