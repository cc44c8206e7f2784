//! A binding: which resource an attempt held, from when to when, and how much of it.

use crate::Timestamp;
use crate::basis::words;

words! {
    /// What sort of thing the attempt held.
    BindingKind {
        /// A cloud instance, by its id.
        Instance => "instance",
        /// A node by host name, whose instance is not known.
        Node => "node",
        /// A block volume.
        Volume => "volume",
        /// A bucket or a prefix of one.
        BucketPrefix => "bucket_prefix",
        /// A managed job's own resource.
        ManagedJob => "managed_job",
        /// A pod of a container cluster.
        Pod => "pod",
        /// Anything else that a bill names.
        Resource => "resource",
    }
}

impl BindingKind {
    /// True if a program runs on it, so that holding it is time spent.
    pub const fn is_machine(self) -> bool {
        match self {
            Self::Instance | Self::Node | Self::ManagedJob | Self::Pod => true,
            Self::Volume | Self::BucketPrefix | Self::Resource => false,
        }
    }
}

words! {
    /// How the resource was found.
    JoinMethod {
        /// A tag names it.
        Tag => "tag",
        /// The record names the resource id.
        ResourceId => "resource_id",
        /// The scheduler's table of nodes and instances.
        InstanceTable => "instance_table",
        /// The user says so.
        Declared => "declared",
        /// Only a host name is known.
        HostName => "host_name",
    }
}

words! {
    /// The unit in which shares of a resource are counted.
    ShareDriver {
        /// Accelerators held of those on the node.
        Gpu => "gpu",
        /// Processors held of those on the node.
        Cpu => "cpu",
        /// The whole resource, evenly if several hold it.
        Whole => "whole",
    }
}

/// A resource held by an attempt during `[start, end)`.
///
/// `weight` of `capacity` units are held, in thousandths so that fractions of a GPU are whole numbers;
/// `capacity` is `None` where the size of the node is not known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binding {
    /// What sort of thing.
    pub kind: BindingKind,
    /// The id by which a bill names it, or `None` if only the node's name is known.
    pub resource_id: Option<String>,
    /// The node's name, where it is one.
    pub node_name: Option<String>,
    /// Instance type or another SKU, where known.
    pub sku: Option<String>,
    /// First instant held.
    pub start: Timestamp,
    /// First instant not held; `None` while it is still held.
    pub end: Option<Timestamp>,
    /// Units held, in thousandths.
    pub weight: u64,
    /// Units that the resource has, in thousandths.
    pub capacity: Option<u64>,
    /// What the units are.
    pub driver: ShareDriver,
    /// Accelerators held on this resource, in thousandths.
    pub gpus: u64,
    /// How the resource was found.
    pub method: JoinMethod,
}
