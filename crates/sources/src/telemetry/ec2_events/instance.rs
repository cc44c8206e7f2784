//! Descriptions of instances and of requests for spot instances.

use std::collections::BTreeMap;

use ledger::{Capacity, Initiator, NodePeriod, Observation, RunRecord, Timestamp};

use super::Ec2EventsOptions;
use super::event::interruption;
use crate::telemetry::attempts::{Refusal, moment};
use crate::telemetry::openlineage::Object;

/// The node that an instance is; nothing without a cluster or a host name, which an ended instance has lost.
pub(super) fn observations(
    one: &Object<'_>,
    ends: &BTreeMap<String, Timestamp>,
    options: &Ec2EventsOptions,
) -> Result<Vec<Observation>, Refusal> {
    let instance_id = one.required("InstanceId")?.to_owned();
    let missing = || one.refuse("row::missing_value", "LaunchTime", "a time");
    let start = moment(one, "LaunchTime", &options.zone)?.ok_or_else(missing)?;
    let capacity = match one.text("InstanceLifecycle")? {
        Some("spot") => Capacity::Spot,
        Some("capacity-block") => Capacity::Reserved,
        // Instances without a life cycle are of no market; a reservation may still pay for them.
        Some(_) | None => Capacity::Unknown,
    };
    let (Some(cluster), Some(node_name)) = (options.cluster.clone(), one.owned("PrivateDnsName")?) else {
        return Ok(Vec::new());
    };
    // An instance that was stopped and started again is a new period: an end before its launch is of the one before.
    let end = ends.get(&instance_id).copied().filter(|end| *end >= start);
    Ok(vec![Observation {
        source: options.source.clone(),
        key: format!("node:{cluster}:{node_name}"),
        modified_at: None,
        record: RunRecord::Node(NodePeriod {
            cluster,
            node_name,
            start,
            end,
            instance_id,
            instance_type: one.owned("InstanceType")?,
            capacity,
        }),
    }])
}

/// Who ended the instance of a request, where it has ended.
pub(super) fn request(request: &Object<'_>, options: &Ec2EventsOptions) -> Result<Vec<Observation>, Refusal> {
    let (Some(id), Some(status)) = (request.owned("InstanceId")?, request.object("Status")?) else {
        return Ok(Vec::new());
    };
    let code = status.text("Code")?.unwrap_or_default();
    let initiator = match code {
        "instance-terminated-by-price"
        | "instance-terminated-no-capacity"
        | "instance-terminated-capacity-oversubscribed"
        | "instance-terminated-by-service"
        | "instance-stopped-by-price"
        | "instance-stopped-no-capacity" => Initiator::Provider,
        "instance-terminated-by-user" | "instance-stopped-by-user" => Initiator::User,
        _ => return Ok(Vec::new()),
    };
    let missing = || status.refuse("row::missing_value", "UpdateTime", "a time");
    let at = moment(&status, "UpdateTime", &options.zone)?.ok_or_else(missing)?;
    Ok(vec![interruption(&id, at, (initiator, code), options)])
}
