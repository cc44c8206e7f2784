//! What every object says of itself: names, times, owner, labels and conditions.

use ledger::Timestamp;
use serde_json::Value;

use crate::telemetry::attempts::{Labels, Refusal};
use crate::telemetry::openlineage::Object;
use crate::{Zone, instant};

/// An object's names and times.
#[derive(Debug, Clone, Default)]
pub(super) struct Meta {
    pub(super) uid: Option<String>,
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) created: Option<Timestamp>,
    /// When its deletion was asked for: the time that it tells is that of the end of the grace.
    pub(super) deleted: Option<Timestamp>,
    pub(super) owner: Option<Owner>,
    pub(super) labels: Labels,
}

/// The controller of an object.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
}

impl Meta {
    pub(super) fn of(object: &Object<'_>) -> Result<Self, Refusal> {
        let Some(meta) = object.object("metadata")? else {
            return Err(object.refuse("row::missing_value", "metadata", "an object with `metadata`"));
        };
        let grace = meta.count("deletionGracePeriodSeconds")?.and_then(|grace| i64::try_from(grace).ok());
        let grace = grace.unwrap_or(0).saturating_mul(1_000_000);
        Ok(Self {
            uid: meta.owned("uid")?,
            name: meta.required("name")?.to_owned(),
            namespace: meta.owned("namespace")?.unwrap_or_default(),
            created: time(&meta, "creationTimestamp")?,
            deleted: time(&meta, "deletionTimestamp")?.map(|at| Timestamp(at.0.saturating_sub(grace))),
            owner: owner(&meta)?,
            labels: Labels::of(&meta, &["labels", "annotations"])?,
        })
    }

    /// The uid, or the names of an object that was written without one.
    pub(super) fn id(&self) -> String {
        self.uid.clone().unwrap_or_else(|| format!("{}/{}", self.namespace, self.name))
    }
}

fn owner(meta: &Object<'_>) -> Result<Option<Owner>, Refusal> {
    let mut first = None;
    for one in meta.objects("ownerReferences")? {
        let (Some(kind), Some(name), Some(uid)) = (one.owned("kind")?, one.owned("name")?, one.owned("uid")?)
        else {
            continue;
        };
        let version = one.text("apiVersion")?.unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group).to_owned();
        let owner = Owner { group, kind, name, uid };
        if one.flag("controller")? == Some(true) {
            return Ok(Some(owner));
        }
        first = first.or(Some(owner));
    }
    Ok(first)
}

/// An instant. The zero time stands for none, as in statuses of containers that nobody could ask any more.
pub(super) fn time(object: &Object<'_>, name: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = object.text(name)? else { return Ok(None) };
    let read = instant(text, &Zone::Undeclared);
    let at =
        read.map_err(|_| object.refuse("row::not_a_time", name, "a time such as 2026-07-01T10:00:00Z"))?;
    Ok((at.0 > 0).then_some(at))
}

/// The latest time that an object's status tells, or that of its making.
pub(super) fn latest(object: &Object<'_>) -> Option<Timestamp> {
    let created = object.object("metadata").ok().flatten();
    let created = created.and_then(|meta| time(&meta, "creationTimestamp").ok().flatten());
    let mut latest = created;
    let mut rest: Vec<&Value> = object.get("status").into_iter().collect();
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => rest.extend(fields.values()),
            Value::Array(parts) => rest.extend(parts),
            Value::String(text) if (20..=35).contains(&text.len()) => {
                latest = latest.max(instant(text, &Zone::Undeclared).ok());
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    latest
}

/// A condition that holds or does not.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) kind: String,
    pub(super) holds: bool,
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
    pub(super) at: Option<Timestamp>,
}

impl Condition {
    /// The words of it that tell why.
    pub(super) fn words(&self) -> Vec<String> {
        let reason = self.reason.as_ref().map(|reason| format!("{}: {reason}", self.kind));
        [reason, self.message.clone()].into_iter().flatten().collect()
    }
}

/// The conditions of a status; each keeps only its last change.
pub(super) fn conditions(status: Option<&Object<'_>>) -> Result<Vec<Condition>, Refusal> {
    let Some(status) = status else { return Ok(Vec::new()) };
    let mut conditions = Vec::new();
    for one in status.objects("conditions")? {
        let Some(kind) = one.owned("type")? else { continue };
        conditions.push(Condition {
            kind,
            holds: one.text("status")? == Some("True"),
            reason: one.owned("reason")?,
            message: one.owned("message")?,
            at: time(&one, "lastTransitionTime")?,
        });
    }
    Ok(conditions)
}
