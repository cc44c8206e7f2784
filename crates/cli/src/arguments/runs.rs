//! `import` of run records: one command a format.

use std::path::PathBuf;

use app::{RunFormat, RunImport};
use clap::{Args, Subcommand, ValueHint};

/// The formats of run records.
#[derive(Debug, Subcommand)]
pub(crate) enum RunRecords {
    /// Slurm accounting: `sacct` text or JSON, slurmrestd, `sacctmgr show instance`
    Slurm(ClusterFiles),
    /// Kubernetes: pods, nodes and the controllers that count their attempts, from `kubectl get … -A -o json`
    ///
    /// Take lists on a schedule: a pod that is gone is in no later list, and only the last end of a container is kept.
    Kubernetes {
        /// Cluster, for lists without the namespace `kube-system`
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// When the list was taken, such as 2026-07-01T10:00:00Z [default: the latest time that it tells]
        #[arg(long, value_name = "TIME")]
        taken_at: Option<String>,
        /// Files
        #[arg(required = true, value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// SageMaker training and tuning jobs and HyperPod nodes: answers of its API as JSON
    Sagemaker(ServiceFiles),
    /// AWS Batch jobs with every attempt that is kept: `describe-jobs` answers as JSON
    AwsBatch(RunFiles),
    /// Vertex AI custom and tuning jobs: answers of its API as JSON
    VertexAi(RunFiles),
    /// Azure Machine Learning jobs: answers of its API as JSON
    AzureMl(RunFiles),
    /// EC2 spot interruptions and instances: EventBridge events, `describe-instances` answers
    Ec2Events(ServiceFiles),
    /// MLflow runs: answers of its REST interface as JSON, or the folder of a file store
    ///
    /// `--source` names the tracking server; it is part of every key, so give the same each time.
    Mlflow(RunFiles),
    /// Weights & Biases runs: the local `wandb` folder, a `.wandb` file, or runs from its API as JSON
    Wandb {
        /// Entity of runs that name none
        #[arg(long, value_name = "NAME")]
        entity: Option<String>,
        /// Project of runs that name none
        #[arg(long, value_name = "NAME")]
        project: Option<String>,
        #[command(flatten)]
        files: RunFiles,
    },
    /// TensorBoard event files, or folders of them
    ///
    /// `--source` names the root folder in keys instead of its own name.
    Tensorboard(RunFiles),
    /// MLPerf training logs, or the folder of a submission
    Mlperf {
        /// The experiment of all attempts [default: organisation, system and benchmark]
        #[arg(long, value_name = "NAME")]
        experiment: Option<String>,
        /// The benchmark's round, such as v4.0, whose quality targets differ from others
        #[arg(long, value_name = "ROUND")]
        round: Option<String>,
        /// Accelerators of an attempt, where no description of the system tells them
        #[arg(long, value_name = "COUNT")]
        gpus: Option<u32>,
        #[command(flatten)]
        files: RunFiles,
    },
    /// Metrics of accelerators and pods: answers of Prometheus' `query_range` as JSON
    ///
    /// How busy devices of the DCGM exporter were, and which attempt held them. Utilisation prices nothing.
    Prometheus {
        /// Cluster of series that name none
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// Seconds between two samples that were asked for [default: the least distance of two samples]
        #[arg(long, value_name = "SECONDS")]
        step: Option<u32>,
        /// Files
        #[arg(required = true, value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// Checkpoints, models and bytes by prefix: S3 Inventory (a manifest or its folder), or a listing of a bucket
    S3Inventory {
        /// Bucket of a listing, which does not name it
        #[arg(long, value_name = "NAME")]
        bucket: Option<String>,
        /// When the listing was made, such as 2026-07-01T10:00:00Z [default: the newest time in it]
        #[arg(long, value_name = "TIME")]
        taken_at: Option<String>,
        /// Zone of times that carry none, such as America/New_York
        #[arg(long, value_name = "ZONE")]
        time_zone: Option<String>,
        #[command(flatten)]
        files: RunFiles,
    },
    /// Summaries of jobstats in `sacct` text or JSON with the field AdminComment
    Jobstats(ClusterFiles),
    /// OpenCost or Kubecost allocations: answers of their API as JSON
    ///
    /// Who held which part of which node; what the nodes cost is on their bill.
    Opencost {
        /// Cluster of rows that name none
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// Files
        #[arg(required = true, value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// OpenLineage run events as NDJSON
    Openlineage(RunFiles),
    /// Records of `exec`, and those that have given no sign of life for long as lost
    Spool {
        /// Folders [default: where `exec` writes]
        #[arg(value_hint = ValueHint::DirPath)]
        folders: Vec<PathBuf>,
    },
    /// A plain CSV or JSONL table of attempts
    Attempts {
        /// Zone of times that carry none, such as America/New_York
        #[arg(long, value_name = "ZONE")]
        time_zone: Option<String>,
        #[command(flatten)]
        files: RunFiles,
    },
}

/// Files whose source may be named.
#[derive(Debug, Args)]
pub(crate) struct RunFiles {
    /// Name of the source [default: the command's name; of `attempts` the file's]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Files, or folders where the format has such
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    files: Vec<PathBuf>,
}

/// Files of a scheduler.
#[derive(Debug, Args)]
pub(crate) struct ClusterFiles {
    /// Zone of times that carry none, such as America/New_York
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// Cluster of records that name none
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// Files
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

/// Files of a service that tells of machines as well, which a scheduler may know by name.
#[derive(Debug, Args)]
pub(crate) struct ServiceFiles {
    /// Name of the source [default: the command's name]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    of: ClusterFiles,
}

impl RunRecords {
    /// The zone that the command line gives.
    pub(crate) fn time_zone(&self) -> Option<&str> {
        match self {
            Self::Slurm(files) | Self::Jobstats(files) => files.time_zone.as_deref(),
            Self::Sagemaker(files) | Self::Ec2Events(files) => files.of.time_zone.as_deref(),
            Self::Attempts { time_zone, .. } | Self::S3Inventory { time_zone, .. } => time_zone.as_deref(),
            Self::Kubernetes { .. }
            | Self::Prometheus { .. }
            | Self::AwsBatch(_)
            | Self::VertexAi(_)
            | Self::AzureMl(_)
            | Self::Mlflow(_)
            | Self::Wandb { .. }
            | Self::Tensorboard(_)
            | Self::Mlperf { .. }
            | Self::Opencost { .. }
            | Self::Spool { .. }
            | Self::Openlineage(_) => None,
        }
    }

    /// What the command asks of the app; the zone comes from the settings, of which the command line is one part.
    pub(crate) fn asked(self) -> (RunFormat, Vec<PathBuf>, RunImport) {
        let none = RunImport::default();
        let in_cluster =
            |format, cluster, files| (format, files, RunImport { cluster, ..RunImport::default() });
        match self {
            Self::Slurm(ClusterFiles { cluster, files, .. }) => in_cluster(RunFormat::Slurm, cluster, files),
            Self::Jobstats(ClusterFiles { cluster, files, .. }) => {
                in_cluster(RunFormat::Jobstats, cluster, files)
            }
            Self::Prometheus { cluster, step, files } => {
                (RunFormat::Prometheus, files, RunImport { cluster, step_seconds: step, ..none })
            }
            Self::S3Inventory { bucket, taken_at, files, .. } => {
                files.asked(RunFormat::S3Inventory, RunImport { bucket, taken_at, ..none })
            }
            Self::Opencost { cluster, files } => in_cluster(RunFormat::OpenCost, cluster, files),
            Self::Kubernetes { cluster, taken_at, files } => {
                (RunFormat::Kubernetes, files, RunImport { cluster, taken_at, ..none })
            }
            Self::Sagemaker(files) => files.asked(RunFormat::SageMaker),
            Self::Ec2Events(files) => files.asked(RunFormat::Ec2Events),
            Self::AwsBatch(files) => files.asked(RunFormat::AwsBatch, none),
            Self::VertexAi(files) => files.asked(RunFormat::VertexAi, none),
            Self::AzureMl(files) => files.asked(RunFormat::AzureMl, none),
            Self::Mlflow(files) => files.asked(RunFormat::Mlflow, none),
            Self::Tensorboard(files) => files.asked(RunFormat::Tensorboard, none),
            Self::Openlineage(files) => files.asked(RunFormat::OpenLineage, none),
            Self::Spool { folders } => {
                let own = if folders.is_empty() { vec![crate::spool::folder(None)] } else { folders };
                (RunFormat::Spool, own, none)
            }
            Self::Attempts { files, .. } => files.asked(RunFormat::Attempts, none),
            Self::Wandb { entity, project, files } => {
                files.asked(RunFormat::Wandb, RunImport { entity, project, ..none })
            }
            Self::Mlperf { experiment, round, gpus, files } => {
                files.asked(RunFormat::Mlperf, RunImport { experiment, round, gpus, ..none })
            }
        }
    }
}

impl RunFiles {
    fn asked(self, format: RunFormat, options: RunImport) -> (RunFormat, Vec<PathBuf>, RunImport) {
        (format, self.files, RunImport { source: self.source, ..options })
    }
}

impl ServiceFiles {
    fn asked(self, format: RunFormat) -> (RunFormat, Vec<PathBuf>, RunImport) {
        let Self { source, of: ClusterFiles { cluster, files, .. } } = self;
        (format, files, RunImport { source, cluster, ..RunImport::default() })
    }
}
