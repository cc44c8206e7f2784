//! The use cases of trainbill: one function a verb, the same for every face.

mod books;
mod check;
mod context;
mod conversion;
mod coverage;
mod demo;
mod error;
mod estimate;
mod explain;
mod export;
pub mod filter;
mod import;
mod invoice;
mod landing;
mod list;
mod list_fill;
mod prices;
mod provider;
mod query;
mod reconcile;
mod running;
pub mod settings;
mod settle;
mod spend;
mod sql;
mod statement;

pub use check::{BalanceCheck, CheckBasis, CheckReport, OtherCheck, check};
pub use context::{Context, Progress, Silent};
pub use conversion::Conversion;
pub use coverage::{AttemptScore, CoverageReport, CoverageRow, coverage_report};
pub use demo::{DemoReport, demo};
pub use error::AppError;
pub use estimate::EstimateSettings;
pub use explain::{ConvertedPart, ExplainLine, Explanation, Selection, why};
pub use export::{ExportForm, ExportReport, export_focus, export_openlineage};
pub use import::{
    BillImport, Decision, DeliveryLine, ImportReport, ImportWarning, PriceFormat, PriceImport, RunFormat,
    RunImport, bill, link, prices as import_prices, rates as import_rates, runs as import_runs,
};
pub use invoice::{DeliveryStep, InvoiceRow, invoices};
pub use list::{ExperimentList, ExperimentRow, ExperimentStatus, ls};
pub use prices::{PriceLine, PriceListRow, PriceTable, price_table};
pub use query::{Meta, Query};
pub use reconcile::{Cause, ReconcileBy, ReconcileRow, Reconciliation, reconcile};
pub use spend::{SpendBy, SpendRow, SpendTable, spend};
pub use sql::sql;
pub use statement::{AttemptRow, MatrixRow, Statement, show};
