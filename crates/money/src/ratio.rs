//! An exact fraction, and the one place where an amount is multiplied by one: a rate times what was used.

use crate::{Amount, AmountError, Quantity};

/// A fraction of whole numbers, in lowest terms: hours of a month, bytes of a gigabyte, GPUs of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u128,
    denominator: u128,
}

/// A fraction cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RatioError {
    /// The denominator is zero.
    #[error("a fraction of zero parts")]
    NoParts,
    /// A number is negative, or has more digits than a fraction holds.
    #[error("a number is negative or past 38 digits")]
    OutOfRange,
}

impl Ratio {
    /// One.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`.
    ///
    /// # Errors
    /// `NoParts` if the denominator is zero.
    pub const fn new(numerator: u128, denominator: u128) -> Result<Self, RatioError> {
        if denominator == 0 {
            return Err(RatioError::NoParts);
        }
        let common = common_divisor(numerator, denominator);
        Ok(Self { numerator: numerator / common, denominator: denominator / common })
    }

    /// The product.
    ///
    /// # Errors
    /// `OutOfRange` if a side of the reduced fraction leaves 128 bits.
    pub fn times(self, other: Self) -> Result<Self, RatioError> {
        let (left, right) = (
            common_divisor(self.numerator, other.denominator),
            common_divisor(other.numerator, self.denominator),
        );
        let product = |a: u128, b: u128| a.checked_mul(b).ok_or(RatioError::OutOfRange);
        Self::new(
            product(self.numerator / left, other.numerator / right)?,
            product(self.denominator / right, other.denominator / left)?,
        )
    }
}

impl TryFrom<Quantity> for Ratio {
    type Error = RatioError;

    fn try_from(quantity: Quantity) -> Result<Self, RatioError> {
        let (digits, exponent) = quantity.parts().ok_or(RatioError::OutOfRange)?;
        let power = 10_u128.checked_pow(exponent.unsigned_abs()).ok_or(RatioError::OutOfRange)?;
        if exponent < 0 {
            return Self::new(digits, power);
        }
        Self::new(digits.checked_mul(power).ok_or(RatioError::OutOfRange)?, 1)
    }
}

impl Amount {
    /// The amount times a fraction, rounded half to even to the last digit that an amount holds; exact wherever the
    /// product has at most twenty-four fractional digits.
    ///
    /// # Errors
    /// `OutOfRange` if the product leaves the range of an amount.
    pub fn times(self, ratio: Ratio) -> Result<Self, AmountError> {
        let magnitude = self.units().unsigned_abs();
        let (whole, rest) =
            divided_product(magnitude, ratio.numerator, ratio.denominator).ok_or(AmountError::OutOfRange)?;
        let up = match rest.cmp(&(ratio.denominator - rest)) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => whole % 2,
            std::cmp::Ordering::Greater => 1,
        };
        let units = whole.checked_add(up).and_then(|units| i128::try_from(units).ok());
        let units = units.ok_or(AmountError::OutOfRange)?;
        Self::from_units(if self.units() < 0 { -units } else { units })
    }
}

const fn common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Quotient and rest of `a·b / divisor`, or `None` if the quotient leaves 128 bits.
fn divided_product(a: u128, b: u128, divisor: u128) -> Option<(u128, u128)> {
    if let Some(product) = a.checked_mul(b) {
        return Some((product / divisor, product % divisor));
    }
    let (high, low) = wide_product(a, b);
    if high >= divisor {
        return None;
    }
    let (mut quotient, mut rest) = (0_u128, high);
    for bit in (0..128).rev() {
        let overflows = rest >> 127 == 1;
        rest = rest << 1 | (low >> bit & 1);
        // Invariant: the rest before the shift was below the divisor, so one subtraction is enough, even past 2¹²⁸.
        if overflows || rest >= divisor {
            rest = rest.wrapping_sub(divisor);
            quotient |= 1 << bit;
        }
    }
    Some((quotient, rest))
}

/// The upper and the lower 128 bits of a product.
const fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = (1 << 64) - 1;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let cross = a_low * b_high + (middle & LOW);
    (a_high * b_high + (middle >> 64) + (cross >> 64), cross << 64 | low & LOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(amount: &str, numerator: u128, denominator: u128) -> String {
        let amount: Amount = amount.parse().unwrap();
        amount.times(Ratio::new(numerator, denominator).unwrap()).unwrap().to_string()
    }

    #[test]
    fn a_rate_times_a_time_is_exact() {
        assert_eq!(times("21.957642", 1800, 3600), "10.978821");
        assert_eq!(times("98.32", 2_678_400_000_000, 3_600_000_000), "73150.08");
        assert_eq!(times("1", 1, 3), "0.333333333333333333333333");
        assert_eq!(times("2", 1, 3), "0.666666666666666666666667");
        assert_eq!(times("-2", 1, 3), "-0.666666666666666666666667");
        assert_eq!(times("0.000000000000000000000001", 1, 2), "0");
        assert_eq!(times("0.000000000000000000000003", 1, 2), "0.000000000000000000000002");
        assert_eq!(times("0.08", 100 << 40, 1 << 40), "8");
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let most: Amount = "99999999999999".parse().unwrap();
        assert_eq!(most.times(Ratio::new(2, 1).unwrap()), Err(AmountError::OutOfRange));
        assert_eq!(most.times(Ratio::new(u128::MAX, 1).unwrap()), Err(AmountError::OutOfRange));
        assert_eq!(Ratio::new(1, 0), Err(RatioError::NoParts));
        let most = Ratio::new(u128::MAX, 1).unwrap();
        assert_eq!(most.times(most), Err(RatioError::OutOfRange));
        assert_eq!(most.times(Ratio::new(1, u128::MAX).unwrap()), Ok(Ratio::ONE));
        assert_eq!(Ratio::try_from("-1".parse::<Quantity>().unwrap()), Err(RatioError::OutOfRange));
        assert_eq!(Ratio::try_from("0.125".parse::<Quantity>().unwrap()), Ratio::new(1, 8));
        assert_eq!(Ratio::try_from("2e3".parse::<Quantity>().unwrap()), Ratio::new(2000, 1));
    }

    proptest! {
        #[test]
        fn the_wide_division_undoes_the_wide_product(a in 0_u128.., b in 1_u128.., rest in 0_u128..) {
            let rest = rest % b;
            let (high, low) = wide_product(a, b);
            prop_assert_eq!(divided_product(a, b, b), Some((a, 0)));
            let (sum, carry) = low.overflowing_add(rest);
            // a·b + rest, divided by b by hand as in the division's own loop.
            let (mut quotient, mut left) = (0_u128, high + u128::from(carry));
            for bit in (0..128).rev() {
                let overflows = left >> 127 == 1;
                left = left << 1 | (sum >> bit & 1);
                if overflows || left >= b {
                    left = left.wrapping_sub(b);
                    quotient |= 1 << bit;
                }
            }
            prop_assert_eq!((quotient, left), (a, rest));
        }

        #[test]
        fn a_part_is_at_most_half_a_unit_off(units in 0_i128..1 << 60, n in 0_u128..1 << 60, d in 1_u128..1 << 60) {
            let Ok(part) = Amount::from_units(units).unwrap().times(Ratio::new(n, d).unwrap()) else { return Ok(()) };
            let (exact, got) = (units.unsigned_abs() * n, part.units().unsigned_abs().checked_mul(d));
            prop_assume!(got.is_some());
            prop_assert!(exact.abs_diff(got.unwrap()) * 2 <= d);
        }
    }
}
