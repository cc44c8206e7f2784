//! A run of the operator over one delivery, and the check that what came out is what went in.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow::array::{Array, Decimal128Array};
use costing::attribution::AttributionPlan;
use datafusion::functions_aggregate::expr_fn::sum;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion::prelude::{DataFrame, SessionContext, col, lit};
use futures::StreamExt;
use ledger::LineClass;

use super::attributed::{Attributed, Sums};
use super::dimensions::Dimensions;
use super::groups::Overflow;
use super::node::{AttributionNode, Operator};
use crate::EngineError;
use crate::session::{Limits, charges, session};

/// The costs of a charge, in the order of a posting.
pub const MEASURES: [&str; 4] = ["billed_cost", "list_cost", "effective_cost", "x_marginal_cost"];

/// Which costs a run splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measures {
    /// All four, as postings need them.
    All,
    /// Billed cost alone.
    Billed,
}

impl Measures {
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::All => &MEASURES,
            Self::Billed => &["billed_cost"],
        }
    }
}

/// Which charges a run attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charges {
    /// All of them, credits to their own account.
    All,
    /// Credits alone, as if they were usage: to whom the usage belongs on which they were given.
    Credits,
}

/// What a run reads and how.
#[derive(Debug)]
pub struct Run {
    /// Parquet files of the charges.
    pub files: Vec<PathBuf>,
    /// The build side.
    pub plan: Arc<AttributionPlan>,
    /// Which of them.
    pub charges: Charges,
    /// The costs to split.
    pub measures: Measures,
    /// Threads and memory.
    pub limits: Limits,
}

/// What a run read: it must equal the delivery's manifest and the sum of what came out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Witness {
    /// Rows read.
    pub rows: u64,
    /// Sum of each cost read, in units of 10⁻²⁴.
    pub read: Vec<i128>,
}

impl Witness {
    /// Counts what the rows of a batch cost.
    pub(crate) fn read(&mut self, costs: &[&Decimal128Array], rows: usize) -> Result<(), Overflow> {
        self.rows += rows as u64;
        for (measure, cost) in costs.iter().enumerate() {
            let read = &mut self.read[measure];
            if cost.null_count() == 0 {
                for units in cost.values() {
                    *read = read.checked_add(*units).ok_or(Overflow { measure })?;
                }
            } else {
                for units in cost.iter().flatten() {
                    *read = read.checked_add(units).ok_or(Overflow { measure })?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), EngineError> {
        self.rows += other.rows;
        self.read.resize(other.read.len().max(self.read.len()), 0);
        for (index, (sum, units)) in self.read.iter_mut().zip(&other.read).enumerate() {
            *sum = sum.checked_add(*units).ok_or(EngineError::OutOfRange { measure: MEASURES[index] })?;
        }
        Ok(())
    }
}

const COLUMNS: [&str; 9] = [
    "resource_id",
    "tags",
    "x_class",
    "x_resource_kind",
    "service_name",
    "sub_account_id",
    "x_line_type",
    "charge_period_start",
    "charge_period_end",
];

/// The operator gives partial sums already; summing them up once more in each partition would hold every group twice.
fn aggregate_once(context: &SessionContext) {
    let state = context.state_ref();
    let mut state = state.write();
    let options = &mut state.config_mut().options_mut().execution;
    options.skip_partial_aggregation_probe_rows_threshold = 0;
    options.skip_partial_aggregation_probe_ratio_threshold = 0.0;
}

/// Attributes the charges of one delivery.
///
/// # Errors
/// `Witness` if what came out is not what went in; query errors of DataFusion.
pub async fn attribute(run: Run) -> Result<Attributed, EngineError> {
    let context = session(run.limits)?;
    aggregate_once(&context);
    let names = run.measures.names();
    let columns: Vec<&str> = COLUMNS.iter().chain(names).copied().collect();
    let scan = charges(&context, &run.files).await?.select_columns(&columns)?;
    let scan = match run.charges {
        Charges::All => scan,
        Charges::Credits => scan.filter(col("x_class").eq(lit(LineClass::Credit.word())))?,
    };
    let resources = run.plan.resources().map(|(id, resource)| (id.to_owned(), resource)).collect();
    let operator = Arc::new(Operator {
        resources,
        charges: run.charges,
        plan: run.plan,
        measures: run.measures,
        dimensions: Dimensions::new(),
        witness: Mutex::default(),
    });
    let (state, input) = scan.into_parts();
    let node = AttributionNode::new(input, Arc::clone(&operator))?;
    let plan = LogicalPlan::Extension(Extension { node: Arc::new(node) });
    let sums =
        names.iter().chain(&["charges", "unpriced"]).map(|name| sum(col(*name)).alias(*name)).collect();
    let merged = DataFrame::new(state, plan).aggregate(vec![col("landing"), col("dims")], sums)?;
    let mut stream = merged.execute_stream().await?;
    let mut sums = Sums::new(names.len());
    while let Some(batch) = stream.next().await {
        sums.take(&batch?)?;
    }
    drop(stream);
    let mut witness = Witness::default();
    witness.merge(&operator.witness.lock().unwrap_or_else(std::sync::PoisonError::into_inner))?;
    witness.read.resize(names.len(), 0);
    let mut experiments: Vec<String> = operator.plan.experiments.iter().map(ToString::to_string).collect();
    experiments.extend(operator.dimensions.experiments.texts().into_iter().skip(1));
    Attributed::of(sums, &operator.dimensions, witness, experiments)
}
