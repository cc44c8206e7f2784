//! What one import brings, to be committed whole or not at all, and what came of it.

use ledger::{Observation, Timestamp};

use crate::{DeliveryFacts, PlaceRead, StagedDelivery, StagedPostings};

/// Rejected rows that are kept of one import; the others are only counted.
pub const REJECTIONS_MAX: usize = 10_000;

/// Everything that an import brings.
#[derive(Debug)]
pub struct Change {
    /// The import itself.
    pub import: ImportRecord,
    /// Deliveries of bills, at most one a source and period.
    pub deliveries: Vec<(StagedDelivery, DeliveryFacts)>,
    /// Observations of runs, known ones included.
    pub observations: Vec<Observation>,
    /// Postings made anew: of the deliveries here and of those whose runs the observations change.
    pub postings: Vec<StagedPostings>,
    /// What to remember of the place that was read, with the deliveries of its parts that were not read again.
    pub read: Option<PlaceRead>,
}

/// One import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRecord {
    /// Order of imports, from 1; the catalog gives it at commit, whatever stood here.
    pub sequence: i64,
    /// Source kind, such as `slurm`.
    pub kind: String,
    /// File, folder or address it was read from.
    pub place: String,
    /// When it was done.
    pub arrived_at: Timestamp,
    /// Rows read.
    pub rows: u64,
    /// Rows accepted.
    pub accepted: u64,
    /// Rows rejected.
    pub rejected: u64,
    /// The first rejected rows, up to [`REJECTIONS_MAX`]; empty in a list of imports, see `Store::rejections`.
    pub rejections: Vec<Rejection>,
    /// What the reader warns of.
    pub warnings: Vec<String>,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// Stable code, such as `row::not_a_decimal`.
    pub code: String,
    /// File name as given.
    pub file: String,
    /// Row, from 1 after the header.
    pub row: u64,
    /// Column, where one is to blame.
    pub column: Option<String>,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

/// What a commit changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Committed {
    /// Deliveries that became current.
    pub new_deliveries: u64,
    /// Deliveries that were current already.
    pub unchanged_deliveries: u64,
    /// Deliveries that were not read again as nothing had changed where they came from.
    pub unread_deliveries: u64,
    /// Observations added.
    pub new_observations: u64,
    /// Observations that were known already, repetitions inside the change included.
    pub known_observations: u64,
}

impl Committed {
    /// True if the store already held all that the change brought; then the import is not recorded again.
    pub const fn is_no_op(&self) -> bool {
        let brought_known = self.unchanged_deliveries + self.unread_deliveries + self.known_observations > 0;
        self.new_deliveries + self.new_observations == 0 && brought_known
    }
}
