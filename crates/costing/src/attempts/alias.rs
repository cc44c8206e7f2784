//! Finds which keys are other names of one attempt, so that a tracker's session joins the scheduler's job.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ledger::{Confidence, Timestamp};

use super::Note;
use super::gather::Records;

/// How far the clocks of a scheduler's host and a tracker's may differ, and how long a session may take to begin.
pub(super) const SLACK_MICROS: i64 = 600 * 1_000_000;

/// A session that names a job joins the execution in whose time it began.
const BY_TIME: Confidence = Confidence::thousandths(950);

/// A session that names a job or a pod without its cluster joins the only one in whose time it began.
const WITHOUT_CLUSTER: Confidence = Confidence::thousandths(800);

/// The attempt that a key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Home<'a> {
    pub(super) key: &'a str,
    /// How sure that is.
    pub(super) confidence: Confidence,
}

/// The homes of keys that speak of another key's attempt, and what may be meant by names that fit several.
#[derive(Debug, Default)]
pub(super) struct Homes<'a> {
    pub(super) homes: BTreeMap<&'a str, Home<'a>>,
    pub(super) notes: Vec<Note>,
}

/// A key, with what is said of it.
type Named<'b, 'a> = (&'b &'a str, &'b Records<'a>);

type Next<'a> = BTreeMap<&'a str, (Reverse<Confidence>, &'a str)>;

/// For every key that speaks of another key's attempt, that other key.
///
/// A key with views belongs to the key that its aliases name, if that one has views too. A key without views belongs
/// to the attempt that has it among its aliases. Keys that name each other belong to the smallest of them. An alias may
/// be the beginning of keys, up to a colon: `slurm:gpu:42` is job 42, which may have run several times, and the execution
/// is meant in whose time the session began. An alias may lack the cluster, `job_id=42` or `pod_uid=…`: it joins if one
/// cluster alone has such an execution, less surely, and otherwise stays apart with a note. Of several names of one key
/// the surest decides.
pub(super) fn homes<'a>(by_key: &BTreeMap<&'a str, Records<'a>>) -> Homes<'a> {
    let index = Index::of(by_key);
    let mut next: Next<'a> = BTreeMap::new();
    let mut open: BTreeMap<&'a str, Note> = BTreeMap::new();
    for (key, records) in by_key {
        for alias in records.views.iter().flat_map(|view| view.record.aliases.iter()) {
            let found = match by_key.get_key_value(alias.as_str()) {
                Some(exact) => Some((exact, Confidence::CERTAIN)),
                None => match index.fitting(by_key, alias, (key, records)).as_slice() {
                    [] => None,
                    [(only, confidence)] => Some((*only, *confidence)),
                    several => {
                        let note = ambiguous(key, alias, several.iter().map(|((key, _), _)| **key));
                        open.entry(key).or_insert(note);
                        None
                    }
                },
            };
            let Some(((named, of_named), confidence)) = found.filter(|((named, _), _)| *named != key) else {
                continue;
            };
            let (from, to) = if of_named.views.is_empty() { (*named, *key) } else { (*key, *named) };
            let way = (Reverse(confidence), to);
            next.entry(from).and_modify(|known| *known = (*known).min(way)).or_insert(way);
        }
    }
    let notes = open.into_iter().filter(|(key, _)| !next.contains_key(key)).map(|(_, note)| note).collect();
    Homes { homes: next.keys().map(|key| (*key, home(key, &next))).collect(), notes }
}

fn ambiguous<'a>(key: &str, alias: &str, candidates: impl Iterator<Item = &'a str>) -> Note {
    let candidates: Vec<String> = candidates.map(|candidate| format!("`{candidate}`")).collect();
    Note {
        code: "attempt::ambiguous_alias",
        key: key.to_owned(),
        message: format!(
            "`{alias}` may be {}, so it stays an attempt of its own; name the cluster, or link it by hand",
            candidates.join(" or ")
        ),
    }
}

