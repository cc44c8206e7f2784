//! Readers of bills, one file a format, and the types that every reader takes and gives.
//!
//! A reader takes a [`BillInput`] (made by [`crate::place`]), hands [`BillBatch`]es of the canonical schema to a sink
//! while it reads, and returns a [`BillSummary`]; memory is bounded by [`BillLimits`], not by the size of the bill.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use ledger::{BillingPeriod, CostBasis, Day, Interval, Timestamp};
use money::{Amount, Currency};
use tempfile::TempDir;

use crate::{Rejection, SourceError};

pub mod aws_cur;
pub mod azure_cost;
pub mod focus;
pub mod gcp_billing;
pub mod quality;
mod table;
mod tally;

use quality::BasisQuality;
pub(crate) use table::column::squashed;

/// Reads all files of an input and hands on batches of one payer and billing period to the sink; what was handed on
/// before an error must not be kept.
pub type Read = fn(
    &BillInput,
    &BillOptions,
    &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
) -> Result<BillSummary, SourceError>;

/// A reader of bills.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// Name on the command line and in the list of sources.
    pub id: &'static str,
    /// Changes when the reader values rows differently, so that a figure tells which formulae made it.
    pub version: &'static str,
    /// What reads it.
    pub read: Read,
    /// What an arrival of a month is to the one before it.
    pub arrival: Arrival,
}

/// What an arrival of a payer's month is to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The month as a whole: it takes the earlier one's place.
    Whole,
    /// Rows of an export that is only ever appended to: they may follow those that are there.
    Appended,
}

/// Every reader of bills, in alphabetical order.
pub const READERS: &[Reader] = &[
    Reader { id: "aws-cur", version: "aws-cur 1", read: aws_cur::read, arrival: Arrival::Whole },
    Reader { id: "azure-cost", version: "azure-cost 1", read: azure_cost::read, arrival: Arrival::Whole },
    Reader { id: "focus", version: "focus 1", read: focus::read, arrival: Arrival::Whole },
    Reader {
        id: "gcp-billing",
        version: "gcp-billing 1",
        read: gcp_billing::read,
        arrival: Arrival::Appended,
    },
];

/// The files of one import, all on the local disk.
#[derive(Debug, Clone)]
pub struct BillInput {
    /// Files in the order in which they are read.
    pub files: Vec<BillFile>,
    /// What the place noticed: stale parts, files that no reader takes.
    pub warnings: Vec<BillWarning>,
    /// Keeps spooled objects on disk for as long as the input lives.
    pub spool: Option<Arc<TempDir>>,
}

/// One file of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BillFile {
    /// Where it lies on the local disk.
    pub path: PathBuf,
    /// Name as the user or the manifest gives it.
    pub name: String,
    /// Size on disk.
    pub bytes: u64,
    /// What it is, by its first bytes and, for plain text, its name.
    pub format: FileFormat,
    /// Billing period that a manifest states for it.
    pub period: Option<BillingPeriod>,
}

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileFormat {
    /// Comma-separated text.
    Csv,
    /// Comma-separated text under gzip.
    CsvGz,
    /// Apache Parquet.
    Parquet,
    /// JSON or JSON lines.
    Json,
    /// JSON or JSON lines under gzip.
    JsonGz,
}

impl FileFormat {
    /// True for JSON of any kind.
    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonGz)
    }
}

/// Something the user should know that does not stop an import.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BillWarning {
    /// Stable code, such as `bill::no_resource_ids`.
    pub code: &'static str,
    /// What is so, in one line.
    pub message: String,
}

impl BillWarning {
    /// A warning with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Called now and then with the rows read and the bytes of the input consumed so far.
pub type Progress = dyn Fn(u64, u64) + Send + Sync;

/// How to read a bill.
#[derive(Clone, Default)]
pub struct BillOptions {
    /// Called about every 65,536 rows.
    pub progress: Option<Arc<Progress>>,
    /// What an input may cost.
    pub limits: BillLimits,
    /// What becomes of columns without a canonical place.
    pub unmapped: Unmapped,
}

/// What becomes of columns without a canonical place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unmapped {
    /// They are kept as JSON in `x_unmapped`.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}

/// What an untrusted input may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillLimits {
    /// Longest row of text, in bytes.
    pub row_bytes: u64,
    /// Most columns in a file.
    pub columns: usize,
    /// Largest unpacked size, as a multiple of the packed size.
    pub unpack_ratio: u64,
    /// Unpacked size below which the ratio does not matter.
    pub unpack_floor_bytes: u64,
    /// Rejections kept with their place; all are counted.
    pub rejections: usize,
    /// Rows in a batch.
    pub batch_rows: usize,
    /// Bytes of text over all open batches before they are handed on.
    pub open_text_bytes: usize,
    /// Billing periods times payers in one import.
    pub periods: usize,
}

impl Default for BillLimits {
    fn default() -> Self {
        Self {
            row_bytes: 4 << 20,
            columns: 4096,
            unpack_ratio: 500,
            unpack_floor_bytes: 256 << 20,
            rejections: 200,
            batch_rows: 8192,
            open_text_bytes: 48 << 20,
            periods: 4096,
        }
    }
}

