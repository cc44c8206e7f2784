//! Usage of which the bill tells no public price: what kinds there are, and the charges one by one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use arrow::array::Array;
use datafusion::prelude::{DataFrame, col, lit};
use futures::StreamExt;
use ledger::{LineClass, ResourceKind};

use crate::EngineError;
use crate::attribution::Columns;
use crate::session::{Limits, charges, session};

/// By what a price list can tell the price of a charge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sold {
    /// Provider, as the bill names it.
    pub provider_name: String,
    /// Region.
    pub region: Option<String>,
    /// Zone.
    pub zone: Option<String>,
    /// SKU.
    pub sku: Option<String>,
    /// Machine type.
    pub instance_type: Option<String>,
    /// The provider's usage type.
    pub usage_type: Option<String>,
    /// The provider's operation.
    pub operation: Option<String>,
    /// What `quantity` counts.
    pub unit: Option<String>,
    /// How much, as the double that the source delivered.
    pub quantity: Option<f64>,
}

/// A charge of usage without a public price; in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct UnlistedCharge {
    /// What was sold.
    pub sold: Sold,
    /// Resource.
    pub resource_id: Option<String>,
    /// Tags as JSON.
    pub tags: Option<String>,
    /// When.
    pub interval: (i64, i64),
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Service.
    pub service_name: String,
    /// Account that used it; empty if not told.
    pub sub_account_id: String,
    /// Line type.
    pub line_type: String,
}

/// The SKUs and machine types of usage without a public price.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnlistedKinds {
    /// SKUs.
    pub skus: BTreeSet<String>,
    /// Machine types.
    pub machines: BTreeSet<String>,
}

/// What kinds of usage have no public price.
///
/// # Errors
/// Query errors.
pub async fn unlisted_kinds(files: &[PathBuf], limits: Limits) -> Result<UnlistedKinds, EngineError> {
    let context = session(limits)?;
    let frame = unlisted(charges(&context, files).await?)?;
    let mut stream =
        frame.select_columns(&["sku_id", "x_instance_type"])?.distinct()?.execute_stream().await?;
    let mut kinds = UnlistedKinds::default();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let columns = Columns(&batch);
        let (skus, machines) = (columns.text("sku_id")?, columns.text("x_instance_type")?);
        for row in 0..batch.num_rows() {
            kinds.skus.extend(skus.get(row).map(str::to_owned));
            kinds.machines.extend(machines.get(row).map(str::to_owned));
        }
    }
    Ok(kinds)
}

/// Hands every charge of usage without a public price to `sink`, one by one.
///
/// # Errors
/// Query errors; what `sink` refuses.
pub async fn unlisted_charges<E: From<EngineError>>(
    files: &[PathBuf],
    limits: Limits,
    mut sink: impl FnMut(UnlistedCharge) -> Result<(), E>,
) -> Result<(), E> {
    let context = session(limits).map_err(EngineError::from)?;
    let frame = unlisted(charges(&context, files).await.map_err(EngineError::from)?)?;
    let mut stream = frame.execute_stream().await.map_err(EngineError::from)?;
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(EngineError::from)?;
        let columns = Columns(&batch);
        for row in 0..batch.num_rows() {
            sink(charge(&columns, row)?)?;
        }
    }
    Ok(())
}

fn unlisted(frame: DataFrame) -> Result<DataFrame, EngineError> {
    let usage = col("x_class").eq(lit(LineClass::Usage.word()));
    Ok(frame.filter(usage.and(col("list_cost").is_null()).and(col("pricing_quantity").is_not_null()))?)
}

fn charge(columns: &Columns<'_>, row: usize) -> Result<UnlistedCharge, EngineError> {
    let text = |name: &str| -> Result<Option<String>, EngineError> {
        Ok(columns.text(name)?.get(row).map(str::to_owned))
    };
    let kind = text("x_resource_kind")?.unwrap_or_default();
    Ok(UnlistedCharge {
        sold: sold(columns, row)?,
        resource_id: text("resource_id")?,
        tags: text("tags")?,
        interval: (
            columns.instant("charge_period_start")?.value(row),
            columns.instant("charge_period_end")?.value(row),
        ),
        resource_kind: ResourceKind::from_word(&kind)
            .ok_or_else(|| EngineError::Column { column: "x_resource_kind".to_owned() })?,
        service_name: text("service_name")?.unwrap_or_default(),
        sub_account_id: text("sub_account_id")?.unwrap_or_default(),
        line_type: text("x_line_type")?.unwrap_or_default(),
    })
}

/// What a charge is of, for price lists.
pub(crate) fn sold(columns: &Columns<'_>, row: usize) -> Result<Sold, EngineError> {
    let text = |name: &str| -> Result<Option<String>, EngineError> {
        Ok(columns.text(name)?.get(row).map(str::to_owned))
    };
    let quantity = columns.quantity("pricing_quantity")?;
    Ok(Sold {
        provider_name: text("provider_name")?.unwrap_or_default(),
        region: text("region_id")?,
        zone: text("availability_zone")?,
        sku: text("sku_id")?,
        instance_type: text("x_instance_type")?,
        usage_type: text("x_usage_type")?,
        operation: text("x_operation")?,
        unit: text("pricing_unit")?,
        quantity: (!quantity.is_null(row)).then(|| quantity.value(row)),
    })
}
