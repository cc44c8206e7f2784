//! Brings the logs of a folder into attempts, and tells which one was interrupted.

use ledger::{
    AttemptView, ExperimentId, ExperimentLink, Initiator, Interruption, LinkMethod, Observation, RunRecord,
    RunState, SourceId, Timestamp,
};

use super::log::{Log, Steps};
use super::name::RunFolder;
use crate::telemetry::shared::series::Thinned;
use crate::telemetry::slurm::experiment_of_name;

/// Ranks of one job begin to log within this time of each other, in microseconds.
const RANKS_WITHIN: i64 = 600 * 1_000_000;

/// One attempt: the logs of one process, or of the ranks of one job.
#[derive(Debug)]
pub(super) struct Attempt {
    logs: Vec<Log>,
    first: Timestamp,
    last: Timestamp,
}

impl Attempt {
    fn from(log: Log) -> Self {
        Self { first: log.first, last: log.last, logs: vec![log] }
    }

    fn host(&self) -> &str {
        self.logs.first().map_or("", |log| log.by.host.as_str())
    }

    fn take(&mut self, log: Log) {
        self.last = self.last.max(log.last);
        self.logs.push(log);
    }

    /// True if the log is of the same process and goes on, or of another rank.
    fn goes_on_in(&self, log: &Log) -> bool {
        if self.host() != log.by.host {
            return false;
        }
        let of_process = |known: &&Log| known.by.pid.is_some() && known.by.pid == log.by.pid;
        if self.logs.iter().any(|known| of_process(&known)) {
            return self
                .logs
                .iter()
                .filter(of_process)
                .all(|known| went_back(&known.steps, &log.steps).is_none());
        }
        let together = log.first.0.saturating_sub(self.first.0) <= RANKS_WITHIN;
        together && log.first <= self.last
    }
}

/// The step at which a tag begins again, and the step that it had reached, if any does.
fn went_back(before: &Steps, after: &Steps) -> Option<(u64, u64)> {
    let again = after.iter().filter_map(|(tag, (first, _))| {
        let (_, reached) = before.get(tag)?;
        (first <= reached).then_some((*first, *reached))
    });
    again.min()
}

/// The attempts of a folder, in order of their start.
pub(super) fn sessions(mut logs: Vec<Log>) -> Vec<Attempt> {
    logs.sort_by(|a, b| (a.first, &a.by.host, &a.by.pid).cmp(&(b.first, &b.by.host, &b.by.pid)));
    let mut attempts: Vec<Attempt> = Vec::new();
    for log in logs {
        match attempts.iter_mut().rev().find(|attempt| attempt.goes_on_in(&log)) {
            Some(attempt) => attempt.take(log),
            None => attempts.push(Attempt::from(log)),
        }
    }
    attempts
}

/// How many attempts began while another one of another host logged to the folder.
pub(super) fn shared(attempts: &[Attempt]) -> u64 {
    let meets = |(place, attempt): &(usize, &Attempt)| {
        attempts.iter().take(*place).any(|other| other.last > attempt.first && other.host() != attempt.host())
    };
    u64::try_from(attempts.iter().enumerate().filter(meets).count()).unwrap_or(u64::MAX)
}

/// Everything that the logs of a folder say.
pub(super) fn observations(
    run: &RunFolder,
    attempts: Vec<Attempt>,
    source: &SourceId,
    thinned: &mut Thinned,
) -> Vec<Observation> {
    let restarts: Vec<Option<(u64, u64)>> = attempts
        .iter()
        .enumerate()
        .map(|(place, attempt)| restarted(attempt, attempts.get(place + 1)))
        .collect();
    let mut observations = Vec::new();
    for (attempt, restart) in attempts.into_iter().zip(restarts) {
        let key = format!("tb:{}:{}:{}", run.0, seconds(attempt.first), attempt.host());
        let modified_at = Some(attempt.last);
        let mut records = vec![RunRecord::Attempt(view(run, &attempt, restart))];
        records.extend(restart.map(|restart| RunRecord::Interruption(interruption(attempt.last, restart))));
        for log in attempt.logs {
            records.extend(log.history.results(false, thinned).into_iter().map(RunRecord::Quality));
        }
        let said = |record| Observation { source: source.clone(), key: key.clone(), modified_at, record };
        observations.extend(records.into_iter().map(said));
    }
    observations
}

/// Where the next attempt began again, if it began after this one and behind it.
fn restarted(attempt: &Attempt, next: Option<&Attempt>) -> Option<(u64, u64)> {
    let next = next.filter(|next| next.first >= attempt.last)?;
    let backs = attempt
        .logs
        .iter()
        .flat_map(|before| next.logs.iter().filter_map(|after| went_back(&before.steps, &after.steps)));
    backs.min()
}

fn said(restart: (u64, u64)) -> String {
    format!("restarted at step {} after step {}", restart.0, restart.1)
}

fn interruption(at: Timestamp, restart: (u64, u64)) -> Interruption {
    Interruption { at, initiator: Initiator::Unknown, signal: said(restart), resource_id: None }
}

fn view(run: &RunFolder, attempt: &Attempt, restart: Option<(u64, u64)>) -> AttemptView {
    let (experiment, method) = match experiment_of_name(run.last()) {
        Some(experiment) => (experiment.to_owned(), LinkMethod::NameRule),
        None => (format!("tb:{}", run.0), LinkMethod::OwnJob),
    };
    let stopped = attempt.logs.iter().all(|log| log.stopped);
    AttemptView {
        link: Some(ExperimentLink { experiment: ExperimentId(experiment), method }),
        name: Some(run.last().to_owned()).filter(|name| !name.is_empty()),
        started_at: Some(attempt.first),
        ended_at: Some(attempt.last),
        state: if stopped { RunState::Ended } else { RunState::Lost },
        cause_evidence: restart.map(said).into_iter().collect(),
        ..AttemptView::of_scheduler("tensorboard".to_owned())
    }
}

/// Seconds with six decimals, as in a key.
fn seconds(at: Timestamp) -> String {
    format!("{}.{:06}", at.seconds(), at.0.rem_euclid(1_000_000))
}
