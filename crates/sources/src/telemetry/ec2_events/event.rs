//! Events of EventBridge.

use ledger::{Initiator, Interruption, Observation, RunRecord, Timestamp};

use super::Ec2EventsOptions;
use crate::telemetry::attempts::{Refusal, moment};
use crate::telemetry::openlineage::Object;

const WARNING: &str = "EC2 Spot Instance Interruption Warning";
const REBALANCE: &str = "EC2 Instance Rebalance Recommendation";
const STATE: &str = "EC2 Instance State-change Notification";

/// States in which an instance is not billed any more, or soon will not be.
const ENDED: [&str; 4] = ["shutting-down", "terminated", "stopping", "stopped"];

/// What an event says of an instance.
pub(super) fn observations(
    event: &Object<'_>,
    options: &Ec2EventsOptions,
) -> Result<Vec<Observation>, Refusal> {
    let kind = event.required("detail-type")?;
    if ![WARNING, REBALANCE, STATE].contains(&kind) {
        return Ok(Vec::new());
    }
    let (id, detail) = instance(event)?;
    let at = time(event, options)?;
    if kind != WARNING {
        return Ok(Vec::new());
    }
    let action = detail.text("instance-action")?.unwrap_or("terminate");
    Ok(vec![interruption(
        &id,
        at,
        (Initiator::Provider, &format!("spot interruption warning: {action}")),
        options,
    )])
}

/// An interruption of an instance.
pub(super) fn interruption(
    id: &str,
    at: Timestamp,
    (initiator, signal): (Initiator, &str),
    options: &Ec2EventsOptions,
) -> Observation {
    Observation {
        source: options.source.clone(),
        key: format!("instance:{id}"),
        modified_at: Some(at),
        record: RunRecord::Interruption(Interruption {
            at,
            initiator,
            signal: signal.to_owned(),
            resource_id: Some(id.to_owned()),
        }),
    }
}

/// True for a recommendation to move away.
pub(super) fn is_rebalance(event: &Object<'_>) -> Result<bool, Refusal> {
    Ok(event.text("detail-type")? == Some(REBALANCE))
}

/// The instance that an event ends, and when.
pub(super) fn end(
    event: &Object<'_>,
    options: &Ec2EventsOptions,
) -> Result<Option<(String, Timestamp)>, Refusal> {
    if event.text("detail-type")? != Some(STATE) {
        return Ok(None);
    }
    let (id, detail) = instance(event)?;
    let has_ended = detail.text("state")?.is_some_and(|state| ENDED.contains(&state));
    Ok(if has_ended { Some((id, time(event, options)?)) } else { None })
}

fn instance<'a>(event: &Object<'a>) -> Result<(String, Object<'a>), Refusal> {
    let missing = || event.refuse("row::missing_value", "detail", "an object with `instance-id`");
    let detail = event.object("detail")?.ok_or_else(missing)?;
    Ok((detail.required("instance-id")?.to_owned(), detail))
}

fn time(event: &Object<'_>, options: &Ec2EventsOptions) -> Result<Timestamp, Refusal> {
    let missing = || event.refuse("row::missing_value", "time", "a time with an offset");
    moment(event, "time", &options.zone)?.ok_or_else(missing)
}
