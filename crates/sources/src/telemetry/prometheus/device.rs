//! Series of DCGM's exporter: which device they are of, what held it, and its samples of each metric.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{DeviceError, Metric, Observation, RunRecord, SourceId, Timestamp, WHOLE_SHARE};

use super::PrometheusOptions;
use super::answer::Series;
use super::summary::{Grid, Points, hours, summaries};
use crate::telemetry::TelemetryRead;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::shared::sample::{Sample, scaled};

/// What a series of a device tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// A metric, of which one in the series is so many units.
    Gauge(Metric, u32),
    /// The last error.
    Error,
}

/// The field of a metric's name, if it is one of a device.
pub(super) fn field(name: &str) -> Option<Field> {
    Some(match name {
        "DCGM_FI_DEV_GPU_UTIL" => Field::Gauge(Metric::GpuBusy, 10_000),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE" => Field::Gauge(Metric::EngineActive, 1_000_000),
        "DCGM_FI_PROF_SM_ACTIVE" => Field::Gauge(Metric::SmActive, 1_000_000),
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE" => Field::Gauge(Metric::TensorActive, 1_000_000),
        "DCGM_FI_PROF_DRAM_ACTIVE" => Field::Gauge(Metric::MemoryActive, 1_000_000),
        "DCGM_FI_DEV_FB_USED" => Field::Gauge(Metric::MemoryUsed, 1_048_576),
        "DCGM_FI_DEV_FB_TOTAL" => Field::Gauge(Metric::MemoryTotal, 1_048_576),
        "DCGM_FI_DEV_POWER_USAGE" => Field::Gauge(Metric::Power, 1_000),
        "DCGM_FI_DEV_XID_ERRORS" => Field::Error,
        _ => return None,
    })
}

/// All devices of an import.
#[derive(Debug)]
pub(super) struct Devices {
    source: SourceId,
    cluster: Option<String>,
    devices: BTreeMap<String, Device>,
    missing: u64,
    without_cluster: u64,
}

/// A device.
#[derive(Debug, Default)]
struct Device {
    host: Option<String>,
    model: Option<String>,
    /// By what held it: known holders stand before [`Holder::Nobody`].
    held: BTreeMap<Holder, BTreeMap<Metric, Points>>,
    /// Codes by time, 0 for none.
    codes: BTreeMap<Timestamp, u32>,
}

/// What held a device, as far as a series tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    /// The key of an attempt, or what is known of it.
    Key(String),
    /// Not told.
    Nobody,
}

impl Devices {
    pub(super) fn new(options: &PrometheusOptions) -> Self {
        let cluster = options.cluster.clone();
        let source =
            cluster.as_ref().map_or_else(|| "prometheus".to_owned(), |name| format!("prometheus:{name}"));
        Self { source: SourceId(source), cluster, devices: BTreeMap::new(), missing: 0, without_cluster: 0 }
    }

    /// Takes a series.
    ///
    /// # Errors
    /// Nothing names its device, or a value is no number in any form.
    pub(super) fn take(&mut self, field: Field, series: &Series) -> Result<(), Refusal> {
        let id = id(series)?;
        let mut points = Vec::with_capacity(series.points.len());
        let mut missing = 0;
        for (at, text) in &series.points {
            match sample(field, text) {
                Sample::Number(number) => points.push((*at, number)),
                Sample::Missing => missing += 1,
                Sample::Broken => {
                    let expected = "a number, or NaN, +Inf or -Inf";
                    return Err(Refusal::new("row::not_a_number", "values", text, expected));
                }
            }
        }
        self.missing += missing;
        let holder = self.holder(series);
        let device = self.devices.entry(id).or_default();
        let told = |known: &mut Option<String>, label: Option<&str>| {
            if known.is_none() {
                *known = label.map(str::to_owned);
            }
        };
        told(&mut device.host, host(series));
        told(&mut device.model, series.label("modelName"));
        match field {
            Field::Gauge(metric, _) => {
                device.held.entry(holder).or_default().entry(metric).or_default().extend(points);
            }
            Field::Error => {
                let code = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
                device.codes.extend(points.into_iter().map(|(at, number)| (at, code(number))));
                device.held.entry(holder).or_default();
            }
        }
        Ok(())
    }

    fn holder(&mut self, series: &Series) -> Holder {
        let job = series.label("hpc_job").filter(|job| job.bytes().all(|byte| byte.is_ascii_digit()));
        let pod = series.own("pod").filter(|pod| !pod.contains("dcgm-exporter"));
        if job.is_none() && pod.is_none() {
            return Holder::Nobody;
        }
        let Some(cluster) = series.label("cluster").or(self.cluster.as_deref()) else {
            self.without_cluster += 1;
            return Holder::Nobody;
        };
        let uid = series.own("pod_uid");
        Holder::Key(match (job, uid, pod, series.own("namespace")) {
            (Some(job), ..) => format!("slurm:{cluster}:{job}"),
            (None, Some(uid), ..) => format!("k8s:{cluster}:{uid}"),
            (None, None, Some(pod), Some(namespace)) => format!("k8s:{cluster}/{namespace}/pod/{pod}"),
            (None, None, ..) => return Holder::Nobody,
        })
    }

