//! What rests under a prefix of a bucket: bytes and objects at one time, by storage class.

use crate::Timestamp;

/// The bytes under a prefix, as one listing found them.
///
/// The prefixes of a listing do not overlap: their sum is the listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredBytes {
    /// The bucket.
    pub bucket: String,
    /// The prefix, with its last `/`; empty for what lies in no folder or in too many.
    pub prefix: String,
    /// The provider's word for the class, such as `STANDARD` or `GLACIER`; `None` where the listing does not tell.
    pub class: Option<String>,
    /// False for versions that are not the latest: they are billed like any other.
    pub is_current: bool,
    /// Objects, or versions of them.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When it was listed.
    pub at: Timestamp,
}
