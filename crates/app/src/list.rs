//! `ls`: every experiment with all its attempts and what it cost.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{
    Account, Attempt, AttemptId, Capacity, ExperimentId, Figure, Outcome, QualityResult, RunState,
    Settlement, Timestamp,
};

use crate::books::{Books, add, measure};
use crate::{AppError, Context, Meta, Query};

/// Where an experiment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExperimentStatus {
    /// An attempt completed.
    Completed,
    /// An attempt runs.
    Running,
    /// No attempt completed and one is known to have ended without success.
    Failed,
    /// All ended, and no record tells how.
    Unknown,
    /// Nothing has started.
    Pending,
    /// Only charges name it.
    NoAttempts,
}

impl ExperimentStatus {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Pending => "pending",
            Self::NoAttempts => "no attempts",
        }
    }
}

/// One experiment with all its attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentRow {
    /// Its name.
    pub experiment: ExperimentId,
    /// Where it stands.
    pub status: ExperimentStatus,
    /// Attempts; none if only charges name it.
    pub attempts: u32,
    /// Attempts that ended without success.
    pub failed_attempts: u32,
    /// `on_demand`, `spot`, `reserved`, `mixed` or `unknown`.
    pub capacity: String,
    /// Accelerator time in thousandths of a GPU times seconds; `None` where an attempt's is not reported.
    pub gpu_milliseconds: Option<u64>,
    /// Owner, where a record says so.
    pub team: Option<String>,
    /// First start.
    pub started_at: Option<Timestamp>,
    /// What it cost, every attempt included.
    pub cost: Figure,
    /// The part of attempts that ended without success.
    pub wasted: Figure,
    /// The final metric, else the last one.
    pub quality: Option<(String, f64)>,
    /// How far the bill has come: the least settled of its attempts.
    pub settlement: Settlement,
}

/// The answer of `ls`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentList {
    /// What stands above it.
    pub meta: Meta,
    /// Rows, newest first.
    pub rows: Vec<ExperimentRow>,
    /// Rows that the filter lets through, shown or not.
    pub total_rows: usize,
    /// Cost of the rows past the limit.
    pub not_shown: Figure,
    /// Cost of all rows.
    pub total: Figure,
    /// Waste of all rows.
    pub wasted_total: Figure,
    /// How far the bills of all rows have come: the least settled of them.
    pub settlement: Settlement,
}

/// Costs of experiments and attempts under one question.
#[derive(Debug, Default)]
pub(crate) struct RunCosts {
    pub(crate) experiments: BTreeMap<ExperimentId, Figure>,
    pub(crate) attempts: BTreeMap<AttemptId, Figure>,
}

impl RunCosts {
    pub(crate) fn read(books: &Books, meta: &Meta) -> Result<Self, AppError> {
        let nothing = Figure::nothing(measure(meta));
        let mut costs = Self::default();
        books.postings(meta, |_, posting| {
            if let Some(experiment) = &posting.experiment {
                add(
                    costs.experiments.entry(experiment.clone()).or_insert_with(|| nothing.clone()),
                    &posting,
                )?;
            }
            if let (Account::Attempt, Some(attempt)) = (posting.account, posting.attempt) {
                add(costs.attempts.entry(attempt).or_insert_with(|| nothing.clone()), &posting)?;
            }
            Ok(())
        })?;
        Ok(costs)
    }

    /// The experiments that charges name.
    pub(crate) fn billed(&self) -> BTreeSet<ExperimentId> {
        self.experiments.keys().cloned().collect()
    }
}

/// True for an attempt that ended without doing what it was to do.
pub(crate) fn is_wasted(attempt: &Attempt) -> bool {
    match attempt.outcome {
        Outcome::Failed | Outcome::Cancelled | Outcome::Preempted | Outcome::Timeout => true,
        Outcome::Unknown => attempt.state == RunState::Lost,
        Outcome::Completed => false,
    }
}

