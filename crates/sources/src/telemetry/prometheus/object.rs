//! The objects of Kubernetes that kube-state-metrics made its series from, as far as they can be made again.

use std::collections::BTreeMap;

use ledger::Timestamp;
use serde_json::{Map, Value, json};

/// Controllers that are named in no key, so that an owner without its uid is enough.
const OWNERS: [(&str, &str); 5] = [
    ("Job", "batch/v1"),
    ("ReplicaSet", "apps/v1"),
    ("DaemonSet", "apps/v1"),
    ("StatefulSet", "apps/v1"),
    ("Node", "v1"),
];

/// Resources whose names the metrics spell with `_` throughout.
const RESOURCES: [(&str, &str); 7] = [
    ("nvidia_com_gpu", "nvidia.com/gpu"),
    ("nvidia_com_gpucores", "nvidia.com/gpucores"),
    ("amd_com_gpu", "amd.com/gpu"),
    ("aws_amazon_com_neuron", "aws.amazon.com/neuron"),
    ("aws_amazon_com_neurondevice", "aws.amazon.com/neurondevice"),
    ("google_com_tpu", "google.com/tpu"),
    ("habana_ai_gaudi", "habana.ai/gaudi"),
];

/// A pod.
#[derive(Debug, Default)]
pub(super) struct Pod {
    namespace: String,
    name: String,
    pub(super) node: Option<String>,
    /// Kind and name of its controller.
    pub(super) owner: Option<(String, String)>,
    pub(super) created: Option<Timestamp>,
    pub(super) scheduled: Option<Timestamp>,
    pub(super) started: Option<Timestamp>,
    pub(super) completed: Option<Timestamp>,
    pub(super) deleted: Option<Timestamp>,
    /// The phase that began last, with its beginning.
    pub(super) phase: Option<(Timestamp, String)>,
    pub(super) reason: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) containers: BTreeMap<String, Container>,
    /// The last sample of any of its series, and of the one that tells that it is there.
    pub(super) seen_at: Option<Timestamp>,
    pub(super) info_at: Option<Timestamp>,
}

/// A container of a pod; amounts are in millionths.
#[derive(Debug, Default)]
pub(super) struct Container {
    pub(super) requests: BTreeMap<String, u64>,
    pub(super) restarts: Option<u64>,
    /// When the last restart was seen to have happened.
    pub(super) restarted: Option<Timestamp>,
    pub(super) started: Option<Timestamp>,
    pub(super) ended_as: Option<String>,
    pub(super) ended_before_as: Option<String>,
    pub(super) exit_code: Option<u64>,
}

/// A node; amounts are in millionths.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) provider: Option<String>,
    pub(super) created: Option<Timestamp>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) capacity: BTreeMap<String, u64>,
}

/// The list of the objects as JSON; what was last seen before `gone_by` has been deleted.
pub(super) fn document(
    pods: &BTreeMap<String, Pod>,
    nodes: &BTreeMap<String, Node>,
    gone_by: Timestamp,
) -> Vec<u8> {
    let mut text = String::new();
    for (name, node) in nodes {
        text.push_str(&node.object(name).to_string());
    }
    for (uid, pod) in pods {
        let object = pod.object(uid, gone_by);
        text.push_str(&object.to_string());
    }
    if text.is_empty() {
        text.push_str("{\"kind\":\"List\",\"items\":[]}");
    }
    text.into_bytes()
}

