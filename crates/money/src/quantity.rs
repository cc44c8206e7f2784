//! An exact count of what was used (hours, gigabyte-months, requests), which is not money.

use std::fmt;
use std::str::FromStr;

use crate::amount::{Fault, parse_decimal};

/// A decimal quantity: digits × 10^exponent with up to thirty-eight digits, in the unit that stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity {
    negative: bool,
    digits: u128,
    exponent: i32,
}

/// The text is not a decimal quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a decimal quantity")]
pub struct QuantityError {
    /// What was found.
    pub text: String,
}

impl Quantity {
    /// True for exactly nothing.
    pub const fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// True for less than nothing.
    pub const fn is_negative(self) -> bool {
        self.negative
    }

    /// A quantity of thousandths, as fractions of an accelerator are counted.
    pub const fn from_thousandths(thousandths: u64) -> Self {
        let (mut digits, mut exponent) = (thousandths as u128, -3);
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        Self { negative: false, digits, exponent: if digits == 0 { 0 } else { exponent } }
    }

    /// Digits and the power of ten that they are multiplied by; `None` for a negative quantity.
    pub(crate) const fn parts(self) -> Option<(u128, i32)> {
        if self.negative { None } else { Some((self.digits, self.exponent)) }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let refuse = |_: Fault| QuantityError { text: text.to_owned() };
        let decimal = parse_decimal(text.trim().as_bytes()).map_err(refuse)?;
        let exponent = i32::try_from(decimal.exponent).map_err(|_| refuse(Fault::Range))?;
        if decimal.digits == 0 {
            return Ok(Self { negative: false, digits: 0, exponent: 0 });
        }
        if exponent.unsigned_abs() > 60 {
            return Err(refuse(Fault::Range));
        }
        Ok(Self { negative: decimal.negative, digits: decimal.digits, exponent })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let digits = self.digits.to_string();
        let shown = match usize::try_from(self.exponent) {
            Ok(zeros) => format!("{sign}{digits}{}", "0".repeat(zeros)),
            Err(_) => {
                let places = self.exponent.unsigned_abs() as usize;
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at(padded.len() - places);
                format!("{sign}{whole}.{fraction}")
            }
        };
        f.pad(&shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_keep_every_digit() {
        for (text, shown) in [
            ("9.313225746154785e-10", "0.0000000009313225746154785"),
            ("730", "730"),
            ("1.50", "1.5"),
            ("-2e3", "-2000"),
            ("0.000", "0"),
        ] {
            assert_eq!(text.parse::<Quantity>().unwrap().to_string(), shown);
        }
        assert!("12h".parse::<Quantity>().is_err());
        for (thousandths, text) in [(0, "0"), (125, "0.125"), (8_000, "8"), (1_500, "1.5"), (80_000, "80")] {
            assert_eq!(Quantity::from_thousandths(thousandths), text.parse().unwrap());
        }
    }
}