/// Keys by what they can be named by beside their whole text.
#[derive(Debug, Default)]
struct Index<'a> {
    /// By a name without the cluster, the beginnings of keys: `job_id=42` is that of `slurm:gpu:42`.
    without_cluster: BTreeMap<String, BTreeSet<&'a str>>,
    /// By a name of their own that is no beginning of their key: a rank of an attempt of many pods.
    own: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Index<'a> {
    fn of(by_key: &BTreeMap<&'a str, Records<'a>>) -> Self {
        let mut index = Self::default();
        for (key, records) in by_key.iter().filter(|(_, records)| !records.views.is_empty()) {
            index.note(key);
            for alias in records.views.iter().flat_map(|view| view.record.aliases.iter()) {
                if is_own(alias, key) {
                    index.note(alias);
                    index.own.entry(alias).or_default().insert(key);
                }
            }
        }
        index
    }

    /// `slurm:{cluster}:{job}…` is job, `k8s:{cluster}:{uid}…` is uid, of whatever cluster.
    fn note(&mut self, name: &'a str) {
        let mut parts = name.splitn(4, ':');
        let (Some(scheme), Some(cluster), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
            return;
        };
        let Some(kind) = kind_of(scheme) else { return };
        let length = scheme.len() + cluster.len() + id.len() + 2;
        if let Some(beginning) = name.get(..length) {
            self.without_cluster.entry(format!("{kind}={id}")).or_default().insert(beginning);
        }
    }

    /// The attempts that an alias may mean which is no key: of every job of that name the execution in whose time the
    /// session began.
    fn fitting<'b>(
        &self,
        by_key: &'b BTreeMap<&'a str, Records<'a>>,
        alias: &str,
        (key, records): (&str, &Records<'_>),
    ) -> Vec<(Named<'b, 'a>, Confidence)> {
        let Some((began, _)) = time(records) else { return Vec::new() };
        let named = |name: &str| {
            let of_own = self.own.get(name).into_iter().flatten().filter_map(|own| by_key.get_key_value(own));
            let of_job = by_key
                .range::<str, _>((std::ops::Bound::Excluded(name), std::ops::Bound::Unbounded))
                .take_while(|(key, _)| key.starts_with(name))
                .filter(|(key, _)| key.as_bytes().get(name.len()) == Some(&b':'));
            let all = of_job.chain(of_own).filter(|(named, _)| **named != key);
            all.filter_map(|(named, records)| Some((rank(records, began)?, named, records)))
                .max_by_key(|(rank, named, _)| (*rank, *named))
                .map(|(_, named, records)| (named, records))
        };
        if let Some(beginnings) = self.without_cluster.get(alias) {
            // The scheduler's own record names its job like this, and no other execution of it.
            let scheme = key.split_once(':').and_then(|(scheme, _)| kind_of(scheme));
            if scheme.is_some_and(|kind| alias.starts_with(kind)) {
                return Vec::new();
            }
            let mut found: Vec<Named<'b, 'a>> = beginnings.iter().filter_map(|name| named(name)).collect();
            found.sort_by_key(|(key, _)| **key);
            found.dedup_by_key(|(key, _)| **key);
            return found.into_iter().map(|named| (named, WITHOUT_CLUSTER)).collect();
        }
        if is_own(alias, key) {
            return Vec::new();
        }
        named(alias).map(|named| (named, BY_TIME)).into_iter().collect()
    }
}

/// What a scheduler's jobs are called where their cluster is not told.
fn kind_of(scheme: &str) -> Option<&'static str> {
    match scheme {
        "slurm" => Some("job_id"),
        "k8s" => Some("pod_uid"),
        _ => None,
    }
}

/// True if a name is of the same scheduler and cluster as a key: then it is a name of that attempt itself.
fn is_own(alias: &str, key: &str) -> bool {
    let place = |text: &str| -> Option<usize> {
        let (scheme, rest) = text.split_once(':')?;
        Some(scheme.len() + 1 + rest.find(':')?)
    };
    place(alias).is_some_and(|length| key.get(..=length) == alias.get(..=length))
}

/// How well a session that began then fits an execution: what was running is before what lies within the slack alone,
/// then the one that began last. `None` if it does not fit.
fn rank(records: &Records<'_>, began: Timestamp) -> Option<(bool, Timestamp)> {
    let (start, end) = time(records)?;
    let early = start.0.saturating_sub(SLACK_MICROS) <= began.0;
    let late = end.is_some_and(|end| end.0.saturating_add(SLACK_MICROS) < began.0);
    let running = start <= began && end.is_none_or(|end| began <= end);
    (early && !late).then_some((running, start))
}

/// When an execution began and, if all of it has, ended.
fn time(records: &Records<'_>) -> Option<(Timestamp, Option<Timestamp>)> {
    let views = || records.views.iter().map(|view| view.record);
    let start = views().filter_map(|view| view.started_at).min()?;
    Some((start, views().filter_map(|view| view.ended_at).max()))
}

/// The end of the way from alias to alias, as sure as its weakest step.
fn home<'a>(key: &'a str, next: &Next<'a>) -> Home<'a> {
    let mut way = vec![key];
    let mut at = Home { key, confidence: Confidence::CERTAIN };
    while let Some((Reverse(confidence), to)) = next.get(at.key).copied() {
        let confidence = at.confidence.min(confidence);
        if let Some(from) = way.iter().position(|seen| *seen == to) {
            let smallest = way.iter().skip(from).copied().min().unwrap_or(at.key);
            return Home { key: smallest, confidence };
        }
        way.push(to);
        at = Home { key: to, confidence };
    }
    at
}
