//! How long the machines of attempts ran by the bill, so that a difference of time is told from one of price.

use std::collections::{BTreeMap, BTreeSet};

use costing::attribution::Place;
use ledger::{AttemptId, Day, Timestamp};
use store::DeliveryRecord;

use crate::books::Books;
use crate::landing::{Used, land};
use crate::settle::{Charges, delivery_plan};
use crate::{AppError, Context};

/// Of every attempt and day in question, its share of the running time that a delivery's rows of instances tell, in
/// microseconds. What a bill tells in another unit than hours of instances is not here.
///
/// # Errors
/// Of the store and of queries.
pub(crate) async fn times(
    context: &Context<'_>,
    books: &Books,
    (delivery, days): (&DeliveryRecord, &BTreeSet<Day>),
) -> Result<BTreeMap<(AttemptId, Day), i128>, AppError> {
    let mut times = BTreeMap::new();
    let charges = Charges::at_rest(&books.store, delivery);
    let plan = delivery_plan(context, &charges, &books.attempts).await?;
    engine::instance_times(&charges.files, context.limits, |row| {
        let day = Timestamp(row.interval.0).day();
        if !days.contains(&day) {
            return Ok::<(), AppError>(());
        }
        let used = Used { resource_id: Some(row.resource_id), tags: row.tags, interval: row.interval };
        // An experiment that only tags name has no attempts, so no time of theirs: any number but theirs does.
        for (landing, micros) in land(&plan, used, |_| Some(u32::MAX), i128::from(row.micros)) {
            let Place::Attempt { index, .. } = landing.place() else { continue };
            if let Some(attempt) = plan.attempts.get(index as usize) {
                *times.entry((*attempt, day)).or_default() += micros;
            }
        }
        Ok(())
    })
    .await?;
    Ok(times)
}
