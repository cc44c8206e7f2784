//! The program itself: started with our streams, told every signal that we are told, and waited for.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, setrlimit, waitid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
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

/// Runs the program to its end.
pub(crate) fn run(
    command: &[OsString],
    variables: &[(&'static str, OsString)],
    warn: &(dyn Fn(String) + Sync),
) -> Ended {
    let Some((program, arguments)) = command.split_first() else { return Ended::NotStarted(127) };
    // Signals that come from here on are kept for the program.
    let signals = SignalsInfo::<WithOrigin>::new(told()).map_err(|error| {
        warn(format!("signals are not passed on: {error}"));
    });
    let mut program = Command::new(program);
    program.arg0(&command[0]).args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    let child = match program.spawn() {
        Ok(child) => child,
        Err(error) => {
            warn(format!("cannot run {}: {error}", command[0].to_string_lossy()));
            return Ended::NotStarted(if error.kind() == ErrorKind::NotFound { 127 } else { 126 });
        }
    };
    let Ok(mut signals) = signals else { return waited(child, None, warn) };
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

/// Signals to be told of; one that is ignored, as under `nohup`, stays ignored by us and by the program.
fn told() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    FORWARDED.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
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
    // The program has left its memory image already; ours would only hide it.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    // Reached for signals that do not end a process by default, and never for those that ended the program.
    128 + signal
}
