//! `cargo xtask live`: jobs run under `exec` in a real Slurm and log to a real MLflow, and what they left is joined.
//!
//! A cluster of one node with accounting, an MLflow server and a Prometheus run on 127.0.0.1 for as long as the check
//! does. A training fails, is requeued and completes: what Slurm's accounting, `exec` and MLflow recorded of it must be
//! one experiment of two attempts. `make test-live` installs the programs first; they are Debian's packages of Slurm,
//! MariaDB, munge and Prometheus, and MLflow from PyPI.

mod accounting;
mod mlflow;
mod process;
mod prometheus;
mod scene;
mod scratch;
mod slurm;
mod spool;
mod store;
mod verdict;
mod web;

use std::path::{Path, PathBuf};

use crate::python;
use mlflow::Mlflow;
use process::{Process, free_ports};
use prometheus::Prometheus;
use scene::Scene;
use scratch::Scratch;
use slurm::Slurm;

/// The server and the client of the job.
const PACKAGES: [&str; 1] = ["mlflow==3.17.2"];

/// Runs the check with the program built here, or one that is built already.
pub(crate) fn check(root: &Path, built: Option<&str>) -> Result<(), String> {
    let target = crate::cargo::target(root)?.join("live");
    let python = python::with(&target, &PACKAGES)?;
    let program = match built {
        Some(path) => std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?,
        None => crate::cargo::program(root)?,
    };
    let scratch = Scratch::new()?;
    let outcome = with_servers(root, &scratch, (&program, &python));
    let left = scratch.left_over(10);
    let kept = target.join("answers");
    let _ = std::fs::remove_dir_all(&kept);
    let copied = copy(&scratch.path("answers"), &kept);
    let faults: Vec<String> = [outcome, left, copied].into_iter().filter_map(Result::err).collect();
    if !faults.is_empty() {
        eprintln!("the logs are in {}", scratch.path("log").display());
        return Err(faults.join("\n"));
    }
    let _ = std::fs::remove_dir_all(scratch.folder());
    eprintln!("live: all holds, and all that was started has ended; the answers are in {}", kept.display());
    Ok(())
}

/// Starts what is needed, the slowest first, and ends it whatever happens.
fn with_servers(root: &Path, scratch: &Scratch, (program, python): (&Path, &PathBuf)) -> Result<(), String> {
    let mut mlflow = Mlflow::start(scratch, python)?;
    let slurm = Slurm::start(scratch)?;
    let [port] = free_ports()?;
    let _machines = machines(root, (scratch, &slurm), (python, port))?;
    let machines = format!("http://127.0.0.1:{port}");
    let mut prometheus = Prometheus::start(scratch, &machines)?;
    mlflow.ready(scratch)?;
    let scene = Scene { root, scratch, program, python, slurm: &slurm, mlflow: &mlflow, machines: &machines };
    scene.play(&mut prometheus)
}

/// Starts what stands in for machines with accelerators.
fn machines(
    root: &Path,
    (scratch, slurm): (&Scratch, &Slurm<'_>),
    (python, port): (&Path, u16),
) -> Result<Process, String> {
    let mut command = scratch.command(python);
    command.arg(root.join("xtask/live/machine.py")).arg(scratch.path("gpu-jobs"));
    command.args([&slurm.node, &port.to_string()]);
    let mut process = scratch.start("machines", command)?;
    scratch.patience.until("the stand-in for machines to answer", 60, || {
        process.runs()?;
        Ok(web::get(&format!("http://127.0.0.1:{port}/metrics")).ok())
    })?;
    Ok(process)
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", to.display());
    std::fs::create_dir_all(to).map_err(told)?;
    for entry in std::fs::read_dir(from).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(told)?;
        }
    }
    Ok(())
}
