//! A run of the program in a folder of its own, with an environment of its own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program, to be run in `folder`.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trainbill"));
    command.current_dir(folder).stdin(Stdio::null());
    let ours = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TRAINBILL_"));
    for (name, _) in ours {
        command.env_remove(name);
    }
    command
}

/// Runs the program in `folder`.
pub(crate) fn run<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Run {
    finish(command(folder).args(arguments))
}

pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.output().expect("the program starts");
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}
