//! The explicit list of every source that trainbill reads; a test finds a file that is not listed here.

/// What a source brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bills.
    Billing,
    /// Price lists.
    Prices,
    /// Records of runs.
    Telemetry,
}

/// A source's entry: its documentation is its file's `//!` header.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// Name on the command line.
    pub id: &'static str,
    /// Title in the reference.
    pub title: &'static str,
    /// What it brings.
    pub kind: Kind,
    /// The source file's own text, from which the reference page is generated.
    pub text: &'static str,
}

/// Every source, in alphabetical order.
pub const fn all() -> &'static [Source] {
    SOURCES
}

const SOURCES: &[Source] = &[
    Source {
        id: "attempts",
        title: "Attempts in a spreadsheet",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/attempts.rs"),
    },
    Source {
        id: "aws-batch",
        title: "AWS Batch jobs",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/aws_batch.rs"),
    },
    Source {
        id: "aws-cur",
        title: "AWS cost and usage report",
        kind: Kind::Billing,
        text: include_str!("billing/aws_cur.rs"),
    },
    Source {
        id: "aws-offer",
        title: "AWS price list",
        kind: Kind::Prices,
        text: include_str!("prices/aws_offer.rs"),
    },
    Source {
        id: "aws-spot-history",
        title: "AWS spot price history",
        kind: Kind::Prices,
        text: include_str!("prices/aws_spot_history.rs"),
    },
    Source {
        id: "azure-cost",
        title: "Azure cost exports",
        kind: Kind::Billing,
        text: include_str!("billing/azure_cost.rs"),
    },
    Source {
        id: "azure-ml",
        title: "Azure Machine Learning jobs",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/azure_ml.rs"),
    },
    Source {
        id: "ec2-events",
        title: "EC2 events and instances",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/ec2_events.rs"),
    },
    Source {
        id: "focus",
        title: "FOCUS cost and usage",
        kind: Kind::Billing,
        text: include_str!("billing/focus.rs"),
    },
    Source {
        id: "gcp-billing",
        title: "Google Cloud billing export",
        kind: Kind::Billing,
        text: include_str!("billing/gcp_billing.rs"),
    },
    Source {
        id: "gcp-catalogue",
        title: "Google Cloud price catalogue",
        kind: Kind::Prices,
        text: include_str!("prices/gcp_catalogue.rs"),
    },
    Source {
        id: "jobstats",
        title: "jobstats summaries",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/jobstats.rs"),
    },
    Source {
        id: "kubernetes",
        title: "Kubernetes objects",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/kubernetes.rs"),
    },
    Source {
        id: "mlflow",
        title: "MLflow runs",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/mlflow.rs"),
    },
    Source {
        id: "mlperf",
        title: "MLPerf training logs",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/mlperf.rs"),
    },
    Source {
        id: "opencost",
        title: "OpenCost and Kubecost allocations",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/opencost.rs"),
    },
    Source {
        id: "openlineage",
        title: "OpenLineage run events",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/openlineage.rs"),
    },
    Source {
        id: "price-table",
        title: "Price list of your own",
        kind: Kind::Prices,
        text: include_str!("prices/price_table.rs"),
    },
    Source {
        id: "prometheus",
        title: "Prometheus metrics of devices and pods",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/prometheus.rs"),
    },
    Source {
        id: "rates",
        title: "Exchange rates",
        kind: Kind::Prices,
        text: include_str!("prices/rates.rs"),
    },
    Source {
        id: "s3-inventory",
        title: "S3 inventories and listings",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/s3_inventory.rs"),
    },
    Source {
        id: "sagemaker",
        title: "SageMaker training jobs",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/sagemaker.rs"),
    },
    Source {
        id: "skypilot",
        title: "SkyPilot catalogue",
        kind: Kind::Prices,
        text: include_str!("prices/skypilot.rs"),
    },
    Source {
        id: "slurm",
        title: "Slurm accounting",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/slurm.rs"),
    },
    Source {
        id: "tensorboard",
        title: "TensorBoard event files",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/tensorboard.rs"),
    },
    Source {
        id: "vertex-ai",
        title: "Vertex AI custom jobs",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/vertex_ai.rs"),
    },
    Source {
        id: "wandb",
        title: "Weights & Biases runs",
        kind: Kind::Telemetry,
        text: include_str!("telemetry/wandb.rs"),
    },
];
