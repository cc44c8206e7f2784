//! What the records tell of the input itself: attempts that it hides, and GPUs that nobody counts.

use std::collections::{BTreeMap, BTreeSet};

use ledger::Timestamp;

use super::record::Record;
use crate::telemetry::Warning;

/// The export that shows every attempt.
const COMMAND: &str = include_str!("command.txt");

/// Seconds for which a requeued job must wait before it may start again, with some room: Slurm adds two minutes.
const REQUEUE_WAIT: std::ops::RangeInclusive<i64> = 110..=135;

/// What is remembered over all files of an input.
#[derive(Debug, Default)]
pub(super) struct History {
    jobs: BTreeMap<String, Past>,
    started: u64,
    with_gpus: u64,
    without_raw_id: u64,
    /// Errors that an answer of the REST service reports of itself.
    pub(super) answer_errors: u64,
}

/// The attempts of one job that were seen.
#[derive(Debug, Default)]
struct Past {
    restarts: BTreeSet<u32>,
    /// Submit time of the earliest record, and whether it looks like a requeue.
    earliest: Option<(Timestamp, bool)>,
}

impl Past {
    /// Attempts that must have been before those seen.
    fn hidden(&self) -> u64 {
        if let Some(last) = self.restarts.last() {
            let seen = u64::try_from(self.restarts.len()).unwrap_or(u64::MAX);
            return (u64::from(*last) + 1).saturating_sub(seen);
        }
        u64::from(self.earliest.is_some_and(|(_, requeued)| requeued))
    }
}

impl History {
    /// Remembers an attempt.
    pub(super) fn note(&mut self, record: &Record) {
        let past = self.jobs.entry(record.chain()).or_default();
        past.restarts.extend(record.restarts);
        if past.earliest.is_none_or(|(submit, _)| record.submit < submit) {
            past.earliest = Some((record.submit, looks_requeued(record)));
        }
        self.started += u64::from(record.start.is_some());
        self.with_gpus += u64::from(record.gpus().is_some());
        self.without_raw_id += u64::from(record.job.id.bytes().any(|b| !b.is_ascii_digit()));
    }

    /// What the user should know.
    pub(super) fn warnings(self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        warnings.extend(self.hidden_attempts());
        if self.started > 0 && self.with_gpus == 0 {
            warnings.push(Warning {
                code: "slurm::no_gpu_accounting",
                message: "no record counts GPUs, so GPU seconds are not reported".to_owned(),
                help:
                    "export AllocTRES and ReqTRES, and list gres/gpu in AccountingStorageTRES of slurm.conf"
                        .to_owned(),
            });
        }
        if self.without_raw_id > 0 {
            warnings.push(Warning {
                code: "slurm::no_raw_job_id",
                message: format!("{} array or heterogeneous records have no raw job id", self.without_raw_id),
                help: "export with the JobIDRaw column, so that other exports of the same jobs are not counted twice"
                    .to_owned(),
            });
        }
        if self.answer_errors > 0 {
            warnings.push(Warning {
                code: "slurm::answer_has_errors",
                message: format!(
                    "the answer itself reports {} errors and may be incomplete",
                    self.answer_errors
                ),
                help: "read `errors` in the file, and ask the service again".to_owned(),
            });
        }
        warnings
    }

    fn hidden_attempts(&self) -> Option<Warning> {
        let hidden =
            self.jobs.iter().map(|(job, past)| (job, past.hidden())).filter(|(_, hidden)| *hidden > 0);
        let (mut jobs, mut attempts, mut first) = (0_u64, 0_u64, None);
        for (job, hidden) in hidden {
            jobs += 1;
            attempts = attempts.saturating_add(hidden);
            first = first.or(Some(job));
        }
        let first = first?;
        Some(Warning {
            code: "slurm::earlier_attempts_hidden",
            message: format!(
                "at least {attempts} earlier attempts of {jobs} requeued jobs are not in this input (first: {first}): \
                 without -D, sacct shows only the last attempt of a job"
            ),
            help: COMMAND.to_owned(),
        })
    }
}

/// Versions that do not count restarts still show the wait that follows a requeue.
fn looks_requeued(record: &Record) -> bool {
    let waited = record.eligible.map(|eligible| eligible.seconds() - record.submit.seconds());
    record.reason.as_deref() == Some("BeginTime")
        && waited.is_some_and(|seconds| REQUEUE_WAIT.contains(&seconds))
}
