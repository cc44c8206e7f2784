//! What kind of resource a line is for, by the words that a bill describes it with.

use ledger::ResourceKind;

use crate::billing::table::memo::Memo;

/// The words of a line: its category and sub-category, its service, what is metered.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::billing) struct Words<'a> {
    pub(in crate::billing) category: &'a str,
    pub(in crate::billing) subcategory: &'a str,
    pub(in crate::billing) service: &'a str,
    pub(in crate::billing) meter: &'a str,
}

/// Remembers the kinds of a bill's lines.
#[derive(Debug, Default)]
pub(in crate::billing) struct Kinds(Memo<ResourceKind>);

impl Kinds {
    /// The kind of a line.
    pub(in crate::billing) fn of(&mut self, words: Words<'_>) -> ResourceKind {
        let texts = [words.category, words.subcategory, words.service, words.meter];
        self.0.of(&texts, || kind(&texts.join("\n").to_lowercase()))
    }
}

/// Words of a kind; the first line with a word that stands in the text decides, so what is special comes first.
const KINDS: &[(ResourceKind, &[&str])] = &[
    (
        ResourceKind::Inference,
        &[
            "bedrock",
            "openai",
            "generative ai",
            "input token",
            "output token",
            "inference",
            "cognitive services",
        ],
    ),
    (ResourceKind::Snapshot, &["snapshot", "backup"]),
    (
        ResourceKind::ControlPlane,
        &["cluster management", "control plane", "uptime sla", "kubernetes service"],
    ),
    (
        ResourceKind::Transfer,
        &["data transfer", "bandwidth", "egress", "ingress", "peering", "inter-region", "datatransfer"],
    ),
    (ResourceKind::Requests, &["operations", "requests", "transactions", "queue service", "api calls"]),
    (
        ResourceKind::Disk,
        &["disk", "block storage", "block volume", "ebs:", "file storage", "file system", "netapp"],
    ),
    (
        ResourceKind::ObjectStorage,
        &["object storage", "blob", "simple storage service", "cloud storage", "data lake", "storage"],
    ),
    (
        ResourceKind::Observability,
        &[
            "cloudwatch",
            "log analytics",
            "observability",
            "logging",
            "azure monitor",
            "monitoring",
            "insights",
        ],
    ),
    (
        ResourceKind::Network,
        &["networking", "virtual network", "load balanc", "ip address", "nat gateway", "vpn", "dns"],
    ),
    (
        ResourceKind::Compute,
        &["compute", "virtual machine", "containers", "machine learning", "sagemaker", "vertex ai", "gpu"],
    ),
];

fn kind(text: &str) -> ResourceKind {
    let named = |(_, words): &&(ResourceKind, &[&str])| words.iter().any(|word| text.contains(word));
    KINDS.iter().find(named).map_or(ResourceKind::Other, |(kind, _)| *kind)
}

/// True for a support plan.
pub(in crate::billing) fn is_support(service: &str) -> bool {
    service.ends_with("Support") || service.starts_with("AWS Support") || service.contains("Support Plan")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(category: &str, subcategory: &str, service: &str, meter: &str, expect: &str) {
        let found = Kinds::default().of(Words { category, subcategory, service, meter });
        assert_eq!(found.word(), expect, "for {service} {meter}");
    }

    #[test]
    fn a_line_is_told_by_its_words() {
        check("Compute", "Virtual Machines", "Amazon Elastic Compute Cloud", "Instance Hours", "compute");
        check("Virtual Machines", "Dv3/DSv3 Series", "Microsoft.Compute", "D4 v3/D4s v3", "compute");
        check("Storage", "Standard HDD Managed Disks", "Microsoft.Compute", "S4 Disks", "disk");
        check("Storage", "Standard HDD Managed Disks", "Microsoft.Compute", "Disk Operations", "requests");
        check("Storage", "Blob Storage", "Microsoft.Storage", "Hot RA-GRS Data Stored", "object_storage");
        check("Bandwidth", "", "Microsoft.Compute", "Data Transfer Out - Free", "transfer");
        check("Virtual Network", "IP Addresses", "Microsoft.Network", "Dynamic Public IP", "network");
        check("Log Analytics", "", "microsoft.operationalinsights", "", "observability");
        check("AI and Machine Learning", "Generative AI", "Amazon Bedrock", "", "inference");
        check("AI and Machine Learning", "", "Azure OpenAI Service", "", "inference");
        check("AI and Machine Learning", "", "Azure Machine Learning", "", "compute");
        check("Integration", "", "Amazon Simple Queue Service", "", "requests");
        check("Identity", "", "AWS Key Management", "", "other");
        assert!(is_support("AWS Support (Enterprise)") && is_support("Azure Support"));
        assert!(!is_support("Amazon Elastic Compute Cloud"));
    }
}
