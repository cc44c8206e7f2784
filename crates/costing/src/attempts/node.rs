//! Which instance a node was at each time, and the bindings that follow from it.

use std::collections::BTreeMap;

use ledger::{Binding, BindingKind, Capacity, JoinMethod, NodePeriod, ShareDriver, SourceId, Timestamp};

use super::gather::Said;
use crate::gpu_catalogue;

/// Stands for the end of what has not ended.
const FOREVER: Timestamp = Timestamp(i64::MAX);

/// Periods of every node of every cluster, in order and without overlap.
#[derive(Debug, Default)]
pub(super) struct NodeTable {
    periods: BTreeMap<(String, String), Vec<NodePeriod>>,
}

/// What a node table makes of bindings.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    pub(super) bindings: Vec<Binding>,
    /// What was bought, of every period that was used.
    pub(super) capacities: Vec<Capacity>,
}

impl NodeTable {
    /// Of several reports of one power-up the newest holds, then the closed one. A node that starts again has ended
    /// before, even if nobody said so.
    pub(super) fn of(said: &[Said<'_, NodePeriod>]) -> Self {
        type Report<'a> = (Option<Timestamp>, bool, Option<Timestamp>, &'a NodePeriod, &'a SourceId);
        let mut best: BTreeMap<(&str, &str, Timestamp), Report<'_>> = BTreeMap::new();
        for one in said {
            let period = one.record;
            let report = (one.modified_at, period.end.is_some(), period.end, period, one.source);
            best.entry((&period.cluster, &period.node_name, period.start))
                .and_modify(|known| *known = (*known).max(report))
                .or_insert(report);
        }
        let mut table = Self::default();
        for ((cluster, node, start), (.., period, _)) in best {
            let periods = table.periods.entry((cluster.to_owned(), node.to_owned())).or_default();
            if let Some(before) = periods.last_mut() {
                before.end = Some(before.end.unwrap_or(FOREVER).min(start));
            }
            periods.push(period.clone());
        }
        table
    }

    /// Turns node names into instances where the table knows them.
    pub(super) fn resolve(&self, cluster: Option<&str>, bindings: Vec<Binding>) -> Resolved {
        let mut resolved = Resolved::default();
        for binding in bindings {
            let named = match (&binding.kind, &binding.resource_id, cluster, &binding.node_name) {
                (BindingKind::Node, None, Some(cluster), Some(node)) => {
                    self.periods.get(&(cluster.to_owned(), node.to_owned()))
                }
                _ => None,
            };
            match named {
                Some(periods) => resolved.split(&binding, periods),
                None => resolved.bindings.push(with_capacity(binding)),
            }
        }
        resolved.bindings.sort();
        resolved.bindings.dedup();
        resolved
    }
}

impl Resolved {
    fn split(&mut self, binding: &Binding, periods: &[NodePeriod]) {
        let end = binding.end.unwrap_or(FOREVER);
        let part = |start: Timestamp, end: Timestamp| Binding {
            start,
            end: (end < FOREVER).then_some(end),
            ..binding.clone()
        };
        let mut from = binding.start;
        for period in periods {
            let (start, stop) = (period.start.max(from), period.end.unwrap_or(FOREVER).min(end));
            if start >= stop {
                continue;
            }
            if from < start {
                self.bindings.push(with_capacity(part(from, start)));
            }
            self.capacities.push(period.capacity);
            self.bindings.push(with_capacity(Binding {
                kind: BindingKind::Instance,
                resource_id: Some(period.instance_id.clone()),
                sku: period.instance_type.clone().or_else(|| binding.sku.clone()),
                method: JoinMethod::InstanceTable,
                ..part(start, stop)
            }));
            from = stop;
        }
        if from < end || binding.start == end {
            self.bindings.push(with_capacity(part(from, end)));
        }
    }
}

/// Fills the size of a known instance type.
fn with_capacity(binding: Binding) -> Binding {
    if binding.capacity.is_some() || binding.driver != ShareDriver::Gpu {
        return binding;
    }
    let known = binding.sku.as_deref().and_then(gpu_catalogue::find);
    Binding { capacity: known.map(|machine| machine.thousandths), ..binding }
}
