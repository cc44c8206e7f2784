//! The `trainbill` program: reads the command line, the clock and the environment, and shows what the verbs answer.

mod arguments;
mod commands;
mod display;
mod failure;
mod manual;
mod progress;
mod session;
mod spool;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use app::AppError;
use clap::Parser;
use ledger::Timestamp;

use arguments::{Arguments, Command};
use commands::{Outcome, Verdict};
use session::Surroundings;

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const CHECK_DID_NOT_HOLD: u8 = 3;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // What is written is help or a usage error; a closed pipe changes neither.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    // It neither needs a store nor may wait for what the other commands need.
    if let Command::Exec(exec) = arguments.command {
        return spool::exec(exec, report, now);
    }
    let color =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    match run(arguments) {
        Ok(outcome) => finish(&outcome, color),
        Err(error) => {
            report(&failure::text(&error, color));
            ExitCode::from(FAILED)
        }
    }
}

fn run(arguments: Arguments) -> Result<Outcome, AppError> {
    let surroundings = Surroundings { environment: environment(), now: now() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| AppError::new("cli::no_runtime", error.to_string()))?;
    runtime.block_on(commands::run(arguments, &surroundings))
}

/// Writes the answer to standard output and everything else to standard error.
fn finish(outcome: &Outcome, color: bool) -> ExitCode {
    for warning in &outcome.warnings {
        report(&failure::warning(warning, color));
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(outcome.stdout.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        // The reader has seen enough, as `head` has.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            report(&failure::text(
                &AppError::new("cli::cannot_write", error.to_string()).at("standard output"),
                color,
            ));
            return ExitCode::from(FAILED);
        }
    }
    for note in &outcome.notes {
        report(&format!("{note}\n"));
    }
    ExitCode::from(match outcome.verdict {
        Verdict::Ok => 0,
        Verdict::CheckDidNotHold => CHECK_DID_NOT_HOLD,
    })
}

/// Says something beside the answer; that nobody reads it is no failure.
fn report(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The variables that settings may come from.
fn environment() -> BTreeMap<String, String> {
    let pairs = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    pairs.filter(|(name, _)| name.starts_with("TRAINBILL_")).collect()
}

/// Now, or the instant of `SOURCE_DATE_EPOCH` (reproducible-builds.org), so that a run can be made again exactly.
#[expect(
    clippy::disallowed_methods,
    reason = "the face reads the clock and the environment, once, and hands them on"
)]
fn now() -> Timestamp {
    let declared = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse::<i64>().ok());
    if let Some(seconds) = declared {
        return Timestamp::from_seconds(seconds);
    }
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}
