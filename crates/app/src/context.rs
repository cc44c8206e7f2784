//! What a verb needs from its face: where the store is, what time it is, and where progress goes.

use std::path::PathBuf;

use engine::Limits;
use ledger::Timestamp;

/// Receives the progress of long work.
pub trait Progress: Send + Sync {
    /// A stage begins.
    fn stage(&self, name: &str);
    /// So much of the stage is done.
    fn rows(&self, rows: u64);
}

/// Progress that nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _name: &str) {}
    fn rows(&self, _rows: u64) {}
}

/// What a verb needs from its face.
pub struct Context<'a> {
    /// The store's folder.
    pub store: PathBuf,
    /// Now, in UTC: only faces read the clock.
    pub now: Timestamp,
    /// Threads and memory.
    pub limits: Limits,
    /// Tag keys that name runs.
    pub keys: costing::attribution::TagKeys,
    /// What estimates need to know of machines.
    pub estimates: crate::EstimateSettings,
    /// Where progress goes.
    pub progress: &'a dyn Progress,
}

impl Context<'_> {
    /// The same context over another store.
    #[must_use]
    pub fn with_store(&self, store: PathBuf) -> Self {
        Self { store, keys: self.keys.clone(), estimates: self.estimates.clone(), ..*self }
    }
}
