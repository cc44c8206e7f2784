//! What is done beside the program: signs of life, the machine's identity, the program's marks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use ledger::{PhaseKind, Timestamp};
use serde_json::Value;

use crate::events::Events;
use crate::identity::Machine;
use crate::marks::{Mark, Marks};
use crate::place::Place;

/// Time between two looks at the marks.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) struct Monitor<'a> {
    pub(crate) events: &'a Events,
    pub(crate) marks: Option<PathBuf>,
    pub(crate) began: Timestamp,
    pub(crate) heartbeat: Duration,
    pub(crate) place: &'a Place,
    pub(crate) now: &'a (dyn Fn() -> Timestamp + Sync),
}

impl Monitor<'_> {
    /// Writes until the other end of `stopped` is gone.
    pub(crate) fn watch(
        &self,
        environment: &BTreeMap<String, String>,
        stopped: Receiver<()>,
        write: &(dyn Fn(Value, bool) + Sync),
    ) {
        let machine = self.place.leads_machine.then(|| asked(environment, self.place));
        let mut marks = self.marks.clone().map(Marks::new);
        let mut phase: Option<(String, Timestamp)> = None;
        let mut told_machine = false;
        let now = self.now;
        let mut last = self.began;
        let every = i64::try_from(self.heartbeat.as_micros()).unwrap_or(i64::MAX);
        loop {
            let ended =
                !matches!(stopped.recv_timeout(LOOK.min(self.heartbeat)), Err(RecvTimeoutError::Timeout));
            if let (false, Some(Ok(machine))) = (told_machine, machine.as_ref().map(Receiver::try_recv)) {
                write(self.events.machine(now(), (self.began, &machine)), false);
                told_machine = true;
            }
            let found = marks.as_mut().map(|marks| marks.next(now(), ended)).unwrap_or_default();
            for (at, mark) in found {
                self.note((at, mark), &mut phase, write);
            }
            if ended {
                break;
            }
            if self.place.leads && now().0.saturating_sub(last.0) >= every {
                last = now();
                write(self.events.alive(now()), false);
            }
        }
        if let Some((kind, from)) = phase {
            write(self.events.phase(&kind, (from, now())), false);
        }
        if let Some(marks) = marks {
            marks.remove();
        }
    }

    fn note(
        &self,
        (at, mark): (Timestamp, Mark),
        phase: &mut Option<(String, Timestamp)>,
        write: &(dyn Fn(Value, bool) + Sync),
    ) {
        match mark {
            Mark::Phase(word) => {
                let kind = PhaseKind::from_word(&word).unwrap_or(PhaseKind::Unknown).word().to_owned();
                if let Some((before, from)) = phase.replace((kind, at)) {
                    write(self.events.phase(&before, (from, at.max(from))), false);
                }
            }
            Mark::Facet(name, facet) => write(self.events.facet(at, name, facet), true),
        }
    }
}

/// Asks the machine in a thread that nobody waits for: the program's end is not held up by a cloud that does not answer.
fn asked(environment: &BTreeMap<String, String>, place: &Place) -> Receiver<Machine> {
    let (give, receive) = channel();
    let (environment, node) = (environment.clone(), place.node.clone());
    std::thread::spawn(move || {
        // The run may be over by then.
        let _ = give.send(Machine::asked(&environment, node));
    });
    receive
}
