//! `check`: whether the accounts add up to the charges, and what else must hold.

use app::CheckReport;
use serde::Serialize;

/// Every check with what it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckAnswer {
    /// True if every check holds.
    pub holds: bool,
    /// The sums, one row a source, billing period, basis and currency.
    pub rows: Vec<BalanceRow>,
    /// Everything else.
    pub checks: Vec<CheckRow>,
}

/// Charges against accounts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct BalanceRow {
    /// Source of the bill.
    pub source: String,
    /// Month billed, `YYYY-MM`.
    pub billing_period: String,
    /// `billed`, `list`, `effective` or `marginal`.
    pub basis: &'static str,
    /// Currency code.
    pub currency: String,
    /// Sum of the charges.
    pub charges_total: String,
    /// Sum of the accounts.
    pub accounts_total: String,
    /// Charges less accounts; anything but `0` is a fault.
    pub difference: String,
    /// Charges without a price under the basis, which are in neither sum.
    pub unpriced: u64,
}

/// Another check.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CheckRow {
    /// What is checked.
    pub check: &'static str,
    /// Of what.
    pub subject: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// The public shape of `check`.
pub fn check(report: &CheckReport) -> CheckAnswer {
    let row = |balance: &app::BalanceCheck| BalanceRow {
        source: balance.source.to_string(),
        billing_period: balance.billing_period.to_string(),
        basis: balance.basis.word(),
        currency: balance.currency.to_string(),
        charges_total: balance.charges_total.to_string(),
        accounts_total: balance.accounts_total.to_string(),
        difference: balance.difference.to_string(),
        unpriced: balance.unpriced,
    };
    let other = |other: &app::OtherCheck| CheckRow {
        check: other.name,
        subject: other.subject.clone(),
        holds: other.holds,
        expected: other.expected.clone(),
        found: other.found.clone(),
    };
    CheckAnswer {
        holds: report.holds(),
        rows: report.balances.iter().map(row).collect(),
        checks: report.others.iter().map(other).collect(),
    }
}
