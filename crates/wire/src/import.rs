//! `import`: what was read, and what became of it.

use app::ImportReport;
use serde::Serialize;

/// One import; `accepted` and `rejected` sum to `rows_read`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportAnswer {
    /// Kind of source.
    pub kind: &'static str,
    /// What was read.
    pub place: String,
    /// True if the store held all of it already.
    pub unchanged: bool,
    /// Rows found.
    pub rows_read: u64,
    /// Rows taken in.
    pub accepted: u64,
    /// Rows that could not be read.
    pub rejected: u64,
    /// Observations added.
    pub new_observations: u64,
    /// Observations that were known.
    pub known_observations: u64,
    /// Deliveries attributed anew.
    pub settled: u64,
    /// Deliveries that were not read again, as nothing changed where they came from.
    pub not_read_again: u64,
    /// Billing periods.
    pub rows: Vec<DeliveryRow>,
    /// The first rejected rows.
    pub rejections: Vec<RejectionRow>,
    /// What the user should know.
    pub warnings: Vec<WarningRow>,
}

/// What became of one billing period.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DeliveryRow {
    /// Source.
    pub source: String,
    /// Month billed.
    pub billing_period: String,
    /// `new`, `unchanged` or `restated`.
    pub state: &'static str,
    /// Charges.
    pub charges: u64,
    /// Sum of what is invoiced.
    pub billed: String,
    /// What it was before, where another delivery is replaced.
    pub billed_before: Option<String>,
    /// Currency code.
    pub currency: String,
    /// True if the provider has closed the bill.
    pub is_final: bool,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RejectionRow {
    /// Stable code.
    pub code: &'static str,
    /// File.
    pub file: String,
    /// Row, from 1 after the header.
    pub row: u64,
    /// Column to blame.
    pub column: Option<String>,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WarningRow {
    /// Stable code.
    pub code: String,
    /// What is the matter.
    pub message: String,
    /// What helps.
    pub help: Option<String>,
}

impl WarningRow {
    pub(crate) fn of(warning: &app::ImportWarning) -> Self {
        Self { code: warning.code.clone(), message: warning.message.clone(), help: warning.help.clone() }
    }
}

/// The public shape of `import`.
pub fn import(report: &ImportReport) -> ImportAnswer {
    ImportAnswer {
        kind: report.kind,
        place: report.place.clone(),
        unchanged: report.unchanged,
        rows_read: report.rows,
        accepted: report.accepted,
        rejected: report.rejected,
        new_observations: report.new_observations,
        known_observations: report.known_observations,
        settled: report.settled,
        not_read_again: report.not_read,
        rows: report.deliveries.iter().map(delivery).collect(),
        rejections: (report.rejections.iter())
            .map(|rejection| RejectionRow {
                code: rejection.code,
                file: rejection.file.clone(),
                row: rejection.row,
                column: rejection.column.clone(),
                found: rejection.found.clone(),
                expected: rejection.expected.clone(),
            })
            .collect(),
        warnings: (report.warnings.iter()).map(WarningRow::of).collect(),
    }
}

fn delivery(line: &app::DeliveryLine) -> DeliveryRow {
    DeliveryRow {
        source: line.source.to_string(),
        billing_period: line.period.to_string(),
        state: line.state,
        charges: line.rows,
        billed: line.billed.to_string(),
        billed_before: line.billed_before.map(|amount| amount.to_string()),
        currency: line.currency.to_string(),
        is_final: line.is_final,
    }
}
