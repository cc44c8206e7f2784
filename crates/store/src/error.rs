//! Why the store refuses or fails, each with a stable code and, where there is one, a remedy.

use std::path::{Path, PathBuf};

use ledger::{BillingPeriod, SourceId};
use money::Currency;

/// An error of the store; whatever it is, the store's last committed state is whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No catalog in the folder.
    #[error("no store in `{}`", path.display())]
    NotFound {
        /// The folder.
        path: PathBuf,
    },
    /// Written by a newer program.
    #[error("the store in `{}` has format {found}; this program knows {known}", path.display())]
    NewerFormat {
        /// The folder.
        path: PathBuf,
        /// Format found.
        found: i64,
        /// Newest format known.
        known: i64,
    },
    /// Another process writes.
    #[error("the store in `{}` is being written by another process{}", path.display(), shown(holder))]
    Locked {
        /// The folder.
        path: PathBuf,
        /// The process, where it left its number.
        holder: Option<u32>,
    },
    /// A write lock of another store was shown.
    #[error("the write lock is of `{}`, not of this store", path.display())]
    ForeignLock {
        /// The store that the lock is of.
        path: PathBuf,
    },
    /// The file system failed.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The catalog database failed.
    #[error("the catalog failed: {0}")]
    Catalog(#[from] sqlx::Error),
    /// A Parquet file could not be written or read.
    #[error("the table file `{}` failed: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// A batch could not be made.
    #[error("a batch could not be made: {0}")]
    Batch(#[from] arrow::error::ArrowError),
    /// A batch of charges does not have the canonical columns.
    #[error("not a canonical batch of charges: expected {expected}, found {found}")]
    Schema {
        /// The column expected.
        expected: String,
        /// The column found.
        found: String,
    },
    /// A sum or count leaves its range.
    #[error("{what} is out of range")]
    OutOfRange {
        /// Which.
        what: &'static str,
    },
    /// Costs of two currencies in one delivery.
    #[error("one delivery holds amounts in `{first}` and `{second}`")]
    MixedCurrency {
        /// Seen first.
        first: Currency,
        /// Seen later.
        second: String,
    },
    /// Counts or totals that must agree do not.
    #[error("{what} does not agree: expected {expected}, found {found}")]
    Disagreement {
        /// What was compared.
        what: String,
        /// One side.
        expected: String,
        /// The other side.
        found: String,
    },
    /// One change brings two deliveries of one source and period.
    #[error("two deliveries of `{source_id}` for {period} in one change")]
    TwoDeliveries {
        /// The source.
        source_id: SourceId,
        /// The period.
        period: BillingPeriod,
    },
    /// Postings made from a delivery that is not the current one.
    #[error("postings of `{source_id}` for {period} are not of its current delivery")]
    StalePostings {
        /// The source.
        source_id: SourceId,
        /// The period.
        period: BillingPeriod,
    },
    /// A hash that cannot be a folder's name.
    #[error("`{hash}` cannot name a folder (letters, digits, `-` and `_`, at most 128)")]
    BadHash {
        /// What was given.
        hash: String,
    },
    /// A word that this program does not know.
    #[error("unknown {kind} `{word}`")]
    UnknownWord {
        /// What the word should be.
        kind: &'static str,
        /// What was found.
        word: String,
    },
    /// A stored record that cannot be read.
    #[error("a stored record cannot be read: {0}")]
    Record(#[from] serde_json::Error),
    /// The store's own data contradicts itself.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: String,
    },
}

impl StoreError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "store::not_found",
            Self::NewerFormat { .. } => "store::newer_format",
            Self::Locked { .. } => "store::locked",
            Self::ForeignLock { .. } => "store::foreign_lock",
            Self::Io { .. } => "store::io",
            Self::Catalog(_) => "store::catalog",
            Self::Parquet { .. } => "store::parquet",
            Self::Batch(_) => "store::batch",
            Self::Schema { .. } => "store::schema",
            Self::OutOfRange { .. } => "store::out_of_range",
            Self::MixedCurrency { .. } => "store::mixed_currency",
            Self::Disagreement { .. } => "store::disagreement",
            Self::TwoDeliveries { .. } => "store::two_deliveries",
            Self::StalePostings { .. } => "store::stale_postings",
            Self::BadHash { .. } => "store::bad_hash",
            Self::UnknownWord { .. } => "store::unknown_word",
            Self::Record(_) => "store::record",
            Self::Damaged { .. } => "store::damaged",
        }
    }

    /// What helps, where something does.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NotFound { path } => Some(format!(
                "make one with sample data by `trainbill demo`, or with your own by `trainbill import --store {}`",
                path.display()
            )),
            Self::NewerFormat { .. } | Self::UnknownWord { .. } => {
                Some("use the version of trainbill that wrote it, or a newer one".to_owned())
            }
            Self::Locked { .. } => Some("wait for the other import to end, and try again".to_owned()),
            Self::MixedCurrency { .. } => {
                Some("import each currency's bill as a source of its own".to_owned())
            }
            Self::Damaged { .. } | Self::Parquet { .. } | Self::Record(_) => {
                Some("restore the store from a backup, or import the bills and records again".to_owned())
            }
            Self::ForeignLock { .. }
            | Self::Io { .. }
            | Self::Catalog(_)
            | Self::Batch(_)
            | Self::Schema { .. }
            | Self::OutOfRange { .. }
            | Self::Disagreement { .. }
            | Self::TwoDeliveries { .. }
            | Self::StalePostings { .. }
            | Self::BadHash { .. } => None,
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }

    pub(crate) fn parquet(path: &Path, source: parquet::errors::ParquetError) -> Self {
        Self::Parquet { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }
}

fn shown(holder: &Option<u32>) -> String {
    holder.map_or_else(String::new, |process| format!(" ({process})"))
}
