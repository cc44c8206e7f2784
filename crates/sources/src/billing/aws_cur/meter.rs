//! What a line of a bill measures: kind of resource and whether it runs on whatever a run does.

use ledger::ResourceKind;

/// The words of a line that tell what it measures.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::billing) struct MeterText<'a> {
    pub(in crate::billing) product: &'a str,
    pub(in crate::billing) usage_type: &'a str,
    pub(in crate::billing) operation: &'a str,
    /// `AWSDataTransfer` on transfer that is billed under another product.
    pub(in crate::billing) service_code: &'a str,
}

/// What a line measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::billing) struct Meter {
    pub(in crate::billing) kind: ResourceKind,
    /// Hours of a thing that stands whatever runs: a control plane, a NAT gateway. A run adds nothing to them.
    pub(in crate::billing) standing: bool,
}

/// Judges by product code first: one usage type means different things under different products.
pub(in crate::billing) fn meter(text: MeterText<'_>) -> Meter {
    let usage = text.usage_type;
    let moving = |kind| Meter { kind, standing: false };
    match text.product {
        "AmazonEC2" | "AmazonVPC" | "AWSELB" => compute_cloud(text),
        "AmazonS3" | "AmazonGlacier" | "AmazonS3GlacierDeepArchive" => moving(object_storage(text)),
        "AmazonEFS" | "AmazonFSx" if is_transfer(text) => moving(ResourceKind::Transfer),
        "AmazonEFS" | "AmazonFSx" if usage.contains("Backup") => moving(ResourceKind::Snapshot),
        "AmazonEFS" | "AmazonFSx" => moving(ResourceKind::Disk),
        "AmazonEKS" | "AmazonECS" => containers(text),
        "AmazonSageMaker" => moving(managed_learning(text)),
        "AmazonCloudWatch" | "AWSXRay" | "AmazonPrometheus" | "AmazonGrafana" | "AWSCloudTrail" => {
            moving(ResourceKind::Observability)
        }
        "AWSDataTransfer" | "AWSDirectConnect" | "AmazonCloudFront" if usage.contains("Requests") => {
            moving(ResourceKind::Requests)
        }
        "AWSDataTransfer" | "AWSDirectConnect" | "AmazonCloudFront" => moving(ResourceKind::Transfer),
        "AmazonRoute53" | "AWSGlobalAccelerator" | "AWSTransitGateway" => moving(ResourceKind::Network),
        "AmazonECR" if usage.contains("TimedStorage") => moving(ResourceKind::ObjectStorage),
        "ComputeSavingsPlans" | "MachineLearningSavingsPlans" | "AWSLambda" | "AWSBatch" | "AWSGlue"
            if !usage.contains("Request") =>
        {
            moving(ResourceKind::Compute)
        }
        product if is_inference(product, usage) => moving(ResourceKind::Inference),
        _ if is_transfer(text) => moving(ResourceKind::Transfer),
        _ if usage.contains("Request") => moving(ResourceKind::Requests),
        _ => moving(ResourceKind::Other),
    }
}

/// True for model APIs and inference endpoints.
pub(super) fn is_inference(product: &str, usage_type: &str) -> bool {
    product.starts_with("AmazonBedrock")
        || usage_type.contains("TokenCount")
        || product == "AmazonSageMaker"
            && ["Host:", "AsyncInf", "ServerlessInf"].iter().any(|word| usage_type.contains(word))
}

fn is_transfer(text: MeterText<'_>) -> bool {
    let words = [
        "DataTransfer",
        "DataXfer",
        "-AWS-Out-",
        "-AWS-In-",
        "AWS-Out-",
        "AWS-In-",
        "S3RTC",
        "CloudFront-Out",
    ];
    text.service_code == "AWSDataTransfer" || words.iter().any(|word| text.usage_type.contains(word))
}

fn compute_cloud(text: MeterText<'_>) -> Meter {
    let usage = text.usage_type;
    let has = |words: &[&str]| words.iter().any(|word| usage.contains(word));
    if usage.contains("NatGateway") {
        return Meter { kind: ResourceKind::Network, standing: usage.contains("NatGateway-Hours") };
    }
    let kind = if has(&[
        "LoadBalancer",
        "LCUUsage",
        "ElasticIP",
        "PublicIPv4",
        "VpcEndpoint",
        "VPN-",
        "TransitGateway",
    ]) || text.product == "AWSELB" && !is_transfer(text)
    {
        ResourceKind::Network
    } else if is_transfer(text) {
        ResourceKind::Transfer
    } else if has(&["EBS:Snapshot", "EBS:FastSnapshot", "EBS:directAPI.snapshot"]) {
        ResourceKind::Snapshot
    } else if usage.contains("EBS:") {
        ResourceKind::Disk
    } else if has(&[
        "BoxUsage",
        "SpotUsage",
        "DedicatedUsage",
        "HostUsage",
        "HeavyUsage",
        "SchedUsage",
        "Reservation:",
        "UnusedBox:",
        "DedicatedRes:",
        "UnusedDed:",
        "CapacityBlockFee",
        "CPUCredits",
        "EBSOptimized",
    ]) || text.operation.starts_with("RunInstances")
    {
        ResourceKind::Compute
    } else if text.product == "AmazonVPC" {
        ResourceKind::Network
    } else {
        ResourceKind::Other
    };
    Meter { kind, standing: false }
}

fn object_storage(text: MeterText<'_>) -> ResourceKind {
    if is_transfer(text) {
        ResourceKind::Transfer
    } else if text.usage_type.contains("Requests-") || text.usage_type.contains("Retrieval") {
        ResourceKind::Requests
    } else {
        ResourceKind::ObjectStorage
    }
}

