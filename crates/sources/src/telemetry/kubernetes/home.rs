//! To which attempt a pod belongs: where its controller counts attempts, or the pod itself.

use super::controller::Kind;
use super::pod::Pod;
use super::world::World;
use crate::telemetry::attempts::Refusal;

/// The attempts of a pod.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    /// It is a service, and no run.
    Apart,
    /// All pods of this key are the ranks of one attempt, with as many restarts before it.
    Whole { key: String, restart: Option<u32> },
    /// All pods of this job are ranks; each of its masters is an attempt, and each restart of one.
    Led { job: String },
    /// The pod by itself; each restart of its main container is an attempt.
    Alone,
}

/// Kinds whose pods serve.
const SERVICES: [&str; 4] = ["ReplicaSet", "DaemonSet", "StatefulSet", "Node"];

impl Home {
    /// Finds the home of a pod.
    ///
    /// # Errors
    /// The controller by whose uid the attempt is named is not in the input.
    pub(super) fn of(pod: &Pod, world: &World) -> Result<Self, Refusal> {
        if let Some(restart) = pod.meta.labels.get("jobset_sigs_k8s_io_restart_attempt") {
            return job_set(pod, world, restart);
        }
        let Some(owner) = &pod.meta.owner else { return Ok(Self::Alone) };
        if SERVICES.contains(&owner.kind.as_str()) && !pod.request.has_device() {
            return Ok(Self::Apart);
        }
        Ok(match Kind::of(&owner.group, &owner.kind) {
            Some(Kind::Kubeflow) => Self::Led { job: owner.uid.clone() },
            Some(Kind::Volcano) => {
                let version = pod.meta.labels.get("volcano_sh_job_version").unwrap_or("0");
                Self::Whole { key: format!("{}:{version}", owner.uid), restart: version.parse().ok() }
            }
            Some(Kind::RayCluster) => ray_cluster(pod, world)
                .unwrap_or_else(|| Self::Whole { key: format!("{}:0", owner.uid), restart: None }),
            // The pod that only hands a RayJob in is a part of it.
            Some(Kind::Job) => ray_submitter(pod, world).unwrap_or(Self::Alone),
            Some(Kind::JobSet | Kind::TrainJob | Kind::RayJob | Kind::Workload) | None => Self::Alone,
        })
    }
}

fn job_set(pod: &Pod, world: &World, restart: &str) -> Result<Home, Refusal> {
    let above = world.above(pod.meta.owner.as_ref());
    let by_owner = above.iter().find_map(|controller| match controller.kind {
        Kind::JobSet => controller.meta.uid.clone(),
        _ => {
            let owner = controller.meta.owner.as_ref()?;
            (Kind::of(&owner.group, &owner.kind) == Some(Kind::JobSet)).then(|| owner.uid.clone())
        }
    });
    let uid = by_owner.or_else(|| pod.meta.labels.get("jobset_sigs_k8s_io_jobset_uid").map(str::to_owned));
    let Some(uid) = uid else {
        let expected =
            "the pod's job or JobSet in the same input: export jobs and jobsets together with pods";
        let name = format!("{}/{}", pod.meta.namespace, pod.meta.name);
        return Err(Refusal::new("kubernetes::no_owner", "metadata.ownerReferences", &name, expected));
    };
    Ok(Home::Whole { key: format!("{uid}:{restart}"), restart: restart.parse().ok() })
}

/// A RayJob's cluster: the job's current one is named by the id of its submission, an earlier one by its own name.
fn ray_cluster(pod: &Pod, world: &World) -> Option<Home> {
    let above = world.above(pod.meta.owner.as_ref());
    let job = above.iter().find(|controller| controller.kind == Kind::RayJob)?;
    let cluster = above.first()?;
    let id = match &job.ray {
        Some((current, id)) if *current == cluster.meta.name => id,
        _ => &cluster.meta.name,
    };
    Some(Home::Whole { key: format!("{}:{id}", job.meta.id()), restart: None })
}

fn ray_submitter(pod: &Pod, world: &World) -> Option<Home> {
    let above = world.above(pod.meta.owner.as_ref());
    let job = above.iter().find(|controller| controller.kind == Kind::RayJob)?;
    let (_, id) = job.ray.as_ref()?;
    Some(Home::Whole { key: format!("{}:{id}", job.meta.id()), restart: None })
}
