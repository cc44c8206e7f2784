//! Chooses the files of a delivery: those of the newest manifest of each billing period, or all where there is none.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ledger::BillingPeriod;

use super::client::Scheme;
use super::format::is_data_name;
use super::manifest::{self, Manifest, hostile, is_manifest_name};
use super::{Entry, Place, PlaceLimits};
use crate::SourceError;
use crate::billing::BillWarning;

/// The files to read, in order.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) files: Vec<(Entry, Option<BillingPeriod>)>,
    pub(super) warnings: Vec<BillWarning>,
}

/// Manifests read at most; a place with more is not one report.
const MANIFESTS_MAX: usize = 5_000;

/// Chooses among the entries of a place.
pub(super) fn choose(
    place: &dyn Place,
    entries: &[Entry],
    limits: &PlaceLimits,
) -> Result<Chosen, SourceError> {
    let manifests = manifests(place, entries, limits)?;
    if manifests.is_empty() {
        let data = entries.iter().filter(|entry| is_data_name(&entry.key) && !is_manifest_name(&entry.key));
        return Ok(Chosen { files: data.map(|entry| (entry.clone(), None)).collect(), warnings: Vec::new() });
    }
    let mut by_period: BTreeMap<(String, BillingPeriod), Vec<Manifest>> = BTreeMap::new();
    for manifest in manifests {
        by_period.entry((manifest.account.clone(), manifest.period)).or_default().push(manifest);
    }
    let listing = Listing { entries, bucket: place.bucket() };
    let mut chosen = Chosen { files: Vec::new(), warnings: Vec::new() };
    let mut known: BTreeSet<String> = BTreeSet::new();
    for ((_, period), manifests) in by_period {
        let newest = newest(&manifests)?;
        for entry in listing.files(newest)? {
            known.insert(entry.key.clone());
            chosen.files.push((entry, Some(period)));
        }
        for older in &manifests {
            known.extend(
                older.keys.iter().filter_map(|key| listing.find(older, key)).map(|entry| entry.key.clone()),
            );
        }
    }
    let stray = |entry: &&Entry| {
        is_data_name(&entry.key) && !is_manifest_name(&entry.key) && !known.contains(&entry.key)
    };
    let strays: Vec<&Entry> = entries.iter().filter(stray).collect();
    if let Some(first) = strays.first() {
        let message = format!(
            "{} data file(s) that no manifest lists are not read, first `{}`",
            strays.len(),
            first.key
        );
        chosen.warnings.push(BillWarning::new("bill::stale_parts", message));
    }
    Ok(chosen)
}

fn manifests(
    place: &dyn Place,
    entries: &[Entry],
    limits: &PlaceLimits,
) -> Result<Vec<Manifest>, SourceError> {
    let named: Vec<&Entry> = entries.iter().filter(|entry| is_manifest_name(&entry.key)).collect();
    if named.len() > MANIFESTS_MAX {
        let message = format!("the place holds more than {MANIFESTS_MAX} manifests");
        return Err(SourceError::new("bill::too_large", message).help("name the folder of one report"));
    }
    let mut found = Vec::new();
    for entry in named {
        if entry.bytes > limits.manifest_bytes {
            return Err(SourceError::new("bill::too_large", "the manifest is too large").at(&entry.key));
        }
        found.extend(manifest::read(entry, &place.text(entry)?)?);
    }
    Ok(found)
}

/// The newest of the manifests of one period.
fn newest(manifests: &[Manifest]) -> Result<&Manifest, SourceError> {
    let any_current = manifests.iter().any(|manifest| manifest.is_current);
    let mut best: Option<&Manifest> = None;
    for manifest in manifests {
        let Some(known) = best else {
            best = Some(manifest);
            continue;
        };
        if (&known.root, &known.report) != (&manifest.root, &manifest.report) {
            return Err(SourceError::new(
                "bill::several_reports",
                format!(
                    "two reports of one account cover {}, so their rows would count twice",
                    manifest.period
                ),
            )
            .expected(&known.entry.key, &manifest.entry.key)
            .help("name the folder of one of the reports"));
        }
        // The manifest of the period itself says which assembly is current; the others need no comparison.
        let newer = match (any_current, known.is_current, manifest.is_current) {
            (true, false, true) => true,
            (true, _, false) => false,
            (true, true, true) | (false, _, _) => compare(known, manifest)? == Ordering::Less,
        };
        if newer {
            best = Some(manifest);
        }
    }
    best.ok_or_else(|| SourceError::new("bill::no_files", "there is no manifest"))
}

