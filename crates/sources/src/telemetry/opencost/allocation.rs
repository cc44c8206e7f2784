//! One allocation: of which pod it is, what it held and when; or that it is of no pod.

use ledger::{Interval, Timestamp, normalised_key};
use serde_json::Value;

use super::OpenCostOptions;
use super::node::Node;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;
use crate::{Zone, instant};

/// Names of what is allocated to no pod.
const APART: [&str; 4] = ["__idle__", "__shared__", "__unallocated__", "__unmounted__"];

/// A row as far as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Of a pod.
    Pod,
    /// Of no pod, by its name.
    Apart(&'static str),
}

/// What a row allocates.
#[derive(Debug)]
pub(super) enum Allocation {
    /// To a pod.
    Pod(Box<Pod>),
    /// To the idle part of a node, with its cost in accelerators and processors.
    Idle(Held),
    /// To nobody.
    Apart,
}

/// A row that is read.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) said: Said,
    pub(super) window: Option<Interval>,
    pub(super) allocation: Allocation,
}

/// A pod, or a container of one, in a window.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) cluster: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// `job/vitl`, where it has a controller.
    pub(super) controller: Option<String>,
    pub(super) attempt: Option<String>,
    pub(super) experiment: Option<String>,
    pub(super) about: About,
    pub(super) window: Option<Interval>,
    pub(super) held: Held,
}

/// What labels say beside the names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct About {
    pub(super) team: Option<String>,
    pub(super) user: Option<String>,
    pub(super) model_version: Option<String>,
    pub(super) config_version: Option<String>,
    pub(super) dataset_snapshot: Option<String>,
}

/// What a row holds of a node and when.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) node: Option<Node>,
    pub(super) interval: Interval,
    pub(super) gpus: Measure,
    pub(super) cpus: Measure,
}

impl Held {
    /// True if the row tells how much was held: accelerators, and processors where there are none.
    pub(super) fn is_counted(&self) -> bool {
        match self.gpus.count {
            Some(gpus) => gpus > 0.0 || self.cpus.count.is_some(),
            None => false,
        }
    }
}

/// How much of one kind was held, and what it is modelled to cost: only ratios of such costs are used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Measure {
    /// On average while held; `None` if the row does not tell.
    pub(super) count: Option<f64>,
    pub(super) cost: f64,
}

impl Row {
    /// Reads an allocation.
    ///
    /// # Errors
    /// What it lacks, or what cannot be read of it.
    pub(super) fn of(name: &str, value: &Value, options: &OpenCostOptions) -> Result<Self, Refusal> {
        let not_an_object =
            || Refusal::of_record("row::not_an_object", &format!("`{name}`: {value}"), "an allocation");
        let row = Object::root(value.as_object().ok_or_else(not_an_object)?);
        let properties = Properties(row.object("properties")?);
        let window = window(&row)?;
        let Some(word) = apart(name, properties.text("pod")?.as_deref()) else {
            let pod = Pod::of(name, &row, &properties, options)?;
            let allocation = Allocation::Pod(Box::new(Pod { window, ..pod }));
            return Ok(Self { said: Said::Pod, window, allocation });
        };
        let of_node = word == "__idle__" && properties.text("node")?.is_some();
        let idle = if of_node { held(&row, &properties).ok() } else { None };
        Ok(Self {
            said: Said::Apart(word),
            window,
            allocation: idle.map_or(Allocation::Apart, Allocation::Idle),
        })
    }
}

/// The properties of a row; a row without them names nothing.
struct Properties<'a>(Option<Object<'a>>);

impl Properties<'_> {
    fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        self.0.as_ref().map_or(Ok(None), |properties| properties.owned(name))
    }

    fn needed(&self, name: &str, expected: &str) -> Result<String, Refusal> {
        let missing = || Refusal::new("row::missing_value", &format!("properties.{name}"), "", expected);
        self.text(name)?.ok_or_else(missing)
    }
}

impl Pod {
    fn of(
        name: &str,
        row: &Object<'_>,
        properties: &Properties<'_>,
        options: &OpenCostOptions,
    ) -> Result<Self, Refusal> {
        let pod = properties.text("pod")?.ok_or_else(|| {
            let expected = "a pod: query without `aggregate`, or with `namespace` and `pod` in it";
            Refusal::new("row::no_pod", "properties.pod", name, expected)
        })?;
        let cluster = match (properties.text("cluster")?, &options.cluster) {
            (Some(cluster), _) => cluster,
            (None, Some(cluster)) => cluster.clone(),
            (None, None) => properties.needed("cluster", "a cluster, or `--cluster NAME`")?,
        };
        let namespace = "a namespace: query with `namespace` in `aggregate`";
        let (controller, kind) = (properties.text("controller")?, properties.text("controllerKind")?);
        let labels = Labels::of(properties)?;
        let any = |keys: &[&str]| keys.iter().find_map(|key| labels.get(key));
        Ok(Self {
            cluster,
            namespace: properties.needed("namespace", namespace)?,
            name: pod,
            controller: controller.map(|name| kind.map_or(name.clone(), |kind| format!("{kind}/{name}"))),
            attempt: options.attempt_keys.iter().find_map(|key| labels.get(key)),
            experiment: options.experiment_keys.iter().find_map(|key| labels.get(key)),
            about: About {
                team: any(&["team"]),
                user: any(&["user", "owner"]),
                model_version: any(&["model_version", "model"]),
                config_version: any(&["config_version", "config"]),
                dataset_snapshot: any(&["dataset_snapshot", "dataset"]),
            },
            window: None,
            held: held(row, properties)?,
        })
    }
}

