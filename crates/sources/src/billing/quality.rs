//! The quality gate: what a delivery's own rows say against using one of its bases, found while they pass.
//!
//! Every reader's rows go through it in [`crate::batches`]; it counts, so memory does not grow and the order of rows
//! does not matter. A finding withholds a basis where its sum would be wrong by an unknown amount, and only warns
//! where the sum may still be right.

use ledger::{CostBasis, LineClass};
use money::{Amount, SCALE};

use super::PeriodSummary;
use crate::batches::{Figures, is_usage};

/// One finding on a payer's billing period.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BasisQuality {
    /// The basis that it is about; `None` if it is about the delivery as a whole.
    pub basis: Option<CostBasis>,
    /// False if no figure of the basis may be shown.
    pub usable: bool,
    /// Stable code, such as `quality::rounded`.
    pub code: &'static str,
    /// What is so, in one line.
    pub message: String,
    /// Rows that show it.
    pub rows: u64,
}

impl BasisQuality {
    /// A finding on a basis, or on the whole; it says whether the basis is still usable, and how many rows show it.
    pub(crate) const fn warn(
        code: &'static str,
        (basis, usable, rows): (Option<CostBasis>, bool, u64),
        message: String,
    ) -> Self {
        Self { basis, usable, code, message, rows }
    }
}

/// Rows from which a habit of the whole file is told from chance: that fifty amounts with cents all happen to be whole
/// numbers, or that fifty rows all happen to lack a value, does not occur; with five it does.
const HABIT_ROWS: u64 = 50;

/// Rows out of a hundred that must show the habit: a rounded file may hold a few rows that another system added.
const HABIT_PERCENT: u64 = 99;

/// How far a list cost may lie from price × quantity, relative to the larger of both: exporters round quantities to
/// about eleven digits, while a wrong unit is off by a factor of ten or more.
const PRICE_TOLERANCE: f64 = 0.001;

/// And in units of the currency: a list cost below a hundredth of a cent is mostly rounding.
const PRICE_TOLERANCE_UNITS: f64 = 0.000_1;

/// Canonical columns whose complete absence hides something from attribution or from the price check.
const WATCHED: &[&str] =
    &["pricing_quantity", "region_id", "resource_id", "sku_id", "sub_account_id", "tags"];

/// What has been counted so far.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    effective: Rounding,
    list: Rounding,
    covered_at_zero: u64,
    checked_prices: u64,
    other_prices: u64,
    unpriced: u64,
    negative_usage: u64,
    null_text: u64,
    effective_on_purchase: u64,
}

/// Rows billed with a fraction, and how many of them another cost tells as a whole number.
#[derive(Debug, Default)]
struct Rounding {
    fractional: u64,
    whole: u64,
}

impl Rounding {
    fn see(&mut self, cost: Amount) {
        self.fractional += 1;
        self.whole += u64::from(!has_fraction(cost));
    }

    fn is_habit(&self) -> bool {
        self.fractional >= HABIT_ROWS && self.whole * 100 >= self.fractional * HABIT_PERCENT
    }
}

impl Gate {
    /// Looks at a row.
    pub(crate) fn see(&mut self, row: &Figures) {
        self.null_text += u64::from(row.unstored.null_text);
        self.effective_on_purchase += u64::from(row.unstored.effective_on_purchase);
        if !is_usage(row.class) {
            return;
        }
        let quantity = row.pricing_quantity.unwrap_or(0.0);
        self.negative_usage += u64::from(quantity < 0.0 && row.billed_cost > Amount::ZERO);
        self.unpriced += u64::from(row.list_cost.is_none());
        self.see_price(row);
        if row.class != LineClass::Usage {
            return;
        }
        let list_is_zero = row.list_cost.is_some_and(Amount::is_zero);
        if row.has_commitment {
            let used = quantity != 0.0 || !row.effective_cost.is_zero();
            self.covered_at_zero += u64::from(list_is_zero && used);
        } else if has_fraction(row.billed_cost) {
            // What no commitment covers costs as much amortised as billed, so a fraction must survive.
            self.effective.see(row.effective_cost);
            if let Some(list) = row.list_cost.filter(|_| !list_is_zero) {
                self.list.see(list);
            }
        }
    }

    fn see_price(&mut self, row: &Figures) {
        let (Some(price), Some(quantity), Some(list), false) =
            (row.unstored.list_unit_price, row.pricing_quantity, row.list_cost, row.is_correction)
        else {
            return;
        };
        let (expected, found) = (approximate(price) * quantity, approximate(list));
        let allowed = (PRICE_TOLERANCE * expected.abs().max(found.abs())).max(PRICE_TOLERANCE_UNITS);
        self.checked_prices += 1;
        self.other_prices += u64::from((expected - found).abs() > allowed);
    }

