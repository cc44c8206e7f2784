//! How many accelerators an AWS instance type has: published facts, in thousandths so that fractions are exact.
//!
//! Sources: the `GpuInfo` and `InferenceAcceleratorInfo` of EC2 `DescribeInstanceTypes`, as collected by the Karpenter
//! AWS provider (state of 2026-07-20). The P3 family is absent from that catalogue but not from older bills:
//! `p3.8xlarge` is from an AWS price list's `gpu` attribute, `p3.16xlarge` from AWS's worked example of split cost
//! allocation, `p3.2xlarge` from the EC2 P3 page. EC2 reports zero GPUs for `g6f` and `gr6f`, which hold a part of one:
//! the part follows from their memory of the 22888 MiB of an L4.
//!
//! The count never follows from the size: `g4dn.16xlarge` has one GPU, `g4dn.12xlarge` four.

/// What an instance type has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accelerators {
    /// Model, in the words of EC2.
    pub model: &'static str,
    /// How many, in thousandths.
    pub thousandths: u64,
}

/// The accelerators of an instance type, or `None` if the type is not known; a managed service's `ml.` is ignored.
pub fn accelerators(instance_type: &str) -> Option<Accelerators> {
    let name = instance_type.trim();
    let name = name.strip_prefix("ml.").unwrap_or(name);
    let index = TYPES.binary_search_by(|(known, ..)| (*known).cmp(name)).ok()?;
    TYPES.get(index).map(|(_, model, thousandths)| Accelerators { model, thousandths: *thousandths })
}

/// By name.
const TYPES: &[(&str, &str, u64)] = &[
    ("dl2q.24xlarge", "qualcomm-ai100", 8_000),
    ("g4ad.16xlarge", "radeon-pro-v520", 4_000),
    ("g4ad.2xlarge", "radeon-pro-v520", 1_000),
    ("g4ad.4xlarge", "radeon-pro-v520", 1_000),
    ("g4ad.8xlarge", "radeon-pro-v520", 2_000),
    ("g4ad.xlarge", "radeon-pro-v520", 1_000),
    ("g4dn.12xlarge", "t4", 4_000),
    ("g4dn.16xlarge", "t4", 1_000),
    ("g4dn.2xlarge", "t4", 1_000),
    ("g4dn.4xlarge", "t4", 1_000),
    ("g4dn.8xlarge", "t4", 1_000),
    ("g4dn.metal", "t4", 8_000),
    ("g4dn.xlarge", "t4", 1_000),
    ("g5.12xlarge", "a10g", 4_000),
    ("g5.16xlarge", "a10g", 1_000),
    ("g5.24xlarge", "a10g", 4_000),
    ("g5.2xlarge", "a10g", 1_000),
    ("g5.48xlarge", "a10g", 8_000),
    ("g5.4xlarge", "a10g", 1_000),
    ("g5.8xlarge", "a10g", 1_000),
    ("g5.xlarge", "a10g", 1_000),
    ("g5g.16xlarge", "t4g", 2_000),
    ("g5g.2xlarge", "t4g", 1_000),
    ("g5g.4xlarge", "t4g", 1_000),
    ("g5g.8xlarge", "t4g", 1_000),
    ("g5g.metal", "t4g", 2_000),
    ("g5g.xlarge", "t4g", 1_000),
    ("g6.12xlarge", "l4", 4_000),
    ("g6.16xlarge", "l4", 1_000),
    ("g6.24xlarge", "l4", 4_000),
    ("g6.2xlarge", "l4", 1_000),
    ("g6.48xlarge", "l4", 8_000),
    ("g6.4xlarge", "l4", 1_000),
    ("g6.8xlarge", "l4", 1_000),
    ("g6.xlarge", "l4", 1_000),
    ("g6e.12xlarge", "l40s", 4_000),
    ("g6e.16xlarge", "l40s", 1_000),
    ("g6e.24xlarge", "l40s", 4_000),
    ("g6e.2xlarge", "l40s", 1_000),
    ("g6e.48xlarge", "l40s", 8_000),
    ("g6e.4xlarge", "l40s", 1_000),
    ("g6e.8xlarge", "l40s", 1_000),
    ("g6e.xlarge", "l40s", 1_000),
    ("g6f.2xlarge", "l4", 250),
    ("g6f.4xlarge", "l4", 500),
    ("g6f.large", "l4", 125),
    ("g6f.xlarge", "l4", 125),
    ("g7.12xlarge", "rtx-pro-4500", 2_000),
    ("g7.24xlarge", "rtx-pro-4500", 4_000),
    ("g7.2xlarge", "rtx-pro-4500", 1_000),
    ("g7.48xlarge", "rtx-pro-4500", 8_000),
    ("g7.4xlarge", "rtx-pro-4500", 1_000),
    ("g7.8xlarge", "rtx-pro-4500", 1_000),
    ("g7e.12xlarge", "rtx-pro-server-6000", 2_000),
    ("g7e.24xlarge", "rtx-pro-server-6000", 4_000),
    ("g7e.2xlarge", "rtx-pro-server-6000", 1_000),
    ("g7e.48xlarge", "rtx-pro-server-6000", 8_000),
    ("g7e.4xlarge", "rtx-pro-server-6000", 1_000),
    ("g7e.8xlarge", "rtx-pro-server-6000", 1_000),
    ("gr6.4xlarge", "l4", 1_000),
    ("gr6.8xlarge", "l4", 1_000),
    ("gr6f.4xlarge", "l4", 500),
    ("inf1.24xlarge", "inferentia", 16_000),
    ("inf1.2xlarge", "inferentia", 1_000),
    ("inf1.6xlarge", "inferentia", 4_000),
    ("inf1.xlarge", "inferentia", 1_000),
    ("inf2.24xlarge", "inferentia2", 6_000),
    ("inf2.48xlarge", "inferentia2", 12_000),
    ("inf2.8xlarge", "inferentia2", 1_000),
    ("inf2.xlarge", "inferentia2", 1_000),
    ("p3.16xlarge", "v100", 8_000),
    ("p3.2xlarge", "v100", 1_000),
    ("p3.8xlarge", "v100", 4_000),
    ("p3dn.24xlarge", "v100", 8_000),
    ("p4d.24xlarge", "a100", 8_000),
    ("p4de.24xlarge", "a100", 8_000),
    ("p5.48xlarge", "h100", 8_000),
    ("p5.4xlarge", "h100", 1_000),
    ("p5e.48xlarge", "h200", 8_000),
    ("p5en.48xlarge", "h200", 8_000),
    ("p6-b200.48xlarge", "b200", 8_000),
    ("p6-b300.48xlarge", "b300", 8_000),
    ("trn1.2xlarge", "trainium", 1_000),
    ("trn1.32xlarge", "trainium", 16_000),
    ("trn1n.32xlarge", "trainium", 16_000),
    ("trn2.48xlarge", "trainium2", 16_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(TYPES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_count_never_follows_from_the_size() {
        let count = |name| accelerators(name).map(|found| found.thousandths);
        assert_eq!(count("g4dn.16xlarge"), Some(1_000));
        assert_eq!(count("g4dn.12xlarge"), Some(4_000));
        assert_eq!(count("ml.p4d.24xlarge"), Some(8_000));
        assert_eq!(count("p3.16xlarge"), Some(8_000));
        assert_eq!(count("g6f.2xlarge"), Some(250));
        assert_eq!(count("trn1.32xlarge"), Some(16_000));
        assert_eq!(count("m5.large"), None);
    }
}
