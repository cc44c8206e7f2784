//! Reads what a Kubernetes cluster keeps of its jobs: pods, nodes and the controllers that start them, as JSON.
//!
//! # What it reads
//!
//! Lists of objects of any kinds, as `kubectl` prints them, several one after another, single objects, and the events
//! of a watch. Kinds and fields that are not named here are accepted and not read. Every few minutes is often enough:
//!
//! ```text
//! kubectl get namespaces,nodes,pods,jobs,jobsets.jobset.x-k8s.io,workloads.kueue.x-k8s.io,pytorchjobs,rayjobs,rayclusters,\
//!   jobs.batch.volcano.sh -A -o json > cluster-$(date +%s).json
//! kubectl get pods -A -o json --watch --output-watch-events > pods.json
//! ```
//!
//! | where | what it becomes |
//! |---|---|
//! | uid of the namespace `kube-system` | the cluster; without it the user gives one |
//! | `metadata.labels`, `annotations` of a pod, then of its controllers, then `env` | experiment, team, user and versions, by key |
//! | `metadata.ownerReferences`, up to the topmost | the job, and so the experiment where no label names one |
//! | `spec.nodeName`; condition `PodScheduled`, else `status.startTime` | the node that is held, and from when |
//! | `spec.containers[].resources`, `initContainers`, `overhead` | accelerators held, else processors |
//! | `containerStatuses[].state`, `lastState`, `restartCount` | runs, their ends, exit codes and reasons |
//! | `status.phase`, `reason`, `message`; condition `DisruptionTarget` | how the attempt ended, and why |
//! | a node's `spec.providerID`, `creationTimestamp` | the machine as the bill names it, and from when it was that |
//! | a node's labels | instance type; spot, on demand or reserved (Karpenter, EKS, GKE, AKS); accelerator model |
//! | a node's `status.capacity`, `nvidia.com/gpu.count` | how many accelerators and processors the node has |
//! | Kueue's `Workload` | queue; an eviction that fell into the attempt's time |
//! | conditions and counts of jobs, `JobSet`s, `RayJob`s, Volcano jobs | which attempt, and how it ended |
//!
//! # How a record becomes an attempt
//!
//! Where the controller counts attempts, its pods of one count are the ranks of one attempt; the key begins
//! `k8s:{cluster}:`
//!
//! | controller | rest of the key |
//! |---|---|
//! | `JobSet`, also of a `TrainJob` | `{uid of the JobSet}:{restart attempt}` |
//! | `PyTorchJob` and its kin | `{uid}:{uid of the master pod}`, then `:{restart}` of its container |
//! | `RayJob` | `{uid}:{job id}`; of an earlier cluster `{uid}:{name of the cluster}` |
//! | `RayCluster` alone | `{uid}:0` |
//! | Volcano job | `{uid}:{version}` |
//! | anything else: each pod, and each restart of its main container | `{uid of the pod}:{container}:{restart}` |
//!
//! The main container is the first with an accelerator, else the one that `kubectl.kubernetes.io/default-container`
//! names, else the first. A pod of a service (of a `Deployment`, `DaemonSet` or `StatefulSet`) is a run only if it
//! holds an accelerator; others are counted and left out.
//!
//! An attempt holds each node from the time when a pod was scheduled on it until its last container ended; ranks on
//! one node are added up. A pod that was never scheduled holds nothing. A pod keeps its node between two runs of its
//! container: that time is the later run's. A slice of an accelerator (`nvidia.com/mig-3g.20gb`) is three sevenths,
//! one of N shared replicas (`nvidia.com/gpu.replicas`) an Nth, and `nvidia.com/gpucores` hundredths of one.
//!
//! | what is told | cause |
//! |---|---|
//! | `Workload` condition Evicted | `evicted_quota`; `PodsReadyTimeout` `launch_failure`; `NodeFailures` `node_failure` |
//! | `DisruptionTarget` `PreemptionByScheduler` | `preempted_scheduler` |
//! | `DeletionByTaintManager`, `DeletionByPodGC`, reason `NodeLost` | `node_failure` |
//! | the node shut down | `spot_interruption` if it is a spot node, else `node_failure` |
//! | the node was low on memory; `OOMKilled`; exit code 137 | `oom_host` |
//! | `DeadlineExceeded` | `time_limit` |
//! | `StartError`, `UnexpectedAdmissionError` | `launch_failure` |
//! | any other exit code but 0 | `app_error` |
//!
//! A pod that a later list of its namespace does not hold any more, or whose watch event says `DELETED`, without an
//! end of its own, is lost: nobody told how it ended. A list that the user declares complete is also kept as a snapshot of
//! what had not ended: an attempt that a later one of another file does not hold any more is lost when it was last seen.
//! A pod is ordered by the latest time that its own status tells, so exports may be imported in any order.
//!
//! # What it cannot tell
//!
//! * Runs before the last restart: a container keeps only its last end. A warning counts what is missing.
//! * Pods that were deleted before an export saw them: a restarted `JobSet` deletes its pods, and finished jobs are
//!   cleaned up. A `JobSet`'s attempts without pods are told, without what they held.
//! * That a pod vanished between two files that are not declared complete: it stays running.
//! * What a rank held that vanished between two files while another one of its attempt on the same node goes on.
//! * Devices of dynamic resource allocation (`resourceClaims`), and cores of AWS Neuron devices.
//!
//! # References
//!
//! * <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/>
//! * <https://kubernetes.io/docs/concepts/workloads/pods/disruptions/>
//! * <https://jobset.sigs.k8s.io/docs/concepts/>
//! * <https://kueue.sigs.k8s.io/docs/concepts/workload/>

