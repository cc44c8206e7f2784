//! Numbers as samplers write them, brought to whole numbers of a unit without a float between.

/// A sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::telemetry) enum Sample {
    /// A number of units, rounded down.
    Number(u64),
    /// No number, infinite, negative or too large to be one: nothing was measured.
    Missing,
    /// Text that no server writes.
    Broken,
}

/// Digits that are looked at; what follows is beyond any unit.
const DIGITS: usize = 24;

/// From here on DCGM's 64-bit fields are blank: not found, not supported, no permission.
const BLANK: u128 = 9_223_372_036_854_775_792;

/// A value times `scale`.
pub(in crate::telemetry) fn scaled(text: &str, scale: u32) -> Sample {
    if matches!(text, "NaN" | "+Inf" | "-Inf" | "Inf") {
        return Sample::Missing;
    }
    let (is_negative, magnitude) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let Some(decimal) = Decimal::of(magnitude) else { return Sample::Broken };
    if decimal.times(1).is_none_or(|whole| whole >= BLANK) {
        return Sample::Missing;
    }
    match decimal.times(scale).map(u64::try_from) {
        Some(Ok(0)) => Sample::Number(0),
        Some(Ok(number)) if !is_negative => Sample::Number(number),
        _ => Sample::Missing,
    }
}

/// `mantissa` × 10^`exponent`.
struct Decimal {
    mantissa: u128,
    exponent: i32,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let kept = all.get(..all.len().min(DIGITS))?;
        let cut = i32::try_from(all.len() - kept.len()).ok()?;
        let fraction = i32::try_from(fraction.len()).ok()?;
        Some(Self {
            mantissa: kept.parse().ok()?,
            exponent: exponent.checked_sub(fraction)?.checked_add(cut)?,
        })
    }

    /// Times a scale, rounded down; `None` if that is too large for any unit.
    fn times(&self, scale: u32) -> Option<u128> {
        let product = self.mantissa.checked_mul(u128::from(scale))?;
        if product == 0 {
            return Some(0);
        }
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs());
        if self.exponent >= 0 {
            product.checked_mul(power?)
        } else {
            Some(power.map_or(0, |power| product / power))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_scaled_exactly_and_what_is_no_number_is_missing() {
        let number = Sample::Number;
        for (text, scale, expect) in [
            ("87", 10_000, number(870_000)),
            ("0.123456789", 1_000_000, number(123_456)),
            ("0.05", 1_000_000, number(50_000)),
            ("1e-05", 1_000_000, number(10)),
            ("1.5e+03", 1_000, number(1_500_000)),
            ("61.234", 1_000, number(61_234)),
            ("0", 1, number(0)),
            ("-0", 1, number(0)),
            ("0.00000000000000000000000000000000000000000000001", 1_000, number(0)),
            ("-3", 1, Sample::Missing),
            ("NaN", 1, Sample::Missing),
            ("+Inf", 1, Sample::Missing),
            ("-Inf", 1, Sample::Missing),
            ("1e400", 1, Sample::Missing),
            ("eighty", 1, Sample::Broken),
            ("", 1, Sample::Broken),
            (".5", 1, Sample::Broken),
            ("1e", 1, Sample::Broken),
        ] {
            assert_eq!(scaled(text, scale), expect, "for {text}");
        }
    }

    // Trap23.
    #[test]
    fn a_blank_field_of_dcgm_is_missing_in_every_form() {
        for text in [
            "9223372036854775792",
            "9223372036854775794",
            "9223372036854775808",
            "9223372036854776000",
            "9.223372036854776e+18",
            "18446744073709551615",
        ] {
            assert_eq!(scaled(text, 1), Sample::Missing, "for {text}");
        }
        assert_eq!(scaled("9223372036854775791", 1), Sample::Number(9_223_372_036_854_775_791));
    }
}
