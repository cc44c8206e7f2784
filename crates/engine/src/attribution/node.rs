//! The operator as DataFusion sees it: a logical node, and an execution with partial sums per partition.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use costing::attribution::{AttributionPlan, Resource};
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, ToDFSchema};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use futures::StreamExt;
use rustc_hash::FxBuildHasher;

use super::dimensions::Dimensions;
use super::kernel::Kernel;
use super::run::{Charges, Measures, Witness};

/// Groups that a thread may hold before it hands partial sums on; bounds memory whatever the bill's size.
const GROUPS_MAX: usize = 1 << 16;

/// What a run of the operator shares over its partitions.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) plan: Arc<AttributionPlan>,
    /// The plan's resources; every dictionary of a bill is looked up here.
    pub(crate) resources: HashMap<String, Resource, FxBuildHasher>,
    pub(crate) charges: Charges,
    pub(crate) measures: Measures,
    pub(crate) dimensions: Dimensions,
    pub(crate) witness: Mutex<Witness>,
}

impl Operator {
    fn schema(&self) -> Schema {
        let mut fields =
            vec![Field::new("landing", DataType::UInt32, false), Field::new("dims", DataType::UInt64, false)];
        fields.extend(
            self.measures.names().iter().map(|name| Field::new(*name, sources::charges::MONEY, false)),
        );
        fields.push(Field::new("charges", DataType::UInt64, false));
        fields.push(Field::new("unpriced", DataType::UInt64, false));
        Schema::new(fields)
    }
}

/// The logical node over a scan of charges.
#[derive(Debug, Clone)]
pub(crate) struct AttributionNode {
    input: LogicalPlan,
    operator: Arc<Operator>,
    schema: DFSchemaRef,
}

impl AttributionNode {
    pub(crate) fn new(input: LogicalPlan, operator: Arc<Operator>) -> Result<Self> {
        let schema = operator.schema().to_dfschema_ref()?;
        Ok(Self { input, operator, schema })
    }
}

impl PartialEq for AttributionNode {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.operator, &other.operator) && self.input == other.input
    }
}

impl Eq for AttributionNode {}

impl Hash for AttributionNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.input.hash(state);
        Arc::as_ptr(&self.operator).hash(state);
    }
}

impl PartialOrd for AttributionNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for AttributionNode {
    fn name(&self) -> &'static str {
        "Attribution"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attribution: {} attempts", self.operator.plan.attempts.len())
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input =
            inputs.pop().ok_or_else(|| DataFusionError::Internal("attribution has no input".into()))?;
        Self::new(input, Arc::clone(&self.operator))
    }

    fn necessary_children_exprs(&self, _output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![(0..self.input.schema().fields().len()).collect()])
    }
}

/// Plans [`AttributionNode`].
#[derive(Debug)]
pub(crate) struct OperatorPlanner;

#[async_trait]
impl ExtensionPlanner for OperatorPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        _session: &dyn Session,
        _planning_ctx: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(node) = node.as_any().downcast_ref::<AttributionNode>() else { return Ok(None) };
        let input = physical_inputs.first().map(Arc::clone);
        let input = input.ok_or_else(|| DataFusionError::Internal("attribution has no input".into()))?;
        Ok(Some(Arc::new(AttributionExec::new(input, Arc::clone(&node.operator)))))
    }
}

#[derive(Debug)]
struct AttributionExec {
    input: Arc<dyn ExecutionPlan>,
    operator: Arc<Operator>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl AttributionExec {
    fn new(input: Arc<dyn ExecutionPlan>, operator: Arc<Operator>) -> Self {
        let schema = Arc::new(operator.schema());
        let partitions = input.output_partitioning().partition_count();
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        Self { input, operator, schema, properties }
    }
}

impl DisplayAs for AttributionExec {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttributionExec: attempts={}", self.operator.plan.attempts.len())
    }
}

impl ExecutionPlan for AttributionExec {
    fn name(&self) -> &'static str {
        "AttributionExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        // The scan is already split over the threads; moving rows between them would only cost.
        vec![false]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input =
            children.pop().ok_or_else(|| DataFusionError::Internal("attribution has no input".into()))?;
        Ok(Arc::new(Self::new(input, Arc::clone(&self.operator))))
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input =
            children.pop().ok_or_else(|| DataFusionError::Internal("attribution has no input".into()))?;
        Ok(Arc::new(Self::new(input, Arc::clone(&self.operator))))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let (operator, schema) = (Arc::clone(&self.operator), Arc::clone(&self.schema));
        let partition = Partition { input, kernel: Kernel::new(operator), ended: false };
        let to = Arc::clone(&schema);
        let batches =
            futures::stream::try_unfold(partition, move |partition| partition.next(Arc::clone(&to)));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// One partition on its way through the kernel.
struct Partition {
    input: SendableRecordBatchStream,
    kernel: Kernel,
    ended: bool,
}

impl Partition {
    /// The next batch of partial sums: when the table is full, and once more at the end, when the witness is told.
    async fn next(mut self, schema: SchemaRef) -> Result<Option<(RecordBatch, Self)>> {
        if self.ended {
            return Ok(None);
        }
        while let Some(batch) = self.input.next().await {
            self.kernel.process(&batch?)?;
            if self.kernel.groups() >= GROUPS_MAX {
                let partial = self.kernel.drain(&schema)?;
                return Ok(Some((partial, self)));
            }
        }
        self.ended = true;
        self.kernel.tell_witness()?;
        let partial = self.kernel.drain(&schema)?;
        Ok(Some((partial, self)))
    }
}
