//! The list cost of a row: the retail price, where the export gives it, times the quantity, exactly.

use money::{Amount, Currency, SCALE};

use super::column::Column;
use super::line::Line;
use crate::billing::table::cell::Cells;
use crate::billing::table::reader::optional;
use crate::billing::table::row::Row;
use crate::billing::tally::Tally;

/// What the row tells of its public price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct List {
    /// Its cost at public rates; `None` where no public price is known.
    pub(super) cost: Option<Amount>,
    /// The public price of one unit of its quantity.
    pub(super) unit_price: Option<Amount>,
}

/// Reads the public price of a row that cost `cost`.
pub(super) fn list<C: Cells>(
    row: &Row<'_, Column, C>,
    line: &Line,
    (cost, currency): (Amount, Currency),
    tally: &mut Tally,
) -> List {
    if !line.is_usage() {
        return List { cost: Some(Amount::ZERO), unit_price: None };
    }
    let retail = optional(row, Column::PayGPrice, tally);
    let unit_price = retail.and_then(|price| price_of_one(row, price, tally)).filter(|_| {
        // The retail price is in the pricing currency, which need not be that of the bill.
        row.text(Column::PricingCurrency).is_none_or(|pricing| pricing.eq_ignore_ascii_case(currency.code()))
    });
    if let Some(retail_cost) = optional(row, Column::PayGCost, tally) {
        return List { cost: Some(retail_cost), unit_price };
    }
    // A retail price of nothing beside a cost is a missing price.
    let is_free = unit_price.is_some_and(Amount::is_zero);
    if is_free && (!cost.is_zero() || line.is_covered()) {
        return List::default();
    }
    let quantity = optional(row, Column::Quantity, tally);
    List { cost: unit_price.zip(quantity).and_then(|(price, quantity)| product(price, quantity)), unit_price }
}

/// The price of one unit of the quantity.
///
/// Where a meter is sold in blocks (`10 Hours`), some exports give the price of the block and some that of one; unit
/// price and effective price of the row differ by the same factor, or not, and where they do not tell there is no price.
fn price_of_one<C: Cells>(row: &Row<'_, Column, C>, price: Amount, tally: &mut Tally) -> Option<Amount> {
    let zeros = block_zeros(row.text(Column::UnitOfMeasure)?)?;
    if zeros == 0 {
        return Some(price);
    }
    let unit = optional(row, Column::UnitPrice, tally).filter(|price| !price.is_zero())?;
    let effective = optional(row, Column::EffectivePrice, tally).filter(|price| !price.is_zero())?;
    let of_one = shifted(unit, zeros)?;
    if is_near(of_one, effective) {
        shifted(price, zeros)
    } else if is_near(unit, effective) {
        Some(price)
    } else {
        None
    }
}

/// The zeros of the number of units in a block: 0 for `1 Hour`, 1 for `10 Hours`, 4 for `10K`; `None` if it is no power
/// of ten, for which no division would be exact.
fn block_zeros(unit: &str) -> Option<u32> {
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = unit.split_at_checked(digits)?;
    let zeros = number.strip_prefix('1')?;
    if !zeros.bytes().all(|b| b == b'0') {
        return None;
    }
    let word = rest.split([' ', '/']).next().unwrap_or("");
    let factor = match word {
        "" => 0,
        "K" => 3,
        "M" => 6,
        "B" => 9,
        _ => return None,
    };
    u32::try_from(zeros.len()).ok().map(|zeros| zeros + factor).filter(|zeros| *zeros <= SCALE)
}

/// A price divided by a power of ten, if that is exact.
fn shifted(price: Amount, zeros: u32) -> Option<Amount> {
    format!("{}e-{}", price.units(), SCALE + zeros).parse().ok()
}

/// True within a hundredth: exports round the effective price.
fn is_near(one: Amount, other: Amount) -> bool {
    let Ok(difference) = one.checked_sub(other) else { return false };
    difference.magnitude().units().checked_mul(100).is_some_and(|d| d <= other.magnitude().units())
}

/// Price × quantity, if all its digits fit; the text form leaves reading and range to the crate of money.
fn product(price: Amount, quantity: Amount) -> Option<Amount> {
    let (price, quantity) = (trimmed(price.units()), trimmed(quantity.units()));
    let digits = price.0.checked_mul(quantity.0)?;
    let exponent = i64::from(price.1) + i64::from(quantity.1) - 2 * i64::from(SCALE);
    format!("{digits}e{exponent}").parse().ok()
}

/// Digits without trailing zeros, and how many zeros there were.
const fn trimmed(mut units: i128) -> (i128, u32) {
    let mut zeros = 0;
    while units != 0 && units % 10 == 0 {
        units /= 10;
        zeros += 1;
    }
    (units, zeros)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    #[test]
    fn a_block_is_read_from_the_unit_of_measure() {
        for (unit, zeros) in [
            ("1 Hour", Some(0)),
            ("1 GB/Month", Some(0)),
            ("1 /Month", Some(0)),
            ("10 Hours", Some(1)),
            ("10K", Some(4)),
            ("1M", Some(6)),
            ("100000000", Some(8)),
            ("0 Unassigned", None),
            ("744 Hours", None),
            ("Hours", None),
            ("1Hour", None),
        ] {
            assert_eq!(block_zeros(unit), zeros, "for {unit}");
        }
    }

    #[test]
    fn a_product_is_exact_or_none() {
        assert_eq!(product(amount("0.4"), amount("0.027265128")), Some(amount("0.0109060512")));
        assert_eq!(product(amount("-2"), amount("0.5")), Some(amount("-1")));
        assert_eq!(product(amount("0"), amount("7.5")), Some(Amount::ZERO));
        assert_eq!(product(amount("1e-13"), amount("1e-12")), None);
        assert_eq!(product(amount("99999999999999"), amount("99999999999999")), None);
        assert_eq!(shifted(amount("2.3"), 1), Some(amount("0.23")));
        assert_eq!(shifted(amount("1e-24"), 1), None);
    }

    proptest! {
        #[test]
        fn a_product_is_that_of_whole_numbers(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000) {
            let found = product(amount(&format!("{a}e-6")), amount(&format!("{b}e-6")));
            prop_assert_eq!(found, Some(amount(&format!("{}e-12", i128::from(a) * i128::from(b)))));
        }
    }
}
