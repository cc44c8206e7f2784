//! What a row measures: kind of resource and whether it runs on whatever a run does.

use ledger::ResourceKind;

use crate::billing::aws_cur::meter::Meter;
use crate::billing::table::memo::Memo;

/// The words of a row that tell what it measures.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MeterText<'a> {
    /// Description of the service.
    pub(super) service: &'a str,
    /// Description of the SKU.
    pub(super) sku: &'a str,
    /// Unit in which it is priced.
    pub(super) unit: &'a str,
}

/// Remembers the meters of the SKUs that a bill repeats.
#[derive(Debug, Default)]
pub(super) struct Meters(Memo<Meter>);

impl Meters {
    /// The meter of a row.
    pub(super) fn of(&mut self, text: MeterText<'_>) -> Meter {
        self.0.of(&[text.service, text.sku, text.unit], || meter(text))
    }
}

/// A description in lower case, asked for words.
struct Words(String);

impl Words {
    fn any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.0.contains(word))
    }
}

const TRANSFER: &[&str] = &["egress", "ingress", "data transfer", "inter-region", "inter-zone"];
const NETWORK: &[&str] = &[
    "static ip",
    "external ip",
    "nat gateway",
    "load balanc",
    "forwarding rule",
    "vpn",
    "private service connect",
    "cloud router",
    "interconnect",
];
const SNAPSHOTS: &[&str] = &["snapshot", "storage image", "machine image", "custom image"];
const DISKS: &[&str] =
    &["pd capacity", "pd iops", "pd throughput", "hyperdisk", "local storage", "local ssd", "regional pd"];
/// Cores, memory and accelerators: one hour of a machine is a row of each.
const MACHINES: &[&str] = &[
    " core ",
    " ram ",
    "instance core",
    "instance ram",
    " gpu",
    "gpu slice",
    "tpu",
    "vcpu",
    "sole tenancy",
    "instance with",
];

/// Judges by service first: one word means different things under different services.
fn meter(text: MeterText<'_>) -> Meter {
    let sku = Words(text.sku.to_lowercase());
    let moving = |kind| Meter { kind, standing: false };
    match text.service {
        "Compute Engine" => compute_engine(&sku),
        "Cloud TPU" => moving(if sku.any(TRANSFER) { ResourceKind::Transfer } else { ResourceKind::Compute }),
        "Kubernetes Engine" => kubernetes(&sku),
        "Networking" => network(&sku),
        "Cloud Storage" => moving(object_storage(&sku, text.unit)),
        "Artifact Registry" | "Container Registry" | "Container Registry Vulnerability Scanning" => {
            moving(object_storage(&sku, text.unit))
        }
        "Cloud Filestore" | "Filestore" | "Parallelstore" | "Managed Lustre" => moving(file_system(&sku)),
        "Vertex AI" | "Cloud Machine Learning Engine" | "AI Platform" => moving(managed_learning(&sku)),
        "Gemini API" | "Generative Language API" => moving(ResourceKind::Inference),
        "Cloud Logging"
        | "Cloud Monitoring"
        | "Cloud Trace"
        | "Stackdriver Logging"
        | "Stackdriver Monitoring"
        | "Stackdriver Trace"
        | "Managed Service for Prometheus" => moving(ResourceKind::Observability),
        "Cloud Run" | "Cloud Run Functions" | "Cloud Functions" | "Batch" => moving(serverless(&sku)),
        _ if sku.any(TRANSFER) => moving(ResourceKind::Transfer),
        _ => moving(ResourceKind::Other),
    }
}

fn network(sku: &Words) -> Meter {
    if sku.any(TRANSFER) && !sku.any(&["nat gateway"]) {
        return Meter { kind: ResourceKind::Transfer, standing: false };
    }
    let standing = sku.any(&["nat gateway"]) && sku.any(&["uptime"]);
    Meter { kind: ResourceKind::Network, standing }
}

fn compute_engine(sku: &Words) -> Meter {
    let moving = |kind| Meter { kind, standing: false };
    if sku.any(&["commitment"]) {
        return moving(ResourceKind::Compute);
    }
    if sku.any(TRANSFER) || sku.any(NETWORK) {
        return network(sku);
    }
    moving(if sku.any(SNAPSHOTS) {
        ResourceKind::Snapshot
    } else if sku.any(DISKS) {
        ResourceKind::Disk
    } else if sku.any(MACHINES) {
        ResourceKind::Compute
    } else {
        ResourceKind::Other
    })
}

