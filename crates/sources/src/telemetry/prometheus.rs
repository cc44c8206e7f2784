//! Reads what Prometheus recorded of accelerators and pods: DCGM's exporter and kube-state-metrics, as `query_range` JSON.
//!
//! # What it reads
//!
//! Answers of `/api/v1/query_range` with the names of the series in them, one after another or in several files, read
//! together. One window of one series at most 11,000 points long is an answer; ask for several windows, each ending a
//! step before the next begins:
//!
//! ```text
//! curl -G http://localhost:9090/api/v1/query_range -d query=DCGM_FI_DEV_GPU_UTIL \
//!   -d start=2026-07-01T00:00:00Z -d end=2026-07-01T23:59:30Z -d step=30
//! ```
//!
//! | series | what it becomes |
//! |---|---|
//! | `DCGM_FI_DEV_GPU_UTIL` | share of time in which any kernel ran; full while a kernel hangs |
//! | `DCGM_FI_PROF_GR_ENGINE_ACTIVE`, `…_SM_ACTIVE`, `…_PIPE_TENSOR_ACTIVE`, `…_DRAM_ACTIVE` | shares of time or cycles |
//! | `DCGM_FI_DEV_FB_USED`, `DCGM_FI_DEV_FB_TOTAL` | device memory, from MiB |
//! | `DCGM_FI_DEV_POWER_USAGE` | power, from watts |
//! | `DCGM_FI_DEV_XID_ERRORS` | an error at each change to another code |
//! | label `UUID` with `GPU_I_ID`, else `Hostname` with `gpu` | the device, or the slice of it |
//! | labels `hpc_job`; `pod_uid`; `namespace` with `pod` | what held it, in the cluster of the label `cluster` or as given |
//! | `kube_pod_info`, `…_created`, `…_status_scheduled_time`, `…_start_time`, `…_completion_time`, `…_deletion_timestamp` | a pod, its node and its times |
//! | `kube_pod_status_phase`, `kube_pod_status_reason` | how it stands, and why |
//! | `kube_pod_container_resource_requests` | accelerators and processors held |
//! | `kube_pod_container_status_restarts_total`, `…_last_terminated_reason`, `…_last_terminated_exitcode`, `…_terminated_reason`, `kube_pod_container_state_started` | runs of a container |
//! | `kube_pod_labels` | experiment, team, user and versions, by key, as far as the labels are exported |
//! | `kube_node_info`, `…_created`, `…_labels`, `kube_node_status_capacity` | the machine of a node, and its size |
//!
//! Where the scraping renamed labels to `exported_…`, those are read. Other series are accepted and say nothing.
//!
//! # How a record becomes an attempt
//!
//! Series of pods are put together to the objects that they were made from, which are then read as those of
//! `import kubernetes` are: the same pod has the same key in both, if `--cluster` is the uid of the namespace
//! `kube-system`. A pod whose series ended before the others did is gone.
//!
//! Series of devices make no attempt. Each device, and each that held it, has a summary of every hour in exact whole
//! numbers: samples expected and seen, mean, least and greatest of each metric, and the time in which a share was below
//! a twentieth, as a sum and in stretches. They are evidence of waste, and price nothing. A device counts once,
//! whatever exporters, ranks and replicas of a server tell of it: at each instant a metric has one value, the greatest.
//! Where no label tells what held a device, an hour in which nothing else held it is expected to be full of samples;
//! otherwise samples are expected from the first to the last.
//!
//! A sample that is no number, infinite, negative, or beyond what can be (DCGM writes 9223372036854775794 and its like
//! for a field that is blank) is no sample: it is counted as missing. A gap is missing too, and never zero.
//!
//! # What it cannot tell
//!
//! * Whether a gap was idle: nobody looked. Prometheus repeats a value for up to five minutes after its series broke
//!   off, so gaps and the ends of pods are known to five minutes.
//! * Which part of a device each of several pods used that share it.
//! * Errors that had been reported before the first sample: the series holds the last code for good.
//! * Pods of a `JobSet` are ranks only if its labels are exported (`--metric-labels-allowlist`); else each is an attempt.
//!   Jobs of other controllers are not put together. Import these as objects of Kubernetes, and not from here as well.
//! * Series that a function was applied to have no name, and are rejected.
//!
//! # References
//!
//! * <https://prometheus.io/docs/prometheus/latest/querying/api/>
//! * <https://docs.nvidia.com/datacenter/dcgm/latest/gpu-telemetry/dcgm-exporter.html>
//! * <https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics>

mod answer;
mod device;
mod object;
mod pods;
pub mod request;
mod summary;

