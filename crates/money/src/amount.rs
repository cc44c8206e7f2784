//! An exact amount of money, read from decimal text and added with overflow as an error.

use std::fmt;
use std::str::FromStr;

/// Fractional digits that an [`Amount`] holds.
///
/// Bills carry up to twenty fractional digits (`0.01999999999999999872` is a real one) and the shortest text of a
/// double of a tenth of a micro-dollar has twenty-three; fourteen digits are left before the point.
pub const SCALE: u32 = 24;

/// The largest magnitude of an amount in units of 10⁻²⁴: thirty-eight nines, the range of `Decimal128(38, 24)`.
const UNITS_MAX: i128 = 10_i128.pow(38) - 1;

/// An exact amount in one currency, as an integer count of 10⁻²⁴ units.
///
/// The currency, basis and evidence of an amount stand beside it in `ledger::Figure`; a bare `Amount` is only ever
/// added to amounts of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(i128);

/// Why a text or a sum is not an [`Amount`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// The text is not a decimal number.
    #[error("`{text}` is not a decimal amount")]
    NotADecimal {
        /// What was found.
        text: String,
    },
    /// The text has non-zero digits past the last that an amount holds.
    #[error("`{text}` has more than {SCALE} fractional digits")]
    TooPrecise {
        /// What was found.
        text: String,
    },
    /// The value or sum is outside ±99,999,999,999,999.
    #[error("amount is out of range (14 digits before the point)")]
    OutOfRange,
}

impl Amount {
    /// No money.
    pub const ZERO: Amount = Amount(0);

    /// An amount from a count of 10⁻²⁴ units.
    ///
    /// # Errors
    /// `OutOfRange` past thirty-eight digits.
    pub fn from_units(units: i128) -> Result<Self, AmountError> {
        if units.unsigned_abs() > UNITS_MAX.unsigned_abs() {
            return Err(AmountError::OutOfRange);
        }
        Ok(Self(units))
    }

    /// The count of 10⁻²⁴ units.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// True for exactly no money.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum.
    ///
    /// # Errors
    /// `OutOfRange` on overflow; it never wraps.
    pub fn checked_add(self, other: Self) -> Result<Self, AmountError> {
        self.0.checked_add(other.0).ok_or(AmountError::OutOfRange).and_then(Self::from_units)
    }

    /// The difference.
    ///
    /// # Errors
    /// `OutOfRange` on overflow.
    pub fn checked_sub(self, other: Self) -> Result<Self, AmountError> {
        self.0.checked_sub(other.0).ok_or(AmountError::OutOfRange).and_then(Self::from_units)
    }

    /// The same magnitude with the other sign.
    #[must_use]
    pub const fn negated(self) -> Self {
        Self(-self.0)
    }

    /// The magnitude.
    #[must_use]
    pub const fn magnitude(self) -> Self {
        Self(self.0.abs())
    }

    /// The sum of many.
    ///
    /// # Errors
    /// `OutOfRange` on overflow.
    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, AmountError> {
        amounts.into_iter().try_fold(Self::ZERO, Self::checked_add)
    }
}

impl FromStr for Amount {
    type Err = AmountError;

    /// Reads `-12.5`, `.5`, `4.0E-7`, `5e-06`, `+1`; white space around the number is allowed, digit grouping is not.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        if let Some(units) = plain_units(text.as_bytes()) {
            return Ok(Self(units));
        }
        let trimmed = text.trim();
        parse_units(trimmed.as_bytes()).map(Self).map_err(|fault| match fault {
            Fault::Syntax => AmountError::NotADecimal { text: text.to_owned() },
            Fault::Precision => AmountError::TooPrecise { text: text.to_owned() },
            Fault::Range => AmountError::OutOfRange,
        })
    }
}

/// The exact value without trailing zeros: `2400`, `-1.25`, `0.000000005`.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let one = 10_u128.pow(SCALE);
        let (whole, fraction) = (magnitude / one, magnitude % one);
        let sign = if self.0 < 0 { "-" } else { "" };
        if fraction == 0 {
            return f.pad_integral(true, "", &format!("{sign}{whole}"));
        }
        let digits = format!("{fraction:024}");
        f.pad(&format!("{sign}{whole}.{}", digits.trim_end_matches('0')))
    }
}

pub(crate) enum Fault {
    Syntax,
    Precision,
    Range,
}

/// The powers of ten by which a number with so many fractional digits lacks its units.
const LACKING: [u128; SCALE as usize + 1] = {
    let mut powers = [1; SCALE as usize + 1];
    let mut places = SCALE as usize;
    while places > 0 {
        places -= 1;
        powers[places] = powers[places + 1] * 10;
    }
    powers
};

/// Longest text that the short way takes: its digits fit into 64 bits.
const PLAIN_BYTES: usize = 19;

/// The short way for what nearly every row of a bill holds: a few digits with a point. `None` leaves the text to
/// [`parse_units`].
fn plain_units(bytes: &[u8]) -> Option<i128> {
    let (negative, rest) = match bytes.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, bytes),
    };
    if rest.len() > PLAIN_BYTES {
        return None;
    }
    let (mut digits, mut point) = (0_u64, None);
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    if rest.len() == usize::from(point.is_some()) {
        return None;
    }
    let places = point.map_or(0, |at| rest.len() - 1 - at);
    let units = u128::from(digits).checked_mul(*LACKING.get(places)?)?;
    let signed = i128::try_from(units).ok().filter(|units| *units <= UNITS_MAX)?;
    Some(if negative { -signed } else { signed })
}

