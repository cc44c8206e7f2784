//! Accelerators by NVIDIA's own tool: which there are, and what they do at a moment.
//!
//! Nothing is priced by it: what an accelerator does is evidence beside its billed time.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};

use crate::marks::without_nulls;

/// Longest that the tool may take: without its daemon it wakes every accelerator, which takes seconds.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// Longest answer read, in bytes: a line is a hundred.
const MAX_ANSWER: u64 = 256 * 1024;

/// nvidia-smi(1), `--help-query-gpu`; memory is in MiB, power in watts.
const QUERY: [&str; 2] = [
    "--query-gpu=index,uuid,name,utilization.gpu,memory.used,memory.total,power.draw",
    "--format=csv,noheader,nounits",
];

/// One accelerator; what the tool does not tell is `None`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gpu {
    index: u32,
    uuid: Option<String>,
    name: Option<String>,
    utilization: Option<u8>,
    memory_used: Option<u64>,
    memory_total: Option<u64>,
    watts: Option<f64>,
    /// It does not answer any more.
    lost: bool,
}

/// All accelerators of a machine at a moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sample {
    gpus: Vec<Gpu>,
    /// Lines that are no accelerator.
    unread: u64,
}

impl Sample {
    /// The answer of the tool; nothing where there is none or it takes longer than the limit.
    pub(crate) fn asked(environment: &BTreeMap<String, String>, limit: Duration) -> Option<Self> {
        let tool = environment.get("TRAINBILL_NVIDIA_SMI").map_or("nvidia-smi", String::as_str);
        let sample = Self::read(&String::from_utf8_lossy(&answer(tool, limit)?));
        (!sample.gpus.is_empty()).then_some(sample)
    }

    fn read(text: &str) -> Self {
        let mut sample = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match Gpu::read(line) {
                Some(gpu) => sample.gpus.push(gpu),
                None => sample.unread += 1,
            }
        }
        sample
    }

    /// How many there are, those that are lost included: they are paid for.
    pub(crate) fn count(&self) -> u64 {
        self.gpus.len() as u64
    }

    /// Their model, if all are of one.
    pub(crate) fn kind(&self) -> Option<&str> {
        let mut names = self.gpus.iter().filter_map(|gpu| gpu.name.as_deref());
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    }

    /// The facet of an event.
    pub(crate) fn facet(&self, at: ledger::Timestamp) -> Value {
        let gpus: Vec<Value> = self.gpus.iter().map(Gpu::told).collect();
        let unread = Some(self.unread).filter(|unread| *unread > 0);
        without_nulls(json!({"sampledAt": at.to_string(), "gpus": gpus, "unreadLines": unread}))
    }
}

impl Gpu {
    /// One line; a line with a field that is neither a value nor the tool's word for none is refused whole.
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [index, uuid, name, utilization, used, total, watts] = fields.as_slice() else { return None };
        let text = |field: &str| told(field).map(str::to_owned);
        Some(Self {
            index: index.parse().ok()?,
            uuid: text(uuid),
            name: text(name),
            utilization: number(utilization, |percent: &u8| *percent <= 100).ok()?,
            memory_used: number(used, |_| true).ok()?,
            memory_total: number(total, |_| true).ok()?,
            watts: number(watts, |watts: &f64| watts.is_finite() && *watts >= 0.0).ok()?,
            lost: fields.contains(&"[GPU is lost]"),
        })
    }

    fn told(&self) -> Value {
        without_nulls(json!({
            "index": self.index,
            "uuid": self.uuid,
            "name": self.name,
            "utilizationPercent": self.utilization,
            "memoryUsedMib": self.memory_used,
            "memoryTotalMib": self.memory_total,
            "powerWatts": self.watts,
            "lost": self.lost.then_some(true),
        }))
    }
}

/// A field that is told: the tool's words for none are `[N/A]`, `[Not Supported]`, `[GPU is lost]` and others in brackets.
fn told(field: &str) -> Option<&str> {
    let is_none = field.is_empty() || field == "N/A" || (field.starts_with('[') && field.ends_with(']'));
    (!is_none).then_some(field)
}

/// A field that is neither a value nor the tool's word for none.
struct Unreadable;

/// A number, if it is told.
fn number<T: std::str::FromStr>(
    field: &str,
    is_possible: impl Fn(&T) -> bool,
) -> Result<Option<T>, Unreadable> {
    let Some(text) = told(field) else { return Ok(None) };
    text.parse().ok().filter(is_possible).map(Some).ok_or(Unreadable)
}

/// What the tool writes within the limit.
fn answer(tool: &str, limit: Duration) -> Option<Vec<u8>> {
    let started = Command::new(tool)
        .args(QUERY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.ok()?;
    let output = child.stdout.take();
    let (give, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map_or(Ok(0), |output| output.take(MAX_ANSWER).read_to_end(&mut bytes));
        // Nobody waits for it any more after the limit.
        let _ = give.send(read.map(|_| bytes));
    });
    let bytes = receive.recv_timeout(limit);
    if bytes.is_err() {
        let _ = child.kill();
    }
    // Whatever its code: with one accelerator lost it fails, and tells of the others. One that hangs in the driver cannot
    // even be killed; then this thread waits for it, and nobody for this thread.
    let _ = child.wait();
    bytes.ok()?.ok()
}