mod cause;
mod controller;
mod document;
mod draft;
mod fact;
mod held;
mod home;
mod meta;
mod node;
mod notice;
mod pod;
mod quantity;
mod view;
mod whole;
mod world;

use std::collections::BTreeMap;
use std::io::BufRead;

use ledger::{Observation, RunRecord, Timestamp};

use self::document::Document;
use self::draft::Draft;
use self::home::Home;
use self::pod::Pod;
use self::view::Teller;
use self::world::World;
use super::TelemetryRead;
use super::attempts::{Codes, Refusal, documents};
use crate::SourceError;

/// What the user says beside the file.
#[derive(Debug, Clone, Default)]
pub struct KubernetesOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The cluster, where the export does not hold the namespace `kube-system`.
    pub cluster: Option<String>,
    /// When the list was taken; without it, the latest time that it tells.
    pub taken_at: Option<Timestamp>,
    /// Normalised keys of labels, annotations and variables whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
    /// True if the last list of the file holds every pod of the cluster (`-A`, without a selector), so that what it does
    /// not hold is gone.
    pub is_complete: bool,
}

const CODES: Codes = Codes {
    cannot_read: "kubernetes::cannot_read",
    too_large: "kubernetes::too_large",
    not_json: "kubernetes::not_json",
};

/// Reads one file.
///
/// # Errors
/// A coded error where the file as a whole cannot be read, or where nothing names the cluster.
pub fn read(input: impl BufRead, options: &KubernetesOptions) -> Result<TelemetryRead, SourceError> {
    let found = documents::<Document>(input, &options.file, &CODES)?;
    let mut world = World::default();
    for document in found.documents {
        world.take(document, options.taken_at);
    }
    if let Some(refusal) = found.broken {
        world.rows += 1;
        world.refused.push((world.rows, refusal));
    }
    let cluster = world.uid.clone().or_else(|| options.cluster.clone());
    let is_empty = world.pods.is_empty() && world.controllers.is_empty() && world.nodes().next().is_none();
    let Some(cluster) = cluster.or_else(|| is_empty.then(String::new)) else {
        return Err(SourceError::new("kubernetes::no_cluster", "nothing names the cluster")
            .at(&options.file)
            .expected("the namespace `kube-system`, whose uid names it", "none")
            .help("export namespaces as well, or say `--cluster NAME`, the same name each time"));
    };
    Ok(told(world, cluster, options))
}

/// The pods of each attempt, or of each job whose masters are attempts.
#[derive(Default)]
struct Gathered<'w> {
    drafts: Vec<Draft<'w>>,
    whole: BTreeMap<(String, Option<u32>), Vec<&'w Pod>>,
    led: BTreeMap<String, Vec<&'w Pod>>,
    imported: Vec<&'w Pod>,
    services: u64,
    refused: Vec<(u64, Refusal)>,
}

fn gathered(world: &World) -> Gathered<'_> {
    let mut gathered = Gathered::default();
    for pod in world.pods.values() {
        match Home::of(pod, world) {
            Err(refusal) => {
                gathered.refused.push((pod.row, refusal));
                continue;
            }
            Ok(Home::Apart) => {
                gathered.services += 1;
                continue;
            }
            Ok(Home::Alone) => {
                let key = format!("{}:{}", pod.meta.id(), pod.container);
                gathered.drafts.extend(draft::alone(pod, &key, world));
            }
            Ok(Home::Whole { key, restart }) => gathered.whole.entry((key, restart)).or_default().push(pod),
            Ok(Home::Led { job }) => gathered.led.entry(job).or_default().push(pod),
        }
        gathered.imported.push(pod);
    }
    for ((key, restart), pods) in &gathered.whole {
        gathered.drafts.extend(whole::whole(key, *restart, pods, world));
    }
    for (job, pods) in &gathered.led {
        gathered.drafts.extend(draft::led(job, pods, world));
    }
    gathered.drafts.sort_by(|a, b| a.key.cmp(&b.key));
    gathered
}

fn told(mut world: World, cluster: String, options: &KubernetesOptions) -> TelemetryRead {
    let mut refused = std::mem::take(&mut world.refused);
    let teller = Teller { cluster, options, world: &world };
    let gathered = gathered(&world);
    let mut read = TelemetryRead { rows: world.rows, ..TelemetryRead::default() };
    for node in world.nodes() {
        let Some(period) = node.period(&teller.cluster) else { continue };
        read.observations.push(Observation {
            source: teller.source(),
            key: format!("node:{}:{}", teller.cluster, node.name),
            modified_at: None,
            record: RunRecord::Node(period),
        });
    }
    for draft in &gathered.drafts {
        read.observations.extend(teller.attempt(draft));
    }
    read.observations.extend(teller.snapshot(&gathered.drafts));
    let vanished = whole::vanished(&world, &gathered.drafts);
    for gone in &vanished {
        read.observations.extend(teller.vanished(gone));
    }
    read.warnings = notice::warnings(&world, &gathered.imported, gathered.services, vanished.len());
    refused.extend(gathered.refused);
    refused.sort_by_key(|(row, _)| *row);
    let rejection = |(row, refusal): (u64, Refusal)| refusal.rejection(&options.file, row);
    read.rejections = refused.into_iter().map(rejection).collect();
    read.accepted = read.rows - u64::try_from(read.rejections.len()).unwrap_or(read.rows);
    read
}