    /// Tells a summary for each device, holder and hour.
    pub(super) fn finish(self, read: &mut TelemetryRead, grid: &Grid) {
        let (mut earlier, mut without_step) = (0, 0);
        for (id, mut device) in self.devices {
            let (errors, was_there) = errors(&device.codes);
            earlier += u64::from(was_there);
            let mut told: BTreeSet<i64> = BTreeSet::new();
            for (holder, gauges) in once(std::mem::take(&mut device.held)) {
                // Of what held it only a part of the time, samples are expected in that part.
                let (key, others) = match holder {
                    Holder::Key(key) => (key, None),
                    Holder::Nobody => (format!("device:{id}"), Some(&told)),
                };
                let own = hours(&gauges);
                for mut summary in summaries(&gauges, others, grid) {
                    let window = summary.utilisation.window;
                    let inside = |error: &&DeviceError| window.start <= error.at && error.at < window.end;
                    summary.utilisation.errors = errors.iter().filter(inside).copied().collect();
                    summary.utilisation.device.clone_from(&id);
                    summary.utilisation.host.clone_from(&device.host);
                    summary.utilisation.model.clone_from(&device.model);
                    without_step += u64::from(summary.utilisation.coverage.is_none());
                    read.observations.push(Observation {
                        source: self.source.clone(),
                        key: key.clone(),
                        modified_at: Some(summary.last),
                        record: RunRecord::Utilisation(summary.utilisation),
                    });
                }
                told.extend(own);
            }
        }
        let told = "sample(s) are blank, no number or beyond what can be, and count as missing";
        read.warn_of(self.missing, "prometheus::missing_samples", (told, "nothing needs to be done"));
        let told = "device(s) had an error before the first sample; when is not known, so it is not kept";
        read.warn_of(earlier, "prometheus::earlier_error", (told, "ask for an earlier range to see when"));
        let told = "summary(ies) do not tell how much was seen, since no two samples tell the step";
        read.warn_of(without_step, "prometheus::no_step", (told, "ask for a longer range, or say the step"));
        let told = "series tell a job or pod but no cluster, so what held their devices is not kept";
        read.warn_of(
            self.without_cluster,
            "prometheus::holder_without_cluster",
            (told, "say `--cluster NAME`"),
        );
    }
}

/// The device, or its slice.
fn id(series: &Series) -> Result<String, Refusal> {
    let device = match (series.label("UUID"), host(series), series.label("gpu")) {
        (Some(uuid), ..) => uuid.to_owned(),
        (None, Some(host), Some(gpu)) => format!("{host}/{gpu}"),
        (None, ..) => {
            let expected = "a label `UUID`, or `Hostname` and `gpu`";
            return Err(series.lacks("row::no_device", "UUID", expected));
        }
    };
    Ok(series.label("GPU_I_ID").map_or_else(|| device.clone(), |slice| format!("{device}/{slice}")))
}

fn host(series: &Series) -> Option<&str> {
    series.label("Hostname").or_else(|| series.label("node"))
}

/// A sample in the metric's unit; what cannot be is a blank of a narrower field.
fn sample(field: Field, text: &str) -> Sample {
    let Field::Gauge(metric, scale) = field else { return scaled(text, 1) };
    let Sample::Number(number) = scaled(text, scale) else { return scaled(text, scale) };
    match metric {
        // Shares of cycles come out a little above one.
        Metric::GpuBusy
        | Metric::EngineActive
        | Metric::SmActive
        | Metric::TensorActive
        | Metric::MemoryActive
        | Metric::CpuBusy
            if number > WHOLE_SHARE + WHOLE_SHARE / 20 =>
        {
            Sample::Missing
        }
        Metric::GpuBusy
        | Metric::EngineActive
        | Metric::SmActive
        | Metric::TensorActive
        | Metric::MemoryActive
        | Metric::CpuBusy => Sample::Number(number.min(WHOLE_SHARE)),
        Metric::Power if number > 100_000_000 => Sample::Missing,
        Metric::MemoryUsed | Metric::MemoryTotal | Metric::HostMemoryUsed | Metric::HostMemoryTotal
            if number > 1 << 50 =>
        {
            Sample::Missing
        }
        Metric::Power
        | Metric::MemoryUsed
        | Metric::MemoryTotal
        | Metric::HostMemoryUsed
        | Metric::HostMemoryTotal => Sample::Number(number),
    }
}

/// The changes to another code, and whether there was one before the first sample.
fn errors(codes: &BTreeMap<Timestamp, u32>) -> (Vec<DeviceError>, bool) {
    let mut errors = Vec::new();
    let mut known: Option<u32> = None;
    for (at, code) in codes {
        if known.is_some_and(|known| known != *code) && *code != 0 {
            errors.push(DeviceError { at: *at, code: *code });
        }
        known = Some(*code);
    }
    (errors, codes.values().next().is_some_and(|code| *code != 0))
}

/// The samples of each holder in order, one for each metric and instant: of what several tell, the greatest, and of what
/// several holders tell, that of the first holder alone.
fn once(held: BTreeMap<Holder, BTreeMap<Metric, Points>>) -> Vec<(Holder, BTreeMap<Metric, Points>)> {
    let several = held.len() > 1;
    let mut taken: BTreeSet<Timestamp> = BTreeSet::new();
    let mut of_each = Vec::with_capacity(held.len());
    for (holder, mut gauges) in held {
        let mut own = Vec::new();
        for points in gauges.values_mut() {
            points.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
            points.dedup_by_key(|(at, _)| *at);
            if several {
                points.retain(|(at, _)| !taken.contains(at));
                own.extend(points.iter().map(|(at, _)| *at));
            }
        }
        gauges.retain(|_, points| !points.is_empty());
        taken.extend(own);
        if !gauges.is_empty() {
            of_each.push((holder, gauges));
        }
    }
    of_each
}
