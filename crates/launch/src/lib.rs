//! `exec`: runs a program untouched, and keeps a record of the attempt that survives whatever becomes of it.
//!
//! The record is a spool file of OpenLineage run events, one JSON object a line: START before the program, RUNNING every
//! half minute, what is known of the machine and what the program marks as soon as it is known, COMPLETE or FAIL at the
//! end. It is on disk before the program starts. Any failure of ours is told once on standard error, and the program
//! runs all the same, with its own input, output and exit code.

mod child;
mod command;
mod events;
mod experiment;
mod gpu;
mod identity;
mod instance_metadata;
mod marks;
mod monitor;
mod place;
mod spool;
mod variables;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ledger::Timestamp;

pub use child::{Ended, die_of};
pub use command::{Call, command, folder};
pub use experiment::Experiment;

use child::Signals;
use events::{End, Events};
use marks::Marks;
use monitor::Monitor;
use place::Place;
use spool::Spool;

/// Seconds between two signs of life.
pub const HEARTBEAT_SECONDS: u64 = 30;

/// What is to be run, and what its surroundings say.
#[derive(Debug, Clone)]
pub struct Request {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The experiment, where the command line names it.
    pub experiment: Option<String>,
    /// Folder of the spool files.
    pub spool: PathBuf,
    /// The variables of the environment that are text.
    pub environment: BTreeMap<String, String>,
    /// Time between two signs of life.
    pub heartbeat: Duration,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How the program ended.
    pub ended: Ended,
    /// Id of the attempt.
    pub attempt: String,
    /// Its experiment.
    pub experiment: Experiment,
    /// How long it ran.
    pub lasted: Duration,
    /// The spool file, if it could be written.
    pub spooled: Option<PathBuf>,
}

/// What the caller lends: its voice and its clock.
#[derive(Clone, Copy)]
pub struct Face<'a> {
    /// Is told, once each, what of the record could not be kept.
    pub warn: &'a (dyn Fn(String) + Sync),
    /// The time.
    pub now: &'a (dyn Fn() -> Timestamp + Sync),
}

impl fmt::Debug for Face<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Face")
    }
}

/// Runs the program.
pub fn exec(request: &Request, face: Face<'_>) -> Report {
    let Face { warn, now } = face;
    // Before anything that takes time: who starts us may stop us at once, and the program is to hear of it.
    let signals = Signals::kept(warn);
    let environment = &request.environment;
    let experiment = experiment::of(request);
    let place = Place::of(environment);
    let attempt = place.attempt_id(environment);
    let spool = Spool::create(&request.spool, &attempt, warn);
    let spool = Arc::new(Mutex::new(spool));
    let events = Events::new(&attempt, &experiment.name, &place, request);
    let write = |event: serde_json::Value, durable: bool| {
        spool.lock().unwrap_or_else(PoisonError::into_inner).write(&event, durable, warn);
    };
    let began = now();
    if place.leads {
        write(events.start(began), true);
    }
    let marks = spool.lock().unwrap_or_else(PoisonError::into_inner).marks();
    let variables = variables::of_child(environment, (&attempt, &experiment.name), marks.as_deref(), warn);
    let monitor = Monitor { events: &events, marks, began, heartbeat: request.heartbeat, place: &place, now };
    let (ended, marks) = std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel();
        let watching = scope.spawn(|| monitor.watch(environment, stopped, &write));
        let ended = child::run(&request.command, &variables, signals, warn);
        drop(stop);
        // A panic there loses what it would have recorded, and nothing of the program.
        (ended, watching.join().ok().flatten())
    });
    let over = now();
    if place.leads {
        write(events.end(over, End::of(&ended)), true);
    }
    let spooled = spool.lock().unwrap_or_else(PoisonError::into_inner).close();
    settle(marks, spooled.is_some(), warn);
    Report {
        ended,
        attempt,
        experiment,
        lasted: Duration::from_micros(u64::try_from(over.0 - began.0).unwrap_or(0)),
        spooled,
    }
}

/// Lets go of the marks if all of them are in the record.
fn settle(marks: Option<Marks>, is_recorded: bool, warn: &(dyn Fn(String) + Sync)) {
    let Some(marks) = marks else { return };
    if marks.refused() > 0 {
        let (count, path) = (marks.refused(), marks.path().display());
        warn(format!("{count} lines of marks say nothing that is known; they are kept in {path}"));
    } else if is_recorded {
        // Where nothing was marked there is no file.
        let _ = std::fs::remove_file(marks.path());
    }
}