/// Canonical rows of one payer and billing period.
#[derive(Debug, Clone)]
pub struct BillBatch {
    /// Account that pays.
    pub payer: String,
    /// Month billed.
    pub period: BillingPeriod,
    /// Rows of [`crate::charges::schema`].
    pub batch: RecordBatch,
}

/// What an import held.
#[derive(Debug, Clone, Default)]
pub struct BillSummary {
    /// Rows read; `accepted + rejected`.
    pub rows: u64,
    /// Rows that became charges; a row may become several.
    pub accepted: u64,
    /// Rows that could not be read.
    pub rejected: u64,
    /// The first rejections with their places.
    pub rejections: Vec<Rejection>,
    /// All rejections by code.
    pub rejected_by_code: BTreeMap<&'static str, u64>,
    /// One entry per payer and billing period, in that order.
    pub periods: Vec<PeriodSummary>,
    /// What the user should know.
    pub warnings: Vec<BillWarning>,
}

impl BillSummary {
    /// True if there are charges and none of them names a resource.
    pub(in crate::billing) fn names_no_resource(&self) -> bool {
        self.accepted > 0 && !self.periods.iter().any(|period| period.has_resource_ids)
    }
}

/// What one payer's billing period held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodSummary {
    /// Account that pays.
    pub payer: String,
    /// Month billed.
    pub period: BillingPeriod,
    /// Currency of every amount here.
    pub currency: Currency,
    /// Charges handed to the sink.
    pub rows: u64,
    /// The plain sum of the source's billed cost column, and of the credits on its rows where it has them; split rows
    /// left out and rejected rows with a readable cost included: what the canonical rows must tie to.
    pub source_total: Amount,
    /// The part of `source_total` that stands in rejected rows.
    pub rejected_total: Amount,
    /// Σ `billed_cost`.
    pub billed_total: Amount,
    /// Σ `effective_cost`.
    pub effective_total: Amount,
    /// Σ `list_cost` of priced rows.
    pub list_total: Amount,
    /// Σ `x_marginal_cost`.
    pub marginal_total: Amount,
    /// Rows whose `list_cost` is null.
    pub unpriced: u64,
    /// Rows whose effective cost could not be told from the source and equals the billed cost instead.
    pub effective_unknown: u64,
    /// Usage rows.
    pub usage_rows: u64,
    /// Usage rows that carry an invoice.
    pub invoiced_usage_rows: u64,
    /// Days that hold usage.
    pub days: BTreeSet<Day>,
    /// From the first start to the last end of usage rows.
    pub usage: Option<Interval>,
    /// Shortest and longest usage interval, in microseconds.
    pub usage_micros: Option<(i64, i64)>,
    /// True if any row names a resource.
    pub has_resource_ids: bool,
    /// How negotiated discounts arrive.
    pub discounts: DiscountMode,
    /// Rows of the provider's split data.
    pub split_rows: u64,
    /// Rows of capacity blocks, usage and fees.
    pub capacity_block_rows: u64,
    /// What is left of the source's own amortisation identity; zero if it holds, `None` if its columns are missing.
    pub identity_residue: Option<Amount>,
    /// Σ of the credits on the rows by the provider's type, whether they are part of a price or a charge of their own.
    pub credits_by_type: BTreeMap<String, Amount>,
    /// First and last time at which the rows were exported, where the source tells it: a later import of rows that are
    /// only appended starts behind the last.
    pub export_times: Option<(Timestamp, Timestamp)>,
    /// What the quality gate found, in order; empty if nothing speaks against any basis.
    pub quality: Vec<BasisQuality>,
    /// Rows in which a canonical column that may be null is null, for every such column.
    pub null_rates: BTreeMap<&'static str, u64>,
    /// Tag keys with a column of their own, where the source gives each a column.
    pub tag_columns: BTreeSet<String>,
}

impl PeriodSummary {
    /// A period without rows.
    pub fn new(payer: String, period: BillingPeriod, currency: Currency) -> Self {
        Self {
            payer,
            period,
            currency,
            rows: 0,
            source_total: Amount::ZERO,
            rejected_total: Amount::ZERO,
            billed_total: Amount::ZERO,
            effective_total: Amount::ZERO,
            list_total: Amount::ZERO,
            marginal_total: Amount::ZERO,
            unpriced: 0,
            effective_unknown: 0,
            usage_rows: 0,
            invoiced_usage_rows: 0,
            days: BTreeSet::new(),
            usage: None,
            usage_micros: None,
            has_resource_ids: false,
            discounts: DiscountMode::None,
            split_rows: 0,
            capacity_block_rows: 0,
            identity_residue: None,
            credits_by_type: BTreeMap::new(),
            export_times: None,
            quality: Vec::new(),
            null_rates: BTreeMap::new(),
            tag_columns: BTreeSet::new(),
        }
    }

    /// True if no finding withholds the basis.
    pub fn is_usable(&self, basis: CostBasis) -> bool {
        self.quality.iter().all(|found| found.usable || found.basis != Some(basis))
    }

    /// True if every usage row carries an invoice, so the provider has closed the bill.
    pub const fn is_final(&self) -> bool {
        self.usage_rows > 0 && self.usage_rows == self.invoiced_usage_rows
    }
}

/// How negotiated discounts arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiscountMode {
    /// No sign of any.
    None,
    /// In net columns beside the gross ones.
    NetColumns,
    /// As rows of their own.
    DiscountRows,
}
