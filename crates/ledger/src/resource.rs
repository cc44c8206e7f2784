//! What kind of resource a charge is for, in the words of the statement's matrix.

use crate::basis::words;

words! {
    /// The resource kinds of a statement.
    ResourceKind {
        /// Instances with or without accelerators, managed training included.
        Compute => "compute",
        /// Block volumes, file systems and their provisioned performance.
        Disk => "disk",
        /// Volume and image snapshots.
        Snapshot => "snapshot",
        /// Object storage by byte and time.
        ObjectStorage => "object_storage",
        /// Calls that are billed by number.
        Requests => "requests",
        /// Bytes moved between zones, regions or out.
        Transfer => "transfer",
        /// Cluster control planes and schedulers.
        ControlPlane => "control_plane",
        /// NAT gateways, load balancers, addresses.
        Network => "network",
        /// Metrics, logs and traces.
        Observability => "observability",
        /// Model APIs and inference endpoints.
        Inference => "inference",
        /// Anything else.
        Other => "other",
    }
}
