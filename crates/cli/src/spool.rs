//! `exec`: hands the command line, the environment and the clock to the crate that runs a program and records it.

use std::path::PathBuf;
use std::process::ExitCode;

use launch::Call;
use ledger::Timestamp;

use crate::arguments::Exec;

/// Where records are kept unless somebody says otherwise.
pub(crate) fn folder(given: Option<PathBuf>) -> PathBuf {
    launch::folder(given, &std::env::vars_os().collect())
}

/// Runs the program and ends as it ended.
pub(crate) fn exec(exec: Exec, say: fn(&str), now: fn() -> Timestamp) -> ExitCode {
    let Exec { experiment, spool, command } = exec;
    let environment = std::env::vars_os().collect();
    launch::command(Call { experiment, spool, command, environment }, &say, &now)
}