fn compare(a: &Manifest, b: &Manifest) -> Result<Ordering, SourceError> {
    if a.keys == b.keys {
        return Ok(Ordering::Equal);
    }
    if let (Some(a), Some(b)) = (&a.execution, &b.execution)
        && a != b
    {
        return Ok(a.cmp(b));
    }
    match a.entry.modified.cmp(&b.entry.modified) {
        Ordering::Equal => Err(SourceError::new(
            "bill::ambiguous_manifest",
            format!("it cannot be told which of two manifests of {} is newer", a.period),
        )
        .expected(&a.entry.key, &b.entry.key)
        .help("name the folder of one execution, or fetch the manifest of the period itself")),
        order => Ok(order),
    }
}

/// The entries of a place, in which the keys of manifests are looked up; a key is never joined to a path.
struct Listing<'a> {
    entries: &'a [Entry],
    bucket: Option<(Scheme, &'a str)>,
}

impl Listing<'_> {
    /// The files of a manifest: all or an error.
    fn files(&self, manifest: &Manifest) -> Result<Vec<Entry>, SourceError> {
        if let (Some((scheme, opened)), Some(named)) = (self.bucket, &manifest.bucket)
            && (opened != named || manifest.scheme.is_some_and(|named| named != scheme))
        {
            return Err(hostile(&manifest.entry, named, "that is another bucket"));
        }
        let mut files = Vec::with_capacity(manifest.keys.len());
        let mut missing: Vec<&str> = Vec::new();
        for key in &manifest.keys {
            match self.find(manifest, key) {
                Some(entry) => files.push(entry.clone()),
                None if self.lies_outside(manifest, key) => {
                    return Err(hostile(&manifest.entry, key, "it lies outside the report's folder"));
                }
                None => missing.push(key),
            }
        }
        let Some(first) = missing.first() else { return Ok(files) };
        Err(SourceError::new(
            "bill::incomplete_delivery",
            format!(
                "{} of the {} files that the manifest lists are not there",
                missing.len(),
                manifest.keys.len()
            ),
        )
        .at(&manifest.entry.key)
        .expected(*first, "no such file")
        .help("copy the whole folder of the report; a delivery is imported whole or not at all"))
    }

    /// The entry of a key below the report's folder. A folder on disk may be a copy of any part of the bucket, so
    /// there the path below the report's folder must be the end of the key, or the key the end of the path.
    fn find(&self, manifest: &Manifest, key: &str) -> Option<&Entry> {
        let below = |entry: &&Entry| entry.key.starts_with(&manifest.root);
        let fits = |entry: &&Entry| match self.bucket {
            Some(_) => entry.key == key,
            None => {
                let tail = entry.key.get(manifest.root.len()..).unwrap_or("");
                ends_in(key, tail) || ends_in(&entry.key, key)
            }
        };
        self.entries.iter().filter(below).find(fits)
    }

    fn lies_outside(&self, manifest: &Manifest, key: &str) -> bool {
        match self.bucket {
            Some(_) => !key.starts_with(&manifest.root),
            None => self.entries.iter().any(|entry| ends_in(&entry.key, key)),
        }
    }
}

/// True if `path` ends in the whole components of `tail`.
fn ends_in(path: &str, tail: &str) -> bool {
    path.strip_suffix(tail).is_some_and(|head| !tail.is_empty() && (head.is_empty() || head.ends_with('/')))
}
