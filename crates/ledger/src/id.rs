//! Identities of attempts, experiments, sources and deliveries.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The namespace of attempt ids. It never changes: the same canonical key must give the same id for ever.
const ATTEMPT_NAMESPACE: Uuid = Uuid::from_u128(0x7472_6169_6e62_696c_6c2d_6174_7465_6d70);

/// The immutable id of one execution: `UUIDv5` of its canonical key, such as `slurm:cluster:42:1795998677`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(pub Uuid);

impl AttemptId {
    /// The id that belongs to a canonical key; a pure function of the key.
    pub fn of_key(canonical_key: &str) -> Self {
        Self(Uuid::new_v5(&ATTEMPT_NAMESPACE, canonical_key.as_bytes()))
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.hyphenated(), f)
    }
}

impl FromStr for AttemptId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        Uuid::parse_str(text).map(Self)
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

text_id! {
    /// The name of a logical trial, as the user's launcher, label or tag gives it.
    ExperimentId
}

/// The namespace of the ids that experiments have as parent runs of OpenLineage.
const EXPERIMENT_NAMESPACE: Uuid = Uuid::from_u128(0x21f7_6a0d_48c9_4b57_b1de_0f6a_9c35_82e4);

impl ExperimentId {
    /// The id that an experiment has where every run must have one, as a parent run of OpenLineage; a pure function of its
    /// name.
    pub fn run_id(&self) -> Uuid {
        Uuid::new_v5(&EXPERIMENT_NAMESPACE, self.0.as_bytes())
    }
}

text_id! {
    /// The name of a source of bills or records, such as `aws_cur:111122223333`.
    SourceId
}
text_id! {
    /// One complete arrival of a billing period: a hash of its content.
    DeliveryId
}
