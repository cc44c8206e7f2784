//! Reads what EC2 told of instances: events of EventBridge, and descriptions of instances.
//!
//! # What it reads
//!
//! Events, one JSON object a line or a document, as a rule for `source: aws.ec2` writes them to a log group or a
//! bucket; and answers of `describe-instances` and `describe-spot-instance-requests`. Other events and answers are
//! accepted and say nothing.
//!
//! ```text
//! {"detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","time":"2026-07-01T10:00:00Z",
//!  "detail":{"instance-id":"i-0abc","instance-action":"terminate"}}
//! ```
//!
//! | what is told | what it becomes |
//! |---|---|
//! | `EC2 Spot Instance Interruption Warning` | an interruption of the instance by the provider, two minutes ahead |
//! | `EC2 Instance Rebalance Recommendation` | nothing: it tells of a risk, and the instance may run on |
//! | `EC2 Instance State-change Notification`: `shutting-down`, `terminated`, `stopping`, `stopped` | the end of the instance |
//! | `describe-instances`: `PrivateDnsName`, `LaunchTime`, `InstanceType`, `InstanceLifecycle` | which machine a node was, and from when |
//! | `describe-spot-instance-requests`: a `Status.Code` such as `instance-terminated-by-price` | an interruption by the provider; `…-by-user` by a user |
//!
//! # How a record becomes an attempt
//!
//! None does: EC2 knows machines and not runs. An interruption is kept under the key of its machine, `instance:{id}`, and
//! is given to the attempts that held the machine then, whichever is imported first; one that nobody held is told.
//! A described instance is a period of the node of its host name in the cluster that the user names, from its launch
//! to the end that an event tells, so that runs which only know the host's name are bound to the instance of the bill.
//!
//! # What it cannot tell
//!
//! * Which run was interrupted, of runs that know no instance: only what holds it by its id at that time can say so.
//! * Warnings are sent as well as it goes: an instance may be taken back without one.
//! * Whether a warned instance was taken back in its first hour, which is free: the bill tells.
//!
//! # References
//!
//! * <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html>
//! * <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html>
//! * <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instance-state-changes.html>

mod event;
mod instance;

use std::collections::BTreeMap;
use std::io::BufRead;

use ledger::{Observation, SourceId, Timestamp};
use serde_json::Value;

use super::attempts::{Codes, Refusal, values};
use super::openlineage::Object;
use super::{TelemetryRead, Warning};
use crate::{SourceError, Zone};

/// What the user says beside the file.
#[derive(Debug, Clone)]
pub struct Ec2EventsOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The source of the records.
    pub source: SourceId,
    /// Zone of times that carry none.
    pub zone: Zone,
    /// Cluster of described instances, as its scheduler calls it; without one they say nothing.
    pub cluster: Option<String>,
}

const CODES: Codes = Codes {
    cannot_read: "ec2_events::cannot_read",
    too_large: "ec2_events::too_large",
    not_json: "ec2_events::not_json",
};

/// Reads one file.
///
/// # Errors
/// A coded error where the file as a whole cannot be read.
pub fn read(input: impl BufRead, options: &Ec2EventsOptions) -> Result<TelemetryRead, SourceError> {
    let found = values(input, &options.file, &CODES)?;
    let mut import = Import { options, read: TelemetryRead::default(), ends: BTreeMap::new(), rebalanced: 0 };
    // An end may be told before or behind the description of its instance.
    for document in &found.documents {
        if let Ok(Some((id, end))) = unwrapped(document).and_then(|object| event::end(&object, options)) {
            import.ends.entry(id).and_modify(|known| *known = (*known).min(end)).or_insert(end);
        }
    }
    for document in &found.documents {
        import.document(document);
    }
    if let Some(refusal) = found.broken {
        import.settle(Err(refusal));
    }
    Ok(import.finished())
}

/// An event, or the answer inside what a recorder wrapped around it.
fn unwrapped(document: &Value) -> Result<Object<'_>, Refusal> {
    let not_an_event = || {
        Refusal::of_record("ec2_events::unknown_event", &document.to_string(), "an event or an answer of EC2")
    };
    let document = document.as_object().map(Object::root).ok_or_else(not_an_event)?;
    match document.object("data")? {
        Some(data) if document.has("status_code") => Ok(data),
        _ => Ok(document),
    }
}

/// What is gathered while events are read.
struct Import<'o> {
    options: &'o Ec2EventsOptions,
    read: TelemetryRead,
    /// The first end of each instance.
    ends: BTreeMap<String, Timestamp>,
    rebalanced: u64,
}

impl Import<'_> {
    fn document(&mut self, document: &Value) {
        let told = unwrapped(document).and_then(|object| self.object(&object));
        if let Err(refusal) = told {
            self.settle(Err(refusal));
        }
    }

    fn object(&mut self, object: &Object<'_>) -> Result<(), Refusal> {
        if object.has("detail-type") {
            self.rebalanced += u64::from(event::is_rebalance(object)?);
            self.settle(event::observations(object, self.options));
        } else if object.is_told("Reservations") {
            for reservation in object.objects("Reservations")? {
                for one in reservation.objects("Instances")? {
                    self.settle(instance::observations(&one, &self.ends, self.options));
                }
            }
        } else if object.is_told("SpotInstanceRequests") {
            for request in object.objects("SpotInstanceRequests")? {
                self.settle(instance::request(&request, self.options));
            }
        } else if object.is_told("Tags") || object.is_told("ResponseMetadata") {
            self.settle(Ok(Vec::new()));
        } else {
            let names: Vec<&str> = object.names().take(4).collect();
            let expected = "an event with `detail-type`, or an answer of describe-instances";
            return Err(Refusal::of_record("ec2_events::unknown_event", &names.join(", "), expected));
        }
        Ok(())
    }

    fn settle(&mut self, records: Result<Vec<Observation>, Refusal>) {
        self.read.settle(records, &self.options.file);
    }

    fn finished(mut self) -> TelemetryRead {
        if self.rebalanced > 0 {
            self.read.warnings.push(Warning {
                code: "ec2_events::rebalance_is_no_interruption",
                message: format!(
                    "{} rebalance recommendation(s) tell of a risk and are not kept",
                    self.rebalanced
                ),
                help: "nothing needs to be done".to_owned(),
            });
        }
        self.read
    }
}
