//! What supplies a field that is missing: where it comes from, and what to type.

use ledger::Attempt;

use super::Field;

/// What would supply a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remedy {
    /// The field.
    pub field: Field,
    /// Where it comes from.
    pub source: &'static str,
    /// What to type, or to write into the job.
    pub command: &'static str,
}

/// What launched the attempt, as far as it decides where a field comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Launcher {
    Slurm,
    Kubernetes,
    SageMaker,
    Tracker,
    Other,
}

fn launcher(attempt: &Attempt) -> Launcher {
    match attempt.scheduler.as_str() {
        "slurm" => Launcher::Slurm,
        "kubernetes" | "opencost" => Launcher::Kubernetes,
        "sagemaker" => Launcher::SageMaker,
        "mlflow" | "wandb" | "tensorboard" => Launcher::Tracker,
        _ => Launcher::Other,
    }
}

/// True if its launcher knows clusters.
pub(super) fn has_clusters(attempt: &Attempt) -> bool {
    matches!(launcher(attempt), Launcher::Slurm | Launcher::Kubernetes)
}

/// True if its launcher knows namespaces.
pub(super) fn has_namespaces(attempt: &Attempt) -> bool {
    launcher(attempt) == Launcher::Kubernetes
}

const SCHEDULER: &str = "the scheduler's own record";
const SCHEDULER_LABEL: &str = "a comment or label of the job";
const TRACKER: &str = "the experiment tracker";
const BILL: &str = "the bill, with resource ids";
const SACCT: &str = "trainbill import slurm sacct.txt";
const KUBECTL: &str = "trainbill import kubernetes cluster.json";
const SAGEMAKER: &str = "trainbill import sagemaker jobs.json";
const EXEC: &str = "trainbill exec -- COMMAND";
const MLFLOW: &str = "trainbill import mlflow runs.json";
const IMPORT_BILL: &str = "trainbill import aws-cur PLACE";

/// What supplies a field of an attempt.
pub(super) fn of(field: Field, attempt: &Attempt) -> Remedy {
    let launcher = launcher(attempt);
    let (source, command) = match field {
        Field::Experiment => (SCHEDULER_LABEL, label(launcher, Labelled::Experiment)),
        Field::ModelVersion => (SCHEDULER_LABEL, label(launcher, Labelled::Model)),
        Field::ConfigVersion => (SCHEDULER_LABEL, label(launcher, Labelled::Config)),
        Field::DatasetSnapshot => (SCHEDULER_LABEL, label(launcher, Labelled::Dataset)),
        Field::CloudAccount | Field::Region => (BILL, IMPORT_BILL),
        Field::Sku => machine_type(launcher),
        Field::FinalMetric | Field::ArtifactLocation => (TRACKER, MLFLOW),
        Field::Attempt
        | Field::Cluster
        | Field::Namespace
        | Field::GpuCount
        | Field::SubmittedAt
        | Field::StartedAt
        | Field::EndedAt
        | Field::Status
        | Field::FailureReason => (SCHEDULER, record(launcher)),
    };
    Remedy { field, source, command }
}

/// The record of what launched it; what nobody launched can be watched.
const fn record(launcher: Launcher) -> &'static str {
    match launcher {
        Launcher::Slurm => SACCT,
        Launcher::Kubernetes => KUBECTL,
        Launcher::SageMaker => SAGEMAKER,
        Launcher::Tracker | Launcher::Other => EXEC,
    }
}

const fn machine_type(launcher: Launcher) -> (&'static str, &'static str) {
    match launcher {
        Launcher::Slurm => (
            "Slurm's table of instances",
            "sacctmgr show instance -P > instances.txt; trainbill import slurm instances.txt",
        ),
        Launcher::Kubernetes => ("nodes, exported together with pods", KUBECTL),
        Launcher::SageMaker => (SCHEDULER, SAGEMAKER),
        Launcher::Tracker | Launcher::Other => (BILL, IMPORT_BILL),
    }
}

/// What a label can name.
#[derive(Clone, Copy)]
enum Labelled {
    Experiment,
    Model,
    Config,
    Dataset,
}

/// How a job is labelled.
const fn label(launcher: Launcher, what: Labelled) -> &'static str {
    match (launcher, what) {
        (Launcher::Slurm, Labelled::Experiment) => "sbatch --comment='experiment=NAME' …",
        (Launcher::Slurm, Labelled::Model) => "sbatch --comment='experiment=NAME;model=VERSION' …",
        (Launcher::Slurm, Labelled::Config) => "sbatch --comment='experiment=NAME;config=VERSION' …",
        (Launcher::Slurm, Labelled::Dataset) => "sbatch --comment='experiment=NAME;dataset=SNAPSHOT' …",
        (Launcher::Kubernetes, Labelled::Experiment) => "kubectl label pod POD experiment=NAME",
        (Launcher::Kubernetes, Labelled::Model) => "kubectl label pod POD model_version=VERSION",
        (Launcher::Kubernetes, Labelled::Config) => "kubectl label pod POD config_version=VERSION",
        (Launcher::Kubernetes, Labelled::Dataset) => "kubectl label pod POD dataset_snapshot=SNAPSHOT",
        (Launcher::Tracker, Labelled::Experiment) => "the tag `experiment` of the run",
        (Launcher::Tracker, Labelled::Model) => "the tag `model_version` of the run",
        (Launcher::Tracker, Labelled::Config) => "the tag `config_version` of the run",
        (Launcher::Tracker, Labelled::Dataset) => "the tag `dataset_snapshot` of the run",
        (Launcher::SageMaker | Launcher::Other, Labelled::Experiment) => "the tag `experiment` of the job",
        (Launcher::SageMaker | Launcher::Other, Labelled::Model) => "the tag `model_version` of the job",
        (Launcher::SageMaker | Launcher::Other, Labelled::Config) => "the tag `config_version` of the job",
        (Launcher::SageMaker | Launcher::Other, Labelled::Dataset) => "the tag `dataset_snapshot` of the job",
    }
}
