//! The line above every table: what its figures are.

use app::{Conversion, Meta};
use ledger::{Scope, Timestamp};

const MICROS_PER_DAY: i64 = 86_400_000_000;
/// Characters of a version that tell it from the others of its source.
const VERSION_CHARS: usize = 8;

/// `effective basis · before credits · direct · USD · bill complete to 2026-10-31`.
pub(crate) fn basis_line(meta: &Meta) -> String {
    let mut parts = vec![format!("{} basis", meta.basis), meta.credits.to_string()];
    parts.push(match (meta.scope, &meta.policy) {
        (Scope::Direct, _) => "direct".to_owned(),
        (Scope::FullyLoaded, Some(policy)) => format!("fully loaded by policy {policy}"),
        (Scope::FullyLoaded, None) => "fully loaded".to_owned(),
    });
    parts.push(meta.currency.map_or_else(|| "no currency".to_owned(), |currency| currency.to_string()));
    parts.extend(meta.conversion.as_ref().map(converted));
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

/// `EUR converted by ecb 1f2e3d4c, day rates of 2026-10-01 to 2026-10-31 (9 of 31 days take an earlier one, at most 3
/// days old)`.
fn converted(conversion: &Conversion) -> String {
    let (days, carried) = (conversion.days(), conversion.carried());
    let version: String = conversion.version.chars().take(VERSION_CHARS).collect();
    let list = format!("{} {version}", conversion.source);
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return format!("nothing to convert by {list}");
    };
    let from: Vec<String> = conversion.currencies().iter().map(ToString::to_string).collect();
    let span = if first == last { first.to_string() } else { format!("{first} to {last}") };
    let mut text = format!("{} converted by {list}, day rates of {span}", from.join(", "));
    if !carried.is_empty() {
        let (few, all, old) = (carried.len(), days.len(), conversion.oldest_days());
        let days = if old == 1 { "day" } else { "days" };
        text.push_str(&format!(" ({few} of {all} days take an earlier rate, at most {old} {days} old)"));
    }
    text
}

/// A border of the window: the day alone where it is the start of one.
fn border(stamp: Timestamp) -> String {
    if stamp.0.rem_euclid(MICROS_PER_DAY) == 0 { stamp.day().to_string() } else { stamp.to_string() }
}
