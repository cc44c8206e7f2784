//! The public shape of `ls`: experiments with what they cost.

use app::ExperimentList;
use ledger::Settlement;
use money::{Amount, AmountError};
use serde::Serialize;

use crate::{Empty, Figure, Gpu, Meta, Quality};

/// Experiments with what they cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListAnswer {
    /// What the figures are.
    pub meta: Meta,
    /// Experiments, newest first.
    pub rows: Vec<ExperimentRow>,
    /// What lies past the limit.
    pub not_shown: ExperimentTotal,
    /// All of it: the rows and what is not shown.
    pub total: ExperimentTotal,
}

/// One experiment with all its attempts.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ExperimentRow {
    /// Its name.
    pub experiment: String,
    /// `completed`, `running`, `failed`, `pending` or `no attempts`.
    pub status: &'static str,
    /// Attempts.
    pub attempts: u32,
    /// Attempts that ended without success.
    pub failed_attempts: u32,
    /// `on_demand`, `spot`, `reserved`, `mixed` or `unknown`.
    pub capacity: String,
    /// Owner.
    pub team: Option<String>,
    /// First start.
    pub started_at: Option<String>,
    /// Accelerator time.
    pub gpu: Gpu,
    /// What it cost, every attempt included.
    pub cost: Figure,
    /// The part of attempts that ended without success.
    pub wasted: Figure,
    /// Quality reached.
    pub quality: Quality,
    /// `awaiting bill`, `open`, `final` or `restated`.
    pub settlement: &'static str,
}

/// Several experiments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExperimentTotal {
    /// How many.
    pub experiments: usize,
    /// What they cost.
    pub cost: Figure,
    /// The part of attempts that ended without success, as far as it is billed.
    pub wasted: String,
}

/// The public shape of `ls`.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn list(list: &ExperimentList) -> Result<ListAnswer, AmountError> {
    let rows = list.rows.iter().map(ExperimentRow::of).collect::<Result<Vec<_>, _>>()?;
    let wasted_total = list.wasted_total.total()?;
    let wasted_shown = list.rows.iter().map(|row| row.wasted.total()).collect::<Result<Vec<_>, _>>()?;
    let wasted_rest = wasted_total.checked_sub(Amount::sum(wasted_shown)?)?;
    let hidden = list.total_rows.saturating_sub(list.rows.len());
    Ok(ListAnswer {
        meta: Meta::from(&list.meta),
        not_shown: ExperimentTotal {
            experiments: hidden,
            cost: Figure::of(&list.not_shown, empty_sum(hidden))?,
            wasted: wasted_rest.to_string(),
        },
        total: ExperimentTotal {
            experiments: list.total_rows,
            cost: Figure::of(&list.total, empty_total(list))?,
            wasted: wasted_total.to_string(),
        },
        rows,
    })
}

/// What it means that no experiment of a list has a charge.
pub const fn empty_total(list: &ExperimentList) -> Empty {
    if list.total_rows == 0 { Empty::Nothing } else { empty_cost(list.settlement) }
}

fn empty_sum(rows: usize) -> Empty {
    if rows == 0 { Empty::Nothing } else { Empty::NoCharges }
}

/// What it means that an experiment or attempt of this settlement has no charge.
pub const fn empty_cost(settlement: Settlement) -> Empty {
    match settlement {
        Settlement::AwaitingBill => Empty::AwaitingBill,
        Settlement::Open | Settlement::Final | Settlement::Restated => Empty::NoCharges,
    }
}

/// What it means that no charge of an experiment is wasted.
pub const fn empty_wasted(row: &app::ExperimentRow) -> Empty {
    if row.failed_attempts == 0 { Empty::Nothing } else { empty_cost(row.settlement) }
}

impl ExperimentRow {
    pub(crate) fn of(row: &app::ExperimentRow) -> Result<Self, AmountError> {
        Ok(Self {
            experiment: row.experiment.to_string(),
            status: row.status.word(),
            attempts: row.attempts,
            failed_attempts: row.failed_attempts,
            capacity: row.capacity.clone(),
            team: row.team.clone(),
            started_at: row.started_at.map(|start| start.to_string()),
            gpu: Gpu::of(row.gpu_milliseconds),
            cost: Figure::of(&row.cost, empty_cost(row.settlement))?,
            wasted: Figure::of(&row.wasted, empty_wasted(row))?,
            quality: Quality::of(row.quality.as_ref()),
            settlement: row.settlement.word(),
        })
    }
}

impl ListAnswer {
    /// The rows for a flat file, with a row for what is not shown, so that the column sums to the total.
    pub fn flat_rows(&self) -> Vec<ExperimentRow> {
        let mut rows = self.rows.clone();
        if self.not_shown.experiments > 0 {
            rows.push(ExperimentRow {
                experiment: format!("(not shown: {})", self.not_shown.experiments),
                status: "not shown",
                cost: self.not_shown.cost.clone(),
                wasted: Figure { amount: Some(self.not_shown.wasted.clone()), ..Figure::default() },
                ..ExperimentRow::default()
            });
        }
        rows
    }
}
