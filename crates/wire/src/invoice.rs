//! `reconcile --by invoice`: the accounts whose sum is the bill, and the deliveries of each month.

use std::collections::BTreeMap;

use serde::Serialize;

/// Every source's months.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InvoiceAnswer {
    /// Rows in order of source and month.
    pub rows: Vec<InvoiceRow>,
}

/// A source's month.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct InvoiceRow {
    /// Source.
    pub source: String,
    /// Month billed.
    pub billing_period: String,
    /// Currency code.
    pub currency: String,
    /// Billed cost by account.
    pub accounts: BTreeMap<&'static str, String>,
    /// Sum of the charges.
    pub bill: String,
    /// Bill less the accounts; anything but `0` is a fault.
    pub difference: String,
    /// Every delivery of the month, in order of arrival.
    pub deliveries: Vec<DeliveryStep>,
}

/// A delivery of a month.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DeliveryStep {
    /// Source.
    pub source: String,
    /// Month billed.
    pub billing_period: String,
    /// The delivery.
    pub delivery: String,
    /// When it arrived.
    pub arrived_at: String,
    /// Charges.
    pub charges: u64,
    /// Sum of what is invoiced.
    pub billed: String,
    /// What it changed.
    pub billed_change: Option<String>,
    /// Sum of what is amortised and negotiated.
    pub effective: String,
    /// What it changed.
    pub effective_change: Option<String>,
    /// True if the provider had closed the bill.
    pub is_final: bool,
    /// True if figures are made from it.
    pub current: bool,
}

/// The public shape of the equation.
pub fn invoices(rows: &[app::InvoiceRow]) -> InvoiceAnswer {
    let row = |row: &app::InvoiceRow| InvoiceRow {
        source: row.source.to_string(),
        billing_period: row.period.to_string(),
        currency: row.currency.to_string(),
        accounts: row.accounts.iter().map(|(account, amount)| (account.word(), amount.to_string())).collect(),
        bill: row.bill.to_string(),
        difference: row.difference.to_string(),
        deliveries: row.deliveries.iter().map(|step| delivery(row, step)).collect(),
    };
    InvoiceAnswer { rows: rows.iter().map(row).collect() }
}

fn delivery(row: &app::InvoiceRow, step: &app::DeliveryStep) -> DeliveryStep {
    DeliveryStep {
        source: row.source.to_string(),
        billing_period: row.period.to_string(),
        delivery: step.delivery.to_string(),
        arrived_at: step.arrived_at.to_string(),
        charges: step.rows,
        billed: step.billed.to_string(),
        billed_change: step.billed_change.map(|amount| amount.to_string()),
        effective: step.effective.to_string(),
        effective_change: step.effective_change.map(|amount| amount.to_string()),
        is_final: step.is_final,
        current: step.current,
    }
}
