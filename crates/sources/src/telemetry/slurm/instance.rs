//! The table of instances: which cloud instance a node was, and when.

use ledger::{Capacity, NodePeriod, Observation, RunRecord, SourceId, Timestamp};

use super::fault::Refusal;

/// One row of the table, whatever its format.
#[derive(Debug)]
pub(super) struct Instance<'a> {
    pub(super) cluster: String,
    pub(super) node_name: &'a str,
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    pub(super) instance_id: &'a str,
    pub(super) instance_type: &'a str,
    pub(super) extra: &'a str,
}

/// The period that a row tells; its id is filled only if the site's resume program sets it.
pub(super) fn observation(row: Instance<'_>) -> Result<Observation, Refusal> {
    let (node_name, instance_id) = (row.node_name.trim(), row.instance_id.trim());
    if node_name.is_empty() {
        return Err(Refusal::new("slurm::no_node_name", "NodeName", "", "the name of a node"));
    }
    if instance_id.is_empty() {
        let expected =
            "an instance id, set by `scontrol update nodename=… instanceid=…` when the node comes up";
        return Err(Refusal::new("slurm::no_instance_id", "InstanceId", node_name, expected));
    }
    let Some(start) = row.start else {
        return Err(Refusal::new("slurm::not_a_time", "TimeStart", "", "a time"));
    };
    if row.end.is_some_and(|end| end < start) {
        return Err(Refusal::new(
            "slurm::ends_before_start",
            "TimeEnd",
            node_name,
            "an end at or after the start",
        ));
    }
    let instance_type = row.instance_type.trim();
    Ok(Observation {
        source: SourceId(format!("slurm:{}", row.cluster)),
        key: format!("node:{}:{node_name}", row.cluster),
        modified_at: None,
        record: RunRecord::Node(NodePeriod {
            cluster: row.cluster,
            node_name: node_name.to_owned(),
            start,
            end: row.end,
            instance_id: instance_id.to_owned(),
            instance_type: (!instance_type.is_empty()).then(|| instance_type.to_owned()),
            capacity: capacity(row.extra),
        }),
    })
}

/// What was bought, from `market=…` or `capacity=…` in the free text of a node.
fn capacity(extra: &str) -> Capacity {
    let pairs = extra.split([';', ',', ' ']).filter_map(|pair| pair.split_once('='));
    let mut told = pairs.filter(|(key, _)| ["market", "capacity", "lifecycle"].contains(&key.trim()));
    match told.next().map(|(_, value)| value.trim().to_ascii_lowercase()).as_deref() {
        Some("spot") => Capacity::Spot,
        Some("on-demand" | "on_demand" | "ondemand") => Capacity::OnDemand,
        Some("reserved" | "capacity-block" | "capacity_block") => Capacity::Reserved,
        Some(_) | None => Capacity::Unknown,
    }
}
