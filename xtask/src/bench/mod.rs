//! `cargo xtask bench`: what ours and its peers have in common: sizes, runs in turn, the table with ratios.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

mod attribution;
mod import;

pub(crate) use attribution::attribution;
pub(crate) use import::import;

/// DuckDB as it was when the figures in `docs/performance.md` were made.
pub(crate) const DUCKDB: &str = "duckdb==1.5.6";

/// Sizes by name and hours of the month: about 67,200 charges an hour.
const SIZES: [(&str, &str); 3] = [("1m", "15"), ("10m", "150"), ("50m", "744")];

/// Runs of each program; the median of its seconds is shown.
const RUNS: usize = 3;

/// The sizes asked for, or all of them.
fn chosen(sizes: &[&str]) -> Result<Vec<(&'static str, &'static str)>, String> {
    let known = SIZES.map(|(name, _)| name).join(", ");
    if let Some(unknown) = sizes.iter().find(|size| SIZES.iter().all(|(name, _)| name != *size)) {
        return Err(format!("unknown size `{unknown}` (known: {known})"));
    }
    Ok(SIZES.into_iter().filter(|(name, _)| sizes.is_empty() || sizes.contains(name)).collect())
}

/// Generates the data of a folder, unless an earlier run has completed it.
fn generated(ours: &Path, data: &Path, hours: &str) -> Result<(), String> {
    if data.join("complete").exists() {
        return Ok(());
    }
    eprintln!("generating {}", data.display());
    std::fs::create_dir_all(data).map_err(|error| error.to_string())?;
    let made = Command::new(ours).arg("generate").arg(data).arg(hours).status();
    if !made.is_ok_and(|status| status.success()) {
        return Err(format!("{} could not generate {}", ours.display(), data.display()));
    }
    std::fs::write(data.join("complete"), "").map_err(|error| error.to_string())
}

/// Prints the lines as a table; seconds are compared with those of the first.
fn print(title: &str, lines: &[Value]) -> Result<(), String> {
    let base = lines.first().and_then(|line| line["seconds"].as_f64()).ok_or("our run told no seconds")?;
    eprintln!("\n{title}");
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

/// Builds the example that is our side, in the one profile of the workspace; `scope` is what of the workspace is built.
fn example(root: &Path, name: &str, scope: &[&str]) -> Result<PathBuf, String> {
    let built = crate::cargo::cargo()
        .args(["build", "--locked"])
        .args(scope)
        .args(["--example", name])
        .current_dir(root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err(format!("the example `{name}` does not build"));
    }
    Ok(crate::cargo::target(root)?.join("debug/examples").join(name))
}
