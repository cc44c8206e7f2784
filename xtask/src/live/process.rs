//! Programs of other projects that run for as long as the check needs them, and waiting that a person can end.

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How long a program may take to end when it is asked to.
const TO_END: Duration = Duration::from_secs(20);

/// Between two questions.
const PAUSE: Duration = Duration::from_millis(250);

/// Questions a second.
const A_SECOND: u32 = 4;

/// Last lines of a log that a message shows.
const SHOWN: usize = 12;

/// A running program with all that it starts in its process group; they end with this value.
pub(super) struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program that stays in the foreground; what it prints goes to a file.
    pub(super) fn start(name: &'static str, mut command: Command, log: &Path) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("{name} does not start: {error}");
        let output = File::create(log).map_err(told)?;
        let also = output.try_clone().map_err(told)?;
        command.stdin(Stdio::null()).stdout(output).stderr(also).process_group(0);
        Ok(Self { name, child: command.spawn().map_err(told)?, log: log.to_owned() })
    }

    /// An error with the end of its log if it does not run any more.
    pub(super) fn runs(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("{} ended ({status}):\n{}", self.name, tail(&self.log))),
            Err(error) => Err(format!("{}: {error}", self.name)),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.child);
        let child = &mut self.child;
        std::thread::scope(|scope| {
            let (ended, end) = channel();
            scope.spawn(move || {
                let _ = child.wait();
                let _ = ended.send(());
            });
            let _ = kill_process_group(group, Signal::TERM);
            if end.recv_timeout(TO_END).is_err() {
                let _ = kill_process_group(group, Signal::KILL);
            }
        });
        // Those that outlive the one that started them.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn tail(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}

/// Waits, until somebody at the terminal has had enough: then everything that was started still ends in order.
pub(super) struct Patience {
    signals: Receiver<i32>,
}

impl Patience {
    pub(super) fn new() -> Result<Self, String> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(|error| error.to_string())?;
        let (send, receive) = channel();
        std::thread::spawn(move || signals.forever().try_for_each(|signal| send.send(signal)));
        Ok(Self { signals: receive })
    }

    /// Asks until there is an answer, at most for so many seconds beside those that the questions take.
    pub(super) fn until<T>(
        &self,
        what: &str,
        seconds: u32,
        mut ask: impl FnMut() -> Result<Option<T>, String>,
    ) -> Result<T, String> {
        for _ in 0..seconds.saturating_mul(A_SECOND) {
            if let Some(answer) = ask()? {
                return Ok(answer);
            }
            match self.signals.recv_timeout(PAUSE) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(signal) => return Err(format!("ended by signal {signal} while waiting: {what}")),
                Err(RecvTimeoutError::Disconnected) => return Err("signals cannot be received".to_owned()),
            }
        }
        Err(format!("not within {seconds} s: {what}"))
    }
}

/// Ports of 127.0.0.1 that nobody listens on, all different.
pub(super) fn free_ports<const COUNT: usize>() -> Result<[u16; COUNT], String> {
    let mut taken = Vec::with_capacity(COUNT);
    let mut ports = [0; COUNT];
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        *port = listener.local_addr().map_err(|error| error.to_string())?.port();
        taken.push(listener);
    }
    Ok(ports)
}

/// Runs a program to its end and gives what it printed.
pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{name} {}` failed ({}):\n{said}", arguments.join(" "), output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(script: &str, log: &Path) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start("sh", command, log).unwrap()
    }

    fn lives(pid: &str) -> bool {
        // What ended and was not waited for has no memory map.
        std::fs::read(format!("/proc/{pid}/maps")).is_ok_and(|maps| !maps.is_empty())
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let log = std::env::temp_dir().join(format!("xtask-live-group-{}", std::process::id()));
        let process = process("(trap '' TERM; exec sleep 300) & echo $!; wait", &log);
        let patience = Patience::new().unwrap();
        let started = || Ok(std::fs::read_to_string(&log).ok().filter(|text| text.ends_with('\n')));
        let pid = patience.until("the pid of the child", 30, started).unwrap().trim().to_owned();
        assert!(lives(&pid));
        drop(process);
        patience.until("its end", 30, || Ok((!lives(&pid)).then_some(()))).unwrap();
        std::fs::remove_file(&log).unwrap();
    }

    #[test]
    fn a_program_that_ended_early_is_told_with_its_last_words() {
        let log = std::env::temp_dir().join(format!("xtask-live-early-{}", std::process::id()));
        let mut process = process("echo no such option; exit 3", &log);
        let patience = Patience::new().unwrap();
        let ended = patience.until("its end", 30, || Ok(process.runs().err())).unwrap();
        assert!(ended.contains("exit status: 3") && ended.ends_with("no such option"), "{ended}");
        std::fs::remove_file(&log).unwrap();
    }

    #[test]
    fn waiting_has_an_end() {
        let patience = Patience::new().unwrap();
        let mut asked = 0;
        let outcome = patience.until("nothing", 1, || {
            asked += 1;
            Ok(None::<()>)
        });
        assert_eq!((outcome.unwrap_err().as_str(), asked), ("not within 1 s: nothing", A_SECOND));
    }

    #[test]
    fn ports_are_different() {
        let [first, second, third] = free_ports().unwrap();
        assert!(first != second && second != third && first != third && first > 0);
    }
}
