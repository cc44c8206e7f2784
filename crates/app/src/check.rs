//! `check`: the laws that speak of data, tested on the data.

use std::collections::BTreeMap;

use ledger::{Account, BillingPeriod, CostBasis, Posting, SourceId, Step};
use money::{Amount, Currency};
use store::DeliveryRecord;

use crate::books::{Books, cost};
use crate::settle::{Charges, inputs_hash};
use crate::{AppError, Context, list_fill};

/// The bases that are checked.
pub type CheckBasis = CostBasis;

/// Σ charges against Σ accounts of one delivery under one basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalanceCheck {
    /// Source of the bill.
    pub source: SourceId,
    /// Month billed.
    pub billing_period: BillingPeriod,
    /// Basis.
    pub basis: CheckBasis,
    /// Currency.
    pub currency: Currency,
    /// Σ charges, read again from the charges at rest.
    pub charges_total: Amount,
    /// Σ accounts, from the postings.
    pub accounts_total: Amount,
    /// `charges_total − accounts_total`; anything but zero is a fault.
    pub difference: Amount,
    /// Charges without a price under this basis.
    pub unpriced: u64,
}

/// Another check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherCheck {
    /// What is checked.
    pub name: &'static str,
    /// Of what.
    pub subject: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// The answer of `check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Conservation, per source, period, basis and currency.
    pub balances: Vec<BalanceCheck>,
    /// Everything else.
    pub others: Vec<OtherCheck>,
}

impl CheckReport {
    /// True if every check holds.
    pub fn holds(&self) -> bool {
        self.balances.iter().all(|balance| balance.difference.is_zero())
            && self.others.iter().all(|other| other.holds)
    }
}

/// Runs every check over the store.
///
/// # Errors
/// A store that cannot be read; a check that does not hold is in the report.
pub async fn check(context: &Context<'_>) -> Result<CheckReport, AppError> {
    let books = Books::open(context).await?;
    let mut report = CheckReport { balances: Vec::new(), others: Vec::new() };
    for delivery in &books.current {
        check_delivery(context, &books, delivery, &mut report).await?;
    }
    Ok(report)
}

#[derive(Default)]
struct Sums {
    accounts: BTreeMap<CostBasis, Amount>,
    steps: BTreeMap<(Step, CostBasis), Amount>,
    charges: u64,
    unpriced: u64,
}

impl Sums {
    fn add(&mut self, posting: &Posting) -> Result<(), AppError> {
        for basis in CostBasis::ALL {
            let amount = cost(posting, *basis);
            let step = self.steps.entry((posting.step, *basis)).or_default();
            *step = step.checked_add(amount)?;
            if posting.account != Account::Bill {
                let sum = self.accounts.entry(*basis).or_default();
                *sum = sum.checked_add(amount)?;
            }
        }
        self.charges += posting.charges;
        self.unpriced += posting.unpriced;
        Ok(())
    }
}

async fn check_delivery(
    context: &Context<'_>,
    books: &Books,
    delivery: &DeliveryRecord,
    report: &mut CheckReport,
) -> Result<(), AppError> {
    let subject = format!("{} {}", delivery.source, delivery.period);
    let at_rest = match books.store.verify_delivery(delivery) {
        Ok(totals) => totals,
        Err(error) => {
            report.others.push(other(
                "charges_at_rest",
                &subject,
                "the totals of the catalog",
                &error.to_string(),
            ));
            return Ok(());
        }
    };
    let same = |found: &str| other("charges_at_rest", &subject, found, found);
    report.others.push(same(&at_rest.billed.to_string()));
    let source_total = delivery.source_total.to_string();
    report.others.push(other("source_total", &subject, &source_total, &at_rest.billed.to_string()));
    let counted = (delivery.accepted + delivery.rejected).to_string();
    report.others.push(other("accepted_plus_rejected", &subject, &delivery.rows.to_string(), &counted));
    let mut sums = Sums::default();
    let settlement =
        books.settlements.iter().find(|s| s.source == delivery.source && s.period == delivery.period);
    let mut fault = None;
    if let Some(settlement) = settlement {
        books.store.read_postings(settlement, &mut |posting| {
            fault = fault.take().or_else(|| sums.add(&posting).err());
        })?;
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    let charges = Charges::at_rest(&books.store, delivery);
    let prices = list_fill::mark(context, &books.store, &charges).await?;
    let fresh = inputs_hash(&charges, &books.attempts, &context.keys, &prices);
    let stands = settlement.map_or("no postings", |settlement| settlement.inputs_hash.as_str());
    report.others.push(other("postings_up_to_date", &subject, &fresh, stands));
    for ((step, basis), amount) in &sums.steps {
        let name = format!("{subject} {step} {basis}");
        report.others.push(other("step_balances", &name, "0", &amount.to_string()));
    }
    // What price lists say of charges whose bill tells no public price is worked out again from the charges too.
    let (of_lists, priced) = list_fill::total(context, &books.store, (&charges, delivery.currency)).await?;
    for basis in CostBasis::ALL {
        let charges_total = match basis {
            CostBasis::Billed => at_rest.billed,
            CostBasis::List => at_rest.list.checked_add(of_lists)?,
            CostBasis::Effective => at_rest.effective,
            CostBasis::Marginal => at_rest.marginal,
        };
        let accounts_total = sums.accounts.get(basis).copied().unwrap_or_default();
        report.balances.push(BalanceCheck {
            source: delivery.source.clone(),
            billing_period: delivery.period,
            basis: *basis,
            currency: delivery.currency,
            charges_total,
            accounts_total,
            difference: charges_total.checked_sub(accounts_total)?,
            unpriced: if *basis == CostBasis::List { at_rest.unpriced.saturating_sub(priced) } else { 0 },
        });
    }
    Ok(())
}

fn other(name: &'static str, subject: &str, expected: &str, found: &str) -> OtherCheck {
    let holds = expected == found;
    OtherCheck {
        name,
        subject: subject.to_owned(),
        holds,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}
