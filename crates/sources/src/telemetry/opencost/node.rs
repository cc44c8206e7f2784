//! Which machine a node is, and how much there is of it.

use ledger::{Binding, BindingKind, Interval, JoinMethod, ShareDriver};

use super::allocation::{Held, Measure};

/// How far from a whole number a count may lie that follows from costs, which arrive with five decimals.
const WHOLE: f64 = 0.01;

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    /// The cluster that the row names: names of nodes recur in others.
    pub(super) cluster: Option<String>,
    /// Its id as a bill names it, where told.
    pub(super) id: Option<String>,
    /// Its name in the cluster.
    pub(super) name: Option<String>,
}

/// The id by which a bill names a machine, from Kubernetes' `spec.providerID` or what OpenCost keeps of it.
pub(in crate::telemetry) fn billed_id(id: &str) -> String {
    if let Some(path) = id.strip_prefix("aws://") {
        return path.rsplit('/').next().unwrap_or(path).to_owned();
    }
    if let Some(path) = id.strip_prefix("gce://") {
        let parts: Vec<&str> = path.split('/').collect();
        if let [project, zone, name] = parts.as_slice() {
            return format!("//compute.googleapis.com/projects/{project}/zones/{zone}/instances/{name}");
        }
    }
    id.strip_prefix("azure://").unwrap_or(id).to_owned()
}

impl Node {
    /// The node of a row, by the provider's id and its name; an id that only repeats the name is none of a provider.
    pub(super) fn of(
        cluster: Option<String>,
        provider_id: Option<String>,
        name: Option<String>,
    ) -> Option<Self> {
        let id = provider_id.filter(|id| name.as_ref() != Some(id)).map(|id| billed_id(&id));
        (id.is_some() || name.is_some()).then_some(Self { cluster, id, name })
    }

    /// A binding to this node.
    pub(super) fn binding(
        &self,
        interval: Interval,
        (driver, weight, gpus): (ShareDriver, u64, u64),
    ) -> Binding {
        let (kind, method) = match self.id {
            Some(_) => (BindingKind::Instance, JoinMethod::ResourceId),
            None => (BindingKind::Node, JoinMethod::HostName),
        };
        Binding {
            kind,
            resource_id: self.id.clone(),
            node_name: self.name.clone(),
            sku: None,
            start: interval.start,
            end: Some(interval.end),
            weight,
            capacity: None,
            driver,
            gpus,
            method,
        }
    }
}

/// How many units of one kind a node has, in thousandths: cost of all ÷ cost of what was held × what was held, over the
/// time that the node was there; `None` if that is no whole number, which it is of accelerators and processors.
pub(super) fn capacity(held: &[&Held], idle: &Held, of: fn(&Held) -> Measure) -> Option<u64> {
    let span = |held: &Held| (held.interval.end.0 - held.interval.start.0) as f64;
    let (mut cost, mut units) = (0.0, 0.0);
    for one in held {
        cost += of(one).cost;
        units += of(one).count? * span(one);
    }
    let all = units * (cost + of(idle).cost) / cost / span(idle);
    let whole = all.round();
    if !((all - whole).abs() <= WHOLE && (1.0..1e6).contains(&whole)) {
        return None;
    }
    super::held::thousandths(whole)
}

#[cfg(test)]
mod tests {
    use ledger::Timestamp;

    use super::*;

    #[test]
    fn a_machine_has_the_id_that_its_bill_gives_it() {
        for (id, expect) in [
            ("i-0abc", "i-0abc"),
            ("aws:///us-east-1a/i-0abc", "i-0abc"),
            (
                "gce://ml/us-central1-a/gke-pool-1",
                "//compute.googleapis.com/projects/ml/zones/us-central1-a/instances/gke-pool-1",
            ),
            ("azure:///subscriptions/s/vm/0", "/subscriptions/s/vm/0"),
            ("gke-pool-1", "gke-pool-1"),
        ] {
            assert_eq!(billed_id(id), expect);
        }
        let name = || Some("n1".to_owned());
        assert_eq!(Node::of(None, name(), name()), Some(Node { cluster: None, id: None, name: name() }));
        assert_eq!(Node::of(None, None, None), None);
    }

    fn held(hours: i64, count: Option<f64>, cost: f64) -> Held {
        let interval = Interval { start: Timestamp(0), end: Timestamp(hours * 3_600_000_000) };
        Held { node: None, interval, gpus: Measure { count, cost }, cpus: Measure::default() }
    }

    #[test]
    fn a_nodes_size_follows_from_what_it_costs_beside_what_was_held() {
        let size = |held: &[&Held], idle: &Held| capacity(held, idle, |held| held.gpus);
        // Four of eight for an hour of two, at 0.95 each: 3.8 held, 11.4 idle.
        let four = held(1, Some(4.0), 3.8);
        assert_eq!(size(&[&four], &held(2, Some(0.0), 11.4)), Some(8_000));
        // Five decimals of small costs still tell.
        assert_eq!(size(&[&held(1, Some(0.14286), 0.13571)], &held(1, None, 0.81429)), Some(1_000));
        // Nothing held, a cost that does not fit, a count that is not told.
        assert_eq!(size(&[], &held(2, None, 15.2)), None);
        assert_eq!(size(&[&four], &held(2, None, 12.0)), None);
        assert_eq!(size(&[&held(1, None, 3.8)], &held(2, None, 11.4)), None);
    }
}
