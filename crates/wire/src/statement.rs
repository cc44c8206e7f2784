//! `show`: one experiment's attempts, and attempts by resource kinds in a matrix that sums both ways.

use std::collections::BTreeMap;

use app::Statement;
use ledger::Timestamp;
use money::AmountError;
use serde::Serialize;

use crate::list::{empty_cost, empty_wasted};
use crate::scalar::seconds;
use crate::{Empty, ExperimentRow, Figure, Gpu, Meta};

/// The bill of one experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementAnswer {
    /// What the figures are.
    pub meta: Meta,
    /// The experiment as `ls` shows it.
    pub experiment: ExperimentRow,
    /// Its attempts in order.
    pub rows: Vec<AttemptRow>,
    /// Attempts by resource kinds.
    pub matrix: Matrix,
    /// All of it.
    pub total: StatementTotal,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AttemptRow {
    /// Immutable id.
    pub attempt: String,
    /// Position among the attempts, from 1.
    pub ordinal: u32,
    /// Its source's own key.
    pub key: String,
    /// `pending`, `running`, `ended` or `lost`.
    pub state: &'static str,
    /// How it ended.
    pub outcome: &'static str,
    /// Why it did not complete.
    pub cause: &'static str,
    /// The source's own words for the end.
    pub cause_evidence: Vec<String>,
    /// What was bought.
    pub capacity: &'static str,
    /// Handed in.
    pub submitted_at: Option<String>,
    /// Resources allocated.
    pub started_at: Option<String>,
    /// Ended.
    pub ended_at: Option<String>,
    /// From submission to start, which nobody bills.
    pub queued_seconds: Option<String>,
    /// From start to end.
    pub held_seconds: Option<String>,
    /// Accelerator time.
    pub gpu: Gpu,
    /// Nodes.
    pub nodes: Option<u32>,
    /// Nodes held that no bill can name, since their instance is not known.
    pub unjoined_nodes: u32,
    /// What it cost.
    pub cost: Figure,
    /// True if it ended without success.
    pub wasted: bool,
    /// How far its bill has come.
    pub settlement: &'static str,
}

/// Attempts by resource kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matrix {
    /// Columns.
    pub kinds: Vec<&'static str>,
    /// Rows.
    pub rows: Vec<MatrixRow>,
    /// Sums of the columns.
    pub totals: BTreeMap<&'static str, Figure>,
}

/// A row of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatrixRow {
    /// The attempt's ordinal; `null` for what can only be charged to the experiment as a whole.
    pub attempt: Option<u32>,
    /// Figures by resource kind.
    pub cells: BTreeMap<&'static str, Figure>,
    /// Their sum.
    pub total: Figure,
}

/// The sums of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementTotal {
    /// Attempts.
    pub attempts: usize,
    /// What they cost, with what can only be charged to the experiment as a whole.
    pub cost: Figure,
    /// The part of attempts that ended without success.
    pub wasted: Figure,
}

/// The public shape of `show`.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn show(statement: &Statement) -> Result<StatementAnswer, AmountError> {
    let row = &statement.row;
    let cell = |figures: &[ledger::Figure]| -> Result<BTreeMap<&'static str, Figure>, AmountError> {
        let named = statement.kinds.iter().zip(figures);
        named.map(|(kind, figure)| Ok((kind.word(), Figure::of(figure, Empty::NoCharges)?))).collect()
    };
    let mut rows = Vec::with_capacity(statement.matrix.len());
    for row in &statement.matrix {
        let settlement = row.attempt.and_then(|ordinal| {
            statement
                .attempts
                .iter()
                .find(|attempt| attempt.ordinal == ordinal)
                .map(|attempt| attempt.settlement)
        });
        let empty = settlement.map_or(Empty::NoCharges, empty_cost);
        rows.push(MatrixRow {
            attempt: row.attempt,
            cells: cell(&row.cells)?,
            total: Figure::of(&row.total, empty)?,
        });
    }
    Ok(StatementAnswer {
        meta: Meta::from(&statement.meta),
        experiment: ExperimentRow::of(row)?,
        rows: statement.attempts.iter().map(AttemptRow::of).collect::<Result<_, _>>()?,
        matrix: Matrix {
            kinds: statement.kinds.iter().map(|kind| kind.word()).collect(),
            rows,
            totals: cell(&statement.kind_totals)?,
        },
        total: StatementTotal {
            attempts: statement.attempts.len(),
            cost: Figure::of(&statement.total, empty_cost(row.settlement))?,
            wasted: Figure::of(&row.wasted, empty_wasted(row))?,
        },
    })
}

impl AttemptRow {
    fn of(attempt: &app::AttemptRow) -> Result<Self, AmountError> {
        let time = |stamp: Option<Timestamp>| stamp.map(|stamp| stamp.to_string());
        Ok(Self {
            attempt: attempt.attempt.to_string(),
            ordinal: attempt.ordinal,
            key: attempt.key.clone(),
            state: attempt.state.word(),
            outcome: attempt.outcome.word(),
            cause: attempt.cause.word(),
            cause_evidence: attempt.cause_evidence.clone(),
            capacity: attempt.capacity.word(),
            submitted_at: time(attempt.submitted_at),
            started_at: time(attempt.started_at),
            ended_at: time(attempt.ended_at),
            queued_seconds: attempt.queue_micros.map(seconds),
            held_seconds: attempt.held_micros.map(seconds),
            gpu: Gpu::of(attempt.gpu_milliseconds),
            nodes: attempt.nodes,
            unjoined_nodes: attempt.unjoined_bindings,
            cost: Figure::of(&attempt.cost, empty_cost(attempt.settlement))?,
            wasted: attempt.wasted,
            settlement: attempt.settlement.word(),
        })
    }
}
