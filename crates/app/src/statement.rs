//! `show`: one experiment's bill, as attempts by resource kinds in a matrix that sums both ways.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{
    Account, Attempt, AttemptId, Capacity, Cause, Figure, Outcome, ResourceKind, RunState, Settlement,
    Timestamp,
};

use crate::books::{Books, add, measure};
use crate::list::{ExperimentRow, RunCosts, experiment_rows, is_wasted};
use crate::{AppError, Context, Meta, Query};

/// One attempt of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRow {
    /// Immutable id.
    pub attempt: AttemptId,
    /// Its source's own key.
    pub key: String,
    /// Position among the attempts, from 1.
    pub ordinal: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Where it stands.
    pub state: RunState,
    /// Why it did not complete.
    pub cause: Cause,
    /// The source's own words.
    pub cause_evidence: Vec<String>,
    /// What was bought.
    pub capacity: Capacity,
    /// Handed in.
    pub submitted_at: Option<Timestamp>,
    /// Allocated.
    pub started_at: Option<Timestamp>,
    /// Ended.
    pub ended_at: Option<Timestamp>,
    /// Microseconds from submission to start, which nobody bills.
    pub queue_micros: Option<i64>,
    /// Microseconds from start to end.
    pub held_micros: Option<i64>,
    /// Accelerator time, in thousandths of a GPU times seconds.
    pub gpu_milliseconds: Option<u64>,
    /// Nodes.
    pub nodes: Option<u32>,
    /// Nodes held that no bill can name, since their instance is not known.
    pub unjoined_bindings: u32,
    /// What it cost.
    pub cost: Figure,
    /// True if it ended without success.
    pub wasted: bool,
    /// How far its bill has come.
    pub settlement: Settlement,
}

/// A row of the matrix: an attempt, or what can only be charged to the experiment as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixRow {
    /// The attempt's ordinal; `None` for the experiment as a whole.
    pub attempt: Option<u32>,
    /// One figure a resource kind.
    pub cells: Vec<Figure>,
    /// Sum of the cells.
    pub total: Figure,
}

/// The answer of `show`.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What stands above it.
    pub meta: Meta,
    /// The experiment as `ls` shows it.
    pub row: ExperimentRow,
    /// Its attempts in order.
    pub attempts: Vec<AttemptRow>,
    /// Columns of the matrix.
    pub kinds: Vec<ResourceKind>,
    /// Rows of the matrix.
    pub matrix: Vec<MatrixRow>,
    /// Sums of the columns.
    pub kind_totals: Vec<Figure>,
    /// Sum of everything; equals `row.cost`.
    pub total: Figure,
}

type Cells = BTreeMap<(Option<AttemptId>, ResourceKind), Figure>;

/// The bill of one experiment, named whole or by a unique beginning.
///
/// # Errors
/// `query::no_such_experiment`, `query::ambiguous_experiment`; else as [`crate::ls`].
pub async fn show(context: &Context<'_>, query: &Query, experiment: &str) -> Result<Statement, AppError> {
    let books = Books::open(context).await?;
    let meta = books.meta(query).await?;
    let costs = RunCosts::read(&books, &meta)?;
    let id = books.experiment(experiment, &costs.billed())?;
    let rows = experiment_rows(&books, &meta, &costs)?;
    let found = rows.into_iter().find(|(row, _)| row.experiment == id);
    let (row, attempts) = found.ok_or_else(|| AppError::new("query::no_such_experiment", "it has gone"))?;
    let mut cells = Cells::new();
    let nothing = Figure::nothing(measure(&meta));
    books.postings(&meta, |_, posting| {
        if posting.experiment.as_ref() == Some(&id) {
            let attempt = posting.attempt.filter(|_| posting.account == Account::Attempt);
            let cell = cells.entry((attempt, posting.resource_kind)).or_insert_with(|| nothing.clone());
            add(cell, &posting)?;
        }
        Ok(())
    })?;
    let attempt_rows =
        attempts.iter().map(|attempt| attempt_row(&books, &costs, attempt, &nothing)).collect();
    statement(meta, row, (attempt_rows, &attempts), &cells)
}

fn attempt_row(books: &Books, costs: &RunCosts, attempt: &Attempt, nothing: &Figure) -> AttemptRow {
    let between = |from: Option<Timestamp>, to: Option<Timestamp>| Some(to?.0 - from?.0);
    let unjoined = attempt.bindings.iter().filter(|binding| binding.resource_id.is_none()).count();
    AttemptRow {
        attempt: attempt.id,
        key: attempt.canonical_key.clone(),
        ordinal: attempt.ordinal,
        outcome: attempt.outcome,
        state: attempt.state,
        cause: attempt.cause,
        cause_evidence: attempt.cause_evidence.clone(),
        capacity: attempt.capacity,
        submitted_at: attempt.submitted_at,
        started_at: attempt.started_at,
        ended_at: attempt.ended_at,
        queue_micros: between(attempt.submitted_at, attempt.started_at.or(attempt.ended_at)),
        held_micros: between(attempt.started_at, attempt.ended_at),
        gpu_milliseconds: attempt.gpu_milliseconds,
        nodes: attempt.node_count,
        unjoined_bindings: u32::try_from(unjoined).unwrap_or(u32::MAX),
        cost: costs.attempts.get(&attempt.id).cloned().unwrap_or_else(|| nothing.clone()),
        wasted: is_wasted(attempt),
        settlement: books.settlement(attempt),
    }
}

fn statement(
    meta: Meta,
    row: ExperimentRow,
    (attempt_rows, attempts): (Vec<AttemptRow>, &[&Attempt]),
    cells: &Cells,
) -> Result<Statement, AppError> {
    let nothing = Figure::nothing(measure(&meta));
    let kinds: Vec<ResourceKind> =
        cells.keys().map(|(_, kind)| *kind).collect::<BTreeSet<_>>().into_iter().collect();
    let mut lines: Vec<(Option<u32>, Option<AttemptId>)> =
        attempts.iter().map(|attempt| (Some(attempt.ordinal), Some(attempt.id))).collect();
    if cells.keys().any(|(attempt, _)| attempt.is_none()) {
        lines.push((None, None));
    }
    let mut matrix = Vec::with_capacity(lines.len());
    let mut kind_totals = vec![nothing.clone(); kinds.len()];
    let mut total = nothing.clone();
    for (ordinal, attempt) in lines {
        let row_cells: Vec<Figure> = kinds
            .iter()
            .map(|kind| cells.get(&(attempt, *kind)).cloned().unwrap_or_else(|| nothing.clone()))
            .collect();
        let mut row_total = nothing.clone();
        for (cell, kind_total) in row_cells.iter().zip(&mut kind_totals) {
            row_total = row_total.checked_add(cell)?;
            *kind_total = kind_total.clone().checked_add(cell)?;
        }
        total = total.checked_add(&row_total)?;
        matrix.push(MatrixRow { attempt: ordinal, cells: row_cells, total: row_total });
    }
    // Pair assertion: the matrix and the list are summed apart, and must be the same figure.
    if total.total()? != row.cost.total()? {
        let message =
            format!("the matrix sums to {} and the experiment to {}", total.total()?, row.cost.total()?);
        return Err(AppError::new("statement::does_not_tie", message).help("trainbill check"));
    }
    Ok(Statement { meta, row, attempts: attempt_rows, kinds, matrix, kind_totals, total })
}
