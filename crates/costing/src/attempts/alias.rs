//! Finds which keys are other names of one attempt, so that a tracker's session joins the scheduler's job.

use std::collections::BTreeMap;

use ledger::Timestamp;

use super::gather::Records;

/// How far the clocks of a scheduler's host and a tracker's may differ, and how long a session may take to begin.
const SLACK_MICROS: i64 = 600 * 1_000_000;

/// For every key that speaks of another key's attempt, that other key.
///
/// A key with views belongs to the key that its aliases name, if that one has views too. A key without views belongs
/// to the attempt that has it among its aliases. Keys that name each other belong to the smallest of them. An alias may
/// be the beginning of keys, up to a colon: `slurm:gpu:42` is job 42, which may have run several times, and the execution
/// is meant in whose time the session began.
pub(super) fn homes<'a>(by_key: &BTreeMap<&'a str, Records<'a>>) -> BTreeMap<&'a str, &'a str> {
    let mut next: BTreeMap<&'a str, &'a str> = BTreeMap::new();
    for (key, records) in by_key {
        let aliases = records.views.iter().flat_map(|view| view.record.aliases.iter());
        for alias in aliases {
            let exact = by_key.get_key_value(alias.as_str());
            let Some((named, of_named)) = exact.or_else(|| execution(by_key, alias, records)) else {
                continue;
            };
            if named == key {
                continue;
            }
            let (from, to) = if of_named.views.is_empty() { (*named, *key) } else { (*key, *named) };
            next.entry(from).and_modify(|known| *known = (*known).min(to)).or_insert(to);
        }
    }
    next.keys().map(|key| (*key, home(key, &next))).collect()
}

/// The execution of the job of this name during which the session of `records` began; where several may be meant, the one
/// that began last before it.
fn execution<'b, 'a>(
    by_key: &'b BTreeMap<&'a str, Records<'a>>,
    job: &str,
    records: &Records<'_>,
) -> Option<(&'b &'a str, &'b Records<'a>)> {
    let (began, _) = time(records)?;
    let of_job = by_key
        .range::<str, _>((std::ops::Bound::Excluded(job), std::ops::Bound::Unbounded))
        .take_while(|(key, _)| key.starts_with(job))
        .filter(|(key, _)| key.as_bytes().get(job.len()) == Some(&b':'));
    let during = of_job.filter_map(|(key, records)| {
        let (start, end) = time(records)?;
        let early = start.0.saturating_sub(SLACK_MICROS) <= began.0;
        let late = end.is_some_and(|end| end.0.saturating_add(SLACK_MICROS) < began.0);
        // What lies within the slack alone is second to what was running.
        let running = start <= began && end.is_none_or(|end| began <= end);
        (early && !late).then_some(((running, start, *key), (key, records)))
    });
    during.max_by_key(|(rank, _)| *rank).map(|(_, found)| found)
}

/// When an execution began and, if all of it has, ended.
fn time(records: &Records<'_>) -> Option<(Timestamp, Option<Timestamp>)> {
    let views = || records.views.iter().map(|view| view.record);
    let start = views().filter_map(|view| view.started_at).min()?;
    Some((start, views().filter_map(|view| view.ended_at).max()))
}

/// The end of the way from alias to alias.
fn home<'a>(key: &'a str, next: &BTreeMap<&'a str, &'a str>) -> &'a str {
    let mut way = vec![key];
    let mut at = key;
    while let Some(to) = next.get(at).copied() {
        if let Some(from) = way.iter().position(|seen| *seen == to) {
            return way.iter().skip(from).copied().min().unwrap_or(at);
        }
        way.push(to);
        at = to;
    }
    at
}
