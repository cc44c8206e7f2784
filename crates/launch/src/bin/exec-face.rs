//! `trainbill exec` without the rest of trainbill: what the tests of this crate start and its bench times.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use launch::Call;
use ledger::Timestamp;

fn main() -> ExitCode {
    let environment = std::env::vars_os().collect();
    let mut arguments = std::env::args_os().skip(1).peekable();
    arguments.next_if(|word| word == "exec");
    let mut call = Call { experiment: None, spool: None, command: Vec::new(), environment };
    while let Some(word) = arguments.next() {
        match word.to_str() {
            Some("--experiment") => {
                call.experiment = arguments.next().and_then(|name| name.into_string().ok())
            }
            Some("--spool") => call.spool = arguments.next().map(PathBuf::from),
            Some("--") => call.command = arguments.by_ref().collect::<Vec<OsString>>(),
            _ => return usage(),
        }
    }
    if call.command.is_empty() { usage() } else { launch::command(call, &say, &now) }
}

fn usage() -> ExitCode {
    say("usage: exec-face [exec] [--experiment NAME] [--spool FOLDER] -- PROGRAM [ARGUMENT…]\n");
    ExitCode::from(2)
}

fn say(text: &str) {
    // That nobody reads it is no failure.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

#[expect(clippy::disallowed_methods, reason = "the face reads the clock and hands it on")]
fn now() -> Timestamp {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}
