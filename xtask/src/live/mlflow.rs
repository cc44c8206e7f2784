//! MLflow's tracking server, and the answers of its REST interface as `import mlflow` reads them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::process::{Process, free_ports};
use super::scratch::Scratch;
use super::web;

/// A running server; it ends with this value.
pub(super) struct Mlflow {
    process: Process,
    pub(super) endpoint: String,
}

impl Mlflow {
    pub(super) fn start(scratch: &Scratch, python: &Path) -> Result<Self, String> {
        let [port] = free_ports()?;
        let mut server = scratch.command(python);
        server.env("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false");
        server.args([
            "-m",
            "mlflow",
            "server",
            "--host",
            "127.0.0.1",
            "--workers",
            "1",
            "--port",
            &port.to_string(),
        ]);
        server.arg("--backend-store-uri").arg(format!("sqlite:///{}", scratch.path("mlflow.db").display()));
        server.arg("--artifacts-destination").arg(scratch.path("artifacts"));
        let process = scratch.start("mlflow", server)?;
        Ok(Self { process, endpoint: format!("http://127.0.0.1:{port}") })
    }

    /// Waits until it answers.
    pub(super) fn ready(&mut self, scratch: &Scratch) -> Result<(), String> {
        let Self { process, endpoint } = self;
        scratch.patience.until("MLflow to answer", 240, || {
            process.runs()?;
            Ok(web::get(&format!("{endpoint}/health")).ok())
        })?;
        let version = web::get(&format!("{endpoint}/version"))?;
        eprintln!("MLflow {version} at {endpoint}");
        Ok(())
    }

    /// Saves all runs of the default experiment with their histories, and gives the runs and the files.
    pub(super) fn answers(&self, scratch: &Scratch) -> Result<(Vec<Value>, Vec<PathBuf>), String> {
        let question = json!({"experiment_ids": ["0"], "max_results": 100, "run_view_type": "ALL"});
        let text = web::post(&format!("{}/api/2.0/mlflow/runs/search", self.endpoint), &question)?;
        let runs = web::json(&text)?["runs"].as_array().cloned().unwrap_or_default();
        let mut files = vec![scratch.write("answers/mlflow-runs.json", &text)?];
        for run in &runs {
            let id = run["info"]["run_id"].as_str().unwrap_or_default();
            for metric in run["data"]["metrics"].as_array().into_iter().flatten() {
                let key = metric["key"].as_str().unwrap_or_default();
                let of_metric = format!("run_id={id}&metric_key={key}&max_results=1000");
                let text =
                    web::get(&format!("{}/api/2.0/mlflow/metrics/get-history?{of_metric}", self.endpoint))?;
                // The answer does not name its run.
                files.push(scratch.write(&format!("answers/mlflow-{key}-{id}.json"), &text)?);
            }
        }
        Ok((runs, files))
    }
}
