//! What the bill tells of each machine beside its cost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use datafusion::prelude::{col, lit};
use futures::StreamExt;
use ledger::ResourceKind;

use crate::EngineError;
use crate::attribution::Columns;
use crate::session::{Limits, charges, session};

/// What compute charges of a resource tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResourceFacts {
    /// The account that used it.
    pub account: bool,
    /// Its region.
    pub region: bool,
    /// Its instance type or SKU.
    pub sku: bool,
}

/// Of every resource with compute charges, what any of them tells.
///
/// # Errors
/// Query errors.
pub async fn resource_facts(
    files: &[PathBuf],
    limits: Limits,
) -> Result<BTreeMap<String, ResourceFacts>, EngineError> {
    let context = session(limits)?;
    let wanted =
        ["resource_id", "sub_account_id", "region_id", "x_instance_type", "sku_id", "x_resource_kind"];
    let frame = charges(&context, files).await?.select_columns(&wanted)?;
    let compute = col("x_resource_kind").eq(lit(ResourceKind::Compute.word()));
    let frame = frame.filter(compute.and(col("resource_id").is_not_null()))?;
    let mut stream = frame.distinct()?.execute_stream().await?;
    let mut facts: BTreeMap<String, ResourceFacts> = BTreeMap::new();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let columns = Columns(&batch);
        let (ids, accounts) = (columns.text("resource_id")?, columns.text("sub_account_id")?);
        let (regions, types) = (columns.text("region_id")?, columns.text("x_instance_type")?);
        let skus = columns.text("sku_id")?;
        for row in 0..batch.num_rows() {
            let Some(id) = ids.get(row) else { continue };
            let told = facts.entry(id.to_owned()).or_default();
            told.account |= accounts.get(row).is_some();
            told.region |= regions.get(row).is_some();
            told.sku |= types.get(row).or(skus.get(row)).is_some();
        }
    }
    Ok(facts)
}
