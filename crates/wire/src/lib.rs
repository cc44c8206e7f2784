//! The public shapes of every answer: JSON documents, and rows for CSV and JSON lines.
//!
//! An amount is a decimal string with all its digits, a time is RFC 3339 in UTC, an id is a string. What is not known is
//! `null` beside a word that says why; it is never `0`. [`flat`] turns rows into columns for CSV.

mod check;
mod config;
mod coverage;
mod demo;
mod explain;
mod export;
mod figure;
mod flat;
mod import;
mod invoice;
mod list;
mod meta;
mod prices;
mod reconcile;
mod scalar;
mod spend;
mod sql;
mod statement;
#[cfg(test)]
mod tests;

pub use check::{BalanceRow, CheckAnswer, CheckRow, check};
pub use config::{ConfigAnswer, ConfigRow, config};
pub use coverage::{CoverageAnswer, CoverageRow, ScoreRow, coverage};
pub use demo::{DemoAnswer, demo};
pub use explain::{ConvertedRow, ExplainAnswer, ExplainRest, ExplainRow, ExplainSum, OverlapRow, why};
pub use export::{ExportAnswer, export};
pub use figure::{Empty, EvidenceMix, Figure, State};
pub use flat::{Flat, flat};
pub use import::{DeliveryRow, ImportAnswer, RejectionRow, WarningRow, import};
pub use invoice::{DeliveryStep, InvoiceAnswer, InvoiceRow, invoices};
pub use list::{ExperimentRow, ExperimentTotal, ListAnswer, empty_cost, empty_total, empty_wasted, list};
pub use meta::{CarriedDay, Conversion, Meta};
pub use prices::{PriceAnswer, PriceListAnswer, PricesAnswer, prices};
pub use reconcile::{ReconcileAnswer, ReconcileRow, reconcile};
pub use scalar::{Gpu, Quality};
pub use spend::{SpendAnswer, SpendRow, SpendTotal, spend};
pub use sql::{SqlAnswer, sql};
pub use statement::{AttemptRow, Matrix, MatrixRow, StatementAnswer, StatementTotal, show};
