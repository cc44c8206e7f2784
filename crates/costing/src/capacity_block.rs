//! Spreads the fee of a capacity block over the instance time that it bought.
//!
//! AWS bills a block's fee in one row and its instance-hours at $0, and does not amortise it
//! (docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-pricing-billing.html), so the effective cost of a
//! block's hours is made here. Blocks of one account and instance type are pooled and split by instance time.

use std::collections::BTreeMap;

use ledger::LineClass;

use crate::attribution::{AttributionPlan, Landing, NamedBy, Resource, TagClaim, claim, divide};

/// The fee of a block, or a refund of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockFee {
    /// Account that reserved it.
    pub sub_account_id: String,
    /// Instance type.
    pub instance_type: String,
    /// Line type of the fee row.
    pub line_type: String,
    /// Service of the fee row.
    pub service_name: String,
    /// Day of the fee row, in days since the epoch; `None` if it spans more than a day.
    pub day: Option<i32>,
    /// Effective cost, in units of 10⁻²⁴.
    pub effective: i128,
}

/// An instance-hour (or another interval) of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockUsage {
    /// Account that used it.
    pub sub_account_id: String,
    /// Instance type.
    pub instance_type: String,
    /// Instance.
    pub resource_id: String,
    /// Line type of the usage row.
    pub line_type: String,
    /// Service of the usage row.
    pub service_name: String,
    /// Interval, in microseconds.
    pub interval: (i64, i64),
    /// Tags of the row.
    pub tags: Vec<(String, String)>,
}

/// Effective cost that moves from a fee to where its instance time was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread<'a> {
    /// The usage row that takes it.
    pub usage: &'a BlockUsage,
    /// Where the row's time lands.
    pub landing: Landing,
    /// How much, in units of 10⁻²⁴.
    pub units: i128,
}

/// The fees that found instance time to be spread over, and the moves; a fee without any stays where it is.
pub fn spread<'a>(
    fees: &'a [BlockFee],
    usage: &'a [BlockUsage],
    plan: &AttributionPlan,
) -> (Vec<&'a BlockFee>, Vec<Spread<'a>>) {
    let mut pools: BTreeMap<(&str, &str), Vec<&BlockUsage>> = BTreeMap::new();
    for row in usage {
        pools.entry((&row.sub_account_id, &row.instance_type)).or_default().push(row);
    }
    let (mut spent, mut moves) = (Vec::new(), Vec::new());
    for ((account, instance_type), rows) in pools {
        let of_pool = |fee: &&BlockFee| fee.sub_account_id == account && fee.instance_type == instance_type;
        let pool: Vec<&BlockFee> = fees.iter().filter(of_pool).collect();
        let total: i128 = pool.iter().map(|fee| fee.effective).sum();
        let weights: Vec<u64> =
            rows.iter().map(|row| u64::try_from(row.interval.1 - row.interval.0).unwrap_or(0)).collect();
        let (mut parts, mut rests) = (vec![0; rows.len()], vec![0; rows.len()]);
        if money::apportion_into(total, &weights, &mut parts, &mut rests).is_err() {
            continue;
        }
        spent.extend(pool);
        for (row, part) in rows.into_iter().zip(parts) {
            let claim = claim(plan, LineClass::CapacityBlockUsage, tag_of(plan, row), resource_of(plan, row));
            let parts = divide(&claim, row.interval, part);
            let parts = parts.into_iter().filter(|(_, units)| *units != 0);
            moves.extend(parts.map(|(landing, units)| Spread { usage: row, landing, units }));
        }
    }
    (spent, moves)
}

fn tag_of(plan: &AttributionPlan, row: &BlockUsage) -> TagClaim {
    match plan.named_by(&row.tags) {
        NamedBy::Attempt(index) => TagClaim::Attempt(index),
        NamedBy::Experiment(index) => TagClaim::Experiment(index),
        NamedBy::UnknownAttempt => TagClaim::UnknownAttempt,
        NamedBy::Nobody | NamedBy::NewExperiment(_) => TagClaim::None,
    }
}

fn resource_of(plan: &AttributionPlan, row: &BlockUsage) -> Resource {
    if row.resource_id.is_empty() { Resource::Absent } else { plan.resource(&row.resource_id) }
}
