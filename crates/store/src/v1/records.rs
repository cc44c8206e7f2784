//! The stored forms of what a record says beside the attempt: bindings, phases, checkpoints, quality, nodes, links.

use ledger::{Interval, Timestamp};
use serde::{Deserialize, Serialize};

use super::{instant, micros};
use crate::StoreError;
use crate::word::{Word, known};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Binding {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
    start: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<i64>,
    weight: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<u64>,
    driver: String,
    gpus: u64,
    method: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase {
    start: i64,
    end: i64,
    kind: String,
    grade: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkpoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<i64>,
    durable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Interruption {
    at: i64,
    initiator: String,
    signal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QualityResult {
    metric: String,
    /// The shortest text that reads back as the same value, or `NaN`, `inf`, `-inf`: JSON numbers have none of these.
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    is_final: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Artifact {
    kind: String,
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodePeriod {
    cluster: String,
    node_name: String,
    start: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<i64>,
    instance_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_type: Option<String>,
    capacity: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkDecision {
    at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment: Option<String>,
    by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    scope: String,
    taken_at: i64,
    alive: Vec<String>,
}

impl From<&ledger::Binding> for Binding {
    fn from(binding: &ledger::Binding) -> Self {
        Self {
            kind: binding.kind.text(),
            resource_id: binding.resource_id.clone(),
            node_name: binding.node_name.clone(),
            sku: binding.sku.clone(),
            start: binding.start.0,
            end: micros(binding.end),
            weight: binding.weight,
            capacity: binding.capacity,
            driver: binding.driver.text(),
            gpus: binding.gpus,
            method: binding.method.text(),
        }
    }
}

impl TryFrom<Binding> for ledger::Binding {
    type Error = StoreError;

    fn try_from(stored: Binding) -> Result<Self, StoreError> {
        Ok(Self {
            kind: known(&stored.kind)?,
            resource_id: stored.resource_id,
            node_name: stored.node_name,
            sku: stored.sku,
            start: Timestamp(stored.start),
            end: instant(stored.end),
            weight: stored.weight,
            capacity: stored.capacity,
            driver: known(&stored.driver)?,
            gpus: stored.gpus,
            method: known(&stored.method)?,
        })
    }
}

impl From<&ledger::Phase> for Phase {
    fn from(phase: &ledger::Phase) -> Self {
        let ledger::Phase { interval, kind, grade } = phase;
        Self { start: interval.start.0, end: interval.end.0, kind: kind.text(), grade: grade.text() }
    }
}

impl TryFrom<Phase> for ledger::Phase {
    type Error = StoreError;

    fn try_from(stored: Phase) -> Result<Self, StoreError> {
        Ok(Self {
            interval: Interval { start: Timestamp(stored.start), end: Timestamp(stored.end) },
            kind: known(&stored.kind)?,
            grade: known(&stored.grade)?,
        })
    }
}

impl From<&ledger::Checkpoint> for Checkpoint {
    fn from(checkpoint: &ledger::Checkpoint) -> Self {
        Self {
            step: checkpoint.step,
            started_at: micros(checkpoint.started_at),
            completed_at: micros(checkpoint.completed_at),
            durable: checkpoint.durable,
            bytes: checkpoint.bytes,
            uri: checkpoint.uri.clone(),
        }
    }
}

impl From<Checkpoint> for ledger::Checkpoint {
    fn from(stored: Checkpoint) -> Self {
        Self {
            step: stored.step,
            started_at: instant(stored.started_at),
            completed_at: instant(stored.completed_at),
            durable: stored.durable,
            bytes: stored.bytes,
            uri: stored.uri,
        }
    }
}

impl From<&ledger::Interruption> for Interruption {
    fn from(interruption: &ledger::Interruption) -> Self {
        let ledger::Interruption { at, initiator, signal, resource_id } = interruption;
        Self {
            at: at.0,
            initiator: initiator.text(),
            signal: signal.clone(),
            resource_id: resource_id.clone(),
        }
    }
}

impl TryFrom<Interruption> for ledger::Interruption {
    type Error = StoreError;

    fn try_from(stored: Interruption) -> Result<Self, StoreError> {
        Ok(Self {
            at: Timestamp(stored.at),
            initiator: known(&stored.initiator)?,
            signal: stored.signal,
            resource_id: stored.resource_id,
        })
    }
}

impl From<&ledger::QualityResult> for QualityResult {
    fn from(quality: &ledger::QualityResult) -> Self {
        Self {
            metric: quality.metric.clone(),
            value: quality.value.to_string(),
            direction: quality.direction.map(Word::text),
            split: quality.split.clone(),
            step: quality.step,
            at: quality.at.0,
            protocol: quality.protocol.clone(),
            is_final: quality.is_final,
        }
    }
}

impl TryFrom<QualityResult> for ledger::QualityResult {
    type Error = StoreError;

    fn try_from(stored: QualityResult) -> Result<Self, StoreError> {
        let not_a_value = |_| StoreError::damaged(format!("`{}` is not a value of a metric", stored.value));
        Ok(Self {
            value: stored.value.parse().map_err(not_a_value)?,
            metric: stored.metric,
            direction: stored.direction.map(|word| known(&word)).transpose()?,
            split: stored.split,
            step: stored.step,
            at: Timestamp(stored.at),
            protocol: stored.protocol,
            is_final: stored.is_final,
        })
    }
}

impl From<&ledger::Artifact> for Artifact {
    fn from(artifact: &ledger::Artifact) -> Self {
        let ledger::Artifact { kind, uri, version } = artifact;
        Self { kind: kind.text(), uri: uri.clone(), version: version.clone() }
    }
}

impl TryFrom<Artifact> for ledger::Artifact {
    type Error = StoreError;

    fn try_from(stored: Artifact) -> Result<Self, StoreError> {
        Ok(Self { kind: known(&stored.kind)?, uri: stored.uri, version: stored.version })
    }
}

impl From<&ledger::NodePeriod> for NodePeriod {
    fn from(node: &ledger::NodePeriod) -> Self {
        Self {
            cluster: node.cluster.clone(),
            node_name: node.node_name.clone(),
            start: node.start.0,
            end: micros(node.end),
            instance_id: node.instance_id.clone(),
            instance_type: node.instance_type.clone(),
            capacity: node.capacity.text(),
        }
    }
}

impl TryFrom<NodePeriod> for ledger::NodePeriod {
    type Error = StoreError;

    fn try_from(stored: NodePeriod) -> Result<Self, StoreError> {
        Ok(Self {
            cluster: stored.cluster,
            node_name: stored.node_name,
            start: Timestamp(stored.start),
            end: instant(stored.end),
            instance_id: stored.instance_id,
            instance_type: stored.instance_type,
            capacity: known(&stored.capacity)?,
        })
    }
}

impl From<&ledger::LinkDecision> for LinkDecision {
    fn from(decision: &ledger::LinkDecision) -> Self {
        let ledger::LinkDecision { at, experiment, by, reason } = decision;
        let experiment = experiment.as_ref().map(|experiment| experiment.0.clone());
        Self { at: at.0, experiment, by: by.clone(), reason: reason.clone() }
    }
}

impl From<LinkDecision> for ledger::LinkDecision {
    fn from(stored: LinkDecision) -> Self {
        let experiment = stored.experiment.map(ledger::ExperimentId);
        Self { at: Timestamp(stored.at), experiment, by: stored.by, reason: stored.reason }
    }
}

impl From<&ledger::Snapshot> for Snapshot {
    fn from(snapshot: &ledger::Snapshot) -> Self {
        let ledger::Snapshot { scope, taken_at, alive } = snapshot;
        Self { scope: scope.clone(), taken_at: taken_at.0, alive: alive.clone() }
    }
}

impl From<Snapshot> for ledger::Snapshot {
    fn from(stored: Snapshot) -> Self {
        Self { scope: stored.scope, taken_at: Timestamp(stored.taken_at), alive: stored.alive }
    }
}
