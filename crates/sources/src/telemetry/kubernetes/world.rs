//! Everything that an input tells of a cluster, with the newest view of each object.

use std::collections::{BTreeMap, BTreeSet};

use ledger::Timestamp;

use super::controller::{Controller, Kind};
use super::document::{Document, Said};
use super::fact::What;
use super::meta::{Condition, Owner};
use super::node::Node;
use super::pod::Pod;
use crate::telemetry::attempts::Refusal;

/// Longest way up from a pod to its topmost controller.
const MAX_DEPTH: usize = 8;

/// A cluster.
#[derive(Debug, Default)]
pub(super) struct World {
    /// The uid of `kube-system`.
    pub(super) uid: Option<String>,
    /// By uid.
    pub(super) pods: BTreeMap<String, Pod>,
    /// By name and by the start of their being; the last of a name is the newest.
    nodes: BTreeMap<String, Vec<Node>>,
    /// By uid.
    pub(super) controllers: BTreeMap<String, Controller>,
    /// Uids of workloads, by that of what they are of.
    workloads: BTreeMap<String, BTreeSet<String>>,
    pub(super) rows: u64,
    pub(super) refused: Vec<(u64, Refusal)>,
    /// Objects of kinds that say nothing of a run.
    pub(super) others: u64,
    /// When the last list was taken, no earlier than this, and the pods that it held.
    last_list: Option<(Timestamp, BTreeSet<String>)>,
    /// When the last list of any kind was taken, no earlier than this.
    listed_at: Option<Timestamp>,
}

impl World {
    /// Takes a document.
    pub(super) fn take(&mut self, document: Document, taken_at: Option<Timestamp>) {
        match document {
            Document::One(said) => {
                self.object(*said);
            }
            Document::List(items) => {
                let (mut seen, mut pods) = (None, BTreeSet::new());
                for said in items {
                    seen = seen.max(said.as_ref().ok().and_then(|fact| fact.latest));
                    pods.extend(self.object(said));
                }
                self.listed_at = taken_at.or(seen).max(self.listed_at);
                if !pods.is_empty() {
                    self.miss(&pods);
                    self.last_list = taken_at.or(seen).map(|at| (at, pods));
                }
            }
        }
    }

    /// Takes an object; gives the id of a pod that is there.
    fn object(&mut self, said: Said) -> Option<String> {
        self.rows += 1;
        let row = self.rows;
        match said {
            Err(refusal) => self.refused.push((row, refusal)),
            Ok(fact) => match fact.what {
                What::Pod(mut pod) => {
                    pod.row = row;
                    return self.pod(*pod);
                }
                What::Node(node) => self.machine(*node),
                What::Controller(controller) => {
                    let id = controller.meta.id();
                    if let (Kind::Workload, Some(owner)) = (controller.kind, &controller.meta.owner) {
                        self.workloads.entry(owner.uid.clone()).or_default().insert(id.clone());
                    }
                    self.controllers.insert(id, *controller);
                }
                What::Cluster(uid) => self.uid = Some(uid),
                What::Other => self.others += 1,
            },
        }
        None
    }

    /// A watch and several lists tell of the same node again and again.
    fn machine(&mut self, node: Node) {
        let known = self.nodes.entry(node.name.clone()).or_default();
        match known.iter_mut().find(|known| known.is_same(&node)) {
            Some(known) => *known = node,
            None => known.push(node),
        }
    }

    fn pod(&mut self, mut pod: Pod) -> Option<String> {
        let id = pod.meta.id();
        let there = (!pod.is_gone).then(|| id.clone());
        if let Some(mut known) = self.pods.remove(&id) {
            if known.latest > pod.latest {
                known.remember(&pod);
                known.is_gone |= pod.is_gone;
                pod = known;
            } else {
                pod.remember(&known);
            }
        }
        self.pods.insert(id, pod);
        there
    }

    /// Pods of the last list that this one does not hold any more are gone, if it is of their namespace at all.
    fn miss(&mut self, pods: &BTreeSet<String>) {
        let Some((seen, before)) = self.last_list.take() else { return };
        let namespaces: BTreeSet<String> =
            pods.iter().filter_map(|id| self.pods.get(id)).map(|pod| pod.meta.namespace.clone()).collect();
        for id in before.difference(pods) {
            if let Some(pod) = self.pods.get_mut(id)
                && namespaces.contains(&pod.meta.namespace)
                && !pod.is_over()
            {
                pod.is_gone = true;
                pod.last_seen = Some(seen.max(pod.latest.unwrap_or(seen)));
            }
        }
    }

    /// When the last list was taken, no earlier than this; `None` if there is none or nothing tells its time.
    pub(super) const fn list_taken_at(&self) -> Option<Timestamp> {
        self.listed_at
    }

    /// The newest node of a name.
    pub(super) fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.get(name).and_then(|nodes| nodes.last())
    }

    /// Every node, as often as it was told.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().flatten()
    }

    /// The controllers above an owner, the nearest first, as far as they are told.
    pub(super) fn above(&self, owner: Option<&Owner>) -> Vec<&Controller> {
        let mut above: Vec<&Controller> = Vec::new();
        let mut at = owner;
        while let Some(controller) = at.and_then(|owner| self.controllers.get(&owner.uid)) {
            if above.len() == MAX_DEPTH {
                break;
            }
            above.push(controller);
            at = controller.meta.owner.as_ref();
        }
        above
    }

    /// Kueue's workloads of a pod, by itself or by any controller above it.
    pub(super) fn workloads(&self, pod: &Pod) -> Vec<&Controller> {
        let mut ids: BTreeSet<&str> = BTreeSet::new();
        ids.extend(pod.meta.uid.as_deref());
        ids.extend(pod.meta.owner.as_ref().map(|owner| owner.uid.as_str()));
        ids.extend(self.above(pod.meta.owner.as_ref()).iter().filter_map(|c| c.meta.uid.as_deref()));
        let of_any = ids.into_iter().filter_map(|id| self.workloads.get(id)).flatten();
        of_any.filter_map(|id| self.controllers.get(id)).collect()
    }

    /// The eviction of a workload that fell into the time of an attempt; grace lets pods live on for a while.
    pub(super) fn eviction(
        &self,
        pod: &Pod,
        (start, end): (Option<Timestamp>, Option<Timestamp>),
    ) -> Option<&Condition> {
        const GRACE: i64 = 60_000_000;
        let (start, end) = (start?, end?);
        let falls =
            |c: &&Condition| c.at.is_some_and(|at| start <= at && at.0 <= end.0.saturating_add(GRACE));
        self.workloads(pod).into_iter().filter_map(|workload| workload.evicted.as_ref()).find(falls)
    }
}