/// A thread that asks the tool, one question at a time; it never holds up who asks.
#[derive(Debug)]
pub(crate) struct Sampler {
    ask: Sender<()>,
    answers: Receiver<Option<Sample>>,
    waits: bool,
}

impl Sampler {
    /// Asks for a first sample at once.
    pub(crate) fn start(environment: &BTreeMap<String, String>, limit: Duration) -> Self {
        let (ask, questions) = channel();
        let (give, answers) = channel();
        let environment = environment.clone();
        std::thread::spawn(move || {
            let mut is_there = false;
            while questions.recv().is_ok() {
                let sample = Sample::asked(&environment, limit);
                is_there |= sample.is_some();
                // Where there is no tool at all nobody asks again; one that answered before may recover.
                if give.send(sample).is_err() || !is_there {
                    return;
                }
            }
        });
        let mut sampler = Self { ask, answers, waits: false };
        sampler.ask();
        sampler
    }

    /// Asks, unless an answer is still to come.
    pub(crate) fn ask(&mut self) {
        self.waits = self.waits || self.ask.send(()).is_ok();
    }

    /// What came of the question, once that is known.
    pub(crate) fn answer(&mut self) -> Poll<Option<Sample>> {
        let Ok(answer) = self.answers.try_recv() else { return Poll::Pending };
        self.waits = false;
        Poll::Ready(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "0, GPU-8f6a, NVIDIA A100-SXM4-80GB, 87, 40536, 81920, 312.45";

    #[test]
    fn every_field_is_read_and_what_is_not_told_is_left_out() {
        for (line, told) in [
            (
                LINE,
                json!({"index": 0, "uuid": "GPU-8f6a", "name": "NVIDIA A100-SXM4-80GB", "utilizationPercent": 87,
                    "memoryUsedMib": 40536, "memoryTotalMib": 81920, "powerWatts": 312.45}),
            ),
            (
                "1, GPU-1, Tesla K80, [N/A], 0, 11441, [Not Supported]",
                json!({"index": 1, "uuid": "GPU-1", "name": "Tesla K80", "memoryUsedMib": 0, "memoryTotalMib": 11441}),
            ),
            (
                "2, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]",
                json!({"index": 2, "lost": true}),
            ),
            (
                "3,GPU-3,H100,[Unknown Error],N/A,,0",
                json!({"index": 3, "uuid": "GPU-3", "name": "H100", "powerWatts": 0.0}),
            ),
        ] {
            let sample = Sample::read(line);
            assert_eq!(sample.unread, 0, "{line}");
            assert_eq!(sample.gpus[0].told(), told, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_not_as_asked_for_is_counted_and_not_guessed() {
        for line in [
            "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.",
            "0, GPU-8f6a, NVIDIA A100-SXM4-80GB, 87 %, 40536 MiB, 81920 MiB, 312.45 W",
            "0, GPU-8f6a, NVIDIA A100-SXM4-80GB, 101, 40536, 81920, 312.45",
            "0, GPU-8f6a, NVIDIA A100-SXM4-80GB, 87, -1, 81920, 312.45",
            "0, GPU-8f6a, NVIDIA A100-SXM4-80GB, 87, 40536, 81920, NaN",
            "0, GPU-8f6a, NVIDIA A100-SXM4-80GB, 87, 40536, 81920",
            "x, GPU-8f6a, NVIDIA A100-SXM4-80GB, 87, 40536, 81920, 1",
        ] {
            let sample = Sample::read(&format!("{line}\n{LINE}\n"));
            assert_eq!((sample.count(), sample.unread), (1, 1), "{line}");
        }
    }

    #[test]
    fn a_model_is_told_only_if_it_is_that_of_all() {
        let other = LINE.replacen('0', "1", 1);
        assert_eq!(Sample::read(&format!("{LINE}\n{other}")).kind(), Some("NVIDIA A100-SXM4-80GB"));
        let mixed = other.replace("A100-SXM4-80GB", "H100");
        assert_eq!(Sample::read(&format!("{LINE}\n{mixed}")).kind(), None);
        assert_eq!(Sample::read("").kind(), None);
    }

    #[test]
    fn a_tool_that_never_answers_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("nvidia-smi");
        // It reads from itself for ever: a pipe that nobody writes to.
        let script = "#!/bin/sh\nmkfifo \"$0.pipe\"\nexec cat \"$0.pipe\"\n";
        let mut writer = Command::new("/bin/sh");
        writer.args(["-c", "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"", "sh"]).arg(&tool).arg(script);
        assert!(writer.status().unwrap().success());
        assert_eq!(answer(tool.to_str().unwrap(), Duration::from_millis(50)), None);
    }
}
