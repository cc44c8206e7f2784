//! Steps that were done twice, from the metrics that two attempts logged by step.

use std::collections::BTreeMap;

use ledger::{Attempt, Timestamp};

/// What a restart did again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Redone {
    /// When the last logged step was done that was not done again.
    pub(super) last_kept: Option<Timestamp>,
    /// When the first logged step was done that was done again.
    pub(super) first_redone: Option<Timestamp>,
    /// True if no step lies between the two, so that the loss is known to the step.
    pub(super) is_exact: bool,
}

/// When each step of one metric was first logged.
type Log = BTreeMap<u64, Timestamp>;

/// What `after` did again of `before`; `None` if they have no metric in common that both logged by step.
pub(super) fn redone(before: &Attempt, after: &Attempt) -> Option<Redone> {
    let (old, new) = (logs(before), logs(after));
    // The metric with the most steps says the most.
    let common = old.iter().filter(|(metric, _)| new.contains_key(*metric));
    let (metric, log) = common.max_by_key(|(metric, log)| (log.len(), std::cmp::Reverse(*metric)))?;
    let restart = *new.get(metric)?.keys().next()?;
    let kept = log.range(..restart).next_back();
    let redone = log.range(restart..).next();
    let follows = kept.map_or(restart == 0, |(step, _)| step.checked_add(1) == Some(restart));
    Some(Redone {
        last_kept: kept.map(|(_, at)| *at),
        first_redone: redone.map(|(_, at)| *at),
        is_exact: follows,
    })
}

/// The first step that an attempt logged or wrote a checkpoint of.
pub(super) fn first_step(attempt: &Attempt) -> Option<u64> {
    let logged = attempt.quality.iter().filter_map(|quality| quality.step);
    logged.chain(attempt.checkpoints.iter().filter_map(|checkpoint| checkpoint.step)).min()
}

fn logs(attempt: &Attempt) -> BTreeMap<(&str, Option<&str>), Log> {
    let mut logs: BTreeMap<(&str, Option<&str>), Log> = BTreeMap::new();
    for quality in &attempt.quality {
        let Some(step) = quality.step else { continue };
        let log = logs.entry((&quality.metric, quality.split.as_deref())).or_default();
        let at = log.entry(step).or_insert(quality.at);
        *at = (*at).min(quality.at);
    }
    logs
}
