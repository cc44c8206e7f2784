//! What one process logged to one file.

use std::collections::BTreeMap;

use ledger::Timestamp;

use super::event::{Event, Session};
use super::name::FileName;
use crate::telemetry::shared::series::{History, MAX_METRICS, Point};

/// First and last step of a tag.
pub(super) type Steps = BTreeMap<(Option<String>, String), (u64, u64)>;

/// One process, from its first event to its last.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) by: FileName,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// True if the process said that it ends.
    pub(super) stopped: bool,
    pub(super) steps: Steps,
    pub(super) history: History,
}

impl Log {
    fn from(at: Timestamp, by: &FileName) -> Self {
        let (steps, history) = (Steps::new(), History::default());
        Self { by: by.clone(), first: at, last: at, stopped: false, steps, history }
    }

    /// True if anything was measured.
    pub(super) fn has_scalars(&self) -> bool {
        self.history.newest().is_some()
    }

    fn take(&mut self, event: &Event, split: Option<&str>) {
        self.first = self.first.min(event.at);
        self.last = self.last.max(event.at);
        self.stopped |= event.session == Some(Session::Stop);
        for (tag, value) in &event.scalars {
            let point = Point { at: event.at, step: event.step, value: *value };
            self.history.note(tag, split, point);
            let Some(step) = event.step else { continue };
            if self.steps.len() < MAX_METRICS {
                let of_tag =
                    self.steps.entry((split.map(str::to_owned), tag.clone())).or_insert((step, step));
                *of_tag = (of_tag.0.min(step), of_tag.1.max(step));
            }
        }
    }
}

/// Takes an event of a file; a process that says that it starts again opens a further log.
pub(super) fn take(logs: &mut Vec<Log>, event: &Event, (by, split): (&FileName, Option<&str>)) {
    let starts = event.session == Some(Session::Start);
    let goes_on = logs.last().is_some_and(|log| !(starts && log.has_scalars()));
    if !goes_on {
        logs.push(Log::from(event.at, by));
    }
    if let Some(log) = logs.last_mut() {
        log.take(event, split);
    }
}