impl Pod {
    pub(super) fn named(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned(), ..Self::default() }
    }

    fn object(&self, uid: &str, gone_by: Timestamp) -> Value {
        let last_seen = self.info_at.or(self.seen_at);
        let is_gone = last_seen.is_some_and(|at| at < gone_by);
        let deleted = self.deleted.or(last_seen.filter(|_| is_gone));
        let mut labels = self.labels.clone();
        // Ranks of a set are put together by its uid alone.
        if !labels.contains_key("jobset_sigs_k8s_io_jobset_uid") {
            labels.remove("jobset_sigs_k8s_io_restart_attempt");
        }
        let mut meta = Map::new();
        meta.insert("name".to_owned(), json!(self.name));
        meta.insert("namespace".to_owned(), json!(self.namespace));
        meta.insert("uid".to_owned(), json!(uid));
        meta.insert("labels".to_owned(), json!(labels));
        put(&mut meta, "creationTimestamp", self.created);
        put(&mut meta, "deletionTimestamp", deleted);
        if let Some((kind, name)) = &self.owner {
            let version =
                OWNERS.iter().find(|(known, _)| known == kind).map_or("unknown/v1", |(_, version)| version);
            let uid = format!("{}/{kind}/{name}", self.namespace);
            meta.insert(
                "ownerReferences".to_owned(),
                json!([{"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true}]),
            );
        }
        let mut containers: Vec<(&String, &Container)> = self.containers.iter().collect();
        // The one with an accelerator is the main one.
        containers.sort_by_key(|(name, container)| (!container.has_device(), *name));
        let spec: Vec<Value> = containers.iter().map(|(name, container)| container.spec(name)).collect();
        let states: Vec<Value> =
            containers.iter().map(|(name, container)| container.state(name, self)).collect();
        let mut status = Map::new();
        put(&mut status, "startTime", self.started);
        for (name, value) in
            [("phase", self.phase.as_ref().map(|(_, phase)| phase)), ("reason", self.reason.as_ref())]
        {
            if let Some(value) = value {
                status.insert(name.to_owned(), json!(value));
            }
        }
        let scheduled = self.scheduled.map(
            |at| json!([{"type": "PodScheduled", "status": "True", "lastTransitionTime": at.to_string()}]),
        );
        status.insert("conditions".to_owned(), scheduled.unwrap_or_else(|| json!([])));
        status.insert("containerStatuses".to_owned(), Value::Array(states));
        let spec = json!({"nodeName": self.node.as_deref().unwrap_or_default(), "containers": spec});
        let object =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status});
        let kind = if is_gone { "DELETED" } else { "MODIFIED" };
        json!({"type": kind, "object": object})
    }

    fn has_ended(&self) -> bool {
        matches!(self.phase.as_ref().map(|(_, phase)| phase.as_str()), Some("Succeeded" | "Failed"))
    }

    /// When its containers had ended, if they have.
    fn ended(&self) -> Option<Timestamp> {
        let by_phase = self.phase.as_ref().map(|(since, _)| *since);
        self.completed.or(by_phase).filter(|_| self.has_ended())
    }
}

impl Container {
    fn has_device(&self) -> bool {
        self.requests.iter().any(|(name, amount)| *amount > 0 && !matches!(name.as_str(), "cpu" | "memory"))
    }

    fn spec(&self, name: &str) -> Value {
        json!({"name": name, "resources": {"requests": amounts(&self.requests)}})
    }

    fn state(&self, name: &str, pod: &Pod) -> Value {
        let restarts = self.restarts.unwrap_or(0);
        let mut state = Map::new();
        put(&mut state, "startedAt", self.started.or(pod.started.filter(|_| restarts == 0)));
        let state = if let Some(ended) = pod.ended() {
            put(&mut state, "finishedAt", Some(ended));
            let succeeded = pod.phase.as_ref().is_some_and(|(_, phase)| phase == "Succeeded");
            let reason = self.ended_as.clone().or_else(|| succeeded.then(|| "Completed".to_owned()));
            if let Some(reason) = &reason {
                state.insert("reason".to_owned(), json!(reason));
            }
            if succeeded || reason.as_deref() == Some("Completed") {
                state.insert("exitCode".to_owned(), json!(0));
            }
            json!({"terminated": state})
        } else if state.is_empty() {
            json!({})
        } else {
            json!({"running": state})
        };
        let mut status = Map::new();
        status.insert("name".to_owned(), json!(name));
        status.insert("restartCount".to_owned(), json!(restarts));
        status.insert("state".to_owned(), state);
        if restarts > 0 {
            let mut before = Map::new();
            put(&mut before, "finishedAt", self.restarted);
            if let Some(reason) = &self.ended_before_as {
                before.insert("reason".to_owned(), json!(reason));
            }
            if let Some(code) = self.exit_code {
                before.insert("exitCode".to_owned(), json!(code));
            }
            status.insert("lastState".to_owned(), json!({"terminated": before}));
        }
        Value::Object(status)
    }
}

impl Node {
    fn object(&self, name: &str) -> Value {
        let mut meta = Map::new();
        meta.insert("name".to_owned(), json!(name));
        meta.insert("labels".to_owned(), json!(self.labels));
        put(&mut meta, "creationTimestamp", self.created);
        let mut spec = Map::new();
        if let Some(provider) = &self.provider {
            spec.insert("providerID".to_owned(), json!(provider));
        }
        let status = json!({"capacity": amounts(&self.capacity)});
        json!({"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status})
    }
}

fn put(map: &mut Map<String, Value>, name: &str, at: Option<Timestamp>) {
    if let Some(at) = at {
        map.insert(name.to_owned(), json!(at.to_string()));
    }
}

/// Amounts by the names that pods use for resources; those of millionths to the last digit.
fn amounts(millionths: &BTreeMap<String, u64>) -> Map<String, Value> {
    let amount = |(name, amount): (&String, &u64)| {
        let (whole, fraction) = (amount / 1_000_000, amount % 1_000_000);
        (resource(name), json!(format!("{whole}.{fraction:06}")))
    };
    millionths.iter().map(amount).collect()
}

fn resource(name: &str) -> String {
    if let Some(profile) = name.strip_prefix("nvidia_com_mig_") {
        return format!("nvidia.com/mig-{}", profile.replace('_', "."));
    }
    let known = RESOURCES.iter().find(|(metric, _)| *metric == name);
    known.map_or(name, |(_, resource)| resource).to_owned()
}
