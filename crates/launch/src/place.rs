//! What launched the program, as the environment tells: the scheduler's job, and whether this is its leading process.

use std::collections::BTreeMap;

use uuid::Uuid;

/// Where in a launcher's order of things the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The launcher, such as `slurm`.
    pub(crate) scheduler: &'static str,
    /// Its cluster.
    pub(crate) cluster: Option<String>,
    /// Queue, partition or namespace.
    pub(crate) queue: Option<String>,
    /// Who handed the job in.
    pub(crate) user: Option<String>,
    /// The team that it is accounted to.
    pub(crate) team: Option<String>,
    /// Nodes of the job.
    pub(crate) nodes: Option<u64>,
    /// Name of this node in its cluster.
    pub(crate) node: Option<String>,
    /// The scheduler's names of the same execution.
    pub(crate) aliases: Vec<String>,
    /// Restarts before.
    pub(crate) restarts: Option<u64>,
    /// Accelerators of this machine that the program holds, where its surroundings limit them.
    pub(crate) gpus: Option<u64>,
    /// True for the process that speaks of start and end: others of the same step only tell of their machine.
    pub(crate) leads: bool,
    /// True for the first process of its machine.
    pub(crate) leads_machine: bool,
    /// What all processes of one step have in common.
    step: Option<String>,
}

/// The namespace of the ids of steps.
const STEPS: Uuid = Uuid::from_u128(0x6f1c_2b54_93ae_4d0e_8a7b_5d3c_1e90_47f2);

/// The namespace of the ids of jobs of Slurm; `slurm/record.sh` has it too.
const JOBS: Uuid = Uuid::from_u128(0x3d0f_5ec1_7b86_4a1f_9e52_c4a7_08d6_13b9);

impl Place {
    pub(crate) fn of(environment: &BTreeMap<String, String>) -> Self {
        let own = |name: &str| environment.get(name).filter(|value| !value.is_empty()).cloned();
        // What nobody here can know, such as the attempt of a JobSet, may be told: keys, parted by `;`.
        let told = own("TRAINBILL_ALIASES").unwrap_or_default();
        let told = told.split(';').map(str::trim).filter(|alias| !alias.is_empty()).map(str::to_owned);
        let mut place = Self::found(&own);
        place.aliases.extend(told);
        place
    }

    fn found(own: &dyn Fn(&str) -> Option<String>) -> Self {
        let nobody = Self {
            scheduler: "exec",
            cluster: None,
            queue: None,
            user: own("USER").or_else(|| own("LOGNAME")),
            team: None,
            nodes: None,
            node: own("HOSTNAME").or_else(hostname),
            aliases: Vec::new(),
            restarts: None,
            gpus: own("CUDA_VISIBLE_DEVICES").as_deref().map(visible),
            // A run inside of a run is a part of it.
            leads: own("TRAINBILL_ATTEMPT_ID").is_none(),
            leads_machine: true,
            step: None,
        };
        if let Some(job) = own("SLURM_JOB_ID") {
            return nobody.in_slurm(&job, own);
        }
        if let Some(arn) = own("TRAINING_JOB_ARN") {
            return Self { scheduler: "sagemaker", aliases: vec![format!("sm:{arn}")], ..nobody };
        }
        if let Some(job) = own("AWS_BATCH_JOB_ID") {
            let number = |name: &str| own(name).and_then(|value| value.parse::<u64>().ok());
            let restarts = number("AWS_BATCH_JOB_ATTEMPT").and_then(|attempt| attempt.checked_sub(1));
            return Self {
                scheduler: "aws_batch",
                queue: own("AWS_BATCH_JQ_NAME"),
                aliases: vec![job],
                restarts,
                ..nobody
            };
        }
        if own("KUBERNETES_SERVICE_HOST").is_some() {
            let cluster = own("TRAINBILL_CLUSTER");
            let uid = own("POD_UID");
            let alias = cluster.as_ref().zip(uid).map(|(cluster, uid)| format!("k8s:{cluster}:{uid}"));
            let aliases = alias.into_iter().collect();
            return Self {
                scheduler: "kubernetes",
                cluster,
                queue: own("POD_NAMESPACE"),
                // The name of the host is the pod's.
                node: own("NODE_NAME"),
                aliases,
                ..nobody
            };
        }
        nobody
    }

    /// slurm.schedmd.com/srun.html, section "Output environment variables".
    fn in_slurm(self, job: &str, own: &dyn Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| own(name).and_then(|value| value.parse::<u64>().ok());
        let cluster = own("SLURM_CLUSTER_NAME");
        let restarts = number("SLURM_RESTART_COUNT").unwrap_or(0);
        let step = own("SLURM_STEP_ID");
        let (rank, local) = match &step {
            Some(_) => (number("SLURM_PROCID").unwrap_or(0), number("SLURM_LOCALID").unwrap_or(0)),
            None => (0, 0),
        };
        let name = cluster.clone().unwrap_or_default();
        Self {
            scheduler: "slurm",
            queue: own("SLURM_JOB_PARTITION"),
            user: own("SLURM_JOB_USER").or(self.user),
            team: own("SLURM_JOB_ACCOUNT"),
            nodes: number("SLURM_JOB_NUM_NODES"),
            node: own("SLURMD_NODENAME").or(self.node),
            aliases: cluster.iter().flat_map(|cluster| aliases_in_slurm(cluster, job, restarts)).collect(),
            restarts: Some(restarts),
            // One task's devices are less than its node's.
            gpus: number("SLURM_GPUS_ON_NODE").or(self.gpus),
            leads: self.leads && rank == 0,
            leads_machine: local == 0,
            step: step.map(|step| format!("slurm:{name}:{job}:{restarts}:{step}")),
            cluster,
        }
    }

