//! One summary: decoded, and told as what each device and host did over the job's time.

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;
use ledger::{Gauge, Interval, Metric, Observation, RunRecord, SourceId, Utilisation, WHOLE_SHARE};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::telemetry::attempts::Refusal;
use crate::telemetry::shared::sample::{Sample, scaled};

/// What a comment of jobstats begins with.
const MARK: &str = "JS1:";

/// Largest summary, in bytes: one of ten thousand hosts has less.
const MAX_SUMMARY: u64 = 16 * 1024 * 1024;

/// How far the length that a summary tells may be from that of the record, in seconds.
const SLACK: u64 = 300;

/// A text that may be a summary, and of what.
pub(in crate::telemetry) struct Summarised<'a> {
    /// The key of the attempt, or the beginning of it.
    pub(in crate::telemetry) key: String,
    pub(in crate::telemetry) cluster: &'a str,
    /// When it ran, if it has ended.
    pub(in crate::telemetry) ran: Option<Interval>,
    pub(in crate::telemetry) text: &'a str,
}

#[derive(Deserialize)]
struct Summary<'s> {
    #[serde(borrow)]
    nodes: BTreeMap<String, Node<'s>>,
    #[serde(borrow)]
    total_time: Option<&'s RawValue>,
}

/// Numbers are text until their unit is known, so that none goes through a float.
#[derive(Deserialize)]
struct Node<'s> {
    #[serde(borrow)]
    cpus: Option<&'s RawValue>,
    #[serde(borrow)]
    total_time: Option<&'s RawValue>,
    #[serde(borrow)]
    used_memory: Option<&'s RawValue>,
    #[serde(borrow)]
    total_memory: Option<&'s RawValue>,
    #[serde(borrow, default)]
    gpu_utilization: BTreeMap<String, &'s RawValue>,
    #[serde(borrow, default)]
    gpu_used_memory: BTreeMap<String, &'s RawValue>,
    #[serde(borrow, default)]
    gpu_total_memory: BTreeMap<String, &'s RawValue>,
}

/// What the text says; nothing if it is no comment of jobstats, or says that there is no summary.
///
/// # Errors
/// It is a comment of jobstats and cannot be decoded, or tells of another time than the record.
pub(in crate::telemetry) fn observations(of: &Summarised<'_>) -> Result<Vec<Observation>, Refusal> {
    let text = of.text.trim();
    let json = match text.strip_prefix(MARK) {
        Some("Short" | "None" | "") => return Ok(Vec::new()),
        Some(encoded) => decoded(encoded).ok_or_else(|| not_a_summary(text))?,
        None if text.starts_with('{') && text.contains("\"nodes\"") => text.to_owned(),
        None => return Ok(Vec::new()),
    };
    let summary: Summary<'_> = serde_json::from_str(&json).map_err(|_| not_a_summary(&json))?;
    // What has not ended has no summary yet; one is left from an execution before.
    let Some(ran) = of.ran else { return Ok(Vec::new()) };
    let length = u64::try_from(ran.micros() / 1_000_000).unwrap_or(0);
    let told = summary.total_time.map(|raw| number("total_time", raw, 1)).transpose()?;
    if let Some(told) = told.filter(|told| told.abs_diff(length) > SLACK) {
        let found = format!("{told} s");
        let expected = format!("{length} s, as the record ran; the summary is of another execution");
        return Err(Refusal::new("row::other_execution", "total_time", &found, expected));
    }
    let mut told = Vec::new();
    for (host, node) in &summary.nodes {
        node.tell((host, ran), &mut told)?;
    }
    let source = SourceId(format!("jobstats:{}", of.cluster));
    let observed = |utilisation| Observation {
        source: source.clone(),
        key: of.key.clone(),
        modified_at: Some(ran.end),
        record: RunRecord::Utilisation(utilisation),
    };
    Ok(told.into_iter().map(observed).collect())
}

