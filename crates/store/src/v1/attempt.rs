//! The stored form of what a record says of an attempt.

use ledger::{ExperimentId, ExperimentLink};
use serde::{Deserialize, Serialize};

use super::{instant, micros};
use crate::StoreError;
use crate::word::{Word as _, known};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttemptView {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<Chain>,
    scheduler: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submitted_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
    state: String,
    outcome: String,
    cause: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cause_evidence: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    restart_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_count: Option<u32>,
    capacity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset_snapshot: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    experiment: String,
    method: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chain {
    job: String,
    resizing: bool,
}

impl From<&ledger::AttemptView> for AttemptView {
    fn from(view: &ledger::AttemptView) -> Self {
        Self {
            aliases: view.aliases.clone(),
            link: view.link.as_ref().map(Link::from),
            chain: view.chain.as_ref().map(Chain::from),
            scheduler: view.scheduler.clone(),
            cluster: view.cluster.clone(),
            name: view.name.clone(),
            user: view.user.clone(),
            team: view.team.clone(),
            queue: view.queue.clone(),
            submitted_at: micros(view.submitted_at),
            started_at: micros(view.started_at),
            ended_at: micros(view.ended_at),
            state: view.state.text(),
            outcome: view.outcome.text(),
            cause: view.cause.text(),
            cause_evidence: view.cause_evidence.clone(),
            exit_code: view.exit_code,
            restart_index: view.restart_index,
            gpu_count: view.gpu_count,
            gpu_kind: view.gpu_kind.clone(),
            elapsed_seconds: view.elapsed_seconds,
            node_count: view.node_count,
            capacity: view.capacity.text(),
            model_version: view.model_version.clone(),
            config_version: view.config_version.clone(),
            dataset_snapshot: view.dataset_snapshot.clone(),
            namespace: view.namespace.clone(),
        }
    }
}

impl TryFrom<AttemptView> for ledger::AttemptView {
    type Error = StoreError;

    fn try_from(stored: AttemptView) -> Result<Self, StoreError> {
        Ok(Self {
            aliases: stored.aliases,
            link: stored.link.map(ExperimentLink::try_from).transpose()?,
            chain: stored.chain.map(ledger::Chain::from),
            scheduler: stored.scheduler,
            cluster: stored.cluster,
            name: stored.name,
            user: stored.user,
            team: stored.team,
            queue: stored.queue,
            submitted_at: instant(stored.submitted_at),
            started_at: instant(stored.started_at),
            ended_at: instant(stored.ended_at),
            state: known(&stored.state)?,
            outcome: known(&stored.outcome)?,
            cause: known(&stored.cause)?,
            cause_evidence: stored.cause_evidence,
            exit_code: stored.exit_code,
            restart_index: stored.restart_index,
            gpu_count: stored.gpu_count,
            gpu_kind: stored.gpu_kind,
            elapsed_seconds: stored.elapsed_seconds,
            node_count: stored.node_count,
            capacity: known(&stored.capacity)?,
            model_version: stored.model_version,
            config_version: stored.config_version,
            dataset_snapshot: stored.dataset_snapshot,
            namespace: stored.namespace,
        })
    }
}

impl From<&ExperimentLink> for Link {
    fn from(link: &ExperimentLink) -> Self {
        Self { experiment: link.experiment.0.clone(), method: link.method.text() }
    }
}

impl TryFrom<Link> for ExperimentLink {
    type Error = StoreError;

    fn try_from(stored: Link) -> Result<Self, StoreError> {
        Ok(Self { experiment: ExperimentId(stored.experiment), method: known(&stored.method)? })
    }
}

impl From<&ledger::Chain> for Chain {
    fn from(chain: &ledger::Chain) -> Self {
        Self { job: chain.job.clone(), resizing: chain.resizing }
    }
}

impl From<Chain> for ledger::Chain {
    fn from(stored: Chain) -> Self {
        Self { job: stored.job, resizing: stored.resizing }
    }
}
