//! The nodes of a HyperPod cluster, whose jobs its own scheduler tells.

use ledger::{Capacity, NodePeriod, Observation, RunRecord};

use super::SageMakerOptions;
use crate::telemetry::attempts::{Refusal, moment};
use crate::telemetry::openlineage::Object;

/// The machine that a node is from its launch on.
pub(super) fn observation(node: &Object<'_>, options: &SageMakerOptions) -> Result<Observation, Refusal> {
    let instance_id = node.required("InstanceId")?.to_owned();
    let Some(cluster) = options.cluster.clone() else {
        let expected = "the cluster's name as its scheduler has it: say `--cluster NAME`";
        return Err(Refusal::new("sagemaker::no_cluster", "InstanceId", &instance_id, expected));
    };
    let Some(host) = node.text("PrivateDnsHostname")? else {
        let expected = "the node's host name: import answers of `describe-cluster-node`";
        return Err(node.refuse("sagemaker::no_host_name", "PrivateDnsHostname", expected));
    };
    // Schedulers know a node by the first part of its name.
    let node_name = host.split('.').next().unwrap_or(host).to_owned();
    let missing = || node.refuse("row::missing_value", "LaunchTime", "a time");
    let start = moment(node, "LaunchTime", &options.zone)?.ok_or_else(missing)?;
    let capacity = match node.text("CapacityType")? {
        Some("Spot") => Capacity::Spot,
        Some("OnDemand") => Capacity::OnDemand,
        Some(_) | None => Capacity::Unknown,
    };
    Ok(Observation {
        source: options.source.clone(),
        key: format!("node:{cluster}:{node_name}"),
        modified_at: None,
        record: RunRecord::Node(NodePeriod {
            cluster,
            node_name,
            start,
            end: None,
            instance_id,
            instance_type: node.owned("InstanceType")?,
            capacity,
        }),
    })
}
