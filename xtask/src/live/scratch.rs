//! The folder in which everything of one check lies, the surroundings of what runs in it, and what of it runs still.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::process::{Patience, Process};

/// A variable that everything has which the check starts, jobs included: its value is the folder.
const MARK: &str = "LIVE_CHECK_FOLDER";

/// Where Debian keeps daemons, which is not on everybody's path.
const DAEMONS: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// The folder, whose path is short enough for the name of a socket.
pub(super) struct Scratch {
    folder: PathBuf,
    pub(super) patience: Patience,
}

impl Scratch {
    pub(super) fn new() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("trainbill-live-{}", std::process::id()));
        for part in ["log", "answers"] {
            let path = folder.join(part);
            std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(Self { folder, patience: Patience::new()? })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A path in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file of the folder.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.path(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// A command with the surroundings of the check: nothing of it goes through a proxy or tells its makers of its use.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        path.push(":");
        path.push(DAEMONS);
        let mut command = Command::new(program);
        command.env_clear().env("PATH", path).env("HOME", &self.folder).env(MARK, &self.folder);
        command.env("LC_ALL", "C.UTF-8").env("MLFLOW_DISABLE_TELEMETRY", "true").env("DO_NOT_TRACK", "true");
        command.current_dir(&self.folder);
        command
    }

    /// Starts a program that stays in the foreground.
    pub(super) fn start(&self, name: &'static str, command: Command) -> Result<Process, String> {
        Process::start(name, command, &self.path(&format!("log/{name}")))
    }

    /// What the check started and what runs still so many seconds on, when it should have ended: it is ended now, by its id.
    pub(super) fn left_over(&self, seconds: u32) -> Result<(), String> {
        let gone = self.patience.until("the end of what was started", seconds, || {
            Ok(Some(()).filter(|()| marked(&self.folder).is_empty()))
        });
        if gone.is_ok() {
            return Ok(());
        }
        let left = marked(&self.folder);
        let names: Vec<&str> = left.iter().map(|(_, name)| name.as_str()).collect();
        for (pid, _) in &left {
            let _ = kill_process(*pid, Signal::KILL);
        }
        Err(format!("what was started had not ended and was killed: {}", names.join(", ")))
    }
}

/// Processes whose surroundings had the mark when they started, with their command lines. Those of Slurm that lead a step
/// write over theirs, and are known by where they run.
fn marked(folder: &Path) -> Vec<(Pid, String)> {
    let mut mark = format!("{MARK}=").into_bytes();
    mark.extend_from_slice(folder.as_os_str().as_bytes());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let named = |number: i32| {
        let of = |name: &str| std::fs::read(format!("/proc/{number}/{name}")).unwrap_or_default();
        let line = String::from_utf8_lossy(&of("cmdline")).replace('\0', " ").trim().to_owned();
        let leads_step = || {
            let place = std::fs::read_link(format!("/proc/{number}/cwd"));
            line.starts_with("slurmstepd") && place.is_ok_and(|place| place.starts_with(folder))
        };
        let marked = of("environ").split(|byte| *byte == 0).any(|variable| variable == mark) || leads_step();
        Some((Pid::from_raw(number)?, line)).filter(|_| marked)
    };
    numbers.filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;

    use super::*;

    #[test]
    fn what_was_left_is_found_by_its_mark_and_ended() {
        let scratch = Scratch::new().unwrap();
        let mut sleep = scratch.command("sleep").arg("300").spawn().unwrap();
        let error = scratch.left_over(1).unwrap_err();
        assert!(error.ends_with("killed: sleep 300"), "{error}");
        assert!(!sleep.wait().unwrap().success());
        assert_eq!(scratch.left_over(1), Ok(()));
        let mut step = scratch.command("sleep");
        let mut step = step.arg0("slurmstepd: [1.batch]").arg("300").env_clear().spawn().unwrap();
        let error = scratch.left_over(1).unwrap_err();
        assert!(error.ends_with("killed: slurmstepd: [1.batch] 300"), "{error}");
        assert!(!step.wait().unwrap().success());
        std::fs::remove_dir_all(scratch.folder()).unwrap();
    }
}
