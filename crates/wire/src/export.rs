//! `export`: what was written.

use serde::Serialize;

use crate::WarningRow;

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ExportAnswer {
    /// The file.
    pub file: String,
    /// Rows written.
    pub rows_written: u64,
    /// Deliveries in it.
    pub deliveries: u64,
    /// What the user should know.
    pub warnings: Vec<WarningRow>,
}

/// The public shape of `export`.
pub fn export(report: &app::ExportReport) -> ExportAnswer {
    ExportAnswer {
        file: report.file.clone(),
        rows_written: report.rows,
        deliveries: report.deliveries,
        warnings: report.warnings.iter().map(WarningRow::of).collect(),
    }
}
