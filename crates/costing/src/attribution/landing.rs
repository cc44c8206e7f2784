//! Where a part of a charge lands, packed into an integer that inner loops can group by.

use ledger::{Account, Evidence, LineClass, Rule};

/// A place packed into 32 bits: four bits of sort, twenty-eight of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Landing(u32);

/// Why usage is unattributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The row carries no resource id and no tag of a run.
    NoResourceId,
    /// No attempt is known to have held the resource.
    NoAttempt,
    /// A tag names an attempt that no record tells of.
    UnknownAttempt,
    /// The provider's split rows name a pod that no attempt holds.
    UnknownPod,
}

impl Reason {
    /// Every reason, in order of its index.
    pub const ALL: [Self; 4] = [Self::NoResourceId, Self::NoAttempt, Self::UnknownAttempt, Self::UnknownPod];

    /// The reason in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoResourceId => "the row has no resource id and no tag of a run",
            Self::NoAttempt => "no attempt is known to have held the resource",
            Self::UnknownAttempt => "a tag names an attempt that no record tells of",
            Self::UnknownPod => "split rows name a pod that no attempt holds",
        }
    }
}

/// A place where money lands; `index` counts in the plan's attempts or experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The account of a class of rows that are no usage.
    Class(LineClass),
    /// Paid time that no attempt held.
    Idle,
    /// Nobody's, with the reason.
    Unattributed(Reason),
    /// An attempt.
    Attempt {
        /// Which.
        index: u32,
        /// By which rule.
        rule: Rule,
        /// With which evidence.
        evidence: Evidence,
    },
    /// An experiment of which no single attempt can be named.
    Experiment {
        /// Which.
        index: u32,
        /// By which rule.
        rule: Rule,
        /// With which evidence.
        evidence: Evidence,
    },
}

/// The pairs of rule and evidence that occur, by their code in a landing.
const CLAIMS: [(Rule, Evidence); 6] = [
    (Rule::Tag, Evidence::Billed),
    (Rule::Tag, Evidence::Modelled),
    (Rule::ManagedJob, Evidence::Billed),
    (Rule::ManagedJob, Evidence::Modelled),
    (Rule::SplitRows, Evidence::Split),
    (Rule::ResourceTime, Evidence::Modelled),
];

const CLASS: u32 = 0;
const IDLE: u32 = 1;
const UNATTRIBUTED: u32 = 2;
const ATTEMPT: u32 = 3;
/// Behind the six claims of attempts.
const EXPERIMENT: u32 = ATTEMPT + 6;
const INDEX_BITS: u32 = 28;

/// The most attempts or experiments that a plan may hold.
pub(crate) const INDEX_MAX: u32 = (1 << INDEX_BITS) - 1;

impl Landing {
    /// Idle time of a resource.
    pub const IDLE: Self = Self(IDLE << INDEX_BITS);

    /// Packs a place.
    pub fn of(place: Place) -> Self {
        let code = |rule: Rule, evidence: Evidence| {
            super::number(
                CLAIMS.iter().position(|claim| *claim == (rule, evidence)).unwrap_or(CLAIMS.len() - 1),
            )
        };
        let (sort, index) = match place {
            Place::Class(class) => (CLASS, class as u32),
            Place::Idle => (IDLE, 0),
            Place::Unattributed(reason) => (UNATTRIBUTED, reason as u32),
            Place::Attempt { index, rule, evidence } => (ATTEMPT + code(rule, evidence), index),
            Place::Experiment { index, rule, evidence } => (EXPERIMENT + code(rule, evidence), index),
        };
        Self(sort << INDEX_BITS | index & INDEX_MAX)
    }

    /// Unpacks the place.
    pub fn place(self) -> Place {
        let (sort, index) = (self.0 >> INDEX_BITS, self.0 & INDEX_MAX);
        match sort {
            CLASS => Place::Class(LineClass::ALL[index as usize]),
            IDLE => Place::Idle,
            UNATTRIBUTED => Place::Unattributed(Reason::ALL[index as usize]),
            sort if sort < EXPERIMENT => {
                let (rule, evidence) = CLAIMS[(sort - ATTEMPT) as usize];
                Place::Attempt { index, rule, evidence }
            }
            sort => {
                let (rule, evidence) = CLAIMS[(sort - EXPERIMENT) as usize];
                Place::Experiment { index, rule, evidence }
            }
        }
    }

    /// The packed form, for arrays.
    #[inline]
    pub const fn code(self) -> u32 {
        self.0
    }

    /// The landing of a packed form that [`Self::code`] gave.
    #[inline]
    pub const fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// True if both are the same attempt, experiment or other place, by whatever rule.
    pub(super) fn same_place(self, other: Self) -> bool {
        match (self.place(), other.place()) {
            (Place::Attempt { index: a, .. }, Place::Attempt { index: b, .. })
            | (Place::Experiment { index: a, .. }, Place::Experiment { index: b, .. }) => a == b,
            (a, b) => a == b,
        }
    }

    /// The same holder under a claim by tag whose split over attempts is ours.
    pub(crate) fn tagged(self, shared: bool) -> Self {
        let evidence = if shared { Evidence::Modelled } else { Evidence::Billed };
        match self.place() {
            Place::Attempt { index, .. } => Self::of(Place::Attempt { index, rule: Rule::Tag, evidence }),
            Place::Class(_) | Place::Idle | Place::Unattributed(_) | Place::Experiment { .. } => self,
        }
    }
}

/// The account, and the reason in words, of a class of rows.
pub const fn class_account(class: LineClass) -> (Account, &'static str) {
    match class {
        LineClass::Usage | LineClass::CapacityBlockUsage => (Account::Unattributed, "usage"),
        LineClass::CapacityBlockFee => (Account::UnusedCommitment, "capacity block fee"),
        LineClass::Commitment => (Account::UnusedCommitment, "commitment fee or its unused part"),
        LineClass::UnusedReservation => (Account::Idle, "reserved capacity that ran empty"),
        LineClass::Tax => (Account::Tax, "tax"),
        LineClass::Credit => (Account::Credit, "credit"),
        LineClass::Refund => (Account::Refund, "refund"),
        LineClass::Support => (Account::Support, "support"),
        LineClass::Inference => (Account::Inference, "inference or model API"),
        LineClass::Other => (Account::Other, "fee or discount outside usage"),
        LineClass::SplitDetail => (Account::Other, "split detail: weights, no money"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_survives_packing() {
        let mut places = vec![Place::Idle];
        places.extend(LineClass::ALL.iter().map(|class| Place::Class(*class)));
        places.extend(Reason::ALL.map(Place::Unattributed));
        for (rule, evidence) in CLAIMS {
            places.push(Place::Attempt { index: 7, rule, evidence });
            places.push(Place::Experiment { index: INDEX_MAX, rule, evidence });
        }
        for place in places {
            let landing = Landing::of(place);
            assert_eq!(landing.place(), place);
            assert_eq!(Landing::from_code(landing.code()), landing);
        }
    }
}
