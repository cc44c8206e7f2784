//! How a run ended and why, from what its pod, its container and the queue say.

use ledger::{Capacity, Cause, Outcome};

use super::meta::Condition;
use super::pod::{End, Pod};
use crate::telemetry::attempts::outcome_of;

/// Longest evidence kept, in characters.
const EVIDENCE: usize = 300;

/// An end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) cause: Cause,
    pub(super) evidence: Vec<String>,
    pub(super) exit_code: Option<i32>,
}

impl Verdict {
    /// What is known of something that has not ended, or of whose end nothing is told.
    pub(super) const fn unknown() -> Self {
        Self { outcome: Outcome::Unknown, cause: Cause::Unknown, evidence: Vec::new(), exit_code: None }
    }

    /// An end for a cause; where the cause alone does not say, it ended as `otherwise`.
    pub(super) fn of(cause: Cause, otherwise: Outcome, evidence: Vec<String>) -> Self {
        Self {
            outcome: outcome_of(cause).unwrap_or(otherwise),
            cause,
            evidence: cut(evidence),
            exit_code: None,
        }
    }
}

fn cut(evidence: Vec<String>) -> Vec<String> {
    evidence.into_iter().map(|text| text.chars().take(EVIDENCE).collect()).collect()
}

/// How a run of a container ended that its pod outlived: no disruption of the pod has a say in it.
pub(super) fn of_restart(end: &End) -> Verdict {
    if end.exit_code == Some(0) {
        return Verdict { outcome: Outcome::Completed, exit_code: end.exit_code, ..Verdict::unknown() };
    }
    let (cause, evidence) = by_container(end, false);
    Verdict { exit_code: end.exit_code, ..Verdict::of(cause, Outcome::Failed, evidence) }
}

/// How the last run of a pod ended, with what was bought of its node and the eviction that fell into its time.
pub(super) fn of_pod(pod: &Pod, bought: Capacity, evicted: Option<&Condition>) -> Verdict {
    let end = pod.last_run().and_then(|run| run.end.as_ref());
    let exit_code = end.and_then(|end| end.exit_code);
    let completed = pod.has_succeeded || (!pod.has_ended && exit_code == Some(0));
    if completed && evicted.is_none() {
        return Verdict { outcome: Outcome::Completed, exit_code, ..Verdict::unknown() };
    }
    let verdict = by_eviction(evicted)
        .or_else(|| by_disruption(pod, bought))
        .or_else(|| by_pod(pod, bought))
        .or_else(|| {
            let (cause, evidence) = by_container(end?, pod.meta.deleted.is_some());
            // Killed while it was being deleted: who asked for that is not told.
            let otherwise = if pod.meta.deleted.is_some() && cause == Cause::Unknown {
                Outcome::Cancelled
            } else {
                Outcome::Failed
            };
            Some(Verdict::of(cause, otherwise, evidence))
        });
    let told = verdict.unwrap_or_else(|| {
        if pod.has_ended {
            Verdict::of(Cause::Unknown, Outcome::Failed, Vec::new())
        } else {
            Verdict::unknown()
        }
    });
    Verdict { exit_code, ..told }
}

/// Kueue took the quota back, or ended the workload.
fn by_eviction(evicted: Option<&Condition>) -> Option<Verdict> {
    let condition = evicted?;
    let cause = match condition.reason.as_deref() {
        Some("PodsReadyTimeout") => Cause::LaunchFailure,
        Some("NodeFailures") => Cause::NodeFailure,
        Some("MaximumExecutionTimeExceeded") => Cause::TimeLimit,
        Some("Deactivated") => Cause::UserCancelled,
        Some(_) | None => Cause::EvictedQuota,
    };
    Some(Verdict::of(cause, Outcome::Preempted, condition.words()))
}

/// The cluster disrupted the pod, and marked it so.
fn by_disruption(pod: &Pod, bought: Capacity) -> Option<Verdict> {
    let condition = pod.disruption.as_ref()?;
    let mut evidence = condition.words();
    evidence.extend(pod.reason.clone());
    let cause = match condition.reason.as_deref() {
        Some("PreemptionByScheduler") => Cause::PreemptedScheduler,
        Some("DeletionByTaintManager" | "DeletionByPodGC") => Cause::NodeFailure,
        Some("TerminationByKubelet") => by_kubelet(pod, bought),
        // An eviction by the API is of a drain, whoever asked for it.
        Some(_) | None => Cause::Unknown,
    };
    Some(Verdict::of(cause, Outcome::Preempted, evidence))
}

/// The pod itself has a reason.
fn by_pod(pod: &Pod, bought: Capacity) -> Option<Verdict> {
    let reason = pod.reason.as_deref()?;
    let cause = match reason {
        "Evicted" | "Shutdown" | "NodeShutdown" | "Terminated" => by_kubelet(pod, bought),
        "NodeLost" => Cause::NodeFailure,
        "DeadlineExceeded" => Cause::TimeLimit,
        "Preempting" | "Preempted" => Cause::PreemptedScheduler,
        "UnexpectedAdmissionError" | "NodeAffinity" | "OutOfcpu" | "OutOfmemory" | "OutOfpods" => {
            Cause::LaunchFailure
        }
        _ => return None,
    };
    let evidence = [Some(reason.to_owned()), pod.message.clone()].into_iter().flatten().collect();
    Some(Verdict::of(
        cause,
        if cause == Cause::Unknown { Outcome::Preempted } else { Outcome::Failed },
        evidence,
    ))
}

/// The node let the pod go: it ran out of something, or was shut down, which is how a spot machine goes.
fn by_kubelet(pod: &Pod, bought: Capacity) -> Cause {
    let words = [pod.reason.as_deref(), pod.message.as_deref()];
    let says = |part: &str| words.iter().flatten().any(|text| text.contains(part));
    if says("low on resource: memory") {
        return Cause::OomHost;
    }
    let shut_down = says("shutdown") || says("Shutdown") || pod.reason.as_deref() == Some("Terminated");
    match (shut_down, bought) {
        (true, Capacity::Spot) => Cause::SpotInterruption,
        (true, _) => Cause::NodeFailure,
        (false, _) => Cause::Unknown,
    }
}

/// The container itself tells.
fn by_container(end: &End, is_being_deleted: bool) -> (Cause, Vec<String>) {
    let code = end.exit_code.map(|code| format!("exit code {code}"));
    let evidence = [end.reason.clone(), code, end.message.clone()].into_iter().flatten().collect();
    let message = end.message.as_deref().unwrap_or_default();
    let cause = match (end.reason.as_deref(), end.exit_code) {
        (Some("OOMKilled"), _) => Cause::OomHost,
        (Some("StartError" | "ContainerCannotRun" | "CreateContainerError"), _) => Cause::LaunchFailure,
        // The node lost sight of it, and the code is only made up.
        (Some("ContainerStatusUnknown"), _) => Cause::Unknown,
        (Some("DeadlineExceeded"), _) => Cause::TimeLimit,
        _ if message.contains("CUDA out of memory") => Cause::OomGpu,
        (_, Some(137 | 143)) if is_being_deleted => Cause::Unknown,
        (_, Some(137)) => Cause::OomHost,
        (_, Some(code)) if code != 0 => Cause::AppError,
        _ => Cause::Unknown,
    };
    (cause, evidence)
}
