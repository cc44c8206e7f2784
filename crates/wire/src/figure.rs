//! A figure: its exact amount, or the word that says why there is none, with its evidence.

use ledger::Evidence;
use money::{Amount, AmountError};
use serde::Serialize;

/// What it means for a figure that no charge stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// There was nothing to cost anything.
    Nothing,
    /// The bill for the time is not here.
    AwaitingBill,
    /// The bill is here and no charge of it belongs to the figure.
    NoCharges,
}

/// What a figure is, beside its amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// All of it has one evidence.
    Of(Evidence),
    /// Its parts have several.
    Mixed,
    /// Some of its charges have no price, so the amount is only a part.
    Incomplete,
    /// None of its charges has a price; there is no amount.
    Unpriced,
    /// Exactly nothing.
    Nothing,
    /// The bill is not here; there is no amount.
    AwaitingBill,
    /// No charge belongs to it; there is no amount.
    NoCharges,
}

/// An amount with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Figure {
    /// The exact amount; `null` where it is not known.
    pub amount: Option<String>,
    /// `billed`, `split`, `modelled`, `estimated`, `mixed`, `incomplete`, `unpriced`, `nothing`, `awaiting bill`, `no charges`.
    pub state: &'static str,
    /// The amount by evidence.
    pub evidence: EvidenceMix,
    /// Charges without a price under the basis.
    pub unpriced: u64,
}

/// Parts of an amount by how they were got; they sum to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct EvidenceMix {
    /// The provider's own row names the run.
    pub billed: Option<String>,
    /// The provider's own split data.
    pub split: Option<String>,
    /// Our join.
    pub modelled: Option<String>,
    /// Price list; the bill is not here.
    pub estimated: Option<String>,
}

impl State {
    /// The state of a figure.
    pub fn of(figure: &ledger::Figure, empty: Empty) -> Self {
        if figure.by_evidence.is_empty() {
            return match empty {
                Empty::Nothing => Self::Nothing,
                Empty::AwaitingBill => Self::AwaitingBill,
                Empty::NoCharges => Self::NoCharges,
            };
        }
        let mut parts = figure.by_evidence.iter().filter(|(_, amount)| !amount.is_zero());
        let (first, second) = (parts.next(), parts.next());
        match (first, second) {
            (None, _) if figure.unpriced > 0 => Self::Unpriced,
            (Some(_), _) if figure.unpriced > 0 => Self::Incomplete,
            (None, _) if figure.by_evidence.len() > 1 => Self::Mixed,
            (None, _) => figure.by_evidence.keys().next().map_or(Self::Nothing, |only| Self::Of(*only)),
            (Some((only, _)), None) => Self::Of(*only),
            (Some(_), Some(_)) => Self::Mixed,
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Of(evidence) => evidence.word(),
            Self::Mixed => "mixed",
            Self::Incomplete => "incomplete",
            Self::Unpriced => "unpriced",
            Self::Nothing => "nothing",
            Self::AwaitingBill => "awaiting bill",
            Self::NoCharges => "no charges",
        }
    }

    /// Whether there is an amount.
    pub const fn has_amount(self) -> bool {
        match self {
            Self::Of(_) | Self::Mixed | Self::Incomplete | Self::Nothing => true,
            Self::Unpriced | Self::AwaitingBill | Self::NoCharges => false,
        }
    }
}

impl Figure {
    /// The public shape of a figure.
    ///
    /// # Errors
    /// `OutOfRange` if the parts sum past the range of an amount.
    pub fn of(figure: &ledger::Figure, empty: Empty) -> Result<Self, AmountError> {
        let state = State::of(figure, empty);
        if !state.has_amount() {
            let (amount, evidence) = (None, EvidenceMix::default());
            return Ok(Self { amount, state: state.word(), evidence, unpriced: figure.unpriced });
        }
        let part =
            |evidence| Some(figure.by_evidence.get(&evidence).copied().unwrap_or(Amount::ZERO).to_string());
        Ok(Self {
            amount: Some(figure.total()?.to_string()),
            state: state.word(),
            evidence: EvidenceMix {
                billed: part(Evidence::Billed),
                split: part(Evidence::Split),
                modelled: part(Evidence::Modelled),
                estimated: part(Evidence::Estimated),
            },
            unpriced: figure.unpriced,
        })
    }
}
