//! The stored forms of what devices did and of what rests in buckets.

use ledger::{Interval, Timestamp};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::word::{Word as _, known};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Utilisation {
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    start: i64,
    end: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gauges: Vec<Gauge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<DeviceError>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Coverage {
    step_seconds: u32,
    expected: u32,
    seen: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gauge {
    metric: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    greatest: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Low>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Low {
    seconds: u32,
    longest: u32,
    at_start: u32,
    at_end: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    power: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceError {
    at: i64,
    code: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredBytes {
    bucket: String,
    prefix: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    is_current: bool,
    objects: u64,
    bytes: u64,
    at: i64,
}

impl From<&ledger::Utilisation> for Utilisation {
    fn from(told: &ledger::Utilisation) -> Self {
        let ledger::Utilisation { device, host, model, window, coverage, gauges, errors } = told;
        let coverage = coverage.map(|ledger::Coverage { step_seconds, expected, seen }| Coverage {
            step_seconds,
            expected,
            seen,
        });
        Self {
            device: device.clone(),
            host: host.clone(),
            model: model.clone(),
            start: window.start.0,
            end: window.end.0,
            coverage,
            gauges: gauges.iter().map(Gauge::from).collect(),
            errors: errors.iter().map(|error| DeviceError { at: error.at.0, code: error.code }).collect(),
        }
    }
}

impl TryFrom<Utilisation> for ledger::Utilisation {
    type Error = StoreError;

    fn try_from(stored: Utilisation) -> Result<Self, StoreError> {
        let coverage = stored.coverage.map(|Coverage { step_seconds, expected, seen }| ledger::Coverage {
            step_seconds,
            expected,
            seen,
        });
        let error = |DeviceError { at, code }: DeviceError| ledger::DeviceError { at: Timestamp(at), code };
        Ok(Self {
            device: stored.device,
            host: stored.host,
            model: stored.model,
            window: Interval { start: Timestamp(stored.start), end: Timestamp(stored.end) },
            coverage,
            gauges: stored.gauges.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            errors: stored.errors.into_iter().map(error).collect(),
        })
    }
}

impl From<&ledger::Gauge> for Gauge {
    fn from(told: &ledger::Gauge) -> Self {
        let ledger::Gauge { metric, samples, mean, least, greatest, low } = *told;
        let low = low.map(|ledger::Low { seconds, longest, at_start, at_end, power }| Low {
            seconds,
            longest,
            at_start,
            at_end,
            power,
        });
        Self { metric: metric.text(), samples, mean, least, greatest, low }
    }
}

impl TryFrom<Gauge> for ledger::Gauge {
    type Error = StoreError;

    fn try_from(stored: Gauge) -> Result<Self, StoreError> {
        let Gauge { metric, samples, mean, least, greatest, low } = stored;
        let low = low.map(|Low { seconds, longest, at_start, at_end, power }| ledger::Low {
            seconds,
            longest,
            at_start,
            at_end,
            power,
        });
        Ok(Self { metric: known(&metric)?, samples, mean, least, greatest, low })
    }
}

impl From<&ledger::StoredBytes> for StoredBytes {
    fn from(told: &ledger::StoredBytes) -> Self {
        let ledger::StoredBytes { bucket, prefix, class, is_current, objects, bytes, at } = told;
        Self {
            bucket: bucket.clone(),
            prefix: prefix.clone(),
            class: class.clone(),
            is_current: *is_current,
            objects: *objects,
            bytes: *bytes,
            at: at.0,
        }
    }
}

impl From<StoredBytes> for ledger::StoredBytes {
    fn from(stored: StoredBytes) -> Self {
        let StoredBytes { bucket, prefix, class, is_current, objects, bytes, at } = stored;
        Self { bucket, prefix, class, is_current, objects, bytes, at: Timestamp(at) }
    }
}
