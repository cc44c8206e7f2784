//! `spend`: all money of the bills by one dimension.

use app::SpendTable;
use money::AmountError;
use serde::Serialize;

use crate::{Empty, Figure, Meta};

/// All spend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpendAnswer {
    /// What the figures are.
    pub meta: Meta,
    /// The dimension.
    pub by: &'static str,
    /// One row a value of it.
    pub rows: Vec<SpendRow>,
    /// What lies past the limit.
    pub not_shown: SpendTotal,
    /// All of it: the rows and what is not shown.
    pub total: SpendTotal,
}

/// One value of the dimension.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SpendRow {
    /// The value; in parentheses where there is none.
    pub key: String,
    /// Why the money is there, for accounts that are not a run's.
    pub reason: Option<String>,
    /// How much.
    pub cost: Figure,
    /// Parts of charges in it: a charge that is split has one in each place that takes some of it.
    pub parts: u64,
}

/// A sum of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpendTotal {
    /// How many.
    pub rows: usize,
    /// How much.
    pub cost: Figure,
}

/// The public shape of `spend`.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn spend(table: &SpendTable) -> Result<SpendAnswer, AmountError> {
    let row = |row: &app::SpendRow| {
        let cost = Figure::of(&row.figure, Empty::NoCharges)?;
        Ok(SpendRow { key: row.key.clone(), reason: row.reason.clone(), cost, parts: row.parts })
    };
    let sum = |rows: usize, figure: &ledger::Figure| {
        let empty = if rows == 0 { Empty::Nothing } else { Empty::NoCharges };
        Ok(SpendTotal { rows, cost: Figure::of(figure, empty)? })
    };
    Ok(SpendAnswer {
        meta: Meta::from(&table.meta),
        by: table.by.word(),
        rows: table.rows.iter().map(row).collect::<Result<_, _>>()?,
        not_shown: sum(table.total_rows.saturating_sub(table.rows.len()), &table.not_shown)?,
        total: sum(table.total_rows, &table.total)?,
    })
}

impl SpendAnswer {
    /// The rows for a flat file, with a row for what is not shown, so that the column sums to the total.
    pub fn flat_rows(&self) -> Vec<SpendRow> {
        let mut rows = self.rows.clone();
        if self.not_shown.rows > 0 {
            rows.push(SpendRow {
                key: format!("(not shown: {})", self.not_shown.rows),
                cost: self.not_shown.cost.clone(),
                ..SpendRow::default()
            });
        }
        rows
    }
}
