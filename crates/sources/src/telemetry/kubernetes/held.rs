//! What an attempt holds of each node: a binding a node, the ranks on it added up while they run.

use std::collections::BTreeMap;

use ledger::{Binding, BindingKind, JoinMethod, ShareDriver, Timestamp};

use super::pod::Pod;
use super::quantity::Part;
use super::world::World;

/// Stands for the end of what has not ended.
const FOREVER: Timestamp = Timestamp(i64::MAX);

/// From when to when an attempt holds what its pods hold; `None` is as long as they do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
}

/// What a pod holds on its node.
struct Held {
    start: Timestamp,
    end: Timestamp,
    gpus: u64,
    cpus: u64,
}

/// The bindings of an attempt.
pub(super) fn bindings(world: &World, pods: &[&Pod], span: Span) -> Vec<Binding> {
    let mut by_node: BTreeMap<&str, Vec<Held>> = BTreeMap::new();
    for pod in pods {
        let (Some(node), Some(from)) = (pod.node.as_deref(), pod.held_from()) else { continue };
        let start = span.start.map_or(from, |start| start.max(from));
        let until = pod.held_until().unwrap_or(FOREVER);
        let end = span.end.map_or(until, |end| end.min(until));
        if start >= end {
            continue;
        }
        let part = world.node(node).map_or(Part::WHOLE, |node| node.part);
        let held = Held { start, end, gpus: pod.request.gpus(part), cpus: pod.request.cpus };
        by_node.entry(node).or_default().push(held);
    }
    by_node.iter().flat_map(|(node, parts)| of_node(world, node, parts)).collect()
}

fn of_node(world: &World, name: &str, parts: &[Held]) -> Vec<Binding> {
    let node = world.node(name);
    let mut changes: BTreeMap<Timestamp, (i128, i128)> = BTreeMap::new();
    for part in parts {
        let (gpus, cpus) = (i128::from(part.gpus), i128::from(part.cpus));
        let start = changes.entry(part.start).or_default();
        *start = (start.0 + gpus, start.1 + cpus);
        let end = changes.entry(part.end).or_default();
        *end = (end.0 - gpus, end.1 - cpus);
    }
    let (mut bindings, mut held): (Vec<Binding>, _) = (Vec::new(), (0, 0));
    let mut steps = changes.into_iter().peekable();
    while let Some((start, change)) = steps.next() {
        let Some((end, _)) = steps.peek().copied() else { break };
        held = (held.0 + change.0, held.1 + change.1);
        let count = |units: i128| u64::try_from(units).unwrap_or(u64::MAX);
        let (gpus, cpus) = (count(held.0), count(held.1));
        // Accelerators go before processors: where the attempt holds any, its processors have no say.
        let (driver, weight, capacity) = match (gpus, cpus) {
            (0, 0) => continue,
            (0, cpus) => (ShareDriver::Cpu, cpus, node.and_then(|node| node.cpus)),
            (gpus, _) => (ShareDriver::Gpu, gpus, node.and_then(|node| node.gpus)),
        };
        match bindings.last_mut() {
            Some(last) if last.end == Some(start) && (last.driver, last.weight) == (driver, weight) => {
                last.end = Some(end);
            }
            _ => bindings.push(Binding {
                kind: BindingKind::Node,
                resource_id: None,
                node_name: Some(name.to_owned()),
                sku: None,
                start,
                end: Some(end),
                weight,
                capacity,
                driver,
                gpus,
                method: JoinMethod::HostName,
            }),
        }
    }
    for binding in &mut bindings {
        binding.end = binding.end.filter(|end| *end < FOREVER);
    }
    bindings
}
