//! The DataFusion session: bounded memory, declared parallelism, and the planner that knows our operator.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::error::Result;
use datafusion::execution::context::{QueryPlanner, SessionContext};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use datafusion::prelude::{DataFrame, ParquetReadOptions, SessionConfig};

use crate::attribution::OperatorPlanner;

/// What a query may use; memory does not grow with the size of the bill.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Threads.
    pub threads: usize,
    /// Bytes that aggregations and sorts may hold before they spill to disk.
    pub memory_bytes: usize,
}

impl Limits {
    /// As many threads as the machine has, and one gibibyte.
    pub fn of_machine() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, memory_bytes: 1 << 30 }
    }
}

/// A session with the attribution operator.
pub(crate) fn session(limits: Limits) -> Result<SessionContext> {
    let mut config = SessionConfig::new().with_target_partitions(limits.threads).with_batch_size(16 * 1024);
    let options = config.options_mut();
    // Dictionaries stay dictionaries: the operator looks a value up once per dictionary, not once per row.
    options.execution.parquet.schema_force_view_types = false;
    options.execution.collect_statistics = false;
    options.sql_parser.map_string_types_to_utf8view = false;
    options.execution.time_zone = Some("UTC".to_owned());
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(limits.memory_bytes, 1.0).build_arc()?;
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .with_query_planner(Arc::new(Planner))
        .build();
    Ok(SessionContext::new_with_state(state))
}

/// The charges of these Parquet files, in the canonical schema.
pub(crate) async fn charges(context: &SessionContext, files: &[PathBuf]) -> Result<DataFrame> {
    let schema = sources::charges::schema();
    if files.is_empty() {
        return context.read_batch(arrow::record_batch::RecordBatch::new_empty(schema));
    }
    let paths: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    let options = ParquetReadOptions { schema: Some(&schema), ..ParquetReadOptions::default() };
    context.read_parquet(paths, options).await
}

#[derive(Debug)]
struct Planner;

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn datafusion::catalog::Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let extensions: Vec<Arc<dyn ExtensionPlanner + Send + Sync>> = vec![Arc::new(OperatorPlanner)];
        DefaultPhysicalPlanner::with_extension_planners(extensions).create_physical_plan(plan, session).await
    }
}
