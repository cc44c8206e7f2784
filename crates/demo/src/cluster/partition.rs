//! The partitions of the cluster: instance types, how they are bought and how long an empty node is kept.

use crate::span::{HOUR, LAST, moment};

/// How an instance is bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Market {
    /// On demand; a Savings Plan may cover it.
    OnDemand,
    /// Spot.
    Spot,
    /// On demand under a reservation.
    Reserved,
    /// A capacity block.
    Block,
}

impl Market {
    /// The word in the `Extra` column of the instance table.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::Spot => "spot",
            Self::Reserved => "reserved",
            Self::Block => "capacity-block",
        }
    }
}

/// A partition of like nodes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// Name; its nodes are `{name}-1`, `{name}-2`, …
    pub(crate) name: &'static str,
    /// Nodes.
    pub(crate) nodes: u32,
    /// Instance type.
    pub(crate) instance_type: &'static str,
    /// Accelerators of a node.
    pub(crate) gpus: u32,
    /// Their name in TRES strings.
    pub(crate) gpu_model: &'static str,
    /// Processors of a node.
    pub(crate) cpus: u32,
    /// Memory of a node in GiB.
    pub(crate) memory_gib: u32,
    /// How its instances are bought.
    pub(crate) market: Market,
    /// Seconds for which an empty node is kept up.
    pub(crate) kept: i64,
    /// Region.
    pub(crate) region: &'static str,
    /// When the last instance must be gone.
    pub(crate) closes: i64,
    /// Size of an instance's root volume in GB.
    pub(crate) root_gb: u64,
}

/// A100 nodes, on demand, partly covered by a Savings Plan.
pub(crate) const P4D: Partition = Partition {
    name: "p4d",
    nodes: 3,
    instance_type: "p4d.24xlarge",
    gpus: 8,
    gpu_model: "a100",
    cpus: 96,
    memory_gib: 1152,
    market: Market::OnDemand,
    kept: 40 * 60,
    region: "us-east-1",
    closes: LAST,
    root_gb: 300,
};

/// A10G nodes on spot.
pub(crate) const SPOT: Partition = Partition {
    name: "spot",
    nodes: 4,
    instance_type: "g5.12xlarge",
    gpus: 4,
    gpu_model: "a10g",
    cpus: 48,
    memory_gib: 192,
    market: Market::Spot,
    kept: 15 * 60,
    region: "us-east-1",
    closes: LAST,
    root_gb: 200,
};

/// One large A10G node on demand, shared by jobs of four GPUs.
pub(crate) const WIDE: Partition = Partition {
    name: "wide",
    nodes: 1,
    instance_type: "g5.48xlarge",
    gpus: 8,
    gpu_model: "a10g",
    cpus: 192,
    memory_gib: 768,
    market: Market::OnDemand,
    kept: 60 * 60,
    region: "us-east-1",
    closes: LAST,
    root_gb: 200,
};

/// A node that is nearly always up, under a reservation, with idle hours between its jobs.
pub(crate) const DEV: Partition = Partition {
    name: "dev",
    nodes: 1,
    instance_type: "g5.12xlarge",
    gpus: 4,
    gpu_model: "a10g",
    cpus: 48,
    memory_gib: 192,
    market: Market::Reserved,
    kept: 240 * HOUR,
    region: "us-east-1",
    closes: LAST,
    root_gb: 200,
};

/// Start of the capacity block.
pub(crate) const BLOCK_START: i64 = moment(13, 11 * 60 + 30);
/// End of the capacity block, three days later.
pub(crate) const BLOCK_END: i64 = moment(16, 11 * 60 + 30);

/// H100 nodes of a capacity block in another region; EC2 takes the instances back half an hour before its end.
pub(crate) const BLOCK: Partition = Partition {
    name: "block",
    nodes: 2,
    instance_type: "p5.48xlarge",
    gpus: 8,
    gpu_model: "h100",
    cpus: 192,
    memory_gib: 2048,
    market: Market::Block,
    kept: 96 * HOUR,
    region: "us-east-2",
    closes: BLOCK_END - 30 * 60,
    root_gb: 500,
};

/// What an attempt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Where.
    pub(crate) partition: &'static Partition,
    /// Nodes.
    pub(crate) nodes: u32,
    /// True if it takes half of a node's accelerators, leaving the rest to another job.
    pub(crate) half: bool,
}

impl Shape {
    /// Whole nodes.
    pub(crate) const fn whole(partition: &'static Partition, nodes: u32) -> Self {
        Self { partition, nodes, half: false }
    }

    /// Half a node.
    pub(crate) const fn half(partition: &'static Partition) -> Self {
        Self { partition, nodes: 1, half: true }
    }

    const fn of_node(self, count: u32) -> u32 {
        if self.half { count / 2 } else { count * self.nodes }
    }

    /// Accelerators over all nodes.
    pub(crate) const fn gpus(self) -> u32 {
        self.of_node(self.partition.gpus)
    }

    /// Processors over all nodes.
    pub(crate) const fn cpus(self) -> u32 {
        self.of_node(self.partition.cpus)
    }

    /// Memory over all nodes in MiB.
    pub(crate) const fn memory_mib(self) -> u32 {
        self.of_node(self.partition.memory_gib) * 1000
    }
}
