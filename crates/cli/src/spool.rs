//! `exec`: the face of the crate that runs a program and keeps a record of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use launch::{Ended, Face, HEARTBEAT_SECONDS, Report, Request};
use ledger::Timestamp;

use crate::arguments::Exec;
use crate::display::duration;

/// Where records are kept unless somebody says otherwise: `TRAINBILL_SPOOL`, else the user's folder for state
/// (specifications.freedesktop.org/basedir), else that for temporary files.
pub(crate) fn folder(given: Option<PathBuf>) -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_state = || set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    given
        .or_else(|| set("TRAINBILL_SPOOL"))
        .unwrap_or_else(|| of_state().unwrap_or_else(std::env::temp_dir).join("trainbill/spool"))
}

/// Runs the program and ends as it ended.
pub(crate) fn exec(exec: Exec, say: fn(&str), now: fn() -> Timestamp) -> ExitCode {
    let Exec { experiment, spool, command } = exec;
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    // A test need not wait for half a minute.
    let heartbeat = environment.get("TRAINBILL_HEARTBEAT_SECONDS").and_then(|text| text.parse().ok());
    let request = Request {
        command,
        experiment,
        spool: folder(spool),
        environment,
        heartbeat: Duration::from_secs(heartbeat.filter(|every| *every > 0).unwrap_or(HEARTBEAT_SECONDS)),
    };
    let said = Mutex::new(());
    let warn = |warning| {
        // One line at a time.
        let _one = said.lock();
        say(&format!("trainbill: {warning}\n"));
    };
    let report = launch::exec(&request, Face { warn: &warn, now: &now });
    say(&format!("{}\n", closing(&report, &request)));
    match report.ended {
        Ended::Code(code) | Ended::NotStarted(code) => code_of(code),
        Ended::Signal(signal) => code_of(launch::die_of(signal)),
    }
}

fn closing(report: &Report, request: &Request) -> String {
    let micros = i64::try_from(report.lasted.as_micros()).ok();
    let end = match report.ended {
        Ended::Code(0) => "completed".to_owned(),
        Ended::Code(code) => format!("exit code {code}"),
        Ended::NotStarted(_) => "not started".to_owned(),
        Ended::Signal(signal) => format!("ended by signal {signal}"),
    };
    let named =
        if report.experiment.derived { " (named after repository, script and arguments)" } else { "" };
    let next = match &report.spooled {
        Some(_) => format!(" · next: trainbill import spool {}", request.spool.display()),
        None => String::new(),
    };
    format!(
        "trainbill: attempt {} of {}{named} · {} · {end}{next}",
        report.attempt,
        report.experiment.name,
        duration(micros, "")
    )
}

fn code_of(code: i32) -> ExitCode {
    // A code has eight bits (pubs.opengroup.org, `wait`); what the system gave us has no more.
    ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1))
}
