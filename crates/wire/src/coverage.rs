//! `coverage`: which attempts and how much money lack which field.

use app::{AttemptScore, CoverageReport};
use money::AmountError;
use serde::Serialize;

use crate::{Empty, Figure, Meta};

/// The fields over all attempts asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoverageAnswer {
    /// What stands above it.
    pub meta: Meta,
    /// Attempts asked for.
    pub attempts: u64,
    /// Their cost.
    pub cost: Figure,
    /// Attempts whose cost is not known; it is not in `cost`.
    pub without_cost: u64,
    /// Every field.
    pub rows: Vec<CoverageRow>,
    /// The attempts by what they lack, the least complete first.
    pub scores: Vec<ScoreRow>,
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CoverageRow {
    /// Its name.
    pub field: &'static str,
    /// Attempts of which it is known.
    pub known: u64,
    /// Attempts of which it is missing.
    pub missing: u64,
    /// Attempts that have nothing to tell.
    pub not_due: u64,
    /// Cost of the attempts of which it is missing.
    pub missing_cost: Figure,
    /// Attempts among the missing whose cost is not known.
    pub missing_without_cost: u64,
    /// Where it comes from, for most of those that lack it.
    pub source: Option<&'static str>,
    /// What to type or to write into the job.
    pub command: Option<&'static str>,
    /// Attempts that this would supply it for.
    pub remedied: u64,
}

/// How complete the record of one attempt is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScoreRow {
    /// Experiment.
    pub experiment: String,
    /// Number in it.
    pub ordinal: u32,
    /// Fields known.
    pub known: usize,
    /// Fields due.
    pub due: usize,
    /// Names of the missing ones.
    pub missing: Vec<&'static str>,
}

/// The public shape of `coverage`.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn coverage(report: &CoverageReport) -> Result<CoverageAnswer, AmountError> {
    let row = |row: &app::CoverageRow| {
        let coverage = &row.coverage;
        let empty = if coverage.missing == 0 { Empty::Nothing } else { Empty::NoCharges };
        Ok(CoverageRow {
            field: coverage.field.word(),
            known: coverage.known,
            missing: coverage.missing,
            not_due: coverage.not_due,
            missing_cost: Figure::of(&coverage.missing_cost, empty)?,
            missing_without_cost: coverage.missing_without_cost,
            source: row.remedy.map(|remedy| remedy.source),
            command: row.remedy.map(|remedy| remedy.command),
            remedied: row.remedied,
        })
    };
    let empty = if report.attempts == 0 { Empty::Nothing } else { Empty::NoCharges };
    Ok(CoverageAnswer {
        meta: Meta::from(&report.meta),
        attempts: report.attempts,
        cost: Figure::of(&report.cost, empty)?,
        without_cost: report.without_cost,
        rows: report.fields.iter().map(row).collect::<Result<_, _>>()?,
        scores: report.scores.iter().map(score).collect(),
    })
}

fn score(one: &AttemptScore) -> ScoreRow {
    ScoreRow {
        experiment: one.experiment.clone(),
        ordinal: one.ordinal,
        known: one.known,
        due: one.due,
        missing: one.missing.iter().map(|field| field.word()).collect(),
    }
}
