//! The line above every table: what its figures are.

use app::Meta;
use ledger::{Scope, Timestamp};

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// `effective basis · before credits · direct · USD · bill complete to 2026-10-31`.
pub(crate) fn basis_line(meta: &Meta) -> String {
    let mut parts = vec![format!("{} basis", meta.basis), meta.credits.to_string()];
    parts.push(match (meta.scope, &meta.policy) {
        (Scope::Direct, _) => "direct".to_owned(),
        (Scope::FullyLoaded, Some(policy)) => format!("fully loaded by policy {policy}"),
        (Scope::FullyLoaded, None) => "fully loaded".to_owned(),
    });
    parts.push(meta.currency.map_or_else(|| "no currency".to_owned(), |currency| currency.to_string()));
    match (meta.since, meta.until) {
        (Some(since), Some(until)) => {
            parts.push(format!("from {} to before {}", border(since), border(until)))
        }
        (Some(since), None) => parts.push(format!("from {}", border(since))),
        (None, Some(until)) => parts.push(format!("before {}", border(until))),
        (None, None) => {}
    }
    parts.push(match meta.complete_to {
        Some(day) => format!("bill complete to {day}"),
        None => "no bill yet".to_owned(),
    });
    parts.join(" · ")
}

/// A border of the window: the day alone where it is the start of one.
fn border(stamp: Timestamp) -> String {
    if stamp.0.rem_euclid(MICROS_PER_DAY) == 0 { stamp.day().to_string() } else { stamp.to_string() }
}
