//! Running time of instances as the bill tells it, by the quantity of their rows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow::array::Array;
use costing::attribution::RunningTime;
use datafusion::prelude::{Expr, col, lit};
use futures::StreamExt;

use crate::EngineError;
use crate::attribution::Columns;
use crate::session::{Limits, charges, session};

/// Usage types whose `Hrs` are the running time of the instance itself; what else is billed by the hour on an instance
/// would count its time twice.
const INSTANCE_USAGE: [&str; 3] = ["BoxUsage", "SpotUsage", "DedicatedUsage"];

/// How bills write hours.
const HOURS: [&str; 6] = ["Hrs", "Hours", "hours", "hrs", "Hour", "hour"];

/// A row of the bill that tells how long an instance ran.
#[derive(Debug, Clone, Copy)]
pub struct InstanceTime<'a> {
    /// The instance.
    pub resource_id: &'a str,
    /// Tags of the row, as JSON.
    pub tags: Option<&'a str>,
    /// The row's window, in microseconds.
    pub interval: (i64, i64),
    /// How long it ran in that window by this row, in microseconds.
    pub micros: u64,
}

/// The windows that an instance did not fill, by the quantity of its rows: `Hrs` below the length of the window.
///
/// Rows of one window, such as the parts that a savings plan covers and does not cover, are summed.
///
/// # Errors
/// Query errors.
pub async fn running_times(
    files: &[PathBuf],
    limits: Limits,
) -> Result<BTreeMap<String, Vec<RunningTime>>, EngineError> {
    let mut windows: BTreeMap<(String, i64, i64), u64> = BTreeMap::new();
    scan(files, limits, Tags::Unread, |row| {
        let (start, end) = row.interval;
        if row.micros < u64::try_from(end - start).unwrap_or(0) {
            *windows.entry((row.resource_id.to_owned(), start, end)).or_default() += row.micros;
        }
        Ok::<(), EngineError>(())
    })
    .await?;
    let mut by_resource: BTreeMap<String, Vec<RunningTime>> = BTreeMap::new();
    for ((resource, start, end), micros) in windows {
        by_resource.entry(resource).or_default().push(RunningTime { start, end, micros });
    }
    Ok(by_resource)
}

/// Hands every row that tells how long an instance ran to `sink`, one by one.
///
/// # Errors
/// Query errors; what `sink` refuses.
pub async fn instance_times<E: From<EngineError>>(
    files: &[PathBuf],
    limits: Limits,
    sink: impl FnMut(InstanceTime<'_>) -> Result<(), E>,
) -> Result<(), E> {
    scan(files, limits, Tags::Read, sink).await
}

/// Whether the tags of rows are wanted: they are long and most scans do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tags {
    Read,
    Unread,
}

async fn scan<E: From<EngineError>>(
    files: &[PathBuf],
    limits: Limits,
    with_tags: Tags,
    mut sink: impl FnMut(InstanceTime<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut stream = rows(files, limits, with_tags).await?;
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(EngineError::from)?;
        let columns = Columns(&batch);
        let (start, end) = (columns.instant("charge_period_start")?, columns.instant("charge_period_end")?);
        let (ids, hours) = (columns.text("resource_id")?, columns.quantity("pricing_quantity")?);
        let tags = if with_tags == Tags::Read { Some(columns.text("tags")?) } else { None };
        for row in 0..batch.num_rows() {
            let (Some(resource_id), false) = (ids.get(row), hours.is_null(row)) else { continue };
            sink(InstanceTime {
                resource_id,
                tags: tags.as_ref().and_then(|tags| tags.get(row)),
                interval: (start.value(row), end.value(row)),
                micros: micros_of_hours(hours.value(row)),
            })?;
        }
    }
    Ok(())
}

async fn rows(
    files: &[PathBuf],
    limits: Limits,
    with_tags: Tags,
) -> Result<datafusion::execution::SendableRecordBatchStream, EngineError> {
    let context = session(limits)?;
    let mut wanted = vec![
        "resource_id",
        "charge_period_start",
        "charge_period_end",
        "pricing_quantity",
        "pricing_unit",
        "x_usage_type",
    ];
    if with_tags == Tags::Read {
        wanted.push("tags");
    }
    let frame = charges(&context, files).await?.select_columns(&wanted)?;
    let hours = HOURS.iter().map(|unit| lit(*unit)).collect();
    let instances = INSTANCE_USAGE.iter().map(|usage| col("x_usage_type").like(lit(format!("%{usage}:%"))));
    let instance = instances.reduce(Expr::or).unwrap_or_else(|| lit(false));
    let frame = frame.filter(col("pricing_unit").in_list(hours, false).and(instance))?;
    Ok(frame.execute_stream().await?)
}

/// Time is no money: a double of hours is exact to the microsecond over any billing window.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded below and above before the cast"
)]
fn micros_of_hours(hours: f64) -> u64 {
    if hours.is_finite() && hours > 0.0 { (hours.min(1e6) * 3.6e9).round() as u64 } else { 0 }
}
