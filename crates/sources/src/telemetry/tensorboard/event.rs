//! One event: when, at which step, and the scalars in it.

use std::collections::BTreeMap;

use ledger::Timestamp;

use super::tensor;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::shared::clock;
use crate::telemetry::shared::protobuf::{Broken, Field, Message};

/// Tags whose plugin is remembered.
const MAX_TAGS: usize = 100_000;

/// What an event says of the process that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Session {
    /// It begins, or begins again at the event's step.
    Start,
    /// It ends.
    Stop,
}

/// An event.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) at: Timestamp,
    pub(super) step: Option<u64>,
    pub(super) session: Option<Session>,
    pub(super) scalars: Vec<(String, f64)>,
}

/// The plugin of each tag, which only its first value may name.
#[derive(Debug, Default)]
pub(super) struct Plugins {
    known: BTreeMap<String, String>,
}

/// Reads an event.
pub(super) fn event(bytes: &[u8], plugins: &mut Plugins) -> Result<Event, Refusal> {
    let broken =
        |Broken| Refusal::of_record("row::not_protobuf", &format!("{} bytes", bytes.len()), "an Event");
    let mut at = None;
    let mut step = 0;
    let mut session = None;
    let mut scalars = Vec::new();
    for field in Message::of(bytes) {
        match field.map_err(broken)? {
            (1, Field::Fixed64(bits)) => at = Some(f64::from_bits(bits)),
            (2, Field::Varint(number)) => step = number.cast_signed(),
            (5, summary) => scalars_of(summary.message(), plugins, &mut scalars).map_err(broken)?,
            (7, log) => session = session_of(log.message()).map_err(broken)?,
            _ => {}
        }
    }
    let wall_time = at.unwrap_or_default();
    let at = clock::of_seconds(wall_time).filter(|at| at.0 > 0).ok_or_else(|| {
        Refusal::new("row::not_a_time", "wall_time", &wall_time.to_string(), "seconds since 1970")
    })?;
    Ok(Event { at, step: u64::try_from(step).ok(), session, scalars })
}

fn session_of(log: Message<'_>) -> Result<Option<Session>, Broken> {
    let mut session = None;
    for field in log {
        match field? {
            (1, Field::Varint(1)) => session = Some(Session::Start),
            (1, Field::Varint(2)) => session = Some(Session::Stop),
            _ => {}
        }
    }
    Ok(session)
}

fn scalars_of(
    summary: Message<'_>,
    plugins: &mut Plugins,
    scalars: &mut Vec<(String, f64)>,
) -> Result<(), Broken> {
    for field in summary {
        if let (1, value) = field? {
            scalars.extend(scalar(value.message(), plugins)?);
        }
    }
    Ok(())
}

/// A value of a summary, if it is a scalar.
fn scalar(value: Message<'_>, plugins: &mut Plugins) -> Result<Option<(String, f64)>, Broken> {
    let mut tag = String::new();
    let (mut simple, mut of_tensor) = (None, None);
    let mut plugin = None;
    for field in value {
        match field? {
            (1, text) => tag = text.text().into_owned(),
            (2, Field::Fixed32(bits)) => simple = Some(f64::from(f32::from_bits(bits))),
            (8, tensor) => of_tensor = tensor::scalar(tensor.message())?,
            (9, metadata) => plugin = plugin_of(metadata.message())?,
            _ => {}
        }
    }
    let told = plugin.is_some();
    let plugin = plugin.or_else(|| plugins.known.get(&tag).cloned());
    // Hyperparameters, text and others come as tensors as well.
    let is_scalar = plugin.as_deref().is_none_or(|plugin| plugin == "scalars");
    if let (true, Some(plugin)) = (told && plugins.known.len() < MAX_TAGS, plugin) {
        plugins.known.insert(tag.clone(), plugin);
    }
    let number = simple.or_else(|| of_tensor.filter(|_| is_scalar));
    Ok(number.filter(|_| !tag.is_empty()).map(|number| (tag, number)))
}

fn plugin_of(metadata: Message<'_>) -> Result<Option<String>, Broken> {
    for field in metadata {
        if let (1, data) = field? {
            for field in data.message() {
                if let (1, name) = field? {
                    return Ok(Some(name.text().into_owned()));
                }
            }
        }
    }
    Ok(None)
}
