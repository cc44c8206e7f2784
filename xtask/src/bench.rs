//! `cargo xtask bench attribution`: ours, mere decode and DuckDB over the same charges, in turn, with ratios.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// DuckDB as it was when the figures in `docs/performance.md` were made.
const DUCKDB: &str = "duckdb==1.5.6";

/// Sizes by name and hours of the month: about 67,200 charges an hour.
const SIZES: [(&str, &str); 3] = [("1m", "15"), ("10m", "150"), ("50m", "744")];

/// Runs of each program; the median of its seconds is shown.
const RUNS: usize = 3;

/// Runs the benchmark for the sizes asked for, or for all of them.
pub(crate) fn attribution(root: &Path, sizes: &[&str]) -> Result<(), String> {
    let known = SIZES.map(|(name, _)| name).join(", ");
    if let Some(unknown) = sizes.iter().find(|size| SIZES.iter().all(|(name, _)| name != *size)) {
        return Err(format!("unknown size `{unknown}` (known: {known})"));
    }
    let data = root.join("bench-data");
    let python = crate::python::with(&data, &[DUCKDB])?;
    let ours = example(root)?;
    for (name, hours) in SIZES.iter().filter(|(name, _)| sizes.is_empty() || sizes.contains(name)) {
        size(root, (&python, &ours), &data.join(name), hours)?;
    }
    Ok(())
}

fn size(root: &Path, (python, ours): (&Path, &Path), data: &Path, hours: &str) -> Result<(), String> {
    let folder = data.to_string_lossy().into_owned();
    if !data.join("usage.parquet").exists() || !data.join("complete").exists() {
        eprintln!("generating {folder}");
        std::fs::create_dir_all(data).map_err(|error| error.to_string())?;
        run(Command::new(ours).args(["generate", &folder, hours]))?;
        std::fs::write(data.join("complete"), "").map_err(|error| error.to_string())?;
    }
    let script = root.join("xtask/bench/duckdb_attribution.py").to_string_lossy().into_owned();
    let mut lines = Vec::new();
    for words in [["ours"], ["ours-all"], ["decode"], ["decode-dictionary"]] {
        lines.push(median(|| run(Command::new(ours).args(words).arg(&folder)))?);
    }
    lines.push(median(|| run(Command::new(python).args([&script, "run", &folder])))?);
    // The run with all costs wrote the same file; the comparison reads what the one-cost run gives.
    run(Command::new(ours).args(["ours", &folder]))?;
    lines.push(run(Command::new(python).args([&script, "exact", &folder]))?);
    print(data, &lines)
}

fn print(data: &Path, lines: &[Value]) -> Result<(), String> {
    let base = lines.first().and_then(|line| line["seconds"].as_f64()).ok_or("our run told no seconds")?;
    eprintln!("\n{}", data.file_name().unwrap_or_default().to_string_lossy());
    eprintln!("{:<32} {:>9} {:>9} {:>8} {:>9}", "", "seconds", "CPU s", "MB", "× ours");
    for line in lines {
        let number = |name: &str| line[name].as_f64().unwrap_or(f64::NAN);
        let name = line["engine"].as_str().unwrap_or("?");
        let (seconds, cpu, megabytes) = (number("seconds"), number("cpu"), number("megabytes"));
        eprintln!("{name:<32} {seconds:>9.2} {cpu:>9.2} {megabytes:>8.0} {:>9.2}", seconds / base);
    }
    for line in lines {
        eprintln!("{line}");
    }
    Ok(())
}

/// The run with the median of seconds.
fn median(mut once: impl FnMut() -> Result<Value, String>) -> Result<Value, String> {
    let mut runs = (0..RUNS).map(|_| once()).collect::<Result<Vec<_>, _>>()?;
    runs.sort_by(|a, b| {
        a["seconds"].as_f64().unwrap_or(0.0).total_cmp(&b["seconds"].as_f64().unwrap_or(0.0))
    });
    Ok(runs.swap_remove(RUNS / 2))
}

/// Runs a program and reads the JSON line that it prints.
fn run(command: &mut Command) -> Result<Value, String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{command:?} failed: {text}"));
    }
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|error| format!("{command:?} printed `{last}`: {error}"))
}

/// Builds the example that is our side, in the one profile of the workspace.
fn example(root: &Path) -> Result<PathBuf, String> {
    let built = crate::cargo::cargo()
        .args(["build", "--locked", "--workspace", "--example", "attribution"])
        .current_dir(root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the example `attribution` does not build".to_owned());
    }
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root).no_deps().exec();
    let target = metadata.map_err(|error| error.to_string())?.target_directory;
    Ok(target.join("debug/examples/attribution").into_std_path_buf())
}