/// The hours of a cluster are its control plane's; what a pod of an Autopilot cluster asks for is compute.
fn kubernetes(sku: &Words) -> Meter {
    if sku.any(&["kubernetes clusters", "extended period", "cluster management"]) {
        return Meter { kind: ResourceKind::ControlPlane, standing: true };
    }
    let kind = if sku.any(&["autopilot"]) {
        if sku.any(&["storage"]) { ResourceKind::Disk } else { ResourceKind::Compute }
    } else {
        ResourceKind::Other
    };
    Meter { kind, standing: false }
}

fn object_storage(sku: &Words, unit: &str) -> ResourceKind {
    if sku.any(TRANSFER) || sku.any(&["download"]) {
        ResourceKind::Transfer
    } else if sku.any(&["operations", " ops", "class a", "class b", "retrieval"]) {
        ResourceKind::Requests
    } else if sku.any(&["storage", "early delete"]) || unit.starts_with("gibibyte month") {
        ResourceKind::ObjectStorage
    } else {
        ResourceKind::Other
    }
}

fn file_system(sku: &Words) -> ResourceKind {
    if sku.any(TRANSFER) {
        ResourceKind::Transfer
    } else if sku.any(&["backup", "snapshot"]) {
        ResourceKind::Snapshot
    } else {
        ResourceKind::Disk
    }
}

/// Training and serving stand under one service; what is neither by its description is not guessed.
fn managed_learning(sku: &Words) -> ResourceKind {
    if sku.any(TRANSFER) {
        ResourceKind::Transfer
    } else if sku.any(&["training", "pipelines"]) {
        ResourceKind::Compute
    } else if sku.any(&["prediction", "input token", "output token", "gemini"]) {
        ResourceKind::Inference
    } else {
        ResourceKind::Other
    }
}

fn serverless(sku: &Words) -> ResourceKind {
    if sku.any(TRANSFER) {
        ResourceKind::Transfer
    } else if sku.any(&["requests", "invocations"]) {
        ResourceKind::Requests
    } else if sku.any(&["cpu", "memory", "gpu"]) {
        ResourceKind::Compute
    } else {
        ResourceKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(service: &str, sku: &str, expect: &str) {
        let found = meter(MeterText { service, sku, unit: "" });
        let shown = format!("{}{}", found.kind, if found.standing { " standing" } else { "" });
        assert_eq!(shown, expect, "for {service} {sku}");
    }

    #[test]
    fn every_row_of_a_machine_is_compute() {
        for sku in [
            "A2 Instance Core running in Americas",
            "A2 Instance Ram running in Americas",
            "Nvidia Tesla T4 GPU running in Americas",
            "Spot Preemptible H100 80GB GPU running in Iowa",
            "A4 Nvidia B200 (1 gpu slice) running in Iowa",
            "N1 Predefined Instance Core running in Americas",
            "Custom Instance Ram running in Iowa",
            "Commitment v1: A2 Core in Americas for 1 Year",
        ] {
            check("Compute Engine", sku, "compute");
        }
    }

    #[test]
    fn a_row_is_judged_by_service_first() {
        check("Compute Engine", "Storage PD Capacity", "disk");
        check("Compute Engine", "SSD backed Local Storage", "disk");
        check("Compute Engine", "Hyperdisk ML Throughput in Iowa", "disk");
        check("Compute Engine", "Storage PD Snapshot in US", "snapshot");
        check("Compute Engine", "Network Internet Egress from Americas to APAC", "transfer");
        check("Compute Engine", "External IP Charge on a Standard VM", "network");
        check("Compute Engine", "Something of 2027", "other");
        check("Networking", "Networking Cloud Nat Gateway Uptime", "network standing");
        check("Networking", "Networking Cloud NAT Gateway Data Transfer", "network");
        check("Networking", "Network Inter Region Data Transfer", "transfer");
        check("Kubernetes Engine", "Zonal Kubernetes Clusters", "control_plane standing");
        check("Kubernetes Engine", "Autopilot Kubernetes Clusters", "control_plane standing");
        check("Kubernetes Engine", "Autopilot Pod mCPU Requests (us-central1)", "compute");
        check("Cloud Storage", "Standard Storage US Regional", "object_storage");
        check("Cloud Storage", "Regional Standard Class A Operations", "requests");
        check("Cloud Storage", "Download Worldwide Destinations", "transfer");
        check("Vertex AI", "Vertex AI: Training/Pipelines on a2-highgpu-1g in Americas", "compute");
        check("Vertex AI", "Vertex AI: Online/Batch Prediction T4 in Americas", "inference");
        check("Vertex AI", "Vertex AI: Feature Store", "other");
        check("Cloud Logging", "Log Volume", "observability");
        check("Invoice", "Tax", "other");
    }
}
