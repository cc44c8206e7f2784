//! The attempts inside a training job, from the transitions of its secondary status.

use ledger::{Grade, Interval, Phase, PhaseKind, Timestamp};

use crate::Zone;
use crate::telemetry::attempts::{Refusal, moment};
use crate::telemetry::openlineage::Object;

/// One transition.
#[derive(Debug, Clone)]
pub(super) struct Transition {
    pub(super) status: String,
    pub(super) start: Timestamp,
    pub(super) end: Option<Timestamp>,
    pub(super) message: Option<String>,
}

/// Statuses in which no instance works yet.
const COMES_UP: [&str; 6] = [
    "Starting",
    "Restarting",
    "Pending",
    "LaunchingMLInstances",
    "PreparingTrainingStack",
    "InsufficientCapacityError",
];

/// The transitions of a job.
pub(super) fn transitions(job: &Object<'_>, zone: &Zone) -> Result<Vec<Transition>, Refusal> {
    let mut transitions = Vec::new();
    for one in job.objects("SecondaryStatusTransitions")? {
        let missing = || one.refuse("row::missing_value", "StartTime", "a time");
        let start = moment(&one, "StartTime", zone)?.ok_or_else(missing)?;
        let end = moment(&one, "EndTime", zone)?;
        if end.is_some_and(|end| end < start) {
            let expected = format!("a time not before {start}");
            return Err(one.refuse("row::ends_before_start", "EndTime", &expected));
        }
        let (status, message) = (one.required("Status")?.to_owned(), one.owned("StatusMessage")?);
        transitions.push(Transition { status, start, end, message });
    }
    Ok(transitions)
}

/// Divides transitions into attempts: each begins where the job is started again. At least one.
pub(super) fn attempts(transitions: Vec<Transition>) -> Vec<Vec<Transition>> {
    let mut attempts: Vec<Vec<Transition>> = vec![Vec::new()];
    for transition in transitions {
        let starts = matches!(transition.status.as_str(), "Starting" | "Restarting");
        let has_begun =
            attempts.last().is_some_and(|all| all.iter().any(|one| !COMES_UP.contains(&one.status.as_str())));
        if starts && has_begun {
            attempts.push(Vec::new());
        }
        if let Some(last) = attempts.last_mut() {
            last.push(transition);
        }
    }
    attempts
}

/// When the first instance worked.
pub(super) fn worked_from(attempt: &[Transition]) -> Option<Timestamp> {
    let works = ["Downloading", "DownloadingTrainingImage", "Training", "Uploading"];
    attempt.iter().find(|one| works.contains(&one.status.as_str())).map(|one| one.start)
}

/// When the provider took the instances back.
pub(super) fn interrupted_at(attempt: &[Transition]) -> Option<Timestamp> {
    attempt.iter().find(|one| one.status == "Interrupted").map(|one| one.start)
}

/// The phases of an attempt; what comes up before its start is waiting.
pub(super) fn phases(
    attempt: &[Transition],
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
) -> Vec<Phase> {
    let mut phases = Vec::new();
    for (index, one) in attempt.iter().enumerate() {
        let kind = match one.status.as_str() {
            status if COMES_UP.contains(&status) => {
                if started.is_none_or(|start| one.start < start) {
                    PhaseKind::Queue
                } else {
                    PhaseKind::Provision
                }
            }
            "DownloadingTrainingImage" => PhaseKind::ContainerStart,
            "Downloading" => PhaseKind::DataLoad,
            "Training" => PhaseKind::Train,
            "Uploading" => PhaseKind::Upload,
            "Stopping" => PhaseKind::Teardown,
            _ => continue,
        };
        let next = attempt.get(index + 1).map(|next| next.start);
        let Some(mut end) = one.end.or(next).or(ended) else { continue };
        // A wait ends when the instances work, though its status may be told for a moment longer.
        if kind == PhaseKind::Queue {
            end = started.map_or(end, |start| end.min(start));
        }
        if let Some(interval) = Interval::new(one.start, end).ok().filter(|interval| interval.micros() > 0) {
            phases.push(Phase { interval, kind, grade: Grade::Reported });
        }
    }
    phases
}