/// Lists the experiments that the question lets through.
///
/// # Errors
/// A store that cannot be read, or a question that cannot be answered (`query::…`).
pub async fn ls(context: &Context<'_>, query: &Query) -> Result<ExperimentList, AppError> {
    let books = Books::open(context).await?;
    let meta = books.meta(query).await?;
    let costs = RunCosts::read(&books, &meta)?;
    let mut rows = selected(&books, (query, &meta), &costs)?;
    rows.sort_by(|(a, _), (b, _)| (b.started_at, &a.experiment).cmp(&(a.started_at, &b.experiment)));
    let rows: Vec<ExperimentRow> = rows.into_iter().map(|(row, _)| row).collect();
    list_of(meta, rows, query.limit)
}

/// The experiments that the question lets through, with their attempts.
pub(crate) fn selected<'b>(
    books: &'b Books,
    (query, meta): (&Query, &Meta),
    costs: &RunCosts,
) -> Result<Vec<(ExperimentRow, Vec<&'b Attempt>)>, AppError> {
    let mut rows = experiment_rows(books, meta, costs)?;
    if let Some(filter) = &query.filter {
        rows.retain(|(row, attempts)| filter.matches(&|field| fields(row, attempts, field)));
    }
    rows.retain(|(row, _)| started_in(row, meta) || !row.cost.by_evidence.is_empty());
    Ok(rows)
}

fn started_in(row: &ExperimentRow, meta: &Meta) -> bool {
    row.started_at.is_none_or(|start| {
        meta.since.is_none_or(|since| start >= since) && meta.until.is_none_or(|until| start < until)
    })
}

fn list_of(meta: Meta, rows: Vec<ExperimentRow>, limit: Option<usize>) -> Result<ExperimentList, AppError> {
    let nothing = Figure::nothing(measure(&meta));
    let sum = |rows: &[ExperimentRow], figure: fn(&ExperimentRow) -> &Figure| {
        rows.iter().try_fold(nothing.clone(), |sum, row| sum.checked_add(figure(row)))
    };
    let shown = limit.unwrap_or(rows.len()).min(rows.len());
    let not_shown = sum(&rows[shown..], |row| &row.cost)?;
    let total = sum(&rows, |row| &row.cost)?;
    let wasted_total = sum(&rows, |row| &row.wasted)?;
    let total_rows = rows.len();
    let settlement = rows.iter().map(|row| row.settlement).min().unwrap_or(Settlement::Open);
    let rows = rows.into_iter().take(shown).collect();
    Ok(ExperimentList { meta, rows, total_rows, not_shown, total, wasted_total, settlement })
}

/// Every experiment, with its attempts, whether records or only charges name it.
pub(crate) fn experiment_rows<'b>(
    books: &'b Books,
    meta: &Meta,
    costs: &RunCosts,
) -> Result<Vec<(ExperimentRow, Vec<&'b Attempt>)>, AppError> {
    let mut by_experiment: BTreeMap<&ExperimentId, Vec<&Attempt>> = BTreeMap::new();
    for attempt in &books.attempts {
        by_experiment.entry(&attempt.link.experiment).or_default().push(attempt);
    }
    let billed = costs.billed();
    for id in &billed {
        by_experiment.entry(id).or_default();
    }
    let mut rows = Vec::with_capacity(by_experiment.len());
    for (id, mut attempts) in by_experiment {
        attempts.sort_by_key(|attempt| attempt.ordinal);
        rows.push((experiment_row(books, meta, costs, (id, &attempts))?, attempts));
    }
    Ok(rows)
}

fn experiment_row(
    books: &Books,
    meta: &Meta,
    costs: &RunCosts,
    (id, attempts): (&ExperimentId, &[&Attempt]),
) -> Result<ExperimentRow, AppError> {
    let nothing = Figure::nothing(measure(meta));
    let mut wasted = nothing.clone();
    for attempt in attempts.iter().filter(|attempt| is_wasted(attempt)) {
        if let Some(cost) = costs.attempts.get(&attempt.id) {
            wasted = wasted.checked_add(cost)?;
        }
    }
    let gpu: Option<Vec<u64>> = attempts.iter().map(|attempt| gpu_milliseconds(attempt)).collect();
    Ok(ExperimentRow {
        experiment: id.clone(),
        status: status(attempts),
        attempts: u32::try_from(attempts.len()).unwrap_or(u32::MAX),
        failed_attempts: u32::try_from(attempts.iter().filter(|a| is_wasted(a)).count()).unwrap_or(u32::MAX),
        capacity: capacity(attempts),
        gpu_milliseconds: gpu.filter(|all| !all.is_empty()).map(|all| all.iter().sum()),
        team: attempts.iter().find_map(|attempt| attempt.team.clone()),
        started_at: attempts.iter().filter_map(|attempt| attempt.started_at).min(),
        cost: costs.experiments.get(id).cloned().unwrap_or(nothing),
        wasted,
        quality: quality(attempts),
        settlement: settlement(books, attempts),
    })
}

