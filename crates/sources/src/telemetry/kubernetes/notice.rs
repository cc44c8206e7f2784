//! What a user should know of an export: what it cannot show any more, and what it leaves out.

use std::collections::BTreeSet;

use super::controller::Kind;
use super::pod::Pod;
use super::world::World;
use crate::telemetry::Warning;

/// How history is kept.
const OFTEN: &str = "import an export every few minutes: objects keep only their last end, and vanish";

/// Codes of warnings, with what is counted and what helps.
type Notice = (&'static str, &'static str, &'static str);

const EARLIER_RUNS: Notice = (
    "kubernetes::earlier_runs_hidden",
    "earlier run(s) of restarted containers are not told any more",
    OFTEN,
);
const PODS_GONE: Notice = (
    "kubernetes::pods_gone",
    "attempt(s) of JobSets are told without their pods, so without what they held",
    OFTEN,
);
const JOBS_WITHOUT_PODS: Notice = (
    "kubernetes::job_without_pods",
    "job(s) count pods that ended, and none of them is told any more",
    OFTEN,
);
const EVICTIONS: Notice = (
    "kubernetes::evictions_counted",
    "eviction(s) are counted by Kueue; those whose pods are not told are missing",
    OFTEN,
);
const SERVICES: Notice = (
    "kubernetes::of_no_run",
    "pod(s) of services that hold no accelerator are not imported",
    "nothing needs to be done",
);
const WITHOUT_INSTANCE: Notice = (
    "kubernetes::node_without_instance",
    "node(s) tell no `spec.providerID` or no time of making, so their machines are not on a bill by id",
    "join them by the host name, or by tags",
);
const NODE_NOT_TOLD: Notice = (
    "kubernetes::node_not_told",
    "pod(s) ran on nodes that are not in the export, so that their size is not known",
    "export nodes together with pods",
);
const WITHOUT_REQUESTS: Notice = (
    "kubernetes::without_requests",
    "pod(s) ask for no accelerator and no processor, so they hold nothing",
    "set `resources.requests`",
);

/// Everything of note, given the pods of attempts and the counts of what is not among them.
pub(super) fn warnings(world: &World, imported: &[&Pod], services: u64, vanished: usize) -> Vec<Warning> {
    let of_pods = |is: &dyn Fn(&Pod) -> bool| number(imported.iter().filter(|pod| is(pod)).count());
    let is_untold = |pod: &Pod| pod.node.as_deref().is_some_and(|name| world.node(name).is_none());
    let asks_nothing = |pod: &Pod| pod.node.is_some() && pod.request.cpus == 0 && !pod.request.has_device();
    let without_instance = world.nodes().filter(|node| node.period("").is_none()).count();
    let evictions = world.controllers.values().map(|controller| controller.evictions);
    let told = [
        (imported.iter().map(|pod| hidden(pod)).fold(0, u64::saturating_add), EARLIER_RUNS),
        (number(vanished), PODS_GONE),
        (jobs_without_pods(world), JOBS_WITHOUT_PODS),
        (evictions.fold(0, u64::saturating_add), EVICTIONS),
        (services, SERVICES),
        (number(without_instance), WITHOUT_INSTANCE),
        (of_pods(&is_untold), NODE_NOT_TOLD),
        (of_pods(&asks_nothing), WITHOUT_REQUESTS),
    ];
    let warning = |(count, (code, what, help)): (u64, Notice)| Warning {
        code,
        message: format!("{count} {what}"),
        help: help.to_owned(),
    };
    told.into_iter().filter(|(count, _)| *count > 0).map(warning).collect()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Runs of a pod's main container that are counted and not told.
fn hidden(pod: &Pod) -> u64 {
    let known = number(pod.runs.len());
    pod.runs.last().map_or(0, |run| (u64::from(run.restart) + 1).saturating_sub(known))
}

fn jobs_without_pods(world: &World) -> u64 {
    let owners = world.pods.values().filter_map(|pod| pod.meta.owner.as_ref());
    let owners: BTreeSet<&str> = owners.map(|owner| owner.uid.as_str()).collect();
    let is_without = |uid: Option<&str>| uid.is_none_or(|uid| !owners.contains(uid));
    let jobs = world.controllers.values().filter(|controller| {
        controller.kind == Kind::Job && controller.pods > 0 && is_without(controller.meta.uid.as_deref())
    });
    number(jobs.count())
}
