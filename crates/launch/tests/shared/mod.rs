//! What the tests of `exec` share: a launcher in a spool of its own and a known environment, and what its record says.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};

use ledger::{Attempt, AttemptView, Observation, RunRecord, SourceId, Timestamp};
use serde_json::Value;
use sources::telemetry::TelemetryRead;
use sources::telemetry::openlineage::{OpenLineageOptions, read_folder};
use tempfile::TempDir;

/// The face under test.
pub(crate) const FACE: &str = env!("CARGO_BIN_EXE_exec-face");

/// A folder for the records of a test.
pub(crate) struct Spool(TempDir);

impl Spool {
    /// On a file system in memory where there is one: a record is forced to disk twice.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self(folder.unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file beside the records.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A program of this folder. Another process writes it: what is open for writing here is so in every process that
    /// another test starts in that moment, and then cannot be run.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        let mut writer = Command::new("/bin/sh");
        writer.args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"]).arg(&path);
        assert!(fed(&mut writer, text.as_bytes().to_vec()).status.success());
        path
    }

    /// The launcher of a program, with no cloud, no accelerator and no scheduler around it.
    pub(crate) fn exec(&self, program: &[&str]) -> Command {
        let mut command = Command::new(FACE);
        command.args(["exec", "--experiment", "vitl", "--spool"]).arg(self.path()).arg("--").args(program);
        surroundings(&mut command);
        command
    }

    pub(crate) fn sh(&self, script: &str) -> Command {
        self.exec(&["/bin/sh", "-c", script])
    }

    /// The records of one kind of file, by name.
    fn files(&self, ending: &str) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|found| found == ending));
        files.sort();
        files
    }

    pub(crate) fn marks(&self) -> Vec<PathBuf> {
        self.files("marks")
    }

    /// The one record of this folder.
    pub(crate) fn record(&self) -> PathBuf {
        let files = self.files("ndjson");
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    /// All events of the one record, each a line.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.record()).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "a line is cut off: {text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The kinds of all events, in their order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.events().iter().map(|event| event["eventType"].as_str().unwrap().to_owned()).collect()
    }

    /// The last event, which tells the end.
    pub(crate) fn end(&self) -> Value {
        self.events().pop().unwrap()
    }

    /// What `import spool` makes of the folder.
    pub(crate) fn read(&self, taken_at: Option<Timestamp>) -> TelemetryRead {
        let source = SourceId("exec".to_owned());
        let read =
            read_folder(self.path(), &OpenLineageOptions { file: String::new(), source, taken_at }).unwrap();
        assert_eq!(read.rejections, [], "what exec writes is read");
        read
    }

    /// The attempts of the folder.
    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        folded(&self.read(None).observations)
    }
}

pub(crate) fn folded(observations: &[Observation]) -> Vec<Attempt> {
    let folded = costing::attempts::fold(observations);
    assert_eq!(folded.notes, []);
    folded.attempts
}

/// The environment of every test: what is not named here is not there.
pub(crate) fn surroundings(command: &mut Command) {
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOSTNAME", "node-1");
    command.env("AWS_EC2_METADATA_DISABLED", "true").env("TRAINBILL_NVIDIA_SMI", "/no/such/nvidia-smi");
    command.stdin(Stdio::null());
}

/// A launcher that runs: its program waits until it is told to go on, or its input ends.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) input: ChildStdin,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Running {
    /// Starts it and waits until its program has said `ready`.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, input, output };
        assert_eq!(running.line(), "ready");
        running
    }

    /// The next line of the program.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Ends the program's input and waits for the launcher; with what it said on standard error.
    pub(crate) fn end(self) -> (ExitStatus, String) {
        let Self { mut child, input, .. } = self;
        drop(input);
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        (child.wait().unwrap(), told)
    }
}

/// Lines of a file as they are added, as `tail` sees them: it is told by the system and need not look again and again.
pub(crate) struct Growing {
    tail: Child,
    lines: BufReader<ChildStdout>,
}

impl Growing {
    pub(crate) fn file(path: &Path) -> Self {
        let mut tail =
            Command::new("tail").args(["-n", "+1", "-f"]).arg(path).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(tail.stdout.take().unwrap());
        Self { tail, lines }
    }

    /// The next event for which this holds.
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the file ends");
            let event = serde_json::from_str(&line).unwrap();
            if is_it(&event) {
                return event;
            }
        }
    }

    pub(crate) fn wait_for_kind(&mut self, kind: &str) -> Value {
        self.wait_for(|event| event["eventType"] == kind)
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        let _ = self.tail.kill();
        let _ = self.tail.wait();
    }
}

/// Runs to the end, and gives the program this input.
pub(crate) fn fed(command: &mut Command, input: Vec<u8>) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(&input).unwrap());
        child.wait_with_output().unwrap()
    })
}

/// What the launcher said on standard error, beside its program.
pub(crate) fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("trainbill: "));
    lines.map(str::to_owned).collect()
}

pub(crate) fn views(read: &TelemetryRead) -> Vec<&AttemptView> {
    let views = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    views.collect()
}

/// A pipe with a name; who opens it waits for the other side.
pub(crate) fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
