//! Series of kube-state-metrics: pods and nodes, put together from one fact a series.

use std::collections::BTreeMap;

use ledger::{Interval, SourceId, Timestamp};

use super::PrometheusOptions;
use super::answer::Series;
use super::object::{Container, Node, Pod, document};
use super::request::METRICS;
use crate::SourceError;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::kubernetes::{self, KubernetesOptions};
use crate::telemetry::shared::sample::{Sample, scaled};
use crate::telemetry::{TelemetryRead, Warning};

/// How long after its last sample a series may still be repeated, in microseconds.
const LOOKBACK: i64 = 300 * 1_000_000;

/// Millionths, in which times are read.
const MICROS: u32 = 1_000_000;

/// How the names of metrics of nodes and of containers begin.
const NODE: &str = "kube_node_";
const CONTAINER: &str = "kube_pod_container_";

/// The objects of each cluster.
#[derive(Debug, Default)]
pub(super) struct Pods {
    clusters: BTreeMap<Option<String>, World>,
    /// Times of pods, so that the end of one is known from the end of all.
    last: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct World {
    pods: BTreeMap<String, Pod>,
    nodes: BTreeMap<String, Node>,
}

impl Pods {
    /// True for a metric of a pod or node.
    pub(super) fn knows(&self, name: &str) -> bool {
        name.starts_with("kube_") && METRICS.contains(&name)
    }

    /// Takes a series.
    ///
    /// # Errors
    /// Nothing names its pod or node, or a value is no number in any form.
    pub(super) fn take(&mut self, series: &Series, options: &PrometheusOptions) -> Result<(), Refusal> {
        let cluster = series.label("cluster").map(str::to_owned).or_else(|| options.cluster.clone());
        let world = self.clusters.entry(cluster).or_default();
        let values = Values::of(series)?;
        self.last = self.last.max(series.points.last().map(|(at, _)| *at));
        if series.name.starts_with(NODE) {
            let name =
                series.own("node").ok_or_else(|| series.lacks("row::no_node", "node", "a label `node`"))?;
            take_node(world.nodes.entry(name.to_owned()).or_default(), series, &values);
            return Ok(());
        }
        let (Some(namespace), Some(name), Some(uid)) =
            (series.own("namespace"), series.own("pod"), series.own("uid"))
        else {
            return Err(series.lacks("row::no_pod", "uid", "labels `namespace`, `pod` and `uid`"));
        };
        // A series that cannot be taken leaves no trace of its pod.
        let container = if series.name.starts_with(CONTAINER) {
            let lacks = || series.lacks("row::no_pod", "container", "a label `container`");
            Some(series.own("container").ok_or_else(lacks)?)
        } else {
            None
        };
        let pod = world.pods.entry(uid.to_owned()).or_insert_with(|| Pod::named(namespace, name));
        pod.seen_at = pod.seen_at.max(values.last_at);
        match container {
            Some(name) => take_container(pod.containers.entry(name.to_owned()).or_default(), series, &values),
            None => take_pod(pod, series, &values),
        }
        Ok(())
    }

    /// Tells what the objects say, as if the cluster had told it.
    ///
    /// # Errors
    /// Nothing names the cluster of pods.
    pub(super) fn finish(
        self,
        read: &mut TelemetryRead,
        (options, asked): (&PrometheusOptions, Interval),
    ) -> Result<(), SourceError> {
        let step = options.step_seconds.map_or(0, i64::from).saturating_mul(i64::from(MICROS));
        // A pod that was seen to the end of what was asked for goes on; so does one that was seen as long as any other.
        let last = self.last.map_or(asked.end, |last| last.min(asked.end));
        let gone_by = Timestamp(last.0.saturating_sub(LOOKBACK).saturating_sub(step));
        let told =
            self.clusters.into_iter().filter(|(_, world)| !world.pods.is_empty() || !world.nodes.is_empty());
        for (cluster, world) in told {
            let Some(cluster) = cluster else {
                return Err(SourceError::new(
                    "prometheus::no_cluster",
                    "nothing names the cluster of the pods",
                )
                .expected("a label `cluster`, or a declared cluster", "neither")
                .help("say `--cluster NAME`, the same name as for `import kubernetes`"));
            };
            let bytes = document(&world.pods, &world.nodes, gone_by);
            let kubernetes = KubernetesOptions {
                file: "kube-state-metrics".to_owned(),
                cluster: Some(cluster.clone()),
                taken_at: self.last,
                experiment_keys: options.experiment_keys.clone(),
                // A pod without series in the window may have been there all the same.
                is_complete: false,
            };
            let told = kubernetes::read(bytes.as_slice(), &kubernetes)?;
            let source = SourceId(format!("prometheus:{cluster}"));
            read.observations.extend(told.observations.into_iter().map(|mut seen| {
                seen.source = source.clone();
                seen
            }));
            read.warnings.extend(told.warnings);
            // Every series was counted where it stood; an object that they make and that cannot be taken is told.
            read.warnings.extend(told.rejections.into_iter().map(|rejection| Warning {
                code: "prometheus::object_refused",
                message: format!("a pod or node that series tell of cannot be taken: {}", rejection.found),
                help: format!("expected {}", rejection.expected),
            }));
        }
        Ok(())
    }
}

/// The values of a series as far as they matter: the last one, and when it and others came.
struct Values {
    last_at: Option<Timestamp>,
    /// In millionths.
    last: Option<u64>,
    /// When the last value was first seen without another one after it.
    since: Option<Timestamp>,
}

impl Values {
    fn of(series: &Series) -> Result<Self, Refusal> {
        let mut values = Self { last_at: None, last: None, since: None };
        for (at, text) in &series.points {
            let number = match scaled(text, MICROS) {
                Sample::Number(number) => number,
                Sample::Missing => continue,
                Sample::Broken => {
                    let expected = "a number, or NaN, +Inf or -Inf";
                    return Err(Refusal::new("row::not_a_number", "values", text, expected));
                }
            };
            if values.last != Some(number) {
                values.since = Some(*at);
            }
            (values.last_at, values.last) = (Some(*at), Some(number));
        }
        Ok(values)
    }

