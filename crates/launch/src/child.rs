//! The program itself: started with our streams, told every signal that we are told, and waited for.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, setrlimit, waitid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

/// Signals that schedulers, clouds and people send.
const FORWARDED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It could not be started; the code is that of a shell: 127 not found, 126 not to be run.
    NotStarted(i32),
}

/// Signals that are kept for the program from now on.
pub(crate) struct Signals(Option<SignalsInfo<WithOrigin>>);

impl Signals {
    /// Begins to keep them; where that fails, they do to us what they do to any program.
    pub(crate) fn kept(warn: &(dyn Fn(String) + Sync)) -> Self {
        let ignored = ignored();
        let is_heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
        // A record that grows beyond the limit of a file must not end us; a handler, unlike ignoring it, is not inherited.
        if is_heard(&SIGXFSZ) {
            let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
        }
        let signals = SignalsInfo::new(FORWARDED.into_iter().filter(is_heard));
        Self(signals.map_err(|error| warn(format!("signals are not passed on: {error}"))).ok())
    }
}

/// Signals that are ignored, as under `nohup`, one bit each: they stay ignored by us and by the program.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Runs the program to its end.
pub(crate) fn run(
    command: &[OsString],
    variables: &[(&'static str, OsString)],
    signals: Signals,
    warn: &(dyn Fn(String) + Sync),
) -> Ended {
    let Some((program, arguments)) = command.split_first() else { return Ended::NotStarted(127) };
    let child = match started(program, arguments, variables) {
        Ok(child) => child,
        Err(error) => {
            warn(format!("cannot run {}: {error}", program.to_string_lossy()));
            return Ended::NotStarted(if error.kind() == ErrorKind::NotFound { 127 } else { 126 });
        }
    };
    let Some(mut signals) = signals.0 else { return waited(child, None, warn) };
    let handle = signals.handle();
    let running = Mutex::new(true);
    let id = child.id();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for origin in signals.forever() {
                // What a terminal sends, it sends to the program as well.
                if !matches!(origin.cause, Cause::Kernel) {
                    pass_on(origin.signal, id, &running);
                }
            }
        });
        let ended = waited(child, Some(&running), warn);
        handle.close();
        ended
    })
}

/// Starts it as `execvp` does (pubs.opengroup.org, `exec`): what is no format that the system knows is a script of `sh`.
fn started(
    program: &OsStr,
    arguments: &[OsString],
    variables: &[(&'static str, OsString)],
) -> io::Result<Child> {
    let with = |mut command: Command| {
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        command.spawn()
    };
    let unknown_format = rustix::io::Errno::NOEXEC.raw_os_error();
    match with(Command::new(program)) {
        Err(error) if error.raw_os_error() == Some(unknown_format) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg(on_path(program).unwrap_or_else(|| program.into()));
            with(shell)
        }
        other => other,
    }
}

/// The file of a program that is named without its folder.
fn on_path(program: &OsStr) -> Option<OsString> {
    if program.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let folders = std::env::var_os("PATH")?;
    let is_program = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|told| told.is_file() && told.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(is_program).map(Into::into)
}

/// Sends a signal to the program, unless its number may be another's by now.
fn pass_on(signal: i32, id: u32, running: &Mutex<bool>) {
    let running = running.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let (true, Some(pid), Some(signal)) = (*running, pid, Signal::from_named_raw(signal)) {
        // It may have ended in this moment, and then there is nobody to tell.
        let _ = kill_process(pid, signal);
    }
}

fn waited(mut child: Child, running: Option<&Mutex<bool>>, warn: &(dyn Fn(String) + Sync)) -> Ended {
    if let (Some(running), Some(pid)) = (running, i32::try_from(child.id()).ok().and_then(Pid::from_raw)) {
        // It has ended but keeps its number until it is waited for below, so no signal goes astray.
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
        *running.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
    match child.wait() {
        Ok(status) => ended(status),
        Err(error) => {
            warn(format!("how the program ended is not known: {error}"));
            Ended::Code(1)
        }
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, Some(signal)) => Ended::Signal(signal),
        (None, None) => Ended::Code(1),
    }
}

/// Ends this process by the signal that ended the program, so that whoever waits for it sees the same.
pub fn die_of(signal: i32) -> i32 {
    // The first process of a container gets none of its own signals; its runtime reports such an end as this code.
    if std::process::id() != 1 {
        // The program has left its memory image already; ours would only hide it.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    // Reached for signals that do not end a process by default, and never for those that ended the program.
    128 + signal
}
