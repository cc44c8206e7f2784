//! What one object says, reduced to what matters of its kind.

use ledger::Timestamp;
use serde_json::Value;

use super::controller::Controller;
use super::meta::{Meta, latest};
use super::node::Node;
use super::pod::Pod;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;

/// An object.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) what: What,
    /// The latest time that it tells: no earlier than this was it seen.
    pub(super) latest: Option<Timestamp>,
}

/// Its kind.
#[derive(Debug)]
pub(super) enum What {
    Pod(Box<Pod>),
    Node(Box<Node>),
    Controller(Box<Controller>),
    /// The namespace `kube-system`, whose uid names the cluster.
    Cluster(String),
    /// Says nothing of a run.
    Other,
}

impl Fact {
    /// Reads an object, or the object of a watch event.
    ///
    /// # Errors
    /// It is no object of Kubernetes, or one of its fields cannot be read.
    pub(super) fn of(value: &Value) -> Result<Self, Refusal> {
        let not_an_object =
            || Refusal::of_record("row::not_an_object", &value.to_string(), "an object with `kind`");
        let document = Object::root(value.as_object().ok_or_else(not_an_object)?);
        if let (Some(word), Some(object), None) =
            (document.text("type")?, document.object("object")?, document.text("kind")?)
        {
            return match word {
                "ADDED" | "MODIFIED" => Self::read(&object, false),
                "DELETED" => Self::read(&object, true),
                "BOOKMARK" => Ok(Self { what: What::Other, latest: None }),
                _ => Err(document.refuse("row::unknown_word", "type", "ADDED, MODIFIED or DELETED")),
            };
        }
        if document.text("kind")?.is_none() {
            return Err(not_an_object());
        }
        Self::read(&document, false)
    }

    fn read(object: &Object<'_>, is_gone: bool) -> Result<Self, Refusal> {
        let (group, kind) = (object.text("apiVersion")?.unwrap_or_default(), object.required("kind")?);
        let group = group.split_once('/').map_or("", |(group, _)| group);
        let latest = latest(object);
        let what = match (group, kind) {
            ("", "Pod") => What::Pod(Box::new(Pod::of(object, latest, is_gone)?)),
            ("", "Node") => What::Node(Box::new(Node::of(object, is_gone)?)),
            ("", "Namespace") => {
                let meta = Meta::of(object)?;
                match meta.uid {
                    Some(uid) if meta.name == "kube-system" => What::Cluster(uid),
                    _ => What::Other,
                }
            }
            _ => match Controller::of(object, group, kind)? {
                Some(controller) => What::Controller(Box::new(controller)),
                None => What::Other,
            },
        };
        Ok(Self { what, latest })
    }
}
