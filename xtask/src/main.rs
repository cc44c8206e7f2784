//! `cargo xtask`: the tasks of this repository, so that nothing but cargo is needed to run them.
#![expect(clippy::print_stderr, reason = "a task reports to the person at the terminal")]

mod bench;
mod cargo;
mod ci;
mod focus;
mod live;
mod places;
mod python;
mod totals;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::{generate, tidy};

const USAGE: &str = "usage: cargo xtask <task>

tasks:
  ci     format, tidy, lints, every test: what must hold before a change is merged
  tidy   the code's own rules: layers, fences, limits, lists, first lines, words, generated pages
  generate [--check]
         docs/sources.md and docs/errors.md from the sources; with --check they are only compared
  totals the sums of every bill by DuckDB, from the raw files and the documented formulae, against ours; needs Python
  bench attribution [1m] [10m] [50m]
         the attribution against mere decode and DuckDB; needs Python, some 8 GB of disk for the largest size
  places
         imports from servers that stand in for S3 and Google Cloud Storage; needs Python and the network to install them
  live [PROGRAM]
         jobs under `exec` in a real Slurm that log to a real MLflow, and what was recorded of them, joined; `make test-live`
         installs what it needs; PROGRAM is a `trainbill` that is built already
  validate-focus FILE
         the FinOps Foundation's validator on a FOCUS export; needs Python 3.12 and the network to install it";

/// Exit code of a command that was called wrongly.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["ci"] => finish(ci::run(&root())),
        ["tidy"] => finish(tidy(&root())),
        ["generate"] => finish(write_pages(&root())),
        ["generate", "--check"] => finish(check_pages(&root())),
        ["totals"] => finish(totals::run(&root())),
        ["bench", "attribution", sizes @ ..] => finish(bench::attribution(&root(), sizes)),
        ["places"] => finish(places::check(&root())),
        ["live"] => finish(live::check(&root(), None)),
        ["live", program] => finish(live::check(&root(), Some(program))),
        ["live", ..] => usage_error("live takes one program at most"),
        ["validate-focus", file] => finish(focus::validate(&root(), file)),
        ["validate-focus", ..] => usage_error("validate-focus takes one file"),
        ["bench", "import", sizes @ ..] => finish(bench::import(&root(), sizes)),
        ["help" | "--help" | "-h"] => {
            eprintln!("{USAGE}");
            ExitCode::SUCCESS
        }
        [] => usage_error("no task given"),
        ["ci" | "tidy" | "places" | "totals", surplus, ..] | ["generate", surplus, ..] => {
            usage_error(&format!("unexpected argument `{surplus}`"))
        }
        [unknown, ..] => usage_error(&format!(
            "unknown task `{unknown}` (known: ci, tidy, generate, totals, bench attribution, bench import, places, \
             live, validate-focus)"
        )),
    }
}

/// The folder of the workspace, whatever folder the task was started in.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// Runs every check over the tree and prints what breaks it.
fn tidy(root: &Path) -> Result<(), String> {
    let workspace = tidy::Workspace::read(root).map_err(|error| error.to_string())?;
    let mut count = 0;
    for check in tidy::CHECKS {
        for problem in (check.run)(&workspace) {
            eprintln!("{}: {problem}", check.name);
            count += 1;
        }
    }
    if count > 0 {
        return Err(format!("{count} problems in the tree"));
    }
    eprintln!("tidy: {} checks hold", tidy::CHECKS.len());
    Ok(())
}

/// Writes the generated pages that are stale.
fn write_pages(root: &Path) -> Result<(), String> {
    let workspace = tidy::Workspace::read(root).map_err(|error| error.to_string())?;
    let written = generate::write(root, &workspace)?;
    for path in &written {
        eprintln!("wrote {path}");
    }
    if written.is_empty() {
        eprintln!("generate: {} are fresh", generate::PATHS.join(" and "));
    }
    Ok(())
}

/// Names the generated pages that are stale, and the command that mends them.
fn check_pages(root: &Path) -> Result<(), String> {
    let workspace = tidy::Workspace::read(root).map_err(|error| error.to_string())?;
    match generate::stale(&workspace)?.as_slice() {
        [] => Ok(()),
        stale => Err(format!("{} is stale; run `{}`", stale.join(" and "), generate::COMMAND)),
    }
}

fn finish(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn usage_error(message: &str) -> ExitCode {
    eprintln!("error: {message}\n\n{USAGE}");
    ExitCode::from(EXIT_USAGE)
}
