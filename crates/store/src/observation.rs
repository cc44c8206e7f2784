//! The identity of an observation: a hash of its source, key, time of change and content.

use ledger::{Observation, ObservationId};

use crate::{StoreError, v1};

/// The id of an observation: the first sixteen bytes of BLAKE3 over its canonical encoding.
///
/// The same record has the same id for ever, whatever form the catalog keeps it in.
///
/// # Errors
/// `Record`, if the record has no JSON text; none is known that has not.
pub fn observation_id(observation: &Observation) -> Result<ObservationId, StoreError> {
    Ok(StoredObservation::of(observation)?.id)
}

/// An observation as the catalog keeps it.
#[derive(Debug)]
pub(crate) struct StoredObservation {
    pub(crate) id: ObservationId,
    pub(crate) payload: String,
}

impl StoredObservation {
    pub(crate) fn of(observation: &Observation) -> Result<Self, StoreError> {
        let payload = v1::encode(&observation.record)?;
        let Observation { source, key, modified_at, record: _ } = observation;
        let id = identity(&source.0, key, (modified_at.map(|instant| instant.0), &payload));
        Ok(Self { id, payload })
    }
}

/// The id that belongs to the parts of an observation; every text is preceded by its length.
pub(crate) fn identity(source: &str, key: &str, content: (Option<i64>, &str)) -> ObservationId {
    let (modified_at, payload) = content;
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"trainbill observation v1\n");
    for text in [source, key, payload] {
        hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    if let Some(micros) = modified_at {
        hasher.update(&micros.to_le_bytes());
    }
    let mut id = [0; 16];
    id.copy_from_slice(hasher.finalize().as_bytes().split_at(16).0);
    ObservationId(id)
}
