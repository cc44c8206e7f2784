//! A run of the operator over one delivery, and the check that what came out is what went in.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow::array::{Array, AsArray, Decimal128Array, RecordBatch};
use arrow::datatypes::{Decimal128Type, UInt32Type, UInt64Type};
use costing::attribution::{AttributionPlan, Landing};
use datafusion::functions_aggregate::expr_fn::sum;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion::prelude::{DataFrame, col, lit};
use futures::StreamExt;
use ledger::{Day, LineClass, ResourceKind};

use super::dimensions::{Dimensions, Dims};
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

/// One group of parts that landed in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Where.
    pub landing: Landing,
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Service.
    pub service_name: Arc<str>,
    /// Account that used it, empty if not told.
    pub sub_account_id: Arc<str>,
    /// Line type.
    pub line_type: Arc<str>,
    /// Day of usage; `None` for rows that span more than a day.
    pub usage_day: Option<Day>,
    /// Sum of each cost, in units of 10⁻²⁴.
    pub units: Vec<i128>,
    /// Charges behind the sums.
    pub charges: u64,
    /// Charges without a price.
    pub unpriced: u64,
}

/// What a run gives.
#[derive(Debug)]
pub struct Attributed {
    /// The groups, in order of their fields.
    pub groups: Vec<Group>,
    /// What was read.
    pub witness: Witness,
    /// The experiments that landings count: those of the plan, then those that only tags name.
    pub experiments: Vec<String>,
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

/// Attributes the charges of one delivery.
///
/// # Errors
/// `Witness` if what came out is not what went in; query errors of DataFusion.
pub async fn attribute(run: Run) -> Result<Attributed, EngineError> {
    let context = session(run.limits)?;
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
    let mut raw = RawGroups::default();
    while let Some(batch) = stream.next().await {
        raw.decode(&batch?, names.len());
    }
    drop(stream);
    finish(&operator, raw, names)
}

/// Groups as numbers: what the operator gives before the texts are put back.
#[derive(Default)]
struct RawGroups {
    groups: Vec<RawGroup>,
    /// The sums of each group, one group after the other.
    units: Vec<i128>,
}

struct RawGroup {
    landing: u32,
    dims: u64,
    charges: u64,
    unpriced: u64,
}

impl RawGroups {
    fn decode(&mut self, batch: &RecordBatch, measures: usize) {
        let landings = batch.column(0).as_primitive::<UInt32Type>();
        let dims = batch.column(1).as_primitive::<UInt64Type>();
        let units: Vec<_> =
            (0..measures).map(|m| batch.column(2 + m).as_primitive::<Decimal128Type>()).collect();
        let charges = batch.column(2 + measures).as_primitive::<UInt64Type>();
        let unpriced = batch.column(3 + measures).as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            let of = |column: &&Decimal128Array| if column.is_null(row) { 0 } else { column.value(row) };
            self.units.extend(units.iter().map(of));
            self.groups.push(RawGroup {
                landing: landings.value(row),
                dims: dims.value(row),
                charges: charges.value(row),
                unpriced: unpriced.value(row),
            });
        }
    }

    /// Puts the texts back once the run has seen all of them.
    fn named(self, d: &Dimensions, measures: usize) -> Vec<Group> {
        let shared = |texts: Vec<String>| texts.into_iter().map(Arc::from).collect::<Vec<Arc<str>>>();
        let (services, accounts) = (shared(d.services.texts()), shared(d.sub_accounts.texts()));
        let lines = shared(d.line_types.texts());
        let empty: Arc<str> = Arc::from("");
        let text = |texts: &[Arc<str>], number: u32| Arc::clone(texts.get(number as usize).unwrap_or(&empty));
        let mut groups = Vec::with_capacity(self.groups.len());
        for (raw, units) in self.groups.into_iter().zip(self.units.chunks(measures)) {
            let dims = Dims::unpack(raw.dims);
            groups.push(Group {
                landing: Landing::from_code(raw.landing),
                resource_kind: ResourceKind::ALL[dims.kind as usize],
                service_name: text(&services, dims.service),
                sub_account_id: text(&accounts, dims.sub_account),
                line_type: text(&lines, dims.line_type),
                usage_day: i32::try_from(dims.day).ok().filter(|day| *day > 0).map(|day| Day(day - 1)),
                units: units.to_vec(),
                charges: raw.charges,
                unpriced: raw.unpriced,
            });
        }
        groups
    }
}

/// Names and orders the groups, and checks that nothing was lost.
fn finish(operator: &Operator, raw: RawGroups, names: &[&'static str]) -> Result<Attributed, EngineError> {
    let mut groups = raw.named(&operator.dimensions, names.len());
    groups.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
    let mut witness = Witness::default();
    {
        let held = operator.witness.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        witness.merge(&held)?;
    }
    witness.read.resize(names.len(), 0);
    check(&groups, &witness, names)?;
    let mut experiments: Vec<String> = operator.plan.experiments.iter().map(ToString::to_string).collect();
    experiments.extend(operator.dimensions.experiments.texts().into_iter().skip(1));
    Ok(Attributed { groups, witness, experiments })
}

/// By what groups are ordered.
fn order(group: &Group) -> (Landing, Option<Day>, ResourceKind, [&str; 3]) {
    let texts = [&*group.service_name, &*group.sub_account_id, &*group.line_type];
    (group.landing, group.usage_day, group.resource_kind, texts)
}

/// What came out must be what went in, cost by cost.
fn check(groups: &[Group], witness: &Witness, names: &[&'static str]) -> Result<(), EngineError> {
    for (index, measure) in names.iter().enumerate() {
        let posted = groups
            .iter()
            .try_fold(0_i128, |sum, group| sum.checked_add(group.units[index]))
            .ok_or(EngineError::OutOfRange { measure })?;
        if posted != witness.read[index] {
            return Err(EngineError::Witness { measure, read: witness.read[index], posted });
        }
    }
    Ok(())
}
