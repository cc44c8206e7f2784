//! Single charges behind a figure, read back from the store.

use std::path::PathBuf;

use arrow::array::{Array, RecordBatch};
use datafusion::prelude::{col, lit};
use futures::StreamExt;
use ledger::{LineClass, ResourceKind};

use crate::EngineError;
use crate::attribution::Columns;
use crate::session::{Limits, charges, session};
use crate::unlisted::{Sold, sold};

/// A charge as the store holds it; costs are in units of 10⁻²⁴.
#[derive(Debug, Clone, PartialEq)]
pub struct ChargeRow {
    /// Row in its file.
    pub row: i64,
    /// Its file.
    pub file: String,
    /// Provider's id of the row.
    pub line_item_id: String,
    /// Provider's line type.
    pub line_type: String,
    /// Class.
    pub class: LineClass,
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Service.
    pub service_name: String,
    /// Usage type.
    pub usage_type: String,
    /// Description.
    pub description: String,
    /// Resource.
    pub resource_id: Option<String>,
    /// Tags as JSON.
    pub tags: Option<String>,
    /// Interval, in microseconds.
    pub interval: (i64, i64),
    /// Billed, list (if priced), effective and marginal cost.
    pub costs: [Option<i128>; 4],
    /// What a price list can tell its price by.
    pub sold: Sold,
}

/// Reads the charges of some kinds that either are on one of `resources` or carry tags; all kinds if `kind` is `None`.
///
/// # Errors
/// Query errors.
pub async fn scan_charges(
    files: &[PathBuf],
    kind: Option<ResourceKind>,
    resources: &[String],
    limits: Limits,
) -> Result<Vec<ChargeRow>, EngineError> {
    let context = session(limits)?;
    let mut frame = charges(&context, files).await?;
    if let Some(kind) = kind {
        frame = frame.filter(col("x_resource_kind").eq(lit(kind.word())))?;
    }
    let held = resources.iter().map(|id| lit(id.as_str())).collect();
    frame = frame.filter(col("tags").is_not_null().or(col("resource_id").in_list(held, false)))?;
    let mut stream = frame.execute_stream().await?;
    let mut rows = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            rows.push(charge_row(&batch, row)?);
        }
    }
    rows.sort_by(|a, b| (a.interval, &a.file, a.row).cmp(&(b.interval, &b.file, b.row)));
    Ok(rows)
}

fn charge_row(batch: &RecordBatch, row: usize) -> Result<ChargeRow, EngineError> {
    let columns = Columns(batch);
    let text = |name: &str| -> Result<Option<String>, EngineError> {
        Ok(columns.text(name)?.get(row).map(str::to_owned))
    };
    let required = |name: &str| -> Result<String, EngineError> { Ok(text(name)?.unwrap_or_default()) };
    let unknown = |name: &str| EngineError::Column { column: name.to_owned() };
    let mut costs = [None; 4];
    for (cost, name) in costs.iter_mut().zip(crate::MEASURES) {
        let column = columns.money(name)?;
        *cost = (!column.is_null(row)).then(|| column.value(row));
    }
    Ok(ChargeRow {
        row: columns.row("x_row")?.value(row),
        file: required("x_file")?,
        line_item_id: required("x_line_item_id")?,
        line_type: required("x_line_type")?,
        class: LineClass::from_word(&required("x_class")?).ok_or_else(|| unknown("x_class"))?,
        resource_kind: ResourceKind::from_word(&required("x_resource_kind")?)
            .ok_or_else(|| unknown("x_resource_kind"))?,
        service_name: required("service_name")?,
        usage_type: required("x_usage_type")?,
        description: required("charge_description")?,
        resource_id: text("resource_id")?,
        tags: text("tags")?,
        interval: (
            columns.instant("charge_period_start")?.value(row),
            columns.instant("charge_period_end")?.value(row),
        ),
        costs,
        sold: sold(&columns, row)?,
    })
}