fn containers(text: MeterText<'_>) -> Meter {
    let usage = text.usage_type;
    if is_transfer(text) {
        return Meter { kind: ResourceKind::Transfer, standing: false };
    }
    if usage.contains("Fargate") || usage.contains("KS-EC2-") || usage.contains("CS-EC2-") {
        return Meter { kind: ResourceKind::Compute, standing: false };
    }
    // The management fee of an Auto Mode node comes and goes with the node; the other hours are the cluster's own.
    let standing = !usage.contains("EKS-Auto:");
    Meter { kind: ResourceKind::ControlPlane, standing }
}

fn managed_learning(text: MeterText<'_>) -> ResourceKind {
    let usage = text.usage_type;
    if usage.contains("VolumeUsage") || usage.contains("StorageIOUsage") {
        ResourceKind::Disk
    } else if usage.contains("Data-Bytes") || is_transfer(text) {
        ResourceKind::Transfer
    } else if is_inference(text.product, usage) {
        ResourceKind::Inference
    } else if usage.contains("MLflow") {
        ResourceKind::Observability
    } else {
        ResourceKind::Compute
    }
}

/// The instance type that a usage type ends with, such as `p4d.24xlarge` in `USE2-BoxUsage:p4d.24xlarge`.
pub(in crate::billing) fn instance_type_of_usage(usage_type: &str) -> Option<&str> {
    let (_, rest) = usage_type.rsplit_once(':')?;
    is_instance_type(rest).then_some(rest)
}

/// The instance type with which a description starts, as those of spot usage do.
pub(super) fn instance_type_of_description(description: &str) -> Option<&str> {
    let word = description.split(' ').next()?;
    is_instance_type(word).then_some(word)
}

fn is_instance_type(word: &str) -> bool {
    let Some((family, size)) = word.rsplit_once('.') else { return false };
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let sized = ["large", "medium", "small", "micro", "nano", "metal"].iter().any(|end| size.contains(end));
    !family.is_empty() && sized && size.chars().all(lower) && family.chars().all(|c| lower(c) || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(product: &str, usage_type: &str, operation: &str, expect: &str) {
        let found = meter(MeterText { product, usage_type, operation, service_code: "" });
        let shown = format!("{}{}", found.kind, if found.standing { " standing" } else { "" });
        assert_eq!(shown, expect, "for {product} {usage_type}");
    }

    #[test]
    fn a_line_is_judged_by_product_first() {
        check("AmazonEC2", "BoxUsage:p4d.24xlarge", "RunInstances", "compute");
        check("AmazonEC2", "USE2-CapacityBlockFee:p5.48xlarge", "", "compute");
        check("AmazonEC2", "EBS:VolumeUsage.gp3", "CreateVolume-Gp3", "disk");
        check("AmazonEC2", "EBS:SnapshotUsage", "CreateSnapshot", "snapshot");
        check("AmazonEC2", "USE1-EBS-USE1-EBS-AWS-Out-Bytes", "PublicIP-Out", "transfer");
        check("AmazonEC2", "DataTransfer-Regional-Bytes", "InterZone-Out", "transfer");
        check("AmazonEC2", "NatGateway-Hours", "NatGateway", "network standing");
        check("AmazonEC2", "NatGateway-Bytes", "NatGateway", "network");
        check("AmazonVPC", "USE1-PublicIPv4:InUseAddress", "AllocateAddressVPC", "network");
        check("AmazonS3", "TimedStorage-ByteHrs", "StandardStorage", "object_storage");
        check("AmazonEFS", "TimedStorage-ByteHrs", "", "disk");
        check("AmazonS3", "Requests-Tier1", "PutObject", "requests");
        check("AmazonS3", "USE1-USW2-AWS-Out-Bytes", "GetObject", "transfer");
        check("AmazonFSx", "USE1-BackupUsage", "CreateFileSystem:Lustre", "snapshot");
        check("AmazonEKS", "USE1-AmazonEKS-Hours:perCluster", "CreateOperation", "control_plane standing");
        check("AmazonEKS", "USE1-EKS-Auto:p4d.24xlarge-management-hours", "", "control_plane");
        check("AmazonEKS", "USE1-EKS-EC2-Accelerator-Hours", "EKSPod-EC2", "compute");
        check("AmazonECS", "USE1-Fargate-vCPU-Hours:perCPU", "FargateTask", "compute");
        check("AmazonSageMaker", "USE1-Train:ml.p4d.24xlarge", "RunInstance", "compute");
        check("AmazonSageMaker", "USE1-Host:ml.g5.xlarge", "RunInstance", "inference");
        check("AmazonSageMaker", "USE1-Train:VolumeUsage.gp2", "", "disk");
        check("AmazonBedrock", "USE1-TitanTextG1-Express-input-tokens", "InvokeModel", "inference");
        check("AmazonCloudWatch", "CW:Requests", "GetMetricData", "observability");
        check("awskms", "ca-central-1-KMS-Requests", "", "requests");
        check("Whatever2027", "Thing-Hours", "", "other");
    }

    #[test]
    fn an_instance_type_is_told_from_other_endings() {
        assert_eq!(instance_type_of_usage("USE2-BoxUsage:p5.48xlarge"), Some("p5.48xlarge"));
        assert_eq!(instance_type_of_usage("USE1-Train:ml.p4d.24xlarge"), Some("ml.p4d.24xlarge"));
        assert_eq!(instance_type_of_usage("EBS:VolumeUsage.gp3"), None);
        assert_eq!(instance_type_of_usage("AmazonEKS-Hours:perCluster"), None);
        assert_eq!(
            instance_type_of_description("g5.12xlarge Linux/UNIX Spot Instance-hour"),
            Some("g5.12xlarge")
        );
        assert_eq!(instance_type_of_description("$0.09 per GB"), None);
    }
}
