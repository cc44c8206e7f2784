//! The formats of run records, and what the user says beside the files.

use ledger::{SourceId, Timestamp};
use sources::{Zone, instant};

use crate::AppError;

/// A format of run records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFormat {
    /// A plain table of attempts.
    Attempts,
    /// AWS Batch jobs.
    AwsBatch,
    /// Azure Machine Learning jobs.
    AzureMl,
    /// EC2 events and instances.
    Ec2Events,
    /// Summaries of jobstats.
    Jobstats,
    /// Objects of Kubernetes.
    Kubernetes,
    /// MLflow runs.
    Mlflow,
    /// MLPerf training logs.
    Mlperf,
    /// OpenCost or Kubecost allocations.
    OpenCost,
    /// OpenLineage run events.
    OpenLineage,
    /// Metrics of a Prometheus server.
    Prometheus,
    /// Inventories and listings of S3 buckets.
    S3Inventory,
    /// SageMaker training jobs.
    SageMaker,
    /// Slurm accounting.
    Slurm,
    /// Spool files of `exec`.
    Spool,
    /// TensorBoard event files.
    Tensorboard,
    /// Vertex AI jobs.
    VertexAi,
    /// Weights & Biases runs.
    Wandb,
}

impl RunFormat {
    /// Its name on the command line.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::AwsBatch => "aws-batch",
            Self::AzureMl => "azure-ml",
            Self::Ec2Events => "ec2-events",
            Self::Jobstats => "jobstats",
            Self::Kubernetes => "kubernetes",
            Self::Mlflow => "mlflow",
            Self::Mlperf => "mlperf",
            Self::OpenCost => "opencost",
            Self::OpenLineage => "openlineage",
            Self::Prometheus => "prometheus",
            Self::S3Inventory => "s3-inventory",
            Self::SageMaker => "sagemaker",
            Self::Slurm => "slurm",
            Self::Spool => "spool",
            Self::Tensorboard => "tensorboard",
            Self::VertexAi => "vertex-ai",
            Self::Wandb => "wandb",
        }
    }
}

/// How to import run records; each format looks at what concerns it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunImport {
    /// IANA zone of times that carry none.
    pub time_zone: Option<String>,
    /// Cluster of records that name none.
    pub cluster: Option<String>,
    /// Name of the source, for files that do not carry one.
    pub source: Option<String>,
    /// When the files were taken, where they do not tell.
    pub taken_at: Option<String>,
    /// Entity of W&B runs that name none.
    pub entity: Option<String>,
    /// Project of W&B runs that name none.
    pub project: Option<String>,
    /// The experiment of all attempts of MLPerf logs.
    pub experiment: Option<String>,
    /// The round of MLPerf logs, such as `v4.0`.
    pub round: Option<String>,
    /// Bucket of listings, which do not name theirs.
    pub bucket: Option<String>,
    /// Seconds between two samples of Prometheus that were asked for.
    pub step_seconds: Option<u32>,
    /// Accelerators of an attempt of MLPerf logs, where nothing describes the system.
    pub gpus: Option<u32>,
}

impl RunImport {
    pub(super) fn zone(&self) -> Result<Zone, AppError> {
        match &self.time_zone {
            None => Ok(Zone::Undeclared),
            Some(name) => Zone::declared(name).map_err(|name| {
                AppError::new("import::no_such_zone", format!("`{name}` is no IANA time zone"))
                    .help("use a name such as UTC, Europe/Berlin or America/New_York")
            }),
        }
    }

    pub(super) fn taken_at(&self) -> Result<Option<Timestamp>, AppError> {
        let Some(text) = &self.taken_at else { return Ok(None) };
        instant(text, &Zone::Undeclared).map(Some).map_err(|_| {
            AppError::new("import::no_such_time", format!("`{text}` is no time with its zone"))
                .help("write it like 2026-07-01T10:00:00Z")
        })
    }

    pub(super) fn source(&self, default: &str) -> SourceId {
        SourceId(self.source.clone().unwrap_or_else(|| default.to_owned()))
    }
}
