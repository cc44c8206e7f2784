//! Whether the windows of an import tile: no gap and no overlap between one and the next.

use std::collections::BTreeMap;

use ledger::{Interval, Timestamp};

/// The windows seen, each with the place of its first row.
#[derive(Debug, Default)]
pub(super) struct Windows {
    seen: BTreeMap<Interval, String>,
}

/// What lies between windows, or in two of them: how often, and the first place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) gaps: Option<(u64, String)>,
    pub(super) overlaps: Option<(u64, String)>,
}

impl Windows {
    /// Sees the window of a row.
    pub(super) fn see(&mut self, window: Interval, file: &str, row: u64) {
        self.seen.entry(window).or_insert_with(|| format!("{file}:{row}"));
    }

    /// What is wrong with the windows, in order of time.
    pub(super) fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        let mut covered: Option<(Timestamp, &String)> = None;
        for (window, place) in &self.seen {
            if let Some((end, before)) = covered {
                let (fault, from, to) = if window.start > end {
                    (&mut faults.gaps, end, window.start)
                } else {
                    (&mut faults.overlaps, window.start, end.min(window.end))
                };
                if from < to {
                    let first = || (0, format!("{from} to {to}, between {before} and {place}"));
                    fault.get_or_insert_with(first).0 += 1;
                }
            }
            if covered.is_none_or(|(end, _)| window.end > end) {
                covered = Some((window.end, place));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(windows: &[(i64, i64)]) -> (u64, u64) {
        let mut seen = Windows::default();
        for (start, end) in windows {
            let hour = |hours: i64| Timestamp(hours * 3_600_000_000);
            seen.see(Interval { start: hour(*start), end: hour(*end) }, "a.json", 1);
        }
        let faults = seen.faults();
        (faults.gaps.map_or(0, |gap| gap.0), faults.overlaps.map_or(0, |overlap| overlap.0))
    }

    #[test]
    fn windows_tile_or_have_gaps_and_overlaps() {
        assert_eq!(faults(&[]), (0, 0));
        assert_eq!(faults(&[(0, 1), (1, 2), (2, 3), (1, 2)]), (0, 0));
        assert_eq!(faults(&[(2, 3), (0, 1)]), (1, 0));
        assert_eq!(faults(&[(0, 2), (1, 3)]), (0, 1));
        assert_eq!(faults(&[(0, 24), (1, 2), (3, 4), (24, 25)]), (0, 2));
        assert_eq!(faults(&[(0, 1), (0, 2)]), (0, 1));
    }

    #[test]
    fn the_first_fault_is_told_with_its_places() {
        let mut seen = Windows::default();
        seen.see(Interval { start: Timestamp(0), end: Timestamp(3_600_000_000) }, "a.json", 1);
        seen.see(Interval { start: Timestamp(7_200_000_000), end: Timestamp(9_000_000_000) }, "b.json", 7);
        let (count, place) = seen.faults().gaps.unwrap();
        assert_eq!(
            (count, place.as_str()),
            (1, "1970-01-01T01:00:00Z to 1970-01-01T02:00:00Z, between a.json:1 and b.json:7")
        );
    }
}
