//! `cargo xtask bench attribution`: ours, mere decode and DuckDB over the same charges, in turn, with ratios.

use std::path::Path;
use std::process::Command;

use super::{DUCKDB, chosen, example, generated, median, print, run};
use crate::python::with as python;

/// Runs the benchmark for the sizes asked for, or for all of them.
pub(crate) fn attribution(root: &Path, sizes: &[&str]) -> Result<(), String> {
    let sizes = chosen(sizes)?;
    let data = root.join("bench-data");
    let python = python(&data, &[DUCKDB])?;
    let ours = example(root, "attribution", &["--workspace"])?;
    for (name, hours) in sizes {
        size(root, (&python, &ours), &data.join(name), hours)?;
    }
    Ok(())
}

fn size(root: &Path, (python, ours): (&Path, &Path), data: &Path, hours: &str) -> Result<(), String> {
    generated(ours, data, hours)?;
    let folder = data.to_string_lossy().into_owned();
    let script = root.join("xtask/bench/duckdb_attribution.py").to_string_lossy().into_owned();
    let mut lines = Vec::new();
    for words in [["ours"], ["ours-all"], ["decode"], ["decode-dictionary"]] {
        lines.push(median(|| run(Command::new(ours).args(words).arg(&folder)))?);
    }
    lines.push(median(|| run(Command::new(python).args([&script, "run", &folder])))?);
    // The run with all costs wrote the same file; the comparison reads what the one-cost run gives.
    run(Command::new(ours).args(["ours", &folder]))?;
    lines.push(run(Command::new(python).args([&script, "exact", &folder]))?);
    print(&data.file_name().unwrap_or_default().to_string_lossy(), &lines)
}
