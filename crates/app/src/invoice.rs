//! The invoice equation: for each source and month, the accounts whose sum is the bill, and what later deliveries changed.

use std::collections::BTreeMap;

use ledger::{Account, BillingPeriod, DeliveryId, SourceId, Step, Timestamp};
use money::{Amount, Currency};

use crate::books::Books;
use crate::{AppError, Context};

/// One delivery of a month, in order of arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryStep {
    /// The delivery.
    pub delivery: DeliveryId,
    /// When it arrived.
    pub arrived_at: Timestamp,
    /// Charges.
    pub rows: u64,
    /// Σ billed cost.
    pub billed: Amount,
    /// Σ effective cost.
    pub effective: Amount,
    /// Billed cost less that of the delivery before it; `None` for the first.
    pub billed_change: Option<Amount>,
    /// Effective cost less that of the delivery before it.
    pub effective_change: Option<Amount>,
    /// True if the provider had closed the bill.
    pub is_final: bool,
    /// True if figures are made from it.
    pub current: bool,
}

/// A source's month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvoiceRow {
    /// Source.
    pub source: SourceId,
    /// Month billed.
    pub period: BillingPeriod,
    /// Currency.
    pub currency: Currency,
    /// Billed cost by account; accounts without any are left out.
    pub accounts: BTreeMap<Account, Amount>,
    /// Σ billed cost of the charges.
    pub bill: Amount,
    /// `bill − Σ accounts`; anything but zero is a fault.
    pub difference: Amount,
    /// Every delivery of the month.
    pub deliveries: Vec<DeliveryStep>,
}

/// The equation of every source and month.
///
/// # Errors
/// A store that cannot be read; a sum out of range.
pub async fn invoices(context: &Context<'_>) -> Result<Vec<InvoiceRow>, AppError> {
    let books = Books::open(context).await?;
    let mut rows = Vec::new();
    for delivery in &books.current {
        let mut accounts: BTreeMap<Account, Amount> = BTreeMap::new();
        let mut fault = None;
        for settlement in books.settlements.iter().filter(|settlement| settlement.delivery == delivery.id) {
            books.store.read_postings(settlement, &mut |posting| {
                // On an invoice a credit stands beside what it pays for, whoever it is given on.
                let entered = posting.account != Account::Bill && posting.step != Step::Credits;
                if !entered || fault.is_some() {
                    return;
                }
                let sum = accounts.entry(posting.account).or_default();
                match sum.checked_add(posting.billed_cost) {
                    Ok(added) => *sum = added,
                    Err(error) => fault = Some(error),
                }
            })?;
        }
        if let Some(error) = fault {
            return Err(error.into());
        }
        accounts.retain(|_, amount| !amount.is_zero());
        let sum = Amount::sum(accounts.values().copied())?;
        rows.push(InvoiceRow {
            source: delivery.source.clone(),
            period: delivery.period,
            currency: delivery.currency,
            difference: delivery.billed_total.checked_sub(sum)?,
            bill: delivery.billed_total,
            accounts,
            deliveries: steps(&books, &delivery.source, delivery.period)?,
        });
    }
    rows.sort_by(|a, b| (&a.source, a.period).cmp(&(&b.source, b.period)));
    Ok(rows)
}

fn steps(books: &Books, source: &SourceId, period: BillingPeriod) -> Result<Vec<DeliveryStep>, AppError> {
    let mut steps: Vec<DeliveryStep> = Vec::new();
    for delivery in books.deliveries.iter().filter(|held| held.source == *source && held.period == period) {
        let before = steps.last();
        let change =
            |now: Amount, before: Option<Amount>| before.map(|before| now.checked_sub(before)).transpose();
        steps.push(DeliveryStep {
            billed_change: change(delivery.billed_total, before.map(|step| step.billed))?,
            effective_change: change(delivery.effective_total, before.map(|step| step.effective))?,
            delivery: delivery.id.clone(),
            arrived_at: delivery.arrived_at,
            rows: delivery.accepted,
            billed: delivery.billed_total,
            effective: delivery.effective_total,
            is_final: delivery.is_final,
            current: delivery.current,
        });
    }
    Ok(steps)
}
