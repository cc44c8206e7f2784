//! Why the engine could not answer.

use datafusion::error::DataFusionError;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// DataFusion could not plan or run a query.
    #[error("{0}")]
    Query(#[from] DataFusionError),
    /// What was read and what was posted differ: the result is refused.
    #[error("attribution does not tie: read {read} and posted {posted} units of 10^-24 of `{measure}`")]
    Witness {
        /// Which cost.
        measure: &'static str,
        /// Sum of the rows read.
        read: i128,
        /// Sum of the groups.
        posted: i128,
    },
    /// The rows read are not the rows that the delivery's manifest tells.
    #[error("attribution read {read} rows where the delivery has {expected}")]
    Rows {
        /// Rows read.
        read: u64,
        /// Rows of the manifest.
        expected: u64,
    },
    /// A batch has not the canonical form.
    #[error("charges lack the column `{column}` in its canonical type")]
    Column {
        /// Which.
        column: String,
    },
    /// A limit on distinct values was passed.
    #[error("more than {limit} distinct values of `{column}`")]
    TooManyValues {
        /// Which column.
        column: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A sum left the range of an amount.
    #[error("a sum of `{measure}` is out of range")]
    OutOfRange {
        /// Which cost.
        measure: &'static str,
    },
    /// An allocation plan could not be made.
    #[error(transparent)]
    Plan(#[from] costing::attribution::PlanError),
}

impl EngineError {
    /// Stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Query(_) => "engine::query",
            Self::Witness { .. } => "engine::does_not_tie",
            Self::Rows { .. } => "engine::rows_differ",
            Self::Column { .. } => "engine::column",
            Self::TooManyValues { .. } => "engine::too_many_values",
            Self::OutOfRange { .. } => "engine::out_of_range",
            Self::Plan(_) => "engine::plan",
        }
    }
}

impl From<EngineError> for DataFusionError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Query(inner) => inner,
            other => Self::External(Box::new(other)),
        }
    }
}
