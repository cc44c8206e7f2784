//! What was read of a place before, by which is told what of it need not be read again.

use std::collections::BTreeMap;

use ledger::{BillingPeriod, Timestamp};

use super::Entry;
use super::delivery::Chosen;

/// What is known of a place since it was read last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// Who reads it, with the version: what another reader made of the same files is not known.
    pub reader: String,
    /// When the files are looked at. A local file that changed about then may change again unseen, so it has no
    /// fingerprint.
    pub now: Timestamp,
    /// Fingerprint of all that the place lists, if every part of it was read.
    pub listing: Option<String>,
    /// Fingerprints of its parts.
    pub parts: BTreeMap<Option<BillingPeriod>, String>,
    /// True if a part may be read without the others.
    pub apart: bool,
}

/// What is read or left alone as a whole: the billing period of manifests, or all of a place without manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The billing period, where manifests state one.
    pub period: Option<BillingPeriod>,
    /// What changes whenever one of its files does; `None` if the place does not tell enough.
    pub fingerprint: Option<String>,
    /// False if it is as it was.
    pub changed: bool,
}

impl Known {
    /// The parts that are known, none of them changed.
    pub(super) fn unchanged(&self) -> Vec<Part> {
        let part = |(period, fingerprint): (&Option<BillingPeriod>, &String)| Part {
            period: *period,
            fingerprint: Some(fingerprint.clone()),
            changed: false,
        };
        self.parts.iter().map(part).collect()
    }

    /// The fingerprint of everything that a place lists.
    pub(super) fn listing_of(&self, entries: &[Entry]) -> Option<String> {
        fingerprint(&self.reader, entries.iter())
    }

    /// The parts of what was chosen.
    pub(super) fn parts_of(&self, chosen: &Chosen) -> Vec<Part> {
        let mut files: BTreeMap<Option<BillingPeriod>, Vec<&Entry>> = BTreeMap::new();
        for (entry, period) in &chosen.files {
            files.entry(*period).or_default().push(entry);
        }
        let mut parts: Vec<Part> = Vec::with_capacity(files.len());
        for (period, entries) in files {
            let fingerprint = fingerprint(&self.reader, entries.into_iter());
            let changed = fingerprint.is_none() || fingerprint.as_ref() != self.parts.get(&period);
            parts.push(Part { period, fingerprint, changed });
        }
        let all_stand = parts.len() == self.parts.len() && parts.iter().all(|part| !part.changed);
        if !self.apart && !all_stand {
            parts.iter_mut().for_each(|part| part.changed = true);
        }
        parts
    }
}

/// A hash of what tells files from their other versions; `None` if one of them does not tell.
fn fingerprint<'a>(reader: &str, entries: impl Iterator<Item = &'a Entry>) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        // The length keeps neighbours apart.
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    };
    add(reader);
    for entry in entries {
        add(&entry.key);
        add(&format!("{} {}", entry.bytes, entry.modified));
        add(entry.version.as_ref()?);
    }
    Some(hasher.finalize().to_hex().as_str()[..32].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const JULY: Option<BillingPeriod> = Some(BillingPeriod { year: 2026, month: 7 });
    const AUGUST: Option<BillingPeriod> = Some(BillingPeriod { year: 2026, month: 8 });

    fn entry(key: &str, version: Option<&str>) -> Entry {
        Entry { key: key.to_owned(), bytes: 3, modified: 5, version: version.map(str::to_owned) }
    }

    fn chosen(july: Option<&str>, august: Option<&str>) -> Chosen {
        let files = vec![(entry("a", july), JULY), (entry("b", august), AUGUST)];
        Chosen { files, warnings: Vec::new() }
    }

    /// Which of two parts are to be read after both were read as version 1.
    fn changed(apart: bool, july: Option<&str>, august: Option<&str>) -> Vec<bool> {
        let first = Known::default().parts_of(&chosen(Some("1"), Some("1")));
        let parts = first.into_iter().filter_map(|part| Some((part.period, part.fingerprint?))).collect();
        let known = Known { parts, apart, ..Known::default() };
        known.parts_of(&chosen(july, august)).iter().map(|part| part.changed).collect()
    }

    #[test]
    fn only_the_part_that_changed_is_read_unless_parts_hang_together() {
        assert_eq!(changed(true, Some("1"), Some("1")), [false, false]);
        assert_eq!(changed(true, Some("1"), Some("2")), [false, true]);
        assert_eq!(changed(true, Some("1"), None), [false, true]);
        assert_eq!(changed(false, Some("1"), Some("1")), [false, false]);
        assert_eq!(changed(false, Some("1"), Some("2")), [true, true]);
        let nothing_known = Known { apart: true, ..Known::default() };
        assert!(nothing_known.parts_of(&chosen(Some("1"), Some("1"))).iter().all(|part| part.changed));
    }

    #[test]
    fn a_part_that_is_gone_changes_those_that_hang_together_with_it() {
        let both = Known::default().parts_of(&chosen(Some("1"), Some("1")));
        let parts: BTreeMap<_, _> =
            both.into_iter().filter_map(|part| Some((part.period, part.fingerprint?))).collect();
        let mut july = chosen(Some("1"), Some("1"));
        july.files.pop();
        for (apart, changed) in [(true, false), (false, true)] {
            let known = Known { parts: parts.clone(), apart, ..Known::default() };
            assert_eq!(known.parts_of(&july)[0].changed, changed);
        }
    }

    #[test]
    fn a_fingerprint_tells_every_field_and_the_reader() {
        let of = |reader: &str, entry: Entry| fingerprint(reader, [entry].iter());
        let base = of("r 1", entry("a", Some("1")));
        assert!(base.is_some());
        assert_eq!(base, of("r 1", entry("a", Some("1"))));
        assert_eq!(of("r 1", entry("a", None)), None);
        for other in [
            of("r 2", entry("a", Some("1"))),
            of("r 1", entry("b", Some("1"))),
            of("r 1", entry("a", Some("2"))),
            of("r 1", Entry { bytes: 4, ..entry("a", Some("1")) }),
            of("r 1", Entry { modified: 6, ..entry("a", Some("1")) }),
            fingerprint("r 1", [entry("a", Some("1")), entry("b", Some("1"))].iter()),
        ] {
            assert_ne!(base, other);
        }
    }
}
