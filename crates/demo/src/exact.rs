//! Exact shares of demo prices at the ten decimals that a bill prints, and quantities beside them.

use std::fmt;

use money::{Amount, apportion_into, rounding};

use crate::DemoError;

/// Fractional digits of every cost in the demo bills, as in CUR files.
const DIGITS: u32 = 10;
/// Units of an amount in the last of those digits.
const STEP: i128 = 10_i128.pow(money::SCALE - DIGITS);

/// A price or amount from its text.
pub(crate) fn amount(text: &str) -> Result<Amount, DemoError> {
    Ok(text.parse()?)
}

/// `count` times an amount.
pub(crate) fn times(one: Amount, count: u64) -> Result<Amount, DemoError> {
    let units = one.units().checked_mul(i128::from(count)).ok_or(money::AmountError::OutOfRange)?;
    Ok(Amount::from_units(units)?)
}

/// Splits an amount by weights into parts of ten decimals that sum to it (rounded to ten decimals first).
pub(crate) fn split(whole: Amount, weights: &[u64]) -> Result<Vec<Amount>, DemoError> {
    let steps = rounding::rounded(whole, DIGITS)?.units() / STEP;
    let mut parts = vec![0_i128; weights.len()];
    let mut remainders = vec![0_u64; weights.len()];
    apportion_into(steps, weights, &mut parts, &mut remainders)?;
    parts.into_iter().map(|part| Ok(Amount::from_units(part * STEP)?)).collect()
}

/// The cost of `part` out of `of` seconds (or other units) at a rate for `of`.
pub(crate) fn share(rate: Amount, part: u64, of: u64) -> Result<Amount, DemoError> {
    let whole = times(rate, part / of.max(1))?;
    let rest = part % of.max(1);
    let first = split(rate, &[rest, of.saturating_sub(rest)])?.into_iter().next();
    Ok(whole.checked_add(first.unwrap_or(Amount::ZERO))?)
}

/// The sum of amounts.
pub(crate) fn sum(amounts: impl IntoIterator<Item = Amount>) -> Result<Amount, DemoError> {
    Ok(Amount::sum(amounts)?)
}

/// A quantity in ten-billionths of its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Used(u64);

impl Used {
    const ONE: u64 = 10_u64.pow(DIGITS);

    /// Whole units.
    pub(crate) const fn whole(count: u64) -> Self {
        Self(count.saturating_mul(Self::ONE))
    }

    /// `count` × `part` ÷ `of` units, rounded down.
    pub(crate) fn part(count: u64, part: u64, of: u64) -> Self {
        let product = u128::from(count) * u128::from(part) * u128::from(Self::ONE);
        Self(u64::try_from(product / u128::from(of.max(1))).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Used {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / Self::ONE, self.0 % Self::ONE);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        write!(f, "{whole}.{}", format!("{fraction:010}").trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_ten_decimals_and_sum_to_the_whole() {
        let rate = amount("21.957642").unwrap();
        assert_eq!(share(rate, 3600, 3600).unwrap(), rate);
        assert_eq!(share(rate, 1800, 3600).unwrap().to_string(), "10.978821");
        assert_eq!(share(rate, 7, 3600).unwrap().to_string(), "0.042695415");
        let parts = split(amount("1").unwrap(), &[1, 1, 1]).unwrap();
        assert_eq!(parts.first().unwrap().to_string(), "0.3333333334");
        assert_eq!(sum(parts).unwrap().to_string(), "1");
        assert_eq!(Used::part(1, 1, 3).to_string(), "0.3333333333");
    }
}
