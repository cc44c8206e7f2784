//! What snapshots say of attempts that nobody saw end: who is missing from a later one is lost.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Snapshot, SourceId, Timestamp};

use super::gather::Said;

/// The snapshots of one source, by when each was taken.
type Taken<'a> = BTreeMap<Timestamp, BTreeSet<&'a str>>;

/// Every snapshot, by who took it and what it speaks of.
#[derive(Debug, Default)]
pub(super) struct Presence<'a> {
    scopes: BTreeMap<(&'a SourceId, &'a str), Taken<'a>>,
}

impl<'a> Presence<'a> {
    /// Snapshots of one scope and time are one: what any of them holds was there.
    pub(super) fn of(said: &[Said<'a, Snapshot>]) -> Self {
        let mut presence = Self::default();
        for one in said {
            let taken = presence.scopes.entry((one.source, one.record.scope.as_str())).or_default();
            let alive = taken.entry(one.record.taken_at).or_default();
            alive.extend(one.record.alive.iter().map(String::as_str));
        }
        presence
    }

    /// When an attempt was last seen that a later snapshot does not hold any more; `None` if it may still be there. `seen`
    /// is the latest time at which records tell of it, and only snapshots of a source that told of it count: others may
    /// never have held it. An attempt that came back later was never lost.
    pub(super) fn lost_at(
        &self,
        key: &str,
        sources: &BTreeSet<&SourceId>,
        seen: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let speaks = |(source, scope): &(&SourceId, &str)| sources.contains(source) && key.starts_with(scope);
        let of_key = self.scopes.iter().filter(|(scope, _)| speaks(scope));
        let snapshots: Vec<_> = of_key.flat_map(|(_, taken)| taken).collect();
        let present = snapshots.iter().filter(|(_, alive)| alive.contains(key)).map(|(at, _)| **at).max();
        let last = present.max(seen)?;
        snapshots.iter().any(|(at, _)| **at > last).then_some(last)
    }
}
