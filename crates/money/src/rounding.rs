//! The one place where money is rounded: at display, half to even.

use crate::{Amount, AmountError, SCALE};

/// `amount` rounded half to even to `digits` fractional digits.
///
/// # Errors
/// `OutOfRange` if the rounded value leaves the range of an amount.
pub fn rounded(amount: Amount, digits: u32) -> Result<Amount, AmountError> {
    let step = step(digits);
    let magnitude = amount.units().unsigned_abs();
    let (steps, rest) = (magnitude / step, magnitude % step);
    let up = match (rest * 2).cmp(&step) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => steps % 2,
        std::cmp::Ordering::Greater => 1,
    };
    let units = i128::try_from((steps + up) * step).map_err(|_| AmountError::OutOfRange)?;
    Amount::from_units(if amount.units() < 0 { -units } else { units })
}

/// A column of amounts rounded for display so that the rounded rows sum to the rounded total.
///
/// The rows are rounded down, and the steps then missing go to the rows with the largest rest, the earlier first on a
/// tie, so a table's rows add up on the screen as they do in the ledger.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn rounded_column(rows: &[Amount], digits: u32) -> Result<Vec<Amount>, AmountError> {
    rounded_to(rows, rounded(Amount::sum(rows.iter().copied())?, digits)?, digits)
}

/// Amounts rounded for display so that they sum to `total`, which is rounded already: a part of a column whose sum is
/// shown too, or the rest beside such a part.
///
/// As [`rounded_column`]; where `total` is further from the exact sum than half a step, every row may move by one more.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn rounded_to(rows: &[Amount], total: Amount, digits: u32) -> Result<Vec<Amount>, AmountError> {
    let step = i128::try_from(step(digits)).map_err(|_| AmountError::OutOfRange)?;
    let mut shown: Vec<i128> = rows.iter().map(|row| row.units().div_euclid(step) * step).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(rows[*i].units().rem_euclid(step)));
    let missing = (total.units() - shown.iter().sum::<i128>()) / step;
    let count = i128::try_from(rows.len().max(1)).map_err(|_| AmountError::OutOfRange)?;
    let (each, further) = (missing.div_euclid(count), missing.rem_euclid(count));
    for (place, index) in order.into_iter().enumerate() {
        shown[index] += step * (each + i128::from((place as i128) < further));
    }
    shown.into_iter().map(Amount::from_units).collect()
}

/// Text with exactly `digits` fractional digits and thousands separated by commas: `-1,234.50`.
///
/// # Errors
/// `OutOfRange` if the rounded value leaves the range of an amount.
pub fn display(amount: Amount, digits: u32) -> Result<String, AmountError> {
    let units = rounded(amount, digits)?.units();
    let one = 10_u128.pow(SCALE);
    let (whole, fraction) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    let plain = whole.to_string();
    let mut grouped = String::with_capacity(plain.len() + plain.len() / 3 + 8);
    if units < 0 {
        grouped.push('-');
    }
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if digits > 0 {
        let text = format!("{fraction:024}");
        grouped.push('.');
        grouped.push_str(&text[..digits.min(SCALE) as usize]);
    }
    Ok(grouped)
}

fn step(digits: u32) -> u128 {
    10_u128.pow(SCALE - digits.min(SCALE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_cents_are_shown_as_two_cents() {
        let check = |text: &str, expect: &str| assert_eq!(display(text.parse().unwrap(), 2).unwrap(), expect);
        check("0.01999999999999999872", "0.02");
        check("0.125", "0.12");
        check("0.135", "0.14");
        check("-1234567.005", "-1,234,567.00");
        check("999.999", "1,000.00");
        check("-0.001", "0.00");
    }

    #[test]
    fn thirds_add_up_on_the_screen() {
        let third: Amount = "33.333333".parse().unwrap();
        let rows = rounded_column(&[third, third, "33.333334".parse().unwrap()], 2).unwrap();
        assert_eq!(Amount::sum(rows).unwrap().to_string(), "100");
    }

    #[test]
    fn a_part_and_its_rest_sum_to_what_is_shown_of_each() {
        let amounts = |texts: &[&str]| -> Vec<Amount> { texts.iter().map(|t| t.parse().unwrap()).collect() };
        let shown = |texts: &[&str], total: &str| {
            let shown = rounded_to(&amounts(texts), total.parse().unwrap(), 2).unwrap();
            shown.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(shown(&["0.014", "0.014"], "0.03"), ["0.02", "0.01"]);
        assert_eq!(shown(&["1", "2"], "2.99"), ["1", "1.99"]);
        assert_eq!(shown(&["1", "2"], "3.03"), ["1.02", "2.01"]);
        assert!(shown(&[], "0").is_empty());
    }

    proptest! {
        #[test]
        fn a_rounded_column_sums_to_the_rounded_total(
            units in proptest::collection::vec(-(10_i128.pow(34))..10_i128.pow(34), 0..30), digits in 0_u32..6,
        ) {
            let rows: Vec<Amount> = units.iter().map(|u| Amount::from_units(*u).unwrap()).collect();
            let total = rounded(Amount::sum(rows.iter().copied()).unwrap(), digits).unwrap();
            let shown = rounded_column(&rows, digits).unwrap();
            prop_assert_eq!(Amount::sum(shown.iter().copied()).unwrap(), total);
            for (row, shown) in rows.iter().zip(&shown) {
                let off = row.checked_sub(*shown).unwrap().units().unsigned_abs();
                prop_assert!(off <= step(digits));
            }
        }
    }
}
