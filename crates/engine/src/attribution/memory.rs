//! What one thread remembers of each timeline: how the charges of its last interval split, and into which groups.
//!
//! The rows of a bill come by the hour and a machine has many of them, so what was worked out for one row mostly serves
//! the next ones too.

use costing::attribution::{Claim, Landing, Split, Timeline, Window};

use super::groups::Groups;

/// How many combinations of dimensions are remembered of a timeline.
const KNOWN: usize = 4;

/// Stands for no dimensions and for no experiment.
const NOTHING: u32 = u32::MAX;

/// The part that every row touches: one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Hot {
    /// For intervals inside this one, or for this very one if `exact`, the split holds.
    valid: (i64, i64),
    exact: bool,
    /// Place of the dimensions that are forgotten next.
    oldest: u8,
    /// The experiment to which the claim is limited, or [`NOTHING`].
    only: u32,
    /// Dimensions that are known, or [`NOTHING`].
    dims: [u32; KNOWN],
    /// Their groups for the first landing.
    groups: [u32; KNOWN],
    landings: u32,
}

/// The part that only split rows touch.
#[derive(Debug, Clone, Default)]
struct Cold {
    window: Window,
    split: Split,
    /// Groups by known dimensions and landing, where there are several landings.
    groups: Vec<u32>,
}

/// The memory of all timelines.
#[derive(Debug)]
pub(crate) struct Memory {
    hot: Vec<Hot>,
    cold: Vec<Cold>,
}

/// How a row splits: into which groups, by which split. A row of one group lands there whole.
pub(crate) struct Known<'a> {
    pub(crate) groups: &'a [u32],
    pub(crate) split: &'a Split,
}

impl Memory {
    pub(crate) fn new(timelines: usize) -> Self {
        Self { hot: vec![Hot::NONE; timelines], cold: vec![Cold::default(); timelines] }
    }

    /// Forgets the groups, whose table was emptied.
    pub(crate) fn forget_groups(&mut self) {
        for hot in &mut self.hot {
            hot.dims = Hot::NONE.dims;
        }
    }

    /// How a row of a timeline splits; `only` is the experiment to which its claim is limited, and the claim itself is
    /// asked for where nothing is remembered.
    #[inline(always)]
    pub(crate) fn of<'c>(
        &mut self,
        (index, only): (usize, Option<u32>),
        claim: impl FnOnce() -> Claim<'c>,
        (interval, dims): ((i64, i64), u32),
        table: &mut Groups,
    ) -> Option<Known<'_>> {
        let (hot, cold) = (self.hot.get_mut(index)?, self.cold.get_mut(index)?);
        if !hot.holds(interval, only.unwrap_or(NOTHING)) {
            make(hot, cold, (&claim(), only), interval);
        }
        let known = hot.place(dims);
        let known = known.unwrap_or_else(|| learn((hot, cold), dims, table));
        let groups = if hot.landings == 1 {
            hot.groups.get(known).map_or(&[][..], std::slice::from_ref)
        } else {
            let landings = hot.landings as usize;
            &cold.groups[known * landings..(known + 1) * landings]
        };
        Some(Known { groups, split: &cold.split })
    }
}

impl Hot {
    const NONE: Self = Self {
        valid: (i64::MAX, i64::MIN),
        exact: false,
        oldest: 0,
        only: NOTHING,
        dims: [NOTHING; KNOWN],
        groups: [0; KNOWN],
        landings: 0,
    };

    /// The place of dimensions that are known.
    #[inline(always)]
    fn place(&self, dims: u32) -> Option<usize> {
        let [a, b, c, d] = self.dims;
        match dims {
            _ if a == dims => Some(0),
            _ if b == dims => Some(1),
            _ if c == dims => Some(2),
            _ if d == dims => Some(3),
            _ => None,
        }
    }

    #[inline(always)]
    fn holds(&self, interval: (i64, i64), only: u32) -> bool {
        let inside = if self.exact {
            interval == self.valid
        } else {
            // An empty interval at a border belongs to the segment after it, which these comparisons cannot tell.
            self.valid.0 <= interval.0 && interval.1 <= self.valid.1 && interval.0 != interval.1
        };
        inside && self.only == only
    }
}

#[cold]
fn make(hot: &mut Hot, cold: &mut Cold, (claim, only): (&Claim<'_>, Option<u32>), interval: (i64, i64)) {
    let before: (usize, Option<Landing>) =
        (cold.split.landings().len(), cold.split.landings().first().copied());
    cold.window = cold.split.make(claim, cold.window, interval);
    let steady = timeline(claim).map(|timeline| timeline.steady(cold.window, interval));
    let steady = steady.filter(|(from, until)| from <= until);
    hot.valid = steady.unwrap_or(interval);
    hot.exact = steady.is_none();
    hot.only = only.unwrap_or(NOTHING);
    let landings = cold.split.landings();
    hot.landings = u32::try_from(landings.len()).unwrap_or(u32::MAX);
    // The groups of a charge that lands whole in the same place as before are still the same.
    if landings.len() != 1 || before != (1, landings.first().copied()) {
        hot.dims = Hot::NONE.dims;
    }
}

fn timeline<'a>(claim: &Claim<'a>) -> Option<&'a Timeline> {
    match claim {
        Claim::Whole(_) => None,
        Claim::Shared { timeline, .. } | Claim::SharedWithin { timeline, .. } => Some(timeline),
    }
}

/// Finds the groups of dimensions that were not known, in place of those known longest.
#[cold]
fn learn((hot, cold): (&mut Hot, &mut Cold), dims: u32, table: &mut Groups) -> usize {
    let place = usize::from(hot.oldest) % KNOWN;
    hot.oldest = hot.oldest.wrapping_add(1);
    let landings = cold.split.landings();
    let mut groups = landings.iter().map(|landing| table.group(dims, *landing));
    if landings.len() == 1 {
        hot.groups[place] = groups.next().unwrap_or_default();
    } else {
        cold.groups.resize(KNOWN * landings.len(), 0);
        for (held, group) in cold.groups[place * landings.len()..].iter_mut().zip(groups) {
            *held = group;
        }
    }
    hot.dims[place] = dims;
    place
}