/// The word of a row that is of no pod: by its own name, of which the word may be a part (`node-1/__idle__`), or because
/// its pod is called so.
pub(super) fn apart(name: &str, pod: Option<&str>) -> Option<&'static str> {
    let named = |word: &&&str| pod == Some(**word) || name.split('/').any(|part| part == **word);
    let whole = |word: &&&str| **word == "__unallocated__" && pod.is_some_and(|pod| pod != **word);
    // A pod without the label that rows were grouped by is still a pod.
    APART.iter().filter(|word| !whole(word)).find(named).copied()
}

fn window(row: &Object<'_>) -> Result<Option<Interval>, Refusal> {
    let Some(window) = row.object("window")? else { return Ok(None) };
    match (time(&window, "start")?, time(&window, "end")?) {
        (Some(start), Some(end)) => interval(&window, start, end).map(Some),
        (_, _) => Ok(None),
    }
}

fn interval(row: &Object<'_>, start: Timestamp, end: Timestamp) -> Result<Interval, Refusal> {
    Interval::new(start, end)
        .map_err(|_| row.refuse("row::ends_before_start", "end", &format!("a time not before {start}")))
}

fn time(row: &Object<'_>, name: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = row.text(name)? else { return Ok(None) };
    let read = instant(text, &Zone::Undeclared);
    read.map(Some).map_err(|_| row.refuse("row::not_a_time", name, "a time such as 2026-07-01T10:00:00Z"))
}

fn held(row: &Object<'_>, properties: &Properties<'_>) -> Result<Held, Refusal> {
    let needed = |name: &str| {
        time(row, name)?.ok_or_else(|| row.refuse("row::missing_value", name, "a time with an offset"))
    };
    let interval = interval(row, needed("start")?, needed("end")?)?;
    let hours = (interval.end.0 - interval.start.0) as f64 / 3.6e9;
    Ok(Held {
        node: Node::of(properties.text("cluster")?, properties.text("providerID")?, properties.text("node")?),
        interval,
        gpus: measure(row, hours, ["gpuCount", "gpuHours", "gpuCost", "gpuCostAdjustment"])?,
        cpus: measure(row, hours, ["cpuCores", "cpuCoreHours", "cpuCost", "cpuCostAdjustment"])?,
    })
}

/// What was held of one kind. Clusters without accelerators may leave the fields out, and then none was held; `null` is
/// a number that is none.
fn measure(
    row: &Object<'_>,
    hours: f64,
    [count, in_hours, cost, adjustment]: [&str; 4],
) -> Result<Measure, Refusal> {
    let number = |name: &str| -> Result<Option<f64>, Refusal> {
        let found = if row.has(name) { Some(row.number(name)?) } else { None };
        Ok(found.filter(|number| number.is_finite()))
    };
    let mut held = number(count)?;
    if held.is_none() && hours > 0.0 {
        held = number(in_hours)?.map(|in_hours| in_hours / hours);
    }
    if held.is_none() && !row.is_told(count) && !row.is_told(in_hours) {
        held = Some(0.0);
    }
    if held.is_some_and(|held| !(0.0..1e9).contains(&held)) {
        return Err(row.refuse("row::not_a_count", count, "a number such as 8 or 0.5"));
    }
    let cost = number(cost)?.unwrap_or(0.0) + number(adjustment)?.unwrap_or(0.0);
    Ok(Measure { count: held, cost })
}

/// Labels of a pod, then its annotations, by normalised key.
struct Labels(Vec<(String, String)>);

impl Labels {
    fn of(properties: &Properties<'_>) -> Result<Self, Refusal> {
        let mut found = Vec::new();
        let Some(properties) = &properties.0 else { return Ok(Self(found)) };
        for holder in ["labels", "annotations"] {
            let Some(labels) = properties.object(holder)? else { continue };
            for name in labels.names() {
                if let Some(value) = labels.owned(name)? {
                    found.push((normalised_key(name), value));
                }
            }
        }
        Ok(Self(found))
    }

    fn get(&self, key: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_no_pod_is_told_by_its_name() {
        for (name, pod, expect) in [
            ("__idle__", None, Some("__idle__")),
            ("cluster-1/node-1/__idle__", None, Some("__idle__")),
            ("cluster-1/__unmounted__/__unmounted__", Some("__unmounted__"), Some("__unmounted__")),
            ("__unallocated__", None, Some("__unallocated__")),
            ("__unallocated__/vitl-0", Some("vitl-0"), None),
            ("ml/vitl-0", Some("vitl-0"), None),
            ("ml/my__idle__pod", Some("my__idle__pod"), None),
        ] {
            assert_eq!(apart(name, pod), expect, "for {name}");
        }
    }
}
