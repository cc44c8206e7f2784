//! What changed in the shape of a source between two deliveries, which no sum shows.

use store::{DeliveryFacts, DeliveryRecord, StagedDelivery};

use super::ImportWarning;

/// Percent of the rows that must be null now for a column to have turned null; a few rows of another kind may remain.
const NULL_NOW: u64 = 99;

/// Percent of the rows that may have been null before: a column that was mostly empty tells nothing by being empty.
const NULL_BEFORE: u64 = 50;

/// Rows below which a delivery is too small to speak of a habit.
const ROWS_MIN: u64 = 50;

/// The columns that were told by the newest delivery before this one, of the same source, and are not told any more.
pub(super) fn drift(
    current: &[DeliveryRecord],
    delivery: &StagedDelivery,
    facts: &DeliveryFacts,
) -> Vec<ImportWarning> {
    let earlier = |held: &&DeliveryRecord| held.source == delivery.source && held.period <= delivery.period;
    let Some(held) = current.iter().filter(earlier).max_by_key(|held| held.period) else { return Vec::new() };
    if held.id == delivery.id || held.accepted < ROWS_MIN || facts.accepted < ROWS_MIN {
        return Vec::new();
    }
    let turned = facts.details.null_counts.iter().filter(|(column, nulls)| {
        let before = held.details.null_counts.get(*column);
        **nulls * 100 >= facts.accepted * NULL_NOW
            && before.is_some_and(|before| before * 100 <= held.accepted * NULL_BEFORE)
    });
    let warning = |(column, nulls): (&String, &u64)| ImportWarning {
        code: "quality::turned_null".to_owned(),
        message: format!(
            "{} for {}: `{column}` is empty in {nulls} of {} rows, and was told in the delivery for {}",
            delivery.source, delivery.period, facts.accepted, held.period
        ),
        help: Some("check the options of the export: a column may have been left out of it".to_owned()),
    };
    turned.map(warning).collect()
}