/// Parses decimal text into units of 10⁻²⁴ without allocating.
fn parse_units(bytes: &[u8]) -> Result<i128, Fault> {
    let decimal = parse_decimal(bytes)?;
    let shift = i64::from(SCALE) + decimal.exponent;
    let units = if decimal.digits == 0 {
        0
    } else if shift >= 0 {
        let factor = u32::try_from(shift).ok().and_then(|s| 10_u128.checked_pow(s)).ok_or(Fault::Range)?;
        decimal.digits.checked_mul(factor).ok_or(Fault::Range)?
    } else {
        let drop = u32::try_from(-shift).map_err(|_| Fault::Precision)?;
        let factor = 10_u128.checked_pow(drop).ok_or(Fault::Precision)?;
        if decimal.digits % factor != 0 {
            return Err(Fault::Precision);
        }
        decimal.digits / factor
    };
    if units > UNITS_MAX.unsigned_abs() {
        return Err(Fault::Range);
    }
    let signed = i128::try_from(units).map_err(|_| Fault::Range)?;
    Ok(if decimal.negative { -signed } else { signed })
}

/// A decimal number as digits × 10^exponent.
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) digits: u128,
    pub(crate) exponent: i64,
}

/// Splits decimal text into sign, digits and exponent; trailing zeros are folded into the exponent.
pub(crate) fn parse_decimal(bytes: &[u8]) -> Result<Decimal, Fault> {
    let (negative, rest) = match bytes.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        Some(_) => (false, bytes),
        None => return Err(Fault::Syntax),
    };
    let mantissa_end = rest.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(rest.len());
    let (mantissa, exponent_text) = rest.split_at(mantissa_end);
    let mut decimal = Decimal { negative, digits: 0, exponent: 0 };
    let mut seen = (false, false);
    let mut zeros_pending = 0_u32;
    for byte in mantissa {
        match byte {
            b'0'..=b'9' => {
                seen.0 = true;
                decimal.exponent -= i64::from(seen.1);
                if *byte == b'0' {
                    zeros_pending += u32::from(decimal.digits != 0);
                    continue;
                }
                push_digit(&mut decimal, zeros_pending, byte - b'0')?;
                zeros_pending = 0;
            }
            b'.' if !seen.1 => seen.1 = true,
            _ => return Err(Fault::Syntax),
        }
    }
    if !seen.0 {
        return Err(Fault::Syntax);
    }
    decimal.exponent += i64::from(zeros_pending);
    decimal.exponent += parse_exponent(exponent_text)?;
    Ok(decimal)
}

fn push_digit(decimal: &mut Decimal, zeros: u32, digit: u8) -> Result<(), Fault> {
    let shifted = 10_u128.checked_pow(zeros + 1).and_then(|p| decimal.digits.checked_mul(p));
    decimal.digits = shifted.and_then(|d| d.checked_add(u128::from(digit))).ok_or(Fault::Range)?;
    Ok(())
}

fn parse_exponent(text: &[u8]) -> Result<i64, Fault> {
    let Some((_, digits)) = text.split_first() else { return Ok(0) };
    let text = std::str::from_utf8(digits).map_err(|_| Fault::Syntax)?;
    // Four digits are far past any amount; the limit keeps a hostile exponent from costing time.
    if text.is_empty() || text.len() > 5 {
        return Err(Fault::Syntax);
    }
    text.parse::<i64>().map_err(|_| Fault::Syntax)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expect: &str) {
        let shown = text.parse::<Amount>().map_or_else(|e| e.to_string(), |a| a.to_string());
        assert_eq!(shown, expect, "for {text:?}");
    }

    #[test]
    fn decimal_text_of_every_source_is_read_exactly() {
        check("4.0E-7", "0.0000004");
        check("5e-06", "0.000005");
        check("-5e-06", "-0.000005");
        check("0.01999999999999999872", "0.01999999999999999872");
        check("42624.745642", "42624.745642");
        check("0E-10", "0");
        check("-0", "0");
        check(".5", "0.5");
        check("5.", "5");
        check("1E3", "1000");
        check(" 2.50 ", "2.5");
        check("99999999999999.999999999999999999999999", "99999999999999.999999999999999999999999");
        check("1000000000000000000000e-20", "10");
    }

    #[test]
    fn text_that_is_no_amount_is_refused() {
        check("", "`` is not a decimal amount");
        check("NaN", "`NaN` is not a decimal amount");
        check("1,000.00", "`1,000.00` is not a decimal amount");
        check("1e", "`1e` is not a decimal amount");
        check(".", "`.` is not a decimal amount");
        check("1.2.3", "`1.2.3` is not a decimal amount");
        check("1e-25", "`1e-25` has more than 24 fractional digits");
        check("1e14", "amount is out of range (14 digits before the point)");
        check("1e99999", "amount is out of range (14 digits before the point)");
    }

    proptest! {
        #[test]
        fn shown_text_reads_back_as_the_same_amount(units in -UNITS_MAX..=UNITS_MAX) {
            let amount = Amount::from_units(units).unwrap();
            prop_assert_eq!(amount.to_string().parse::<Amount>().unwrap(), amount);
        }

        #[test]
        fn the_short_way_reads_what_the_long_way_reads(text in "-?[0-9]{0,12}(\\.[0-9]{0,12})?[-e.]?") {
            if let Some(units) = plain_units(text.as_bytes()) {
                prop_assert_eq!(parse_units(text.as_bytes()).ok(), Some(units), "for {}", text);
            }
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text in "[-+0-9.eE ]{0,60}") {
            let _ = text.parse::<Amount>();
        }
    }
}
