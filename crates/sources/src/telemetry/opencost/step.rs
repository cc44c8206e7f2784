//! A window's allocations together: what they say of attempts, once containers are added up and nodes have their size.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{
    AttemptView, Chain, ExperimentId, ExperimentLink, Interval, LinkMethod, Observation, RunRecord, RunState,
    ShareDriver, SourceId, Timestamp,
};
use serde_json::Value;

use super::allocation::{Allocation, Held, Pod, Row};
use super::node::{Node, capacity};
use super::notice::Seen;
use super::{OpenCostOptions, held};
use crate::telemetry::attempts::Refusal;

/// How long before its window a pod must stop to have ended, in microseconds: OpenCost samples once a minute.
const RESOLUTION: i64 = 60_000_000;

/// Longest key, in bytes.
const MAX_KEY: usize = 1_000;

/// The rows of one window.
#[derive(Debug, Default)]
pub(super) struct Rows {
    names: BTreeSet<String>,
    pods: Vec<Pod>,
    idle: Vec<Held>,
    /// The latest end of any row: no later than this was anything seen.
    latest: Option<Timestamp>,
}

impl Rows {
    /// Takes a row.
    ///
    /// # Errors
    /// What the row lacks; a name that the window has already.
    pub(super) fn take(
        &mut self,
        name: &str,
        value: &Value,
        options: &OpenCostOptions,
    ) -> Result<RowTaken, Refusal> {
        if !self.names.insert(name.to_owned()) {
            let expected = "a name that the window does not have yet";
            return Err(Refusal::of_record("row::duplicate_allocation", name, expected));
        }
        let Row { said, window, allocation } = Row::of(name, value, options)?;
        match allocation {
            Allocation::Pod(pod) => {
                if key(&pod).len() > MAX_KEY {
                    return Err(Refusal::new("row::too_long", "properties.pod", &pod.name, "a shorter name"));
                }
                self.latest = self.latest.max(Some(pod.held.interval.end));
                self.pods.push(*pod);
            }
            Allocation::Idle(held) => {
                self.latest = self.latest.max(Some(held.interval.end));
                self.idle.push(held);
            }
            Allocation::Apart => {}
        }
        Ok(RowTaken { said, window })
    }

    /// What the rows say, attempt by attempt.
    pub(super) fn observations(self, seen: &mut Seen) -> Vec<Observation> {
        let mut attempts: BTreeMap<String, Vec<&Pod>> = BTreeMap::new();
        for pod in &self.pods {
            seen.pod(&pod.held);
            attempts.entry(key(pod)).or_default().push(pod);
        }
        let mut observations = Vec::new();
        for (key, pods) in attempts {
            let Some(first) = pods.first() else { continue };
            let source = SourceId(format!("opencost:{}", first.cluster));
            let mut say = |modified_at, record| {
                observations.push(Observation {
                    source: source.clone(),
                    key: key.clone(),
                    modified_at,
                    record,
                });
            };
            let view = self.view(first, &pods);
            say(pods.iter().map(|pod| pod.held.interval.end).max(), RunRecord::Attempt(view));
            for (node, rows) in by_node(&pods) {
                for mut binding in held::bindings(node, &rows) {
                    binding.capacity = self.capacity(node, binding.driver);
                    seen.bound(binding.capacity.is_some());
                    say(binding.end, RunRecord::Binding(binding));
                }
            }
        }
        observations
    }

    /// The attempt of pods, the first of which names it.
    fn view(&self, first: &Pod, pods: &[&Pod]) -> AttemptView {
        let told = |of: fn(&Pod) -> Option<&String>| pods.iter().find_map(|pod| of(pod)).cloned();
        let experiment = told(|pod| pod.experiment.as_ref());
        let interval = |pod: &&Pod| pod.held.interval;
        let has_ended = self.have_ended(pods);
        AttemptView {
            aliases: first.attempt.iter().cloned().collect(),
            link: experiment
                .map(|name| ExperimentLink { experiment: ExperimentId(name), method: LinkMethod::Label }),
            chain: first.controller.as_ref().map(|controller| Chain {
                job: format!("k8s:{}/{}/{controller}", first.cluster, first.namespace),
                resizing: false,
            }),
            cluster: Some(first.cluster.clone()),
            namespace: Some(first.namespace.clone()).filter(|namespace| !namespace.is_empty()),
            name: Some(first.attempt.clone().unwrap_or_else(|| first.name.clone())),
            user: told(|pod| pod.about.user.as_ref()),
            team: told(|pod| pod.about.team.as_ref()),
            started_at: pods.iter().map(interval).map(|interval| interval.start).min(),
            // Of what runs on, until when it was seen: the fold takes that for no end.
            ended_at: pods.iter().map(interval).map(|interval| interval.end).max(),
            state: if has_ended { RunState::Ended } else { RunState::Running },
            model_version: told(|pod| pod.about.model_version.as_ref()),
            config_version: told(|pod| pod.about.config_version.as_ref()),
            dataset_snapshot: told(|pod| pod.about.dataset_snapshot.as_ref()),
            ..AttemptView::of_scheduler("kubernetes".to_owned())
        }
    }

    /// True if every pod stopped before the window did, and before the last that was seen of anything in it.
    fn have_ended(&self, pods: &[&Pod]) -> bool {
        pods.iter().all(|pod| {
            let Some(window) = pod.window else { return false };
            let bound = self.latest.map_or(window.end, |latest| latest.min(window.end));
            bound.0 - pod.held.interval.end.0 > RESOLUTION
        })
    }

    /// What a node has of the units of a driver, by its idle row and everything that was held of it.
    fn capacity(&self, node: &Node, driver: ShareDriver) -> Option<u64> {
        let of = match driver {
            ShareDriver::Gpu => |held: &Held| held.gpus,
            ShareDriver::Cpu => |held: &Held| held.cpus,
            ShareDriver::Whole => return None,
        };
        let is_here = |held: &Held| {
            held.node.as_ref().is_some_and(|here| (&here.cluster, &here.name) == (&node.cluster, &node.name))
        };
        let mut idle = self.idle.iter().filter(|held| node.name.is_some() && is_here(held));
        let (Some(idle), None) = (idle.next(), idle.next()) else { return None };
        let held: Vec<&Held> = self.pods.iter().map(|pod| &pod.held).filter(|held| is_here(held)).collect();
        capacity(&held, idle, of)
    }
}

/// A row that was taken, as far as it is counted.
#[derive(Debug)]
pub(super) struct RowTaken {
    pub(super) said: super::allocation::Said,
    pub(super) window: Option<Interval>,
}

/// The key of a pod's attempt: the pod, or what a label says it is a part of.
fn key(pod: &Pod) -> String {
    let Pod { cluster, namespace, .. } = pod;
    match &pod.attempt {
        Some(attempt) => format!("k8s:{cluster}/{namespace}/attempt/{attempt}"),
        None => format!("k8s:{cluster}/{namespace}/pod/{}", pod.name),
    }
}

fn by_node<'p>(pods: &[&'p Pod]) -> BTreeMap<&'p Node, Vec<&'p Held>> {
    let mut nodes: BTreeMap<&Node, Vec<&Held>> = BTreeMap::new();
    for pod in pods {
        if let Some(node) = &pod.held.node {
            nodes.entry(node).or_default().push(&pod.held);
        }
    }
    nodes
}
