//! Finds which keys are other names of one attempt, so that a tracker's session joins the scheduler's job.

use std::collections::BTreeMap;

use super::gather::Records;

/// For every key that speaks of another key's attempt, that other key.
///
/// A key with views belongs to the key that its aliases name, if that one has views too. A key without views belongs
/// to the attempt that has it among its aliases. Keys that name each other belong to the smallest of them.
pub(super) fn homes<'a>(by_key: &BTreeMap<&'a str, Records<'a>>) -> BTreeMap<&'a str, &'a str> {
    let mut next: BTreeMap<&'a str, &'a str> = BTreeMap::new();
    for (key, records) in by_key {
        let aliases = records.views.iter().flat_map(|view| view.record.aliases.iter());
        for alias in aliases {
            let Some((named, of_named)) = by_key.get_key_value(alias.as_str()) else { continue };
            if named == key {
                continue;
            }
            let (from, to) = if of_named.views.is_empty() { (*named, *key) } else { (*key, *named) };
            next.entry(from).and_modify(|known| *known = (*known).min(to)).or_insert(to);
        }
    }
    next.keys().map(|key| (*key, home(key, &next))).collect()
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
