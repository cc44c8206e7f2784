//! What is done beside the program: signs of life, the machine's identity, its accelerators, the program's marks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::task::Poll;
use std::time::Duration;

use ledger::{PhaseKind, Timestamp};
use serde_json::Value;

use crate::events::Events;
use crate::gpu::{self, Sample, Sampler};
use crate::identity::{Asked, Machine};
use crate::instance_metadata::Instance;
use crate::marks::{Mark, Marks};
use crate::place::Place;

/// Time between two looks at the marks.
const LOOK: Duration = Duration::from_secs(1);

/// How long before a sign of life the accelerators are asked, so that it can tell of them.
const AHEAD: Duration = Duration::from_secs(5);

/// Adds an event to the record; `true` waits until it is on disk.
type Write<'a> = &'a (dyn Fn(Value, bool) + Sync);

/// What is watched, and how.
pub(crate) struct Monitor<'a> {
    pub(crate) events: &'a Events,
    pub(crate) marks: Option<PathBuf>,
    pub(crate) began: Timestamp,
    pub(crate) heartbeat: Duration,
    pub(crate) place: &'a Place,
    pub(crate) now: &'a (dyn Fn() -> Timestamp + Sync),
}

impl Monitor<'_> {
    /// Writes until the other end of `stopped` is gone; returns the marks, read to their end.
    pub(crate) fn watch(
        &self,
        environment: &BTreeMap<String, String>,
        stopped: Receiver<()>,
        write: Write<'_>,
    ) -> Option<Marks> {
        let mut watch = Watch::begin(self, environment, write);
        let mut marks = self.marks.clone().map(Marks::new);
        loop {
            let ended =
                !matches!(stopped.recv_timeout(LOOK.min(self.heartbeat)), Err(RecvTimeoutError::Timeout));
            watch.identify(ended);
            if let Some(marks) = &mut marks {
                watch.note(marks.next((self.now)()));
            }
            if ended {
                break;
            }
            watch.beat();
        }
        while let Some(found) = marks.as_mut().and_then(|marks| marks.last((self.now)())) {
            watch.note(found);
        }
        watch.end();
        marks
    }
}

/// What was seen of a run so far.
struct Watch<'a> {
    monitor: &'a Monitor<'a>,
    write: Write<'a>,
    /// The machine as far as it answered, until it is told.
    machine: Option<Unidentified>,
    sampler: Option<Sampler>,
    sample: Option<(Timestamp, Sample)>,
    last_beat: Timestamp,
    /// True if the accelerators were asked for the next sign of life.
    asked_ahead: bool,
    phase: Option<(String, Timestamp)>,
}

/// A machine that has not told yet which it is.
struct Unidentified {
    asked: Asked,
    instance: Option<Instance>,
    /// Whether its accelerators have answered, and what.
    first: Poll<Option<Sample>>,
}

impl<'a> Watch<'a> {
    fn begin(monitor: &'a Monitor<'a>, environment: &BTreeMap<String, String>, write: Write<'a>) -> Self {
        let is_first = monitor.place.leads_machine;
        let unidentified =
            || Unidentified { asked: Asked::now(environment), instance: None, first: Poll::Pending };
        Self {
            monitor,
            write,
            machine: is_first.then(unidentified),
            sampler: is_first.then(|| Sampler::start(environment, gpu::LIMIT)),
            sample: None,
            last_beat: monitor.began,
            asked_ahead: false,
            phase: None,
        }
    }

    fn now(&self) -> Timestamp {
        (self.monitor.now)()
    }

    /// Tells of the machine once all have answered, or what is known of it at the end.
    fn identify(&mut self, ended: bool) {
        let answer = self.sampler.as_mut().map_or(Poll::Pending, Sampler::answer);
        if let Poll::Ready(sample) = &answer {
            self.sample = sample.clone().map(|sample| (self.now(), sample));
        }
        let Some(machine) = &mut self.machine else { return };
        if machine.first.is_pending() {
            machine.first = answer;
        }
        machine.instance = machine.instance.take().or_else(|| machine.asked.answer());
        if !ended && (machine.instance.is_none() || machine.first.is_pending()) {
            return;
        }
        let Some(machine) = self.machine.take() else { return };
        let sample = match machine.first {
            Poll::Ready(sample) => sample,
            Poll::Pending => None,
        };
        let told = Machine::of(machine.instance.unwrap_or_default(), sample.as_ref(), self.monitor.place);
        let now = self.now();
        let event = self.monitor.events.machine(now, (self.monitor.began, &told), sample.as_ref());
        (self.write)(event, false);
    }

    /// Gives a sign of life if it is due.
    fn beat(&mut self) {
        if !self.monitor.place.leads {
            return;
        }
        let now = self.now();
        let since = Duration::from_micros(u64::try_from(now.0 - self.last_beat.0).unwrap_or(0));
        if let Some(sampler) = &mut self.sampler
            && !self.asked_ahead
            && since + AHEAD >= self.monitor.heartbeat
        {
            sampler.ask();
            self.asked_ahead = true;
        }
        if since >= self.monitor.heartbeat {
            let sample = self.sample.take();
            let sample = sample.as_ref().map(|(at, sample)| (*at, sample));
            (self.write)(self.monitor.events.alive(now, sample), false);
            self.last_beat = now;
            self.asked_ahead = false;
        }
    }

    fn note(&mut self, found: Vec<(Timestamp, Mark)>) {
        // What was marked at one time is forced to disk once.
        let mut left = found.len();
        for (at, mark) in found {
            left -= 1;
            match mark {
                Mark::Phase(word) => {
                    let kind = PhaseKind::from_word(&word).unwrap_or(PhaseKind::Unknown).word().to_owned();
                    if let Some((before, from)) = self.phase.replace((kind, at)) {
                        (self.write)(self.monitor.events.phase(&before, (from, at.max(from))), left == 0);
                    }
                }
                Mark::Facet(name, facet) => {
                    (self.write)(self.monitor.events.facet(at, name, facet), left == 0);
                }
            }
        }
    }

    fn end(self) {
        if let Some((kind, from)) = &self.phase {
            let now = self.now();
            (self.write)(self.monitor.events.phase(kind, (*from, now.max(*from))), false);
        }
    }
}
