//! Which requests bring a range of time: pure functions from an address and a range to the answers to ask for.

use ledger::{Interval, Timestamp};
use url::Url;

use super::HOUR;
use crate::SourceError;

/// Points that a server gives of one series at most.
pub const MAX_POINTS: i64 = 11_000;

/// Requests of one plan at most: a year of all metrics at ten seconds has half of them.
const MAX_REQUESTS: usize = 20_000;

const MICROS: i64 = 1_000_000;

/// Every metric that is read, those of devices first.
pub const METRICS: &[&str] = &[
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_FB_TOTAL",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_XID_ERRORS",
    "kube_pod_info",
    "kube_pod_created",
    "kube_pod_status_scheduled_time",
    "kube_pod_start_time",
    "kube_pod_completion_time",
    "kube_pod_deletion_timestamp",
    "kube_pod_status_phase",
    "kube_pod_status_reason",
    "kube_pod_container_resource_requests",
    "kube_pod_container_status_restarts_total",
    "kube_pod_container_status_terminated_reason",
    "kube_pod_container_status_last_terminated_reason",
    "kube_pod_container_status_last_terminated_exitcode",
    "kube_pod_container_state_started",
    "kube_pod_labels",
    "kube_node_info",
    "kube_node_created",
    "kube_node_labels",
    "kube_node_status_capacity",
];

/// One request, a `GET`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The address with its query.
    pub url: String,
    /// The metric that it asks for.
    pub metric: &'static str,
    /// The time that its points stand for, `[start, end)`: the last point is a step before the end.
    pub window: Interval,
}

/// The requests for all metrics over a range, in order of time and then of [`METRICS`], each of at most [`MAX_POINTS`]
/// points. The range is widened to whole hours, so that a summary is never of a part of an hour that could be known.
///
/// `base` is the server's address, perhaps with a path that a proxy adds; `step` is in seconds.
///
/// # Errors
/// The address is none of HTTP, the step does not divide an hour, or the range needs too many requests.
pub fn requests(base: &str, range: Interval, step: u32) -> Result<Vec<Request>, SourceError> {
    let endpoint = endpoint(base)?;
    let windows = windows(range, step)?;
    if windows.len().saturating_mul(METRICS.len()) > MAX_REQUESTS {
        return Err(SourceError::new("prometheus::too_many_requests", "the range needs too many requests")
            .expected(format!("at most {MAX_REQUESTS}"), format!("{} windows", windows.len()))
            .help("ask for a shorter range, or a longer step"));
    }
    let mut requests = Vec::with_capacity(windows.len() * METRICS.len());
    for window in windows {
        for metric in METRICS.iter().copied() {
            let last = Timestamp(window.end.0 - i64::from(step) * MICROS);
            let mut url = endpoint.clone();
            url.query_pairs_mut()
                .append_pair("query", metric)
                .append_pair("start", &window.start.seconds().to_string())
                .append_pair("end", &last.seconds().to_string())
                .append_pair("step", &step.to_string());
            requests.push(Request { url: url.into(), metric, window });
        }
    }
    Ok(requests)
}

fn endpoint(base: &str) -> Result<Url, SourceError> {
    let not_an_address = || {
        SourceError::new("prometheus::not_an_address", "the address of the server is none of HTTP")
            .expected("such as http://prometheus:9090", base)
            .help("give the address that a browser shows, without `/graph`")
    };
    let mut url = Url::parse(base.trim()).map_err(|_| not_an_address())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(not_an_address());
    }
    let path = url.path().trim_end_matches('/').trim_end_matches("/api/v1/query_range").to_owned();
    url.set_path(&format!("{path}/api/v1/query_range"));
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// The range cut into windows of whole hours, as long as their points allow: an hour has fewer at any step.
fn windows(range: Interval, step: u32) -> Result<Vec<Interval>, SourceError> {
    let step = i64::from(step);
    if step == 0 || HOUR % step != 0 {
        return Err(SourceError::new("prometheus::no_such_step", "the step does not divide an hour")
            .expected("a number of seconds such as 15, 30 or 60", step.to_string())
            .help("take the interval at which the server scrapes, or a multiple of it"));
    }
    let hour = HOUR * MICROS;
    let length = MAX_POINTS * step / HOUR * hour;
    let end = range.end.0.saturating_add(hour - 1).div_euclid(hour) * hour;
    let mut start = range.start.0.div_euclid(hour) * hour;
    let mut windows = Vec::new();
    while start < end && range.start < range.end {
        let until = start.saturating_add(length).min(end);
        windows.push(Interval { start: Timestamp(start), end: Timestamp(until) });
        if windows.len() > MAX_REQUESTS {
            break;
        }
        start = until;
    }
    Ok(windows)
}
