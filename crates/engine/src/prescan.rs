//! Small rows that must be known before the main scan: provider split data and capacity blocks.

use std::path::PathBuf;

use arrow::array::{Array, RecordBatch};
use costing::attribution::SplitShare;
use costing::capacity_block::{BlockFee, BlockUsage};
use datafusion::prelude::{col, lit};
use futures::StreamExt;
use ledger::{LineClass, SplitRole, Timestamp};

use crate::EngineError;
use crate::attribution::Columns;
use crate::session::{Limits, charges, session};

/// The provider's split rows as shares of their parents.
///
/// # Errors
/// Query errors.
pub async fn split_shares(files: &[PathBuf], limits: Limits) -> Result<Vec<SplitShare>, EngineError> {
    let context = session(limits)?;
    let wanted = [
        "x_parent_resource_id",
        "resource_id",
        "charge_period_start",
        "charge_period_end",
        "x_split_cost",
        "x_split_unused_cost",
        "tags",
        "x_split_role",
    ];
    let frame = charges(&context, files).await?.select_columns(&wanted)?;
    let frame = frame.filter(col("x_split_role").eq(lit(SplitRole::Child.word())))?;
    let mut stream = frame.execute_stream().await?;
    let mut shares = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let columns = Columns(&batch);
        for row in 0..batch.num_rows() {
            shares.extend(split_share(&columns, row)?);
        }
    }
    Ok(shares)
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Split costs are weights only; a trillionth of a unit keeps every digit that bills carry and fits 64 bits.
const WEIGHT_UNIT: i128 = 1_000_000_000_000;

fn split_share(columns: &Columns<'_>, row: usize) -> Result<Option<SplitShare>, EngineError> {
    let Some(parent) = columns.text("x_parent_resource_id")?.get(row) else { return Ok(None) };
    let money = |name: &str| -> Result<i128, EngineError> {
        let column = columns.money(name)?;
        Ok(if column.is_null(row) { 0 } else { column.value(row) })
    };
    let units = money("x_split_cost")? + money("x_split_unused_cost")?;
    Ok(Some(SplitShare {
        parent: parent.to_owned(),
        child: columns.text("resource_id")?.get(row).unwrap_or_default().to_owned(),
        interval: interval(columns, row)?,
        weight: u64::try_from(units / WEIGHT_UNIT).unwrap_or(0),
        tags: tags(columns, row)?,
    }))
}

fn interval(columns: &Columns<'_>, row: usize) -> Result<(i64, i64), EngineError> {
    Ok((columns.instant("charge_period_start")?.value(row), columns.instant("charge_period_end")?.value(row)))
}

fn tags(columns: &Columns<'_>, row: usize) -> Result<Vec<(String, String)>, EngineError> {
    Ok(columns.text("tags")?.get(row).map(sources::charges::parse_tags).unwrap_or_default())
}

/// The fees and the used intervals of capacity blocks.
///
/// # Errors
/// Query errors.
pub async fn capacity_blocks(
    files: &[PathBuf],
    limits: Limits,
) -> Result<(Vec<BlockFee>, Vec<BlockUsage>), EngineError> {
    let context = session(limits)?;
    let wanted = [
        "x_class",
        "sub_account_id",
        "x_instance_type",
        "resource_id",
        "x_line_type",
        "service_name",
        "charge_period_start",
        "charge_period_end",
        "tags",
        "effective_cost",
    ];
    let frame = charges(&context, files).await?.select_columns(&wanted)?;
    let class = |class: LineClass| col("x_class").eq(lit(class.word()));
    let frame = frame.filter(class(LineClass::CapacityBlockFee).or(class(LineClass::CapacityBlockUsage)))?;
    let mut stream = frame.execute_stream().await?;
    let (mut fees, mut usage) = (Vec::new(), Vec::new());
    while let Some(batch) = stream.next().await {
        block_rows(&batch?, &mut fees, &mut usage)?;
    }
    Ok((fees, usage))
}

fn block_rows(
    batch: &RecordBatch,
    fees: &mut Vec<BlockFee>,
    usage: &mut Vec<BlockUsage>,
) -> Result<(), EngineError> {
    let columns = Columns(batch);
    for row in 0..batch.num_rows() {
        let text = |name: &str| -> Result<String, EngineError> {
            Ok(columns.text(name)?.get(row).unwrap_or_default().to_owned())
        };
        let (sub_account_id, instance_type) = (text("sub_account_id")?, text("x_instance_type")?);
        let (line_type, service_name) = (text("x_line_type")?, text("service_name")?);
        if text("x_class")? == LineClass::CapacityBlockFee.word() {
            let effective = columns.money("effective_cost")?.value(row);
            let (start, end) = interval(&columns, row)?;
            let day = (end - start <= MICROS_PER_DAY).then(|| Timestamp(start).day().0);
            fees.push(BlockFee { sub_account_id, instance_type, line_type, service_name, day, effective });
        } else {
            let (resource_id, interval, tags) =
                (text("resource_id")?, interval(&columns, row)?, tags(&columns, row)?);
            usage.push(BlockUsage {
                sub_account_id,
                instance_type,
                resource_id,
                line_type,
                service_name,
                interval,
                tags,
            });
        }
    }
    Ok(())
}
