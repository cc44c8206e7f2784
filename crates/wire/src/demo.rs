//! `demo`: what was written and imported.

use app::DemoReport;
use serde::Serialize;

use crate::{ImportAnswer, import};

/// The demo company in its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DemoAnswer {
    /// Folder of exports and store.
    pub dir: String,
    /// The store.
    pub store: String,
    /// Experiments in it.
    pub experiments: usize,
    /// Attempts in it.
    pub attempts: usize,
    /// Days of bills.
    pub days: usize,
    /// The imports, in order.
    pub rows: Vec<ImportAnswer>,
}

/// The public shape of `demo`.
pub fn demo(report: &DemoReport) -> DemoAnswer {
    DemoAnswer {
        dir: report.dir.display().to_string(),
        store: report.store.display().to_string(),
        experiments: report.experiments,
        attempts: report.attempts,
        days: report.days,
        rows: report.imports.iter().map(import).collect(),
    }
}
