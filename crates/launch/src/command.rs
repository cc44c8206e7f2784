//! The command `exec` as a face has it: its settings, its closing line, and the end that is the program's own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use ledger::{Span, Timestamp};

use crate::{Ended, Face, HEARTBEAT_SECONDS, Report, Request, die_of, exec};

/// A command line of `exec`, and what it was called in.
#[derive(Debug, Clone)]
pub struct Call {
    /// The experiment, where the command line names it.
    pub experiment: Option<String>,
    /// Folder of the spool files, where the command line names it.
    pub spool: Option<PathBuf>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// All variables.
    pub environment: BTreeMap<OsString, OsString>,
}

/// Where records are kept unless somebody says otherwise: `TRAINBILL_SPOOL`, else the user's folder for state
/// (specifications.freedesktop.org/basedir), else that for temporary files.
pub fn folder(given: Option<PathBuf>, environment: &BTreeMap<OsString, OsString>) -> PathBuf {
    let set =
        |name: &str| environment.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_state = || set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    given.or_else(|| set("TRAINBILL_SPOOL")).unwrap_or_else(|| {
        let temporary = || set("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        of_state().unwrap_or_else(temporary).join("trainbill/spool")
    })
}

/// Runs the program and ends as it ended; if a signal ended it, this does not return where that ends this process too.
///
/// `say` is told whole lines for standard error.
pub fn command(call: Call, say: &(dyn Fn(&str) + Sync), now: &(dyn Fn() -> Timestamp + Sync)) -> ExitCode {
    let spool = folder(call.spool, &call.environment);
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let environment: BTreeMap<String, String> = call.environment.into_iter().filter_map(text).collect();
    let heartbeat = heartbeat(environment.get("TRAINBILL_HEARTBEAT_SECONDS"));
    let request =
        Request { command: call.command, experiment: call.experiment, spool, environment, heartbeat };
    let said = Mutex::new(());
    let warn = |warning| {
        // One line at a time.
        let _one = said.lock();
        say(&format!("trainbill: {warning}\n"));
    };
    let report = exec(&request, Face { warn: &warn, now });
    say(&format!("{}\n", closing(&report, &request)));
    match report.ended {
        Ended::Code(code) | Ended::NotStarted(code) => code_of(code),
        Ended::Signal(signal) => code_of(die_of(signal)),
    }
}

/// The time between two signs of life; fractions of a second are for tests, and what is no such time is the usual one.
fn heartbeat(set: Option<&String>) -> Duration {
    let seconds = set.and_then(|text| text.trim().parse().ok());
    let every = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    every.filter(|every| *every >= Duration::from_millis(1)).unwrap_or(Duration::from_secs(HEARTBEAT_SECONDS))
}

fn closing(report: &Report, request: &Request) -> String {
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
        Span(i64::try_from(report.lasted.as_micros()).unwrap_or(i64::MAX)),
    )
}

fn code_of(code: i32) -> ExitCode {
    // A code has eight bits (pubs.opengroup.org, `wait`); what the system gave us has no more.
    ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_given_one_then_that_of_the_variable_then_the_users_own() {
        let folder = |given: Option<&str>, variables: &[(&str, &str)]| {
            let environment = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
            super::folder(given.map(PathBuf::from), &environment)
        };
        let all = [("TRAINBILL_SPOOL", "/v"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h"), ("TMPDIR", "/t")];
        assert_eq!(folder(Some("/g"), &all), PathBuf::from("/g"));
        for (skip, expected) in [
            (0, "/v"),
            (1, "/x/trainbill/spool"),
            (2, "/h/.local/state/trainbill/spool"),
            (3, "/t/trainbill/spool"),
            (4, "/tmp/trainbill/spool"),
        ] {
            assert_eq!(folder(None, &all[skip..]), PathBuf::from(expected));
        }
        assert_eq!(
            folder(None, &[("TRAINBILL_SPOOL", ""), ("HOME", "/h")]),
            PathBuf::from("/h/.local/state/trainbill/spool")
        );
    }

    #[test]
    fn a_time_between_signs_of_life_that_is_none_is_the_usual_one() {
        let seconds = |text: &str| heartbeat(Some(&text.to_owned())).as_secs_f64();
        assert!((seconds("0.25") - 0.25).abs() < 1e-9);
        for text in ["", "0", "-1", "NaN", "soon", "1e300"] {
            assert!((seconds(text) - 30.0).abs() < 1e-9, "{text}");
        }
    }
}
