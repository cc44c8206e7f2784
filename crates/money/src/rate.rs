//! What a unit of one currency is worth in another, and the one place where an amount changes its currency.

use std::fmt;
use std::str::FromStr;

use crate::{Amount, AmountError, Quantity, Ratio};

/// Most digits of a rate. Two rates then make one fraction of 128 bits, so a cross rate is never rounded by itself.
const DIGITS_MAX: u32 = 18;

/// A published rate of exchange: a decimal above nothing with at most eighteen digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    digits: u64,
    /// Digits after the point.
    places: u32,
}

/// The text is no rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a rate: a decimal above 0 with at most 18 digits")]
pub struct RateError {
    /// What was found.
    pub text: String,
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let refused = || RateError { text: text.to_owned() };
        let quantity: Quantity = text.parse().map_err(|_| refused())?;
        let (digits, exponent) = quantity.parts().filter(|(digits, _)| *digits > 0).ok_or_else(refused)?;
        let places = exponent.min(0).unsigned_abs();
        let zeros = 10_u128.checked_pow(exponent.max(0).unsigned_abs());
        let digits = zeros.and_then(|zeros| digits.checked_mul(zeros)).ok_or_else(refused)?;
        if places > DIGITS_MAX || digits >= 10_u128.pow(DIGITS_MAX) {
            return Err(refused());
        }
        Ok(Self { digits: u64::try_from(digits).map_err(|_| refused())?, places })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, places) = (self.digits.to_string(), self.places as usize);
        if places == 0 {
            return f.pad(&digits);
        }
        let padded = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = padded.split_at(padded.len() - places);
        f.pad(&format!("{whole}.{fraction}"))
    }
}

impl Rate {
    const fn sides(self) -> (u128, u128) {
        (self.digits as u128, 10_u128.pow(self.places))
    }
}

/// How an amount of one currency becomes one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// Times the rate that is published for the pair.
    Times(Rate),
    /// Divided by the rate that is published for the pair the other way round.
    Over(Rate),
    /// Times the rate of the wanted currency over that of the given one; both are of one unit of a third.
    Cross {
        /// What the third currency is worth in the wanted one.
        times: Rate,
        /// What the third currency is worth in the given one.
        over: Rate,
    },
}

impl Exchange {
    /// The amount in the wanted currency: one fraction of whole numbers, and one rounding, half to even, past the last
    /// digit that an amount holds.
    ///
    /// # Errors
    /// `OutOfRange` if it leaves the range of an amount.
    pub fn of(self, amount: Amount) -> Result<Amount, AmountError> {
        // No side is above 10³⁶, which 128 bits hold.
        let (numerator, denominator) = match self {
            Self::Times(rate) => rate.sides(),
            Self::Over(rate) => {
                let (digits, power) = rate.sides();
                (power, digits)
            }
            Self::Cross { times, over } => {
                let ((up, up_power), (down, down_power)) = (times.sides(), over.sides());
                (up * down_power, up_power * down)
            }
        };
        amount.times(Ratio::new(numerator, denominator).map_err(|_| AmountError::OutOfRange)?)
    }

    /// The rate by which is multiplied, if there is one.
    pub const fn times(self) -> Option<Rate> {
        match self {
            Self::Times(rate) | Self::Cross { times: rate, .. } => Some(rate),
            Self::Over(_) => None,
        }
    }

    /// The rate by which is divided, if there is one.
    pub const fn over(self) -> Option<Rate> {
        match self {
            Self::Over(rate) | Self::Cross { over: rate, .. } => Some(rate),
            Self::Times(_) => None,
        }
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(rate) => write!(f, "× {rate}"),
            Self::Over(rate) => write!(f, "÷ {rate}"),
            Self::Cross { times, over } => write!(f, "× {times} ÷ {over}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    fn exchanged(exchange: Exchange, amount: &str) -> String {
        exchange.of(amount.parse().unwrap()).unwrap().to_string()
    }

    #[test]
    fn a_rate_is_a_decimal_above_nothing_and_keeps_its_digits() {
        for (text, shown) in
            [("1.0837", "1.0837"), ("0.00850", "0.0085"), ("162.15", "162.15"), ("1e3", "1000")]
        {
            assert_eq!(rate(text).to_string(), shown);
        }
        assert_eq!(rate("0.999999999999999999").to_string(), "0.999999999999999999");
        for wrong in ["0", "-1.08", "", "N/A", "1,08", "1e18", "1e-19", "1.0000000000000000001", "1e99"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_way_is_one_fraction_and_one_rounding() {
        assert_eq!(exchanged(Exchange::Times(rate("1.0837")), "100"), "108.37");
        assert_eq!(exchanged(Exchange::Over(rate("1.25")), "100"), "80");
        assert_eq!(exchanged(Exchange::Over(rate("3")), "-2"), "-0.666666666666666666666667");
        let cross = Exchange::Cross { times: rate("1.2"), over: rate("0.9") };
        assert_eq!(exchanged(cross, "3"), "4");
        // By way of the rounded third currency it would be 0.999999999999999999999999.
        let cross = Exchange::Cross { times: rate("3"), over: rate("3") };
        assert_eq!(exchanged(cross, "1"), "1");
        assert_eq!(cross.to_string(), "× 3 ÷ 3");
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let most: Amount = "99999999999999".parse().unwrap();
        let widest =
            Exchange::Cross { times: rate("999999999999999999"), over: rate("0.000000000000000001") };
        assert_eq!(widest.of(most), Err(AmountError::OutOfRange));
        assert_eq!(widest.of(Amount::ZERO), Ok(Amount::ZERO));
        let narrowest =
            Exchange::Cross { times: rate("0.000000000000000001"), over: rate("999999999999999999") };
        assert_eq!(narrowest.of(most).map(Amount::units), Ok(100), "10³⁸ units over 10³⁶");
    }

    proptest! {
        #[test]
        fn what_is_exchanged_is_at_most_half_a_unit_off(
            units in -(1_i128 << 60)..1 << 60, up in 1_u64..1 << 30, down in 1_u64..1 << 30,
        ) {
            let (times, over) = (Rate { digits: up, places: 4 }, Rate { digits: down, places: 4 });
            let given = Amount::from_units(units).unwrap();
            let got = Exchange::Cross { times, over }.of(given).unwrap();
            let (exact, whole) = (units * i128::from(up), got.units() * i128::from(down));
            prop_assert!((exact - whole).unsigned_abs() * 2 <= u128::from(down));
            // A rate over itself is no conversion at all, and the sign never matters to the digits.
            prop_assert_eq!(Exchange::Cross { times, over: times }.of(given), Ok(given));
            let opposite = Amount::from_units(-units).unwrap();
            let there = Exchange::Cross { times, over }.of(opposite).unwrap();
            prop_assert_eq!(there.units(), -got.units());
        }

        #[test]
        fn any_text_is_a_rate_that_reads_back_or_is_refused(text in "[-+0-9.eE ]{0,24}") {
            if let Ok(rate) = text.parse::<Rate>() {
                prop_assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
            }
        }
    }
}
