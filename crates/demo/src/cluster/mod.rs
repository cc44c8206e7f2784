//! The Slurm-on-EC2 cluster `hpc1`: what its people ran, on which nodes, and its accounting exports.

pub(crate) mod partition;
pub(crate) mod plan;
pub(crate) mod sacct;
pub(crate) mod schedule;
