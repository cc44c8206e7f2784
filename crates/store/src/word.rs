//! The words of the ledger's closed sets, read back strictly: an unknown word is an error, never a default.

use crate::StoreError;

/// A closed set of words.
pub(crate) trait Word: Sized {
    /// What a word of the set is called in an error.
    const KIND: &'static str;

    fn text(self) -> String;

    fn find(word: &str) -> Option<Self>;
}

macro_rules! word_sets {
    ($($name:ident => $kind:literal,)+) => {
        $(impl Word for ledger::$name {
            const KIND: &'static str = $kind;

            fn text(self) -> String {
                self.word().to_owned()
            }

            fn find(word: &str) -> Option<Self> {
                Self::from_word(word)
            }
        })+
    };
}

word_sets! {
    Account => "account",
    ArtifactKind => "kind of artifact",
    BindingKind => "kind of binding",
    Capacity => "capacity",
    Cause => "cause",
    Direction => "direction",
    Evidence => "evidence",
    Grade => "grade",
    Initiator => "initiator",
    JoinMethod => "join method",
    LinkMethod => "link method",
    Metric => "metric of a device",
    Outcome => "outcome",
    PhaseKind => "kind of phase",
    PriceKind => "kind of price",
    PriceUnit => "unit of price",
    PurchaseOption => "purchase option",
    ResourceKind => "kind of resource",
    Rule => "rule",
    RunState => "run state",
    ShareDriver => "share driver",
    Step => "step",
    Tenancy => "tenancy",
}

/// The value of a word.
pub(crate) fn known<T: Word>(word: &str) -> Result<T, StoreError> {
    T::find(word).ok_or_else(|| StoreError::UnknownWord { kind: T::KIND, word: word.to_owned() })
}
