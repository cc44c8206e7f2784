//! Controllers of pods: where they count their attempts, and what they say of how they ended.

use ledger::Timestamp;

use super::meta::{Condition, Meta, conditions};
use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;

/// A kind of controller that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Job,
    JobSet,
    TrainJob,
    /// `PyTorchJob` and its kin of the training operator.
    Kubeflow,
    RayJob,
    RayCluster,
    Volcano,
    /// Kueue's view of any of the others.
    Workload,
}

/// A controller.
#[derive(Debug, Clone)]
pub(super) struct Controller {
    pub(super) kind: Kind,
    pub(super) meta: Meta,
    /// How it ended for good.
    pub(super) ended: Option<Ended>,
    /// Restarts of a `JobSet`, version of a Volcano job.
    pub(super) count: u64,
    /// Pods of a job that failed or succeeded, as far as it counts them.
    pub(super) pods: u64,
    /// Queue that it waits in.
    pub(super) queue: Option<String>,
    /// The cluster of a `RayJob` and the id of its submission, which a retry both changes.
    pub(super) ray: Option<(String, String)>,
    /// The last eviction of a workload, where it holds.
    pub(super) evicted: Option<Condition>,
    /// Evictions of a workload.
    pub(super) evictions: u64,
}

/// An end for good.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) has_completed: bool,
    pub(super) condition: Condition,
}

/// Kinds of the training operator.
const KUBEFLOW: [&str; 6] = ["PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob"];

impl Kind {
    /// The kind of a group and a kind; `None` for what is not looked at.
    pub(super) fn of(group: &str, kind: &str) -> Option<Self> {
        match (group, kind) {
            ("batch", "Job") => Some(Self::Job),
            ("batch.volcano.sh", "Job") => Some(Self::Volcano),
            ("jobset.x-k8s.io", "JobSet") => Some(Self::JobSet),
            ("trainer.kubeflow.org", "TrainJob") => Some(Self::TrainJob),
            ("ray.io", "RayJob") => Some(Self::RayJob),
            ("ray.io", "RayCluster") => Some(Self::RayCluster),
            ("kueue.x-k8s.io", "Workload") => Some(Self::Workload),
            ("kubeflow.org", kind) if KUBEFLOW.contains(&kind) => Some(Self::Kubeflow),
            _ => None,
        }
    }
}

impl Controller {
    pub(super) fn of(object: &Object<'_>, group: &str, kind: &str) -> Result<Option<Self>, Refusal> {
        let Some(kind) = Kind::of(group, kind) else { return Ok(None) };
        let (spec, status) = (object.object("spec")?, object.object("status")?);
        let conditions = conditions(status.as_ref())?;
        let text =
            |holder: Option<&Object<'_>>, name: &str| holder.map_or(Ok(None), |holder| holder.owned(name));
        let count = |name: &str| -> Result<u64, Refusal> {
            let count = status.as_ref().map_or(Ok(None), |status| status.count(name))?;
            Ok(count.unwrap_or(0))
        };
        let (mut evictions, evicted) = (0, conditions.iter().find(|c| c.kind == "Evicted" && c.holds));
        if let Some(stats) = object.at(&["status", "schedulingStats"])? {
            for one in stats.objects("evictions")? {
                evictions = u64::saturating_add(evictions, one.count("count")?.unwrap_or(0));
            }
        }
        let ray = match (text(status.as_ref(), "rayClusterName")?, text(status.as_ref(), "jobId")?) {
            (Some(cluster), Some(job)) if kind == Kind::RayJob => Some((cluster, job)),
            _ => None,
        };
        Ok(Some(Self {
            kind,
            meta: Meta::of(object)?,
            ended: ended(kind, status.as_ref(), &conditions)?,
            count: match kind {
                Kind::JobSet => count("restarts")?,
                Kind::Volcano => count("version")?,
                _ => 0,
            },
            pods: match kind {
                Kind::Job => count("failed")?.saturating_add(count("succeeded")?),
                _ => 0,
            },
            queue: text(spec.as_ref(), if kind == Kind::Volcano { "queue" } else { "queueName" })?,
            ray,
            evicted: if kind == Kind::Workload { evicted.cloned() } else { None },
            evictions,
        }))
    }

    /// When it ended for good.
    pub(super) fn ended_at(&self) -> Option<Timestamp> {
        self.ended.as_ref().and_then(|ended| ended.condition.at)
    }
}

/// The condition that says that a controller ended for good. `completionTime` is not asked: it is told only of success.
fn ended(
    kind: Kind,
    status: Option<&Object<'_>>,
    conditions: &[Condition],
) -> Result<Option<Ended>, Refusal> {
    let Some(status) = status else { return Ok(None) };
    let named = |names: &[&str], has_completed: bool| {
        let found = conditions.iter().find(|c| c.holds && names.contains(&c.kind.as_str()));
        found.map(|condition| Ended { has_completed, condition: condition.clone() })
    };
    let by_word = |word: &str, reason: Option<String>, message: Option<String>, has_completed: bool| Ended {
        has_completed,
        condition: Condition { kind: word.to_owned(), holds: true, reason, message, at: None },
    };
    Ok(match kind {
        Kind::RayJob => match status.text("jobStatus")? {
            Some(word @ ("SUCCEEDED" | "FAILED" | "STOPPED")) => {
                let (reason, message) = (status.owned("reason")?, status.owned("message")?);
                let mut ended = by_word(word, reason, message, word == "SUCCEEDED");
                ended.condition.at = super::meta::time(status, "endTime")?;
                Some(ended)
            }
            Some(_) | None => None,
        },
        Kind::Volcano => {
            let Some(state) = status.object("state")? else { return Ok(None) };
            match state.text("phase")? {
                Some(word @ ("Completed" | "Failed" | "Aborted" | "Terminated")) => {
                    let (reason, message) = (state.owned("reason")?, state.owned("message")?);
                    let mut ended = by_word(word, reason, message, word == "Completed");
                    ended.condition.at = super::meta::time(&state, "lastTransitionTime")?;
                    Some(ended)
                }
                Some(_) | None => None,
            }
        }
        Kind::Workload | Kind::RayCluster => None,
        Kind::Job | Kind::JobSet | Kind::TrainJob | Kind::Kubeflow => {
            named(&["Complete", "Completed", "Succeeded"], true).or_else(|| named(&["Failed"], false))
        }
    })
}
