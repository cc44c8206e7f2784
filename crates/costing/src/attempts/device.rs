//! Gives each attempt what is known of its devices, if the source says that it held them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ledger::{Attempt, SourceId, StoredBytes, Timestamp, Utilisation};

use super::gather::Said;
use super::place::Places;

/// A summary, with the key under which it was told.
pub(super) type Told<'a> = (&'a str, Said<'a, Utilisation>);

/// What pods are called that nothing but their name is known of: `k8s:{cluster}/{namespace}/pod/{pod}`.
const POD: &str = "/pod/";

/// Attaches summaries to attempts; gives back those of devices that nobody is known to have held, in order.
pub(super) fn attach(attempts: &mut [Attempt], told: Vec<Told<'_>>) -> Vec<Utilisation> {
    let held: Vec<(Option<usize>, &Utilisation)> = {
        let places = Places::of(attempts);
        let pods = if told.iter().any(|(key, _)| key.contains(POD)) { pods(attempts) } else { Pods::new() };
        once(told)
            .into_iter()
            .map(|(key, said)| {
                let candidates = places.of_key(key).chain(by_name(&pods, key));
                (places.longest(candidates, said.record.window), said.record)
            })
            .collect()
    };
    let mut loose = Vec::new();
    for (index, utilisation) in held {
        match index.and_then(|index| attempts.get_mut(index)) {
            Some(attempt) => attempt.utilisation.push(utilisation.clone()),
            None => loose.push(utilisation.clone()),
        }
    }
    loose.sort();
    for attempt in attempts {
        attempt.utilisation.sort();
    }
    loose
}

/// Of the windows of a device that overlap only one: every exporter, rank and server that tells of a device tells of
/// the same device. Samples go before a summary of which no samples are known, then the longer window, then the one of
/// which more was seen, then the newer.
fn once(mut told: Vec<Told<'_>>) -> Vec<Told<'_>> {
    told.sort_by(|a, b| rank(a).cmp(&rank(b)));
    let mut taken: BTreeMap<&str, BTreeMap<Timestamp, Timestamp>> = BTreeMap::new();
    told.retain(|(_, said)| {
        let Utilisation { device, window, .. } = said.record;
        let of_device = taken.entry(device).or_default();
        let before = of_device.range(..window.end).next_back();
        let is_free = before.is_none_or(|(_, end)| *end <= window.start);
        if is_free {
            of_device.insert(window.start, window.end);
        }
        is_free
    });
    told
}

type Rank<'a> =
    (bool, Reverse<i64>, Reverse<u32>, Reverse<Option<Timestamp>>, (&'a str, &'a Utilisation, &'a SourceId));

fn rank<'a>((key, said): &Told<'a>) -> Rank<'a> {
    let record = said.record;
    let seen = record.coverage.map_or(0, |coverage| coverage.seen);
    let identity = (*key, record, said.source);
    let length = Reverse(record.window.micros());
    (record.coverage.is_none(), length, Reverse(seen), Reverse(said.modified_at), identity)
}

type Pods<'a> = BTreeMap<(&'a str, &'a str), Vec<usize>>;

/// The attempts by cluster and other name, such as `{namespace}/{pod}`.
fn pods(attempts: &[Attempt]) -> Pods<'_> {
    let mut pods = Pods::new();
    for (index, attempt) in attempts.iter().enumerate() {
        let Some(cluster) = attempt.cluster.as_deref() else { continue };
        for alias in &attempt.aliases {
            pods.entry((cluster, alias)).or_default().push(index);
        }
    }
    pods
}

fn by_name(pods: &Pods<'_>, key: &str) -> Vec<usize> {
    let named = key.strip_prefix("k8s:").and_then(|rest| rest.split_once('/'));
    let named = named.and_then(|(cluster, rest)| Some((cluster, rest.split_once(POD)?)));
    let Some((cluster, (namespace, pod))) = named else { return Vec::new() };
    let name = format!("{namespace}/{pod}");
    pods.get(&(cluster, name.as_str())).cloned().unwrap_or_default()
}

/// What rests under the prefixes of each bucket, by its source's newest listing.
pub(super) fn newest_listing(said: Vec<Said<'_, StoredBytes>>) -> Vec<StoredBytes> {
    let mut newest: BTreeMap<(&SourceId, &str), Timestamp> = BTreeMap::new();
    for one in &said {
        let at = newest.entry((one.source, &one.record.bucket)).or_insert(one.record.at);
        *at = (*at).max(one.record.at);
    }
    let is_newest =
        |one: &&Said<'_, StoredBytes>| newest.get(&(one.source, &one.record.bucket)) == Some(&one.record.at);
    let mut stored: Vec<StoredBytes> = said.iter().filter(is_newest).map(|one| one.record.clone()).collect();
    stored.sort();
    stored.dedup();
    stored
}
