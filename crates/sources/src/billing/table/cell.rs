//! One value of a row as its file holds it, and its reading as money, instant, quantity or text.

use ledger::{Day, Timestamp};
use money::{Amount, AmountError, SCALE};

use crate::text::Symbol;
use crate::{Zone, instant};

/// A value as the file holds it; an empty text is [`Cell::Null`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::billing) enum Cell<'a> {
    Null,
    Text(&'a str),
    Int(i64),
    Double(f64),
    Single(f32),
    /// Units and scale.
    Decimal(i128, i8),
    /// Microseconds since the epoch.
    Instant(i64),
    Bool(bool),
}

/// Why a value is not what its column should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::billing) enum CellFault {
    NotADecimal,
    OutOfRange,
    NotATime,
}

/// Money read from a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::billing) struct Money {
    pub(in crate::billing) amount: Amount,
    /// True if digits past the last that an amount holds were cut.
    pub(in crate::billing) cut: bool,
}

/// The rows of a file, one at a time.
pub(in crate::billing) trait Cells {
    /// The value in the file's column of this position.
    fn cell(&self, column: usize) -> Cell<'_>;

    /// Calls back with every key and non-empty value of a nested column; false if the column is not nested.
    fn entries(&self, column: usize, each: &mut dyn FnMut(&str, Cell<'_>)) -> bool;

    /// Calls back with the position of each record of a repeated column, the name of a field and its non-empty value;
    /// one record alone counts as a list of one, and a map as a list of `key` and `value`. False, before any call, if
    /// the column holds no records.
    fn records(&self, column: usize, each: &mut dyn FnMut(usize, &str, Cell<'_>)) -> bool;

    /// The symbol of the text in a column, where the file tells texts apart by number.
    fn symbol(&self, _column: usize) -> Option<Symbol> {
        None
    }

    /// Appends numbers that two rows have alike only if the column's values are the same; false where there are none.
    fn identify(&self, _column: usize, _out: &mut Vec<u64>) -> bool {
        false
    }

    /// True for a column that the file itself declares to be nested, so that its values are no cells.
    fn is_nested(&self, _column: usize) -> bool {
        false
    }
}

/// Numbers below those of symbols: what follows one of them is no symbol.
pub(in crate::billing) mod mark {
    pub(in crate::billing) const NULL: u64 = 0;
    pub(in crate::billing) const NO_RECORD: u64 = 2;
    pub(in crate::billing) const END: u64 = 3;
    pub(in crate::billing) const INT: u64 = 4;
    pub(in crate::billing) const DOUBLE: u64 = 5;
    pub(in crate::billing) const INSTANT: u64 = 6;
    pub(in crate::billing) const BOOL: u64 = 7;
}

impl<'a> Cell<'a> {
    /// Appends numbers that no other value has; false for a text, which has none of its own, and for rare kinds.
    pub(in crate::billing) fn identify(self, out: &mut Vec<u64>) -> bool {
        let (mark, value) = match self {
            Cell::Null => {
                out.push(mark::NULL);
                return true;
            }
            Cell::Int(value) => (mark::INT, value.cast_unsigned()),
            Cell::Double(value) => (mark::DOUBLE, value.to_bits()),
            Cell::Instant(value) => (mark::INSTANT, value.cast_unsigned()),
            Cell::Bool(value) => (mark::BOOL, u64::from(value)),
            Cell::Text(_) | Cell::Single(_) | Cell::Decimal(..) => return false,
        };
        out.extend([mark, value]);
        true
    }

    /// The value as money, or `None` where there is none.
    pub(in crate::billing) fn money(self) -> Result<Option<Money>, CellFault> {
        let money = match self {
            Cell::Null => return Ok(None),
            Cell::Text(text) => parsed(text)?,
            Cell::Double(value) if value.is_finite() => match short_double(value) {
                Some(money) => money,
                None => parsed(ryu::Buffer::new().format_finite(value))?,
            },
            Cell::Single(value) if value.is_finite() => parsed(ryu::Buffer::new().format_finite(value))?,
            Cell::Int(value) => scaled(i128::from(value), 0)?,
            Cell::Decimal(units, scale) => scaled(units, scale)?,
            Cell::Double(_) | Cell::Single(_) | Cell::Instant(_) | Cell::Bool(_) => {
                return Err(CellFault::NotADecimal);
            }
        };
        Ok(Some(money))
    }

    /// The value as a quantity; anything that is no number is none.
    pub(in crate::billing) fn quantity(self) -> Option<f64> {
        let value = match self {
            Cell::Text(text) => text.trim().parse().ok()?,
            Cell::Double(value) => value,
            Cell::Single(value) => ryu::Buffer::new().format(value).parse().ok()?,
            Cell::Int(_) | Cell::Decimal(..) => {
                let mut text = String::new();
                self.write_to(&mut text);
                text.parse().ok()?
            }
            Cell::Null | Cell::Instant(_) | Cell::Bool(_) => return None,
        };
        value.is_finite().then_some(value)
    }

    /// The value as an instant, or `None` where there is none; a time without zone is UTC in this format.
    pub(in crate::billing) fn instant(self) -> Result<Option<Timestamp>, CellFault> {
        match self {
            Cell::Null => Ok(None),
            Cell::Instant(micros) => Ok(Some(Timestamp(micros))),
            Cell::Text(text) => {
                let fast = plain_instant(text.as_bytes());
                fast.map_or_else(
                    || instant(text, &Zone::Utc).map(Some).map_err(|_| CellFault::NotATime),
                    |s| Ok(Some(s)),
                )
            }
            Cell::Int(_) | Cell::Double(_) | Cell::Single(_) | Cell::Decimal(..) | Cell::Bool(_) => {
                Err(CellFault::NotATime)
            }
        }
    }

    /// The value as text, written to `scratch` where the file does not hold text.
    pub(in crate::billing) fn text<'s>(self, scratch: &'s mut String) -> Option<&'s str>
    where
        'a: 's,
    {
        match self {
            Cell::Null => None,
            Cell::Text(text) => Some(text),
            Cell::Int(_)
            | Cell::Double(_)
            | Cell::Single(_)
            | Cell::Decimal(..)
            | Cell::Instant(_)
            | Cell::Bool(_) => {
                scratch.clear();
                self.write_to(scratch);
                Some(scratch)
            }
        }
    }

    /// Appends the value's text; a whole double is written without a fraction.
    pub(in crate::billing) fn write_to(self, out: &mut String) {
        use std::fmt::Write as _;
        // Invariant: writing to a string does not fail.
        let _ = match self {
            Cell::Null => Ok(()),
            Cell::Text(text) => out.write_str(text),
            Cell::Int(value) => write!(out, "{value}"),
            Cell::Double(value) => out.write_str(without_zero_fraction(ryu::Buffer::new().format(value))),
            Cell::Single(value) => out.write_str(without_zero_fraction(ryu::Buffer::new().format(value))),
            Cell::Decimal(units, scale) => match scaled(units, scale) {
                Ok(money) if !money.cut => write!(out, "{}", money.amount),
                Ok(_) | Err(_) => write!(out, "{units}e{}", -i32::from(scale)),
            },
            Cell::Instant(micros) => write!(out, "{}", Timestamp(micros)),
            Cell::Bool(value) => write!(out, "{value}"),
        };
    }

    /// True where there is no value.
    pub(in crate::billing) const fn is_null(self) -> bool {
        matches!(self, Cell::Null)
    }

    /// True for a number that is zero.
    pub(in crate::billing) fn is_zero(self) -> bool {
        match self {
            Cell::Text(text) => {
                let mut digits = text.bytes().filter(u8::is_ascii_digit).peekable();
                let decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
                decimal && digits.peek().is_some() && digits.all(|b| b == b'0')
            }
            Cell::Double(value) => value == 0.0,
            Cell::Single(value) => value == 0.0,
            Cell::Int(value) => value == 0,
            Cell::Decimal(units, _) => units == 0,
            Cell::Null | Cell::Instant(_) | Cell::Bool(_) => false,
        }
    }
}

fn without_zero_fraction(text: &str) -> &str {
    text.strip_suffix(".0").unwrap_or(text)
}

fn parsed(text: &str) -> Result<Money, CellFault> {
    match text.parse() {
        Ok(amount) => Ok(Money { amount, cut: false }),
        Err(AmountError::NotADecimal { .. }) => Err(CellFault::NotADecimal),
        Err(AmountError::OutOfRange) => Err(CellFault::OutOfRange),
        Err(AmountError::TooPrecise { .. }) => cut(text.trim()),
    }
}

/// Reads a number after cutting its digits past the twenty-fourth fractional one; they are worth less than 10⁻²⁴.
fn cut(text: &str) -> Result<Money, CellFault> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().map_err(|_| CellFault::NotADecimal)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let places = i64::try_from(fraction.len()).map_err(|_| CellFault::NotADecimal)? - exponent;
    let excess = usize::try_from(places - i64::from(SCALE)).map_err(|_| CellFault::NotADecimal)?;
    let kept = digits.get(..digits.len().saturating_sub(excess)).unwrap_or("");
    if !kept.bytes().any(|b| b.is_ascii_digit()) {
        return Ok(Money { amount: Amount::ZERO, cut: true });
    }
    let amount = format!("{kept}e-{SCALE}").parse().map_err(|_| CellFault::OutOfRange)?;
    Ok(Money { amount, cut: true })
}

/// What a double's shortest text says, where that has at most ten digits after the point and fifteen in all.
///
/// No two decimals of fifteen digits are one double, so a decimal of so few that gives the double is its shortest text;
/// and a whole number below 2⁵³ divided by 10¹⁰ is rounded once, as the reading of that text is.
#[expect(clippy::cast_possible_truncation, reason = "a whole number below 10¹⁵")]
fn short_double(value: f64) -> Option<Money> {
    let tenth_billionths = (value * 1e10).round();
    if tenth_billionths.abs() >= 1e15 || (tenth_billionths / 1e10).to_bits() != value.to_bits() {
        return None;
    }
    scaled(i128::from(tenth_billionths as i64), 10).ok()
}

fn scaled(units: i128, scale: i8) -> Result<Money, CellFault> {
    let shift = i32::try_from(SCALE).map_err(|_| CellFault::OutOfRange)? - i32::from(scale);
    let factor = 10_i128.checked_pow(shift.unsigned_abs()).ok_or(CellFault::OutOfRange)?;
    if shift >= 0 {
        let amount = units.checked_mul(factor).map(Amount::from_units);
        return match amount {
            Some(Ok(amount)) => Ok(Money { amount, cut: false }),
            Some(Err(_)) | None => Err(CellFault::OutOfRange),
        };
    }
    // The text form keeps division in the crate of money.
    parsed(&format!("{units}e{}", -i32::from(scale)))
}

/// The two common forms of a time in UTC without the cost of a general parser: `2026-07-01T00:00:00` with `T` or a
/// blank, bare or followed by `Z`, `.000`, `.000Z`, `+00:00`, ` UTC`.
fn plain_instant(text: &[u8]) -> Option<Timestamp> {
    let (head, tail) = text.split_at_checked(19)?;
    if !matches!(tail, b"" | b"Z" | b".000" | b".000Z" | b"+00:00" | b" UTC") {
        return None;
    }
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b' ', h1, h2, b':', n1, n2, b':', s1, s2] = head
    else {
        return None;
    };
    let pair = |tens: &u8, ones: &u8| {
        let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        digits.then(|| u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
    };
    let year = i32::try_from(pair(y1, y2)? * 100 + pair(y3, y4)?).ok()?;
    let (month, day) = (pair(m1, m2)?, pair(d1, d2)?);
    let (hour, minute, second) = (pair(h1, h2)?, pair(n1, n2)?, pair(s1, s2)?);
    if !(1..=12).contains(&month) || day == 0 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let date = Day::from_civil(year, month, day);
    // Invariant: a day past the end of its month gives another date.
    if day > 28 && date.civil() != (year, month, day) {
        return None;
    }
    Some(Timestamp(date.start().0 + i64::from(hour * 3600 + minute * 60 + second) * 1_000_000))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn money(cell: Cell<'_>) -> String {
        match cell.money() {
            Ok(Some(money)) => format!("{}{}", money.amount, if money.cut { " cut" } else { "" }),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn money_is_read_from_every_type_exactly() {
        assert_eq!(money(Cell::Double(21.957642)), "21.957642");
        assert_eq!(money(Cell::Double(4.0e-7)), "0.0000004");
        assert_eq!(money(Cell::Single(0.1)), "0.1");
        assert_eq!(money(Cell::Decimal(12_345, 3)), "12.345");
        assert_eq!(money(Cell::Decimal(5, 26)), "0 cut");
        assert_eq!(money(Cell::Decimal(-123, 25)), "-0.000000000000000000000012 cut");
        assert_eq!(money(Cell::Int(7)), "7");
        assert_eq!(money(Cell::Text("9.313225746154785e-10")), "0.000000000931322574615478 cut");
        assert_eq!(money(Cell::Text("1e-99")), "0 cut");
        assert_eq!(money(Cell::Double(f64::NAN)), "Err(NotADecimal)");
        assert_eq!(money(Cell::Text("No Upfront")), "Err(NotADecimal)");
        assert_eq!(money(Cell::Text("1e20")), "Err(OutOfRange)");
        assert_eq!(money(Cell::Null), "Ok(None)");
    }

    #[test]
    fn a_number_in_a_text_column_is_written_as_its_digits() {
        let mut scratch = String::new();
        assert_eq!(Cell::Double(123_412_340_534.0).text(&mut scratch), Some("123412340534"));
        assert_eq!(Cell::Decimal(1250, 2).text(&mut scratch), Some("12.5"));
        assert_eq!(Cell::Instant(0).text(&mut scratch), Some("1970-01-01T00:00:00Z"));
        assert!(
            Cell::Text("0.0000").is_zero() && !Cell::Text("0.01").is_zero() && !Cell::Text("-").is_zero()
        );
    }

    proptest! {
        #[test]
        fn the_fast_reading_of_a_time_is_the_general_one(
            year in 1900_u32..2200, month in 0_u32..14, day in 0_u32..33, hour in 0_u32..26, minute in 0_u32..62,
            tail in 0_usize..6,
        ) {
            let tail = ["", "Z", ".000", ".000Z", "+00:00", " UTC"][tail];
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:07{tail}");
            let general = instant(&text, &Zone::Utc).ok();
            prop_assert_eq!(plain_instant(text.as_bytes()), general, "for {}", text);
        }

        #[test]
        fn the_short_way_of_a_double_is_its_shortest_text(digits in -2_000_000_000_000_000_i64..2_000_000_000_000_000, zeros in 0_u32..15) {
            let digits = digits / 10_i64.pow(zeros) * 10_i64.pow(zeros);
            for value in [digits as f64 / 1e10, digits as f64 / 1e9, f64::from_bits(digits.unsigned_abs() << 11), -0.0] {
                if let Some(money) = short_double(value) {
                    prop_assert_eq!(Ok(money), parsed(ryu::Buffer::new().format(value)), "for {}", value);
                }
            }
            prop_assert!(short_double(digits as f64 / 1e10).is_some() || digits.abs() >= 1_000_000_000_000_000);
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text in "[-+0-9.eE é]{0,80}") {
            let cell = Cell::Text(&text);
            let _ = (cell.money(), cell.instant(), cell.quantity(), cell.is_zero());
        }
    }
}
