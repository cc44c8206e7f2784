//! Reads what OpenCost and Kubecost allocate to pods: answers of their allocation API as JSON, and their CSV export.
//!
//! # What it reads
//!
//! Answers of `/allocation/compute` or `/model/allocation`, one after another, or the list under `data` alone; an element
//! of it is a window, an object of allocations by name. What is not named here is not read, so the further fields of
//! Kubecost do no harm; an empty or `null` element has no rows.
//!
//! ```text
//! curl -G http://localhost:9003/allocation/compute -d window=2026-07-01T00:00:00Z,2026-07-02T00:00:00Z -d step=1h \
//!   -d aggregate=cluster,node,namespace,pod -d includeAggregatedMetadata=true -d includeIdle=true -d idleByNode=true
//! ```
//!
//! | field | what it becomes |
//! |---|---|
//! | `properties.cluster`, `namespace`, `pod` | the attempt; all required, the cluster may be given beside the file |
//! | `properties.labels`, else `annotations` | experiment, attempt, team, user and versions, by key |
//! | `properties.controllerKind`, `controller` | the experiment of a pod without such a label |
//! | `properties.providerID`, else `node` | the machine that was held: `i-…` as AWS bills it, `gce://…` as Google does |
//! | `start`, `end` | when it was held; required |
//! | `window` | whether `end` is the pod's own or that of the window |
//! | `gpuCount`, else `gpuHours` | accelerators held |
//! | `cpuCores`, else `cpuCoreHours` | processors held, where no accelerator is |
//!
//! # How a record becomes an attempt
//!
//! A pod is one attempt, `k8s:{cluster}/{namespace}/pod/{pod}`; pods with a label whose key names an attempt
//! (`keys.attempt` of the settings) are together `k8s:{cluster}/{namespace}/attempt/{value}`, with the value as another
//! name. The label whose key names an experiment (`keys.experiment`) links it; without one the experiment is the pod's
//! controller, so the pods of a Kubernetes job are the attempts of one. Keys are compared in the normalised form, so it
//! does not matter that `/`, `.` and `-` arrive as `_`.
//!
//! A row binds the attempt to the machine from `start` to `end`, with the accelerators held, else the processors, to the
//! thousandth; rows of several containers, or pods of one attempt, on one machine are added up. An attempt started when it
//! was first seen, which an earlier window may move back. It ended if it was last seen more than a minute before its window
//! and all else in it ended; else it runs on. How it ended is not told: the outcome is unknown.
//!
//! How many accelerators or processors a machine has follows from its `__idle__` row where there is one for each node:
//! cost of the machine ÷ cost of what was held × what was held, if that comes within a hundredth of a whole number. What
//! nobody held of it is idle. Without such rows its holders have it all, and a warning says so.
//!
//! Costs are modelled at list prices. They are counted and not imported: what a machine cost is on the bill, and the
//! shares divide it.
//!
//! Rows named `__idle__`, `__unmounted__`, `__unallocated__` and `__shared__` are accepted and counted; they say nothing of
//! a run. A row that names no pod, and a row whose count is `null`, which is how a number that is none arrives, cannot be
//! bound: the one is rejected, the other is a pod that held an unknown part. Windows must tile: gaps and overlaps are
//! named, since time that two windows cover would be held twice.
//!
//! # What it cannot tell
//!
//! * The CSV export names neither nodes nor hours, so that no part of a bill can be told from it: all its rows are
//!   rejected, but for those that are of no pod.
//! * Shares by memory: a pod that asked for no processor and no accelerator holds nothing.
//! * The end of a pod at the edge of the last window: it stays running until another source or a later window tells.
//! * Storage, network and load balancers, which the bill names by their own ids.
//! * Google machines whose bill names them by number: `gce://` ids hold the name.
//!
//! # References
//!
//! * <https://www.opencost.io/docs/integrations/api>
//! * <https://www.opencost.io/docs/integrations/csv-exporter/>
//! * <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/>

mod allocation;
mod answer;
mod held;
mod node;
mod notice;
mod step;
mod table;
mod windows;

use std::io::{BufRead, Read};

pub(in crate::telemetry) use self::node::billed_id;

use super::TelemetryRead;
use super::attempts::{Refusal, cannot_read};
use crate::SourceError;

/// Largest file, in bytes: it is held in memory.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// What the user says beside the files.
#[derive(Debug, Clone, Default)]
pub struct OpenCostOptions {
    /// Cluster of rows that name none.
    pub cluster: Option<String>,
    /// Normalised keys of labels whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
    /// Normalised keys of labels whose value names an attempt, the strongest first.
    pub attempt_keys: Vec<String>,
}

/// Reads files together, each with its name for places in messages.
///
/// # Errors
/// A coded error where a file as a whole cannot be read: it breaks off, is larger than 256 MiB, or is no answer.
pub fn read<R: BufRead>(
    files: impl IntoIterator<Item = (String, R)>,
    options: &OpenCostOptions,
) -> Result<TelemetryRead, SourceError> {
    let mut import = Import { options, read: TelemetryRead::default(), seen: notice::Seen::default() };
    for (name, input) in files {
        import.file(&name, input)?;
    }
    import.read.warnings = import.seen.warnings();
    Ok(import.read)
}

/// What is gathered while files are read.
struct Import<'o> {
    options: &'o OpenCostOptions,
    read: TelemetryRead,
    seen: notice::Seen,
}

impl Import<'_> {
    fn file(&mut self, name: &str, input: impl BufRead) -> Result<(), SourceError> {
        let bytes = whole(name, input)?;
        match bytes.first() {
            None => Err(answer::not_an_answer(name, "the file is empty")),
            Some(b'{' | b'[') => self.steps(name, answer::steps(&bytes, name)?),
            Some(_) => table::rows(&bytes, name, |number, row| self.count(name, number, row)),
        }
    }

    /// Takes the windows of a file, whose rows are numbered from 1.
    fn steps(&mut self, file: &str, steps: Vec<answer::Step>) -> Result<(), SourceError> {
        let mut number = 0;
        for step in steps {
            if step.rows.is_empty() {
                self.seen.empty_windows += 1;
            }
            let mut of_step = step::Rows::default();
            for (name, value) in &step.rows {
                number += 1;
                let row = of_step.take(name, value, self.options);
                if let Some(window) = row.as_ref().ok().and_then(|row| row.window) {
                    self.seen.windows.see(window, file, number);
                }
                self.count(file, number, row.map(|row| row.said));
            }
            self.read.observations.extend(of_step.observations(&mut self.seen));
        }
        Ok(())
    }

    /// Counts a row as accepted or rejected.
    fn count(&mut self, file: &str, number: u64, row: Result<allocation::Said, Refusal>) {
        self.read.rows += 1;
        match row {
            Ok(said) => {
                self.read.accepted += 1;
                self.seen.row(said);
            }
            Err(refusal) => self.read.rejections.push(refusal.rejection(file, number)),
        }
    }
}

/// The bytes of a file, without a mark of byte order and blanks before its content.
fn whole(name: &str, input: impl BufRead) -> Result<Vec<u8>, SourceError> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot_read("opencost::cannot_read", name, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(SourceError::new("opencost::too_large", "the file is too large")
            .at(name)
            .expected(format!("at most {MAX_FILE} bytes"), "more")
            .help("query a shorter window at a time, and import the answers together"));
    }
    let blank = |byte: &u8| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte);
    let from = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    bytes.drain(..from);
    Ok(bytes)
}