use std::io::BufRead;

use ledger::{Interval, Timestamp};

use self::answer::Series;
use self::device::Devices;
use self::pods::Pods;
use super::TelemetryRead;
use super::attempts::Refusal;
use crate::SourceError;

/// Seconds that one summary spans.
const HOUR: i64 = 3_600;

/// What the user says beside the files.
#[derive(Debug, Clone, Default)]
pub struct PrometheusOptions {
    /// The cluster of series that carry no label `cluster`.
    pub cluster: Option<String>,
    /// Normalised keys of labels whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
    /// What was asked for; without it, from the first to the last sample of any series.
    pub asked: Option<Interval>,
    /// The step that was asked for, in seconds; without it, the least distance of two samples.
    pub step_seconds: Option<u32>,
}

/// Reads files together, each with its name for places in messages.
///
/// # Errors
/// A coded error where a file as a whole cannot be read: it breaks off, is larger than 256 MiB, or is no answer of
/// `query_range`; or where there are pods, and nothing names their cluster.
pub fn read<R: BufRead>(
    files: impl IntoIterator<Item = (String, R)>,
    options: &PrometheusOptions,
) -> Result<TelemetryRead, SourceError> {
    let mut import = Import {
        read: TelemetryRead::default(),
        devices: Devices::new(options),
        pods: Pods::default(),
        clock: Clock::default(),
        other_series: 0,
    };
    let mut told = Vec::new();
    for (name, input) in files {
        let answers = answer::answers(input, &name)?;
        told.extend(answers.warnings);
        for (row, series) in (1..).zip(answers.series) {
            let taken = series.and_then(|series| import.take(series, options));
            import.read.count(taken, &name, row);
        }
    }
    import.finished(options, &told)
}

/// The times of all samples.
#[derive(Debug, Default)]
pub(super) struct Clock {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The least distance of two samples of one series, in microseconds.
    step: Option<i64>,
}

impl Clock {
    fn see(&mut self, points: &[(Timestamp, String)]) {
        for (at, _) in points {
            self.first = Some(self.first.map_or(*at, |first| first.min(*at)));
            self.last = self.last.max(Some(*at));
        }
        let distances = points.windows(2).filter_map(|pair| match pair {
            [(a, _), (b, _)] => Some(b.0 - a.0).filter(|distance| *distance > 0),
            _ => None,
        });
        if let Some(least) = distances.min() {
            self.step = Some(self.step.map_or(least, |step| step.min(least)));
        }
    }

    /// The step in whole seconds, as asked for or as seen.
    fn step_seconds(&self, options: &PrometheusOptions) -> Option<u32> {
        let seen = self.step.and_then(|step| u32::try_from(step / 1_000_000).ok());
        options.step_seconds.or(seen).filter(|step| *step > 0)
    }
}

/// What is gathered while answers are read.
struct Import {
    read: TelemetryRead,
    devices: Devices,
    pods: Pods,
    clock: Clock,
    other_series: u64,
}

impl Import {
    fn take(&mut self, series: Series, options: &PrometheusOptions) -> Result<(), Refusal> {
        if let Some(field) = device::field(&series.name) {
            self.clock.see(&series.points);
            return self.devices.take(field, &series);
        }
        if self.pods.knows(&series.name) {
            self.clock.see(&series.points);
            return self.pods.take(&series, options);
        }
        self.other_series += 1;
        Ok(())
    }

    fn finished(
        mut self,
        options: &PrometheusOptions,
        told: &[String],
    ) -> Result<TelemetryRead, SourceError> {
        let step = self.clock.step_seconds(options);
        let seen = self.clock.first.zip(self.clock.last).map(|(start, last)| {
            let end = last.0.saturating_add(i64::from(step.unwrap_or(1)).saturating_mul(1_000_000));
            Interval { start, end: Timestamp(end) }
        });
        if let Some(asked) = options.asked.or(seen) {
            self.devices.finish(&mut self.read, &summary::Grid { asked, step });
            self.pods.finish(&mut self.read, (options, asked))?;
        }
        if let Some(first) = told.first() {
            let count = u64::try_from(told.len()).unwrap_or(u64::MAX);
            let message = format!("warning(s) of the server came with the answers, the first: {first}");
            let help = "an answer with warnings may lack data: query again when the server is whole";
            self.read.warn_of(count, "prometheus::answer_warns", (message.as_str(), help));
        }
        let message = "series are of no metric that is read here, and say nothing";
        self.read.warn_of(
            self.other_series,
            "prometheus::other_series",
            (message, "nothing needs to be done"),
        );
        Ok(self.read)
    }
}
