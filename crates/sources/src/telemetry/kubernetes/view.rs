//! What an attempt is told as: its view, its bindings and phases, and what interrupted it.

use ledger::{
    AttemptView, Chain, Grade, Interval, Observation, Phase, PhaseKind, RunRecord, RunState, Snapshot,
    SourceId, Timestamp,
};

use super::KubernetesOptions;
use super::controller::{Controller, Kind};
use super::draft::Draft;
use super::held::bindings;
use super::meta::{Meta, Owner};
use super::pod::Pod;
use super::whole::Vanished;
use super::world::World;
use crate::telemetry::attempts::{Labels, interruption};

/// Words that are the same for all observations of a cluster.
pub(super) struct Teller<'o> {
    pub(super) cluster: String,
    pub(super) options: &'o KubernetesOptions,
    pub(super) world: &'o World,
}

impl Teller<'_> {
    /// The source of everything that a cluster tells.
    pub(super) fn source(&self) -> SourceId {
        SourceId(format!("kubernetes:{}", self.cluster))
    }

    /// Everything that is told of an attempt, its view first.
    pub(super) fn attempt(&self, draft: &Draft<'_>) -> Vec<Observation> {
        let mut records = vec![RunRecord::Attempt(self.view(draft))];
        records.extend(bindings(self.world, &draft.pods, draft.span).into_iter().map(RunRecord::Binding));
        records.extend(phases(draft).into_iter().map(RunRecord::Phase));
        if let (RunState::Ended, Some(ended)) = (draft.state, draft.ended) {
            let signal = draft.verdict.evidence.first().map(String::as_str);
            let found = interruption(draft.verdict.outcome, draft.verdict.cause, ended, signal);
            records.extend(found.map(RunRecord::Interruption));
        }
        let modified_at = draft.pods.iter().filter_map(|pod| pod.latest).max();
        self.observations(&draft.key, modified_at, records)
    }

    /// Everything that had not ended when the last list was taken, if the user says that it was complete.
    pub(super) fn snapshot(&self, drafts: &[Draft<'_>]) -> Option<Observation> {
        let taken_at = self.world.list_taken_at().filter(|_| self.options.is_complete)?;
        let scope = format!("k8s:{}:", self.cluster);
        let is_alive = |draft: &&Draft<'_>| matches!(draft.state, RunState::Pending | RunState::Running);
        let alive = drafts.iter().filter(is_alive).map(|draft| format!("{scope}{}", draft.key)).collect();
        Some(Observation {
            source: self.source(),
            key: format!("snapshot:{scope}"),
            modified_at: Some(taken_at),
            record: RunRecord::Snapshot(Snapshot { scope, taken_at, alive }),
        })
    }

    fn observations(
        &self,
        key: &str,
        modified_at: Option<Timestamp>,
        records: Vec<RunRecord>,
    ) -> Vec<Observation> {
        let key = format!("k8s:{}:{key}", self.cluster);
        let observed = |record| Observation { source: self.source(), key: key.clone(), modified_at, record };
        records.into_iter().map(observed).collect()
    }

    fn view(&self, draft: &Draft<'_>) -> AttemptView {
        let lead = draft.lead;
        let above = self.world.above(lead.meta.owner.as_ref());
        let workloads = self.world.workloads(lead);
        let labels = labels(lead, &above);
        let queue = workloads.iter().find_map(|workload| workload.queue.clone());
        let queue = queue.or_else(|| above.iter().find_map(|controller| controller.queue.clone()));
        // A workload that was never evicted waited from its making on.
        let waited =
            workloads.iter().filter(|workload| workload.evictions == 0 && workload.evicted.is_none());
        let is_first = draft.restart.is_none_or(|restart| restart == 0);
        let waited = waited.filter_map(|workload| workload.meta.created).filter(|_| is_first).min();
        let verdict = &draft.verdict;
        // Variables name an experiment, but `USER` and the like say nothing of the job.
        let mut linking = labels.clone();
        linking.extend(&lead.env);
        let view = AttemptView {
            aliases: aliases(draft, &above, &self.cluster),
            link: linking.link(&self.options.experiment_keys),
            chain: Some(Chain { job: self.job(&lead.meta, &above), resizing: false }),
            cluster: Some(self.cluster.clone()),
            namespace: namespace(&lead.meta),
            name: Some(top(&lead.meta, &above).map_or(&lead.meta.name, |owner| &owner.name).clone()),
            queue: queue.or_else(|| labels.any(&["kueue_x_k8s_io_queue_name"])),
            submitted_at: waited.into_iter().chain(draft.submitted).min(),
            started_at: draft.started,
            ended_at: draft.ended,
            state: draft.state,
            outcome: verdict.outcome,
            cause: verdict.cause,
            cause_evidence: verdict.evidence.clone(),
            exit_code: verdict.exit_code,
            restart_index: draft.restart,
            gpu_kind: self.gpu_kind(draft),
            config_version: lead.image.clone(),
            ..AttemptView::of_scheduler("kubernetes".to_owned())
        };
        labels.described(view)
    }

    fn gpu_kind(&self, draft: &Draft<'_>) -> Option<String> {
        let holds = |pod: &&&Pod| pod.request.has_device();
        let nodes = draft.pods.iter().filter(holds).filter_map(|pod| self.world.node(pod.node.as_deref()?));
        let mut kinds: Vec<&str> = nodes.filter_map(|node| node.gpu_kind.as_deref()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        (!kinds.is_empty()).then(|| kinds.join("+"))
    }

    /// What all attempts of one job share.
    fn job(&self, meta: &Meta, above: &[&Controller]) -> String {
        let (kind, name) = match top(meta, above) {
            Some(owner) => (owner.kind.to_lowercase(), &owner.name),
            None => ("pod".to_owned(), &meta.name),
        };
        format!("k8s:{}/{}/{kind}/{name}", self.cluster, meta.namespace)
    }

    /// An attempt of which only its controller still tells.
    pub(super) fn vanished(&self, gone: &Vanished<'_>) -> Vec<Observation> {
        let set = &gone.set.meta;
        let above = self.world.above(set.owner.as_ref());
        let mut labels = set.labels.clone();
        above.iter().for_each(|controller| labels.extend(&controller.meta.labels));
        let (kind, name) = match top(set, &above) {
            Some(owner) => (owner.kind.to_lowercase(), &owner.name),
            None => ("jobset".to_owned(), &set.name),
        };
        let job = format!("k8s:{}/{}/{kind}/{name}", self.cluster, set.namespace);
        let view = AttemptView {
            link: labels.link(&self.options.experiment_keys),
            chain: Some(Chain { job, resizing: false }),
            cluster: Some(self.cluster.clone()),
            namespace: namespace(set),
            name: Some(name.clone()),
            submitted_at: set.created.filter(|_| gone.restart == 0),
            ended_at: gone.ended,
            state: RunState::Ended,
            outcome: gone.outcome,
            cause_evidence: vec![format!(
                "restart attempt {} of {}: its pods are gone",
                gone.restart, gone.set.count
            )],
            restart_index: Some(gone.restart),
            ..AttemptView::of_scheduler("kubernetes".to_owned())
        };
        self.observations(&gone.key, gone.ended, vec![RunRecord::Attempt(labels.described(view))])
    }
}

/// The topmost controller that is named and of a kind that is looked at; the nearest, of whatever kind.
fn top<'w>(meta: &'w Meta, above: &[&'w Controller]) -> Option<&'w Owner> {
    let mut top = meta.owner.as_ref()?;
    for controller in above {
        let Some(next) = &controller.meta.owner else { break };
        if Kind::of(&next.group, &next.kind).is_none() {
            break;
        }
        top = next;
    }
    Some(top)
}

/// Labels and annotations of a pod, then those of its controllers.
fn labels(lead: &Pod, above: &[&Controller]) -> Labels {
    let mut labels = lead.meta.labels.clone();
    above.iter().for_each(|controller| labels.extend(&controller.meta.labels));
    labels
}

fn namespace(meta: &Meta) -> Option<String> {
    Some(meta.namespace.clone()).filter(|namespace| !namespace.is_empty())
}

/// The names of the pods and, where the attempt has several, their uids as keys; that of the trainer, and that of the cluster that a RayJob's attempt ran on.
fn aliases(draft: &Draft<'_>, above: &[&Controller], cluster: &str) -> Vec<String> {
    let name = |pod: &&Pod| format!("{}/{}", pod.meta.namespace, pod.meta.name);
    let mut aliases: Vec<String> = draft.pods.iter().map(name).collect();
    // What runs inside a pod knows its uid; the key of a pod that is an attempt by itself begins with it.
    let uids = draft.pods.iter().filter_map(|pod| pod.meta.uid.as_deref());
    aliases.extend(uids.filter(|uid| !draft.key.starts_with(uid)).map(|uid| format!("k8s:{cluster}:{uid}")));
    for controller in above {
        if controller.kind == Kind::TrainJob {
            aliases.extend(controller.meta.uid.clone());
        }
        if let (Kind::RayJob, Some((ray_cluster, id))) = (controller.kind, &controller.ray)
            && draft.key.ends_with(&format!(":{id}"))
        {
            aliases.push(format!("k8s:{cluster}:{}:{ray_cluster}", controller.meta.id()));
        }
    }
    aliases.sort();
    aliases.dedup();
    aliases
}

/// Waiting until a node was held, and from then until the containers had started.
fn phases(draft: &Draft<'_>) -> Vec<Phase> {
    let phase = |kind: PhaseKind, start: Option<Timestamp>, end: Option<Timestamp>| {
        let interval = Interval::new(start?, end?).ok().filter(|interval| interval.micros() > 0)?;
        Some(Phase { interval, kind, grade: Grade::Reported })
    };
    let queue = phase(PhaseKind::Queue, draft.submitted, draft.started);
    let container = phase(PhaseKind::ContainerStart, draft.started, draft.ran);
    queue.into_iter().chain(container).collect()
}
