//! A figure: an amount that knows its currency, basis, credit treatment and evidence, and refuses unlike ones.

use std::collections::BTreeMap;
use std::fmt;

use money::{Amount, AmountError, Currency};

use crate::{CostBasis, CreditTreatment, Evidence};

/// What two amounts must share to be added or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measure {
    /// Currency of every amount in the figure.
    pub currency: Currency,
    /// How usage is valued.
    pub basis: CostBasis,
    /// Whether credits are subtracted.
    pub credits: CreditTreatment,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.currency, self.basis, self.credits)
    }
}

/// Two amounts that must not be added, both named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnlikeAmounts {
    /// Currency, basis or credit treatment differ.
    #[error("cannot add `{right}` to `{left}`")]
    Measure {
        /// The measure of the figure added to.
        left: Measure,
        /// The measure of the figure added.
        right: Measure,
    },
    /// The sum leaves the range of an amount.
    #[error(transparent)]
    Range(#[from] AmountError),
}

/// An amount with its evidence mix and how much of it could not be priced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What the amounts are.
    pub measure: Measure,
    /// The amount by evidence; an absent entry is no money with that evidence.
    pub by_evidence: BTreeMap<Evidence, Amount>,
    /// Charges without a price under this basis; above zero the total is incomplete and says so.
    pub unpriced: u64,
}

impl Figure {
    /// A figure of nothing.
    pub const fn nothing(measure: Measure) -> Self {
        Self { measure, by_evidence: BTreeMap::new(), unpriced: 0 }
    }

    /// A figure of one amount.
    pub fn of(measure: Measure, evidence: Evidence, amount: Amount) -> Self {
        Self { measure, by_evidence: BTreeMap::from([(evidence, amount)]), unpriced: 0 }
    }

    /// The amount over all evidence.
    ///
    /// # Errors
    /// `OutOfRange` on overflow.
    pub fn total(&self) -> Result<Amount, AmountError> {
        Amount::sum(self.by_evidence.values().copied())
    }

    /// The sum of two like figures.
    ///
    /// # Errors
    /// `Measure` names both sides if currency, basis or credit treatment differ.
    pub fn checked_add(mut self, other: &Self) -> Result<Self, UnlikeAmounts> {
        if self.measure != other.measure {
            return Err(UnlikeAmounts::Measure { left: self.measure, right: other.measure });
        }
        for (evidence, amount) in &other.by_evidence {
            let held = self.by_evidence.entry(*evidence).or_default();
            *held = held.checked_add(*amount)?;
        }
        self.unpriced += other.unpriced;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(currency: &str, basis: CostBasis) -> Measure {
        Measure { currency: currency.parse().unwrap(), basis, credits: CreditTreatment::BeforeCredits }
    }

    fn figure(measure: Measure, evidence: Evidence, amount: &str) -> Figure {
        Figure::of(measure, evidence, amount.parse().unwrap())
    }

    #[test]
    fn like_amounts_add_and_keep_their_evidence() {
        let usd = measure("USD", CostBasis::Effective);
        let sum =
            figure(usd, Evidence::Billed, "1.5").checked_add(&figure(usd, Evidence::Modelled, "2")).unwrap();
        assert_eq!(sum.total().unwrap().to_string(), "3.5");
        assert_eq!(sum.by_evidence[&Evidence::Billed].to_string(), "1.5");
    }

    #[test]
    fn unlike_amounts_are_refused_with_both_named() {
        let left = figure(measure("USD", CostBasis::Effective), Evidence::Billed, "1");
        let euro = figure(measure("EUR", CostBasis::Effective), Evidence::Billed, "1");
        let list = figure(measure("USD", CostBasis::List), Evidence::Billed, "1");
        assert_eq!(
            left.clone().checked_add(&euro).unwrap_err().to_string(),
            "cannot add `EUR effective before credits` to `USD effective before credits`"
        );
        assert!(left.checked_add(&list).is_err());
    }
}
