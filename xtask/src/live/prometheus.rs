//! Prometheus, which scrapes a stand-in for DCGM's exporter.

use std::path::PathBuf;

use serde_json::Value;

use super::process::{Process, free_ports, output};
use super::scratch::Scratch;
use super::web;

/// Everything that the exporter tells, with its names.
const ALL: &str = r#"{__name__=~"DCGM_.+"}"#;

/// A running server; it ends with this value.
pub(super) struct Prometheus {
    process: Process,
    endpoint: String,
}

impl Prometheus {
    /// Starts a server that asks the exporter at this address every second.
    pub(super) fn start(scratch: &Scratch, exporter: &str) -> Result<Self, String> {
        let version = output(scratch.command("prometheus").arg("--version"))
            .map_err(|error| format!("{error}\ninstall prometheus, as `make test-live` does"))?;
        let [port] = free_ports()?;
        let target = exporter.trim_start_matches("http://");
        let configuration = scratch.write(
            "prometheus.yml",
            &format!(
                "global: {{scrape_interval: 1s}}\nscrape_configs:\n  - job_name: dcgm\n    static_configs:\n      \
                 - targets: ['{target}']\n"
            ),
        )?;
        let mut server = scratch.command("prometheus");
        server.arg(format!("--config.file={}", configuration.display()));
        server.arg(format!("--storage.tsdb.path={}", scratch.path("prometheus").display()));
        server.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let process = scratch.start("prometheus", server)?;
        let endpoint = format!("http://127.0.0.1:{port}");
        eprintln!("{} at {endpoint}", version.lines().next().unwrap_or_default());
        Ok(Self { process, endpoint })
    }

    /// Waits until it has so many samples of a job on an accelerator.
    pub(super) fn samples(&mut self, scratch: &Scratch, job: &str, least: usize) -> Result<(), String> {
        let query = web::quoted(&format!(r#"count_over_time(DCGM_FI_DEV_GPU_UTIL{{hpc_job="{job}"}}[1h])"#));
        let url = format!("{}/api/v1/query?query={query}", self.endpoint);
        scratch.patience.until("samples of a job", 60, || {
            self.process.runs()?;
            let answer = web::get(&url).and_then(|text| web::json(&text)).unwrap_or_default();
            let count = answer.pointer("/data/result/0/value/1").and_then(Value::as_str).unwrap_or("0");
            let count: usize = count.parse().map_err(|_| format!("`{count}` is no number of samples"))?;
            Ok((count >= least).then_some(()))
        })
    }

    /// Saves the answer of `query_range` to everything from a time on, in seconds since 1970, and gives it with its file.
    pub(super) fn answer(&self, scratch: &Scratch, since: u64) -> Result<(Value, PathBuf), String> {
        let now = web::json(&web::get(&format!("{}/api/v1/query?query=time()", self.endpoint))?)?;
        let now = now
            .pointer("/data/result/0")
            .and_then(Value::as_f64)
            .ok_or("Prometheus does not tell the time")?;
        let range = format!("query={}&start={since}&end={now}&step=1", web::quoted(ALL));
        let text = web::get(&format!("{}/api/v1/query_range?{range}", self.endpoint))?;
        Ok((web::json(&text)?, scratch.write("answers/prometheus.json", &text)?))
    }
}