/// An attempt that never started held nothing, whatever its record leaves out.
fn gpu_milliseconds(attempt: &Attempt) -> Option<u64> {
    if attempt.started_at.is_none() { Some(0) } else { attempt.gpu_milliseconds }
}

fn status(attempts: &[&Attempt]) -> ExperimentStatus {
    let any = |test: &dyn Fn(&Attempt) -> bool| attempts.iter().any(|attempt| test(attempt));
    if attempts.is_empty() {
        ExperimentStatus::NoAttempts
    } else if any(&|a| a.outcome == Outcome::Completed) {
        ExperimentStatus::Completed
    } else if any(&|a| a.state == RunState::Running) {
        ExperimentStatus::Running
    } else if any(&|a| a.state == RunState::Pending) {
        ExperimentStatus::Pending
    } else if any(&is_wasted) {
        ExperimentStatus::Failed
    } else {
        ExperimentStatus::Unknown
    }
}

fn capacity(attempts: &[&Attempt]) -> String {
    let kinds: BTreeSet<Capacity> =
        attempts.iter().filter(|a| a.started_at.is_some()).map(|attempt| attempt.capacity).collect();
    match kinds.len() {
        0 => Capacity::Unknown.word().to_owned(),
        1 => kinds.first().map_or("", |kind| kind.word()).to_owned(),
        _ => "mixed".to_owned(),
    }
}

fn quality(attempts: &[&Attempt]) -> Option<(String, f64)> {
    let all: Vec<&QualityResult> = attempts.iter().flat_map(|attempt| &attempt.quality).collect();
    let last = |finals: bool| {
        all.iter()
            .filter(|result| result.is_final || !finals)
            .max_by_key(|result| (result.at, result.step))
            .copied()
    };
    last(true).or_else(|| last(false)).map(|result| (result.metric.clone(), result.value))
}

fn settlement(books: &Books, attempts: &[&Attempt]) -> Settlement {
    // An experiment that only charges name is billed and may still move.
    attempts.iter().map(|attempt| books.settlement(attempt)).min().unwrap_or(Settlement::Open)
}

/// The values of a filter's field for an experiment: each attempt's, where they differ.
pub(crate) fn fields(row: &ExperimentRow, attempts: &[&Attempt], field: &str) -> Vec<String> {
    let each = |value: &dyn Fn(&Attempt) -> Option<String>| {
        attempts.iter().filter_map(|attempt| value(attempt)).collect::<BTreeSet<_>>().into_iter().collect()
    };
    match field {
        "experiment" => vec![row.experiment.0.clone()],
        "status" => vec![row.status.word().to_owned()],
        "attempts" => vec![row.attempts.to_string()],
        "started" => row.started_at.map(|start| start.to_string()).into_iter().collect(),
        "team" => each(&|a| a.team.clone()),
        "user" => each(&|a| a.user.clone()),
        "cluster" => each(&|a| a.cluster.clone()),
        "queue" => each(&|a| a.queue.clone()),
        "name" => each(&|a| a.name.clone()),
        "scheduler" => each(&|a| Some(a.scheduler.clone())),
        "capacity" => each(&|a| Some(a.capacity.word().to_owned())),
        "outcome" => each(&|a| Some(a.outcome.word().to_owned())),
        "cause" => each(&|a| Some(a.cause.word().to_owned())),
        _ => Vec::new(),
    }
}
