//! Managed training jobs: what was run on SageMaker and the run events that the launcher kept.

pub(crate) mod lineage;
pub(crate) mod plan;
