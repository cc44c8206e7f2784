//! Why the demo exports could not be written.

use std::path::PathBuf;

/// An error that ends the writing; files written before it stay.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A file or folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A Parquet file cannot be encoded.
    #[error("cannot encode `{}`", path.display())]
    Encode {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: parquet::errors::ParquetError,
    },
    /// A table cannot be built.
    #[error("cannot build the table of a bill")]
    Table(#[from] arrow::error::ArrowError),
    /// A JSON text cannot be written.
    #[error("cannot write JSON")]
    Json(#[from] serde_json::Error),
    /// An amount left its range.
    #[error("an amount of the demo bill cannot be held")]
    Amount(#[from] money::AmountError),
    /// An amount cannot be split.
    #[error("an amount of the demo bill cannot be split")]
    Apportion(#[from] money::ApportionError),
}