fn not_a_summary(text: &str) -> Refusal {
    let expected = "`JS1:` and a summary as JSON under gzip in base64; sacct may have cut it: export with -P";
    Refusal::new("row::not_a_summary", "AdminComment", text, expected)
}

fn decoded(encoded: &str) -> Option<String> {
    let bytes = STANDARD.decode(encoded.trim()).ok()?;
    let mut text = String::new();
    let read = MultiGzDecoder::new(bytes.as_slice()).take(MAX_SUMMARY + 1).read_to_string(&mut text).ok()?;
    (u64::try_from(read).ok()? <= MAX_SUMMARY).then_some(text)
}

impl Node<'_> {
    /// Adds what its devices and the host itself did.
    fn tell(&self, (host, ran): (&str, Interval), told: &mut Vec<Utilisation>) -> Result<(), Refusal> {
        let mut devices: BTreeMap<&str, Vec<Gauge>> = BTreeMap::new();
        for (index, raw) in &self.gpu_utilization {
            // A percentage, beyond which a mean of percentages cannot be.
            let mean = number("gpu_utilization", raw, 10_000)?.min(WHOLE_SHARE);
            let gauge = Gauge { mean: Some(mean), ..Gauge::of(Metric::GpuBusy) };
            devices.entry(index).or_default().push(gauge);
        }
        for (metric, name, of_each) in [
            (Metric::MemoryUsed, "gpu_used_memory", &self.gpu_used_memory),
            (Metric::MemoryTotal, "gpu_total_memory", &self.gpu_total_memory),
        ] {
            for (index, raw) in of_each {
                let gauge = Gauge { greatest: Some(number(name, raw, 1)?), ..Gauge::of(metric) };
                devices.entry(index).or_default().push(gauge);
            }
        }
        let summary = |device: String, gauges| Utilisation {
            device,
            host: Some(host.to_owned()),
            model: None,
            window: ran,
            coverage: None,
            gauges,
            errors: Vec::new(),
        };
        let of_host = self.of_host(ran)?;
        if !of_host.is_empty() {
            told.push(summary(host.to_owned(), of_host));
        }
        told.extend(devices.into_iter().map(|(index, gauges)| summary(format!("{host}/{index}"), gauges)));
        Ok(())
    }

    fn of_host(&self, ran: Interval) -> Result<Vec<Gauge>, Refusal> {
        let mut gauges = Vec::new();
        if let (Some(busy), Some(cpus)) = (self.total_time, self.cpus) {
            // Microseconds of processors that were busy, of those that there were.
            let busy = u128::from(number("total_time", busy, 1_000_000)?);
            let cpus = u128::from(number("cpus", cpus, 1)?);
            let held = u128::try_from(ran.micros()).unwrap_or(0).saturating_mul(cpus);
            let share = busy.saturating_mul(u128::from(WHOLE_SHARE)).checked_div(held);
            let mean = share.and_then(|share| u64::try_from(share).ok()).map(|share| share.min(WHOLE_SHARE));
            gauges.extend(mean.map(|mean| Gauge { mean: Some(mean), ..Gauge::of(Metric::CpuBusy) }));
        }
        for (metric, name, raw) in [
            (Metric::HostMemoryUsed, "used_memory", self.used_memory),
            (Metric::HostMemoryTotal, "total_memory", self.total_memory),
        ] {
            if let Some(raw) = raw {
                gauges.push(Gauge { greatest: Some(number(name, raw, 1)?), ..Gauge::of(metric) });
            }
        }
        Ok(gauges)
    }
}

fn number(name: &str, raw: &RawValue, scale: u32) -> Result<u64, Refusal> {
    match scaled(raw.get(), scale) {
        Sample::Number(number) => Ok(number),
        Sample::Missing | Sample::Broken => {
            Err(Refusal::new("row::not_a_number", name, raw.get(), "a number that is not negative"))
        }
    }
}
