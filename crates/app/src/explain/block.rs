//! The parts of capacity-block fees behind a figure.

use costing::attribution::Place;
use costing::capacity_block::spread;
use engine::ChargeRow;
use ledger::{ResourceKind, Timestamp};
use money::Amount;
use store::DeliveryRecord;

use super::{ExplainLine, Wanted};
use crate::{AppError, Context};

/// The parts of capacity-block fees that landed with the selection.
pub(super) async fn of(
    context: &Context<'_>,
    delivery: &DeliveryRecord,
    wanted: &Wanted<'_>,
    files: &[std::path::PathBuf],
) -> Result<Vec<ExplainLine>, AppError> {
    let (fees, usage) = engine::capacity_blocks(files, context.limits).await?;
    let (_, spreads) = spread(&fees, &usage, wanted.plan);
    let mut lines = Vec::new();
    for spread in spreads {
        let Some(row_of) = wanted.row_of(spread.landing.place(), false) else { continue };
        let attempt = row_of.ordinal();
        let (rule, evidence) = match spread.landing.place() {
            Place::Attempt { rule, evidence, .. } | Place::Experiment { rule, evidence, .. } => {
                (rule, evidence)
            }
            Place::Class(_) | Place::Idle | Place::Unattributed(_) => continue,
        };
        lines.push(ExplainLine {
            source: delivery.source.clone(),
            period: delivery.period,
            delivery: delivery.id.clone(),
            charge: block_charge(spread.usage),
            charge_cost: None,
            attempt,
            rule,
            evidence,
            overlaps: Vec::new(),
            shared_micros: None,
            amount: Amount::from_units(spread.units)?,
            currency: delivery.currency,
            rate_day: Timestamp(spread.usage.interval.0).day(),
            note: Some("part of the capacity block's fee, by instance time".to_owned()),
        });
    }
    Ok(lines)
}

fn block_charge(usage: &costing::capacity_block::BlockUsage) -> ChargeRow {
    ChargeRow {
        row: 0,
        file: String::new(),
        line_item_id: String::new(),
        line_type: usage.line_type.clone(),
        class: ledger::LineClass::CapacityBlockUsage,
        resource_kind: ResourceKind::Compute,
        service_name: usage.service_name.clone(),
        usage_type: usage.instance_type.clone(),
        description: "capacity block fee".to_owned(),
        resource_id: Some(usage.resource_id.clone()),
        tags: None,
        interval: usage.interval,
        costs: [None; 4],
        sold: engine::Sold::default(),
    }
}
