//! Exports that are only ever appended to, as Google Cloud's: what a new arrival means for the rows that rest already.

use std::collections::BTreeSet;

use ledger::{BillingPeriod, Day, Timestamp};
use store::{DeliveryDetails, DeliveryFacts, DeliveryRecord, StagedDelivery, Store};

use super::bill::Bill;
use crate::AppError;

/// Days after the end of a month until which rows of it still arrive: other readers of this export read ten days again,
/// and rows later than that are corrections, which the provider dates in a later invoice month.
const LATE_DAYS: i32 = 10;

/// True if an export that was last written at `exported` holds all rows of its month.
pub(super) fn is_settled(period: BillingPeriod, exported: Timestamp) -> bool {
    exported.day().0 >= period.interval().end.day().0 + LATE_DAYS
}

/// What an arrival is to the delivery that rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arriving {
    /// Rows that were exported after all that rest: they are added to them.
    Later,
    /// The same export from its start, longer: it takes their place.
    Longer,
}

/// Makes the delivery of a month out of what rests and what arrived.
///
/// # Errors
/// `bill::overlapping_export` if some rows may be in both and some in one only.
pub(super) fn joined(
    store: &Store,
    held: &DeliveryRecord,
    (staged, facts): (StagedDelivery, DeliveryFacts),
    bill: Bill<'_>,
) -> Result<(StagedDelivery, DeliveryFacts), AppError> {
    if staged.id == held.id {
        return Ok((staged, facts));
    }
    let known = held.details.added.contains(&staged.id.0);
    if !known && (bill.options.replace || arriving(held, &facts, bill)? == Arriving::Longer) {
        return Ok((staged, facts));
    }
    let mut writer = store.begin_delivery(&staged.source, staged.period)?;
    let at_rest: Vec<_> = held.files.iter().map(|file| store.root().join(file)).collect();
    // What is known already is not added again: the delivery that rests is what comes out.
    let arrived = if known { Vec::new() } else { staged.paths() };
    writer.append_parts(at_rest.iter().chain(&arrived).map(std::path::PathBuf::as_path))?;
    let whole = writer.finish()?;
    let facts = if known { again(held, facts) } else { both(held, (&staged.id.0, facts))? };
    // Pair assertion: nothing is lost or doubled when rows are copied.
    if whole.totals.rows != facts.accepted {
        let message =
            format!("{} rows rest with what arrived, and {} were written", facts.accepted, whole.totals.rows);
        return Err(AppError::new("bill::does_not_tie", message));
    }
    Ok((whole, facts))
}

/// The facts of what rests, for an arrival that is part of it.
fn again(held: &DeliveryRecord, facts: DeliveryFacts) -> DeliveryFacts {
    DeliveryFacts {
        rows: held.rows,
        accepted: held.accepted,
        rejected: held.rejected,
        source_total: held.source_total,
        days: held.days.clone(),
        split_rows: held.split_rows,
        capacity_block_rows: held.capacity_block_rows,
        is_final: held.is_final,
        details: held.details.clone(),
        ..facts
    }
}

fn arriving(held: &DeliveryRecord, facts: &DeliveryFacts, bill: Bill<'_>) -> Result<Arriving, AppError> {
    let (Some((first, last)), Some((held_first, held_last))) =
        (facts.details.export_times, held.details.export_times)
    else {
        return Err(overlap(held, "the export does not tell when its rows were written", bill));
    };
    if first > held_last {
        Ok(Arriving::Later)
    } else if first <= held_first && last >= held_last && facts.accepted >= held.accepted {
        Ok(Arriving::Longer)
    } else {
        let message = format!(
            "its rows were exported from {first} to {last}, those held from {held_first} to {held_last}"
        );
        Err(overlap(held, &message, bill))
    }
}

fn overlap(held: &DeliveryRecord, why: &str, bill: Bill<'_>) -> AppError {
    let message = format!(
        "rows of {} for {} may be in the store already and would count twice: {why}",
        held.source, held.period
    );
    AppError::new("bill::overlapping_export", message).help(format!(
        "export the whole month, or only rows with an export_time after the last one; or let this take the month's place: {}",
        bill.command("--replace")
    ))
}

/// The facts of what rests and of what arrived, together.
fn both(held: &DeliveryRecord, (id, facts): (&str, DeliveryFacts)) -> Result<DeliveryFacts, AppError> {
    let days: BTreeSet<Day> = held.days.iter().chain(&facts.days).copied().collect();
    Ok(DeliveryFacts {
        rows: held.rows + facts.rows,
        accepted: held.accepted + facts.accepted,
        rejected: held.rejected + facts.rejected,
        source_total: held.source_total.checked_add(facts.source_total)?,
        days: days.into_iter().collect(),
        split_rows: held.split_rows + facts.split_rows,
        capacity_block_rows: held.capacity_block_rows + facts.capacity_block_rows,
        details: DeliveryDetails {
            added: held.details.added.iter().cloned().chain([id.to_owned()]).collect(),
            ..details(&held.details, facts.details)?
        },
        ..facts
    })
}

fn details(held: &DeliveryDetails, new: DeliveryDetails) -> Result<DeliveryDetails, AppError> {
    let mut all = held.clone();
    for (kind, amount) in new.credits_by_type {
        let sum = all.credits_by_type.entry(kind).or_default();
        *sum = sum.checked_add(amount)?;
    }
    for (column, rows) in new.null_counts {
        *all.null_counts.entry(column).or_default() += rows;
    }
    for found in new.quality {
        match all.quality.iter_mut().find(|held| held.basis == found.basis && held.code == found.code) {
            Some(held) => {
                held.rows += found.rows;
                held.usable &= found.usable;
            }
            None => all.quality.push(found),
        }
    }
    all.export_times = match (held.export_times, new.export_times) {
        (Some((first, last)), Some((new_first, new_last))) => {
            Some((first.min(new_first), last.max(new_last)))
        }
        (one, other) => one.or(other),
    };
    Ok(all)
}
