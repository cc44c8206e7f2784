//! How sure a link or a join is, from nothing to certain.

use std::fmt;

/// A confidence in thousandths: 0 is a guess without ground, 1,000 is certain. What follows from two of them is no surer
/// than the weaker one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u16);

impl Confidence {
    /// Said by somebody who knows.
    pub const CERTAIN: Self = Self(1_000);

    /// So many thousandths; more than 1,000 is certain.
    pub const fn thousandths(thousandths: u16) -> Self {
        if thousandths > Self::CERTAIN.0 { Self::CERTAIN } else { Self(thousandths) }
    }

    /// In thousandths, 0 to 1,000.
    pub const fn in_thousandths(self) -> u16 {
        self.0
    }
}

/// A decimal from 0 to 1 without trailing zeros: `1`, `0.95`, `0.7`.
impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 1_000, self.0 % 1_000);
        if part == 0 {
            return f.pad(&whole.to_string());
        }
        let digits = format!("{part:03}");
        f.pad(&format!("{whole}.{}", digits.trim_end_matches('0')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_is_shown_as_a_decimal_without_trailing_zeros() {
        for (thousandths, text) in
            [(0, "0"), (7, "0.007"), (700, "0.7"), (950, "0.95"), (1_000, "1"), (1_001, "1")]
        {
            assert_eq!(Confidence::thousandths(thousandths).to_string(), text);
        }
        assert_eq!(Confidence::thousandths(60_000), Confidence::CERTAIN);
    }
}