    /// True if the last value is one.
    fn holds(&self) -> bool {
        self.last == Some(u64::from(MICROS))
    }

    fn time(&self) -> Option<Timestamp> {
        self.last.and_then(|micros| i64::try_from(micros).ok()).map(Timestamp).filter(|at| at.0 > 0)
    }

    fn whole(&self) -> Option<u64> {
        self.last.map(|millionths| millionths / u64::from(MICROS))
    }
}

fn take_pod(pod: &mut Pod, series: &Series, values: &Values) {
    match series.name.as_str() {
        "kube_pod_info" => {
            pod.node = series.own("node").map(str::to_owned).or(pod.node.take());
            let owner = series.label("created_by_kind").zip(series.label("created_by_name"));
            pod.owner =
                owner.filter(|(kind, _)| *kind != "<none>").map(|(k, n)| (k.to_owned(), n.to_owned()));
            pod.info_at = pod.info_at.max(values.last_at);
        }
        "kube_pod_created" => pod.created = values.time(),
        "kube_pod_status_scheduled_time" => pod.scheduled = values.time(),
        "kube_pod_start_time" => pod.started = values.time(),
        "kube_pod_completion_time" => pod.completed = values.time(),
        "kube_pod_deletion_timestamp" => pod.deleted = values.time(),
        "kube_pod_status_phase" if values.holds() => {
            let phase = series.label("phase").map(str::to_owned);
            pod.phase = pod.phase.take().max(values.since.zip(phase));
        }
        "kube_pod_status_reason" if values.holds() => {
            pod.reason = series.label("reason").map(str::to_owned);
        }
        "kube_pod_labels" => {
            let labels =
                series.labels().filter_map(|(name, value)| Some((name.strip_prefix("label_")?, value)));
            pod.labels.extend(labels.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        _ => {}
    }
}

fn take_container(container: &mut Container, series: &Series, values: &Values) {
    let reason = || values.holds().then(|| series.label("reason").map(str::to_owned)).flatten();
    match series.name.as_str() {
        "kube_pod_container_resource_requests" => {
            if let Some((resource, millionths)) = series.label("resource").zip(values.last) {
                container.requests.insert(resource.to_owned(), millionths);
            }
        }
        "kube_pod_container_status_restarts_total" => {
            container.restarts = values.whole();
            container.restarted =
                values.since.filter(|since| series.points.first().is_some_and(|(at, _)| at < since));
        }
        "kube_pod_container_status_terminated_reason" => {
            container.ended_as = reason().or(container.ended_as.take())
        }
        "kube_pod_container_status_last_terminated_reason" => {
            container.ended_before_as = reason().or(container.ended_before_as.take());
        }
        "kube_pod_container_status_last_terminated_exitcode" => container.exit_code = values.whole(),
        "kube_pod_container_state_started" => container.started = values.time(),
        _ => {}
    }
}

fn take_node(node: &mut Node, series: &Series, values: &Values) {
    match series.name.as_str() {
        "kube_node_info" => node.provider = series.label("provider_id").map(str::to_owned),
        "kube_node_created" => node.created = values.time(),
        "kube_node_labels" => {
            let labels =
                series.labels().filter_map(|(name, value)| Some((name.strip_prefix("label_")?, value)));
            node.labels.extend(labels.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        _ => {
            if let Some((resource, millionths)) = series.label("resource").zip(values.last) {
                node.capacity.insert(resource.to_owned(), millionths);
            }
        }
    }
}