    /// True unless a scheduler gives out parts of machines, so that what is seen of one may be less than it has.
    pub(crate) fn has_whole_machine(&self) -> bool {
        !matches!(self.scheduler, "slurm" | "kubernetes")
    }

    /// The attempt's id: that of the run around this one, that which all processes of a step share, or a new one. A retry
    /// is another attempt, always.
    pub(crate) fn attempt_id(&self, environment: &BTreeMap<String, String>) -> String {
        if let Some(around) = environment.get("TRAINBILL_ATTEMPT_ID").filter(|id| !id.is_empty()) {
            return around.clone();
        }
        let id = match &self.step {
            Some(step) => Uuid::new_v5(&STEPS, step.as_bytes()),
            None => Uuid::now_v7(),
        };
        id.to_string()
    }
}

/// The job's key, as far as its execution is known here, and the run by which `slurm/prolog.sh` records it.
fn aliases_in_slurm(cluster: &str, job: &str, restarts: u64) -> [String; 2] {
    let recorded = Uuid::new_v5(&JOBS, format!("slurm:{cluster}:{job}:{restarts}").as_bytes());
    [format!("slurm:{cluster}:{job}"), format!("ol:{recorded}")]
}

/// docs.nvidia.com/cuda/cuda-c-programming-guide, section "CUDA Environment Variables": a list of indices or ids.
fn visible(listed: &str) -> u64 {
    let devices = listed.split(',').map(str::trim).filter(|device| !device.is_empty());
    // What follows an invalid index is not visible.
    devices.take_while(|device| *device != "-1" && *device != "NoDevFiles").count() as u64
}

fn hostname() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> (Place, String) {
        let environment =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let place = Place::of(&environment);
        let id = place.attempt_id(&environment);
        (place, id)
    }

    #[test]
    fn all_processes_of_a_slurm_step_are_one_attempt_and_a_requeue_is_another() {
        let rank = |rank: &'static str, restart: &'static str| {
            place(&[
                ("SLURM_JOB_ID", "42"),
                ("SLURM_CLUSTER_NAME", "gpu"),
                ("SLURM_STEP_ID", "0"),
                ("SLURM_PROCID", rank),
                ("SLURM_LOCALID", rank),
                ("SLURM_RESTART_COUNT", restart),
            ])
        };
        let ((first, id), (second, same), (_, requeued)) = (rank("0", "0"), rank("1", "0"), rank("0", "1"));
        assert_eq!(id, same);
        assert_ne!(id, requeued);
        assert_eq!((first.leads, second.leads, second.leads_machine), (true, false, false));
        assert_eq!(first.aliases[0], "slurm:gpu:42");
    }

    #[test]
    fn two_runs_of_one_batch_script_are_two_attempts() {
        let run = || place(&[("SLURM_JOB_ID", "42"), ("SLURM_CLUSTER_NAME", "gpu"), ("SLURM_PROCID", "0")]);
        let ((first, one), (_, other)) = (run(), run());
        assert!(first.leads && one != other);
    }

    #[test]
    fn a_run_inside_of_a_run_is_a_part_of_it() {
        let (inner, id) = place(&[("TRAINBILL_ATTEMPT_ID", "0190")]);
        assert_eq!((inner.leads, id.as_str()), (false, "0190"));
    }

    #[test]
    fn a_node_has_what_its_scheduler_gave_and_not_what_one_task_sees() {
        let task = [("SLURM_JOB_ID", "42"), ("SLURM_GPUS_ON_NODE", "4"), ("CUDA_VISIBLE_DEVICES", "0")];
        assert_eq!(place(&task).0.gpus, Some(4));
        for (listed, count) in [("0,1", 2), ("GPU-1, GPU-2", 2), ("0,-1,1", 1), ("NoDevFiles", 0), ("3", 1)] {
            assert_eq!(place(&[("CUDA_VISIBLE_DEVICES", listed)]).0.gpus, Some(count), "{listed}");
        }
        assert_eq!(place(&[]).0.gpus, None);
    }

    #[test]
    fn the_name_of_a_pod_is_no_node() {
        let pod = [("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("HOSTNAME", "vitl-0")];
        assert_eq!(place(&pod).0.node, None);
    }

    #[test]
    fn managed_jobs_are_named_as_their_readers_name_them() {
        let (job, _) = place(&[("TRAINING_JOB_ARN", "arn:aws:sagemaker:eu-west-1:1:training-job/t")]);
        assert_eq!(job.aliases, ["sm:arn:aws:sagemaker:eu-west-1:1:training-job/t"]);
        let kubernetes =
            [("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("POD_UID", "u"), ("TRAINBILL_CLUSTER", "c")];
        assert_eq!(place(&kubernetes).0.aliases, ["k8s:c:u"]);
        let told = ("TRAINBILL_ALIASES", "k8s:c:js1:2; ;x");
        assert_eq!(place(&[&kubernetes[..], &[told]].concat()).0.aliases, ["k8s:c:u", "k8s:c:js1:2", "x"]);
    }
}