    /// The findings on a period, given what its summary holds beside them.
    pub(crate) fn judge(&self, period: &PeriodSummary) -> Vec<BasisQuality> {
        let mut found = self.effective_findings(period);
        found.extend(self.list_findings(period));
        found.extend(self.row_findings());
        if period.rows >= HABIT_ROWS {
            let absent = |column: &&&str| period.null_rates.get(**column) == Some(&period.rows);
            found.extend(WATCHED.iter().filter(absent).map(|column| {
                BasisQuality::warn(
                    "quality::column_null",
                    (None, true, period.rows),
                    format!("`{column}` is null in all {} rows", period.rows),
                )
            }));
        }
        found
    }

    fn effective_findings(&self, period: &PeriodSummary) -> Vec<BasisQuality> {
        let mut found = Vec::new();
        let withheld = |rows| (Some(CostBasis::Effective), false, rows);
        if self.effective.is_habit() {
            found.push(BasisQuality::warn(
                "quality::rounded",
                withheld(self.effective.whole),
                format!(
                    "effective cost is a whole number in {} of {} rows that are billed with a fraction: it was rounded",
                    self.effective.whole, self.effective.fractional
                ),
            ));
        }
        if self.effective_on_purchase > 0 {
            found.push(BasisQuality::warn(
                "quality::effective_on_purchase",
                withheld(self.effective_on_purchase),
                format!(
                    "{} purchase(s) of commitments carry an effective cost, which belongs to the usage that they cover",
                    self.effective_on_purchase
                ),
            ));
        }
        if period.effective_unknown > 0 {
            found.push(BasisQuality::warn(
                "bill::effective_unknown",
                withheld(period.effective_unknown),
                format!(
                    "{} row(s) of commitments without what amortises them; effective cost is not usable and stands as \
                     billed there",
                    period.effective_unknown
                ),
            ));
        }
        found
    }

    fn list_findings(&self, period: &PeriodSummary) -> Vec<BasisQuality> {
        let mut found = Vec::new();
        let basis = Some(CostBasis::List);
        if self.list.is_habit() {
            found.push(BasisQuality::warn(
                "quality::rounded",
                (basis, false, self.list.whole),
                format!(
                    "list cost is a whole number in {} of {} rows that are billed with a fraction: it was rounded",
                    self.list.whole, self.list.fractional
                ),
            ));
        }
        if self.covered_at_zero > 0 {
            found.push(BasisQuality::warn(
                "quality::list_zero",
                (basis, false, self.covered_at_zero),
                format!(
                    "{} row(s) of usage under a commitment have a list cost of zero: their public price is missing",
                    self.covered_at_zero
                ),
            ));
        }
        if period.usage_rows >= HABIT_ROWS && self.unpriced == period.usage_rows {
            found.push(BasisQuality::warn(
                "quality::list_missing",
                (basis, false, self.unpriced),
                format!("none of {} rows of usage has a public price", period.usage_rows),
            ));
        }
        if self.other_prices > 0 {
            // A price per ten thousand calls beside a count of calls is common, and the list cost is right then.
            found.push(BasisQuality::warn(
                "quality::list_price",
                (basis, true, self.other_prices),
                format!(
                    "list cost is not unit price × quantity in {} of {} rows",
                    self.other_prices, self.checked_prices
                ),
            ));
        }
        found
    }

    fn row_findings(&self) -> Vec<BasisQuality> {
        let mut found = Vec::new();
        if self.negative_usage > 0 {
            found.push(BasisQuality::warn(
                "quality::negative_usage",
                (None, true, self.negative_usage),
                format!("{} row(s) bill a negative quantity of usage", self.negative_usage),
            ));
        }
        if self.null_text > 0 {
            found.push(BasisQuality::warn(
                "quality::null_text",
                (None, true, self.null_text),
                format!("{} row(s) hold the word `NULL`, which was read as no value", self.null_text),
            ));
        }
        found
    }
}

/// True if an amount is no whole number.
const fn has_fraction(amount: Amount) -> bool {
    // 10²⁴ is a multiple of 2²⁴, so most fractions show in the low bits without a division of 128 bits.
    let low = (1_i128 << SCALE) - 1;
    amount.units() & low != 0 || amount.units() % 10_i128.pow(SCALE) != 0
}

/// The nearest double, for a comparison within a tolerance.
fn approximate(amount: Amount) -> f64 {
    amount.units() as f64 / 1e24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_seen_in_low_and_high_digits() {
        for (text, fraction) in
            [("0", false), ("13", false), ("-3", false), ("0.5", true), ("1e-24", true), ("16777216.1", true)]
        {
            assert_eq!(has_fraction(text.parse().unwrap()), fraction, "for {text}");
        }
    }

    #[test]
    fn a_habit_needs_enough_rows_and_nearly_all_of_them() {
        let rounding = |fractional, whole| Rounding { fractional, whole }.is_habit();
        assert!(rounding(50, 50) && rounding(1000, 990));
        assert!(!rounding(49, 49) && !rounding(1000, 989) && !rounding(0, 0));
    }
}
