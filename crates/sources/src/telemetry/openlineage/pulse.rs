//! Signs of life: of many one is kept, and a run that gives none any more is lost.

use std::collections::BTreeMap;

use ledger::{AttemptView, Observation, RunRecord, RunState, Timestamp};

use super::event::Told;

/// Signs of life that may be missing before a run counts as lost.
const MISSED: i64 = 3;

/// The runs of an import that promised signs of life.
#[derive(Debug, Default)]
pub(super) struct Pulses {
    runs: BTreeMap<String, Pulse>,
}

#[derive(Debug)]
struct Pulse {
    /// Time between two signs, in microseconds.
    every: i64,
    /// The latest event of any kind.
    seen: Timestamp,
    /// The latest that says that it runs.
    running: Observation,
    /// True if that one is not among the observations yet.
    held: bool,
}

impl Pulses {
    /// What an event says, unless it is a mere sign of life, which is held back for a later one.
    pub(super) fn see(&mut self, told: Told) -> Vec<Observation> {
        let Told { mut observations, heartbeat, ends } = told;
        let Some((key, at)) =
            observations.first().and_then(|first| Some((first.key.clone(), first.modified_at?)))
        else {
            return observations;
        };
        if ends {
            // An end settles what signs of life leave open; whether it comes before or after them does not matter.
            self.runs.insert(
                key,
                Pulse { every: i64::MAX, seen: at, running: observations[0].clone(), held: false },
            );
            return observations;
        }
        let mere = observations.len() == 1 && heartbeat.is_some_and(|sign| sign.mere);
        let known = self.runs.get_mut(&key);
        if let Some(known) = known {
            known.seen = known.seen.max(at);
            if known.every == i64::MAX {
                return if mere { Vec::new() } else { observations };
            }
            if heartbeat.is_some() && known.running.modified_at <= Some(at) {
                known.running = observations[0].clone();
                known.held = mere;
            }
        } else if let Some(sign) = heartbeat {
            let running = observations[0].clone();
            self.runs.insert(key, Pulse { every: sign.every, seen: at, running, held: mere });
        }
        if mere {
            observations.clear();
        }
        observations
    }

    /// What the last signs of life say at a time, and how many runs are lost by then.
    pub(super) fn concluded(self, taken_at: Option<Timestamp>) -> (Vec<Observation>, u64) {
        let (mut said, mut lost) = (Vec::new(), 0);
        for pulse in self.runs.into_values().filter(|pulse| pulse.every < i64::MAX) {
            let deadline = pulse.seen.0.saturating_add(pulse.every.saturating_mul(MISSED));
            if taken_at.is_none_or(|taken| taken.0 <= deadline) {
                said.extend(pulse.held.then_some(pulse.running));
                continue;
            }
            let RunRecord::Attempt(view) = pulse.running.record else { continue };
            lost += 1;
            let view = AttemptView { state: RunState::Lost, ended_at: Some(pulse.seen), ..view };
            said.push(Observation {
                modified_at: Some(pulse.seen),
                record: RunRecord::Attempt(view),
                ..pulse.running
            });
        }
        (said, lost)
    }
}
