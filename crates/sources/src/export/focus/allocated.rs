//! The allocated form: where the charges of a bill came to rest, a FOCUS row for each part.

use std::borrow::Cow;
use std::sync::LazyLock;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use ledger::{
    Account, AttemptId, BillingPeriod, ChargeCategory, CreditTreatment, Day, Evidence, ExperimentId,
    Interval, Posting, ResourceKind, Rule as AllocationRule,
};
use money::{Amount, Currency};

use super::column::{ALLOCATED, schema_with};
use super::table::{Rule, build};
use super::word::{service, sub_account_type};
use crate::SourceError;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| schema_with(ALLOCATED));

/// The bill that was allocated.
#[derive(Debug, Clone, Copy)]
pub struct AllocatedBill<'a> {
    /// Account that pays.
    pub billing_account_id: &'a str,
    /// Its name.
    pub billing_account_name: Option<&'a str>,
    /// Who provides the resources; also named as publisher.
    pub provider_name: &'a str,
    /// Who invoices, if that is not the provider.
    pub invoice_issuer_name: Option<&'a str>,
    /// Month billed.
    pub period: BillingPeriod,
    /// Whether provider credits are subtracted from effective and marginal cost.
    pub credits: CreditTreatment,
}

/// An amount that rests in one place; the costs are in `currency`.
#[derive(Debug, Clone, Copy)]
pub struct AllocatedPart<'a> {
    /// The experiment, where it is one's.
    pub experiment: Option<&'a ExperimentId>,
    /// The attempt, where it is one's.
    pub attempt: Option<AttemptId>,
    /// The account.
    pub account: Account,
    /// Why it rests there; may be empty.
    pub reason: &'a str,
    /// The rule that claimed it.
    pub rule: AllocationRule,
    /// How it was got.
    pub evidence: Evidence,
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Service, as the provider names it.
    pub service_name: &'a str,
    /// Account that used it; may be empty.
    pub sub_account_id: &'a str,
    /// The provider's line type.
    pub line_type: &'a str,
    /// Day of usage; `None` where it spans more than a day, which is shown as the billing period.
    pub day: Option<Day>,
    /// Currency of the costs.
    pub currency: Currency,
    /// Invoiced.
    pub billed_cost: Amount,
    /// At public rates, of priced charges only.
    pub list_cost: Amount,
    /// Amortised and negotiated.
    pub effective_cost: Amount,
    /// Added beyond sunk commitments.
    pub marginal_cost: Amount,
    /// Charges behind the amounts.
    pub charges: u64,
    /// Charges among them without a public price.
    pub unpriced: u64,
}

impl<'a> From<&'a Posting> for AllocatedPart<'a> {
    fn from(posting: &'a Posting) -> Self {
        Self {
            experiment: posting.experiment.as_ref(),
            attempt: posting.attempt,
            account: posting.account,
            reason: &posting.reason,
            rule: posting.rule,
            evidence: posting.evidence,
            resource_kind: posting.resource_kind,
            service_name: &posting.service_name,
            sub_account_id: &posting.sub_account_id,
            line_type: &posting.line_type,
            day: posting.usage_day,
            currency: posting.currency,
            billed_cost: posting.billed_cost,
            list_cost: posting.list_cost,
            effective_cost: posting.effective_cost,
            marginal_cost: posting.marginal_cost,
            charges: posting.charges,
            unpriced: posting.unpriced,
        }
    }
}

/// The schema of [`allocated`]: [`super::FOCUS`] and [`ALLOCATED`].
pub fn allocated_schema() -> SchemaRef {
    SchemaRef::clone(&SCHEMA)
}

/// The parts of a bill as FOCUS rows, in their order.
///
/// `BilledCost`, `ListCost`, `EffectiveCost`, `x_MarginalCost`, `x_Charges` and `x_UnpricedCharges` sum to those of the
/// parts. A part is one row, but for a part in the account of unused commitments with both an invoiced fee and an
/// effective cost, which is a purchase and usage. Parts in tax, credit and refund are of the category of that name, a
/// refund being an adjustment; all others are usage.
///
/// # Errors
/// `export::counter_account` for a part in account `bill`, which holds minus the bill.
pub fn allocated(bill: &AllocatedBill<'_>, parts: &[AllocatedPart<'_>]) -> Result<RecordBatch, SourceError> {
    if parts.iter().any(|part| part.account == Account::Bill) {
        let message = "account `bill` holds what the charges came from, and is no place where cost rests";
        return Err(SourceError::new("export::counter_account", message)
            .expected("the accounts in which charges came to rest", "a part in account `bill`")
            .help("leave out the postings of account `bill`"));
    }
    let rows = parts.iter().flat_map(|part| Row::of(bill, part)).map(Ok);
    build(allocated_schema(), rule, rows)
}

/// One row.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    bill: &'a AllocatedBill<'a>,
    part: AllocatedPart<'a>,
    category: ChargeCategory,
}

impl<'a> Row<'a> {
    /// The rows of a part.
    fn of(bill: &'a AllocatedBill<'a>, part: &AllocatedPart<'a>) -> impl Iterator<Item = Self> + use<'a> {
        let row = |category, part| Row { bill, part, category };
        let part = *part;
        let (first, second) = match part.account {
            Account::Tax => (row(ChargeCategory::Tax, part), None),
            Account::Credit => (row(ChargeCategory::Credit, part), None),
            Account::Refund => (row(ChargeCategory::Adjustment, part), None),
            // FOCUS: a purchase has no effective cost, and what nothing used is usage that is not invoiced.
            Account::UnusedCommitment if part.effective_cost.is_zero() => {
                (row(ChargeCategory::Purchase, part), None)
            }
            Account::UnusedCommitment if !part.billed_cost.is_zero() => {
                let fee = AllocatedPart { effective_cost: Amount::ZERO, ..part };
                let unused = AllocatedPart {
                    billed_cost: Amount::ZERO,
                    list_cost: Amount::ZERO,
                    marginal_cost: Amount::ZERO,
                    charges: 0,
                    unpriced: 0,
                    ..part
                };
                (row(ChargeCategory::Purchase, fee), Some(row(ChargeCategory::Usage, unused)))
            }
            Account::Bill
            | Account::Attempt
            | Account::Experiment
            | Account::Idle
            | Account::UnusedCommitment
            | Account::Support
            | Account::Inference
            | Account::Other
            | Account::Shared
            | Account::Unattributed => (row(ChargeCategory::Usage, part), None),
        };
        std::iter::once(first).chain(second)
    }

    fn is_usage(&self) -> bool {
        self.category == ChargeCategory::Usage
    }

    fn interval(&self) -> Interval {
        match self.part.day {
            Some(day) => Interval { start: day.start(), end: Day(day.0.saturating_add(1)).start() },
            None => self.bill.period.interval(),
        }
    }

    fn sub_account(&self) -> Option<&'a str> {
        told(self.part.sub_account_id)
    }

    fn frequency(&self) -> &'static str {
        if self.is_usage() { "Usage-Based" } else { "One-Time" }
    }

    fn pricing_category(&self) -> Option<&'static str> {
        // What a part was priced by is not known; that it was priced is.
        matches!(self.category, ChargeCategory::Usage | ChargeCategory::Purchase).then_some("Other")
    }

    fn contracted_cost(&self) -> Amount {
        if self.is_usage() { self.part.effective_cost } else { self.part.billed_cost }
    }
}

/// A text that is not empty.
fn told(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

type Words<'a> = Option<Cow<'a, str>>;

/// A word that every row has.
fn word(text: &str) -> Words<'_> {
    Some(Cow::from(text))
}

/// How a column is filled.
fn rule<'a>(name: &str) -> Rule<Row<'a>> {
    match name {
        "BilledCost" => Rule::Money(|row| Some(row.part.billed_cost)),
        "BillingAccountId" => Rule::Text(|row| word(row.bill.billing_account_id)),
        "BillingAccountName" => Rule::Text(|row| row.bill.billing_account_name.map(Cow::from)),
        "BillingAccountType" => Rule::Text(|_| word("Billing Account")),
        "BillingCurrency" | "PricingCurrency" => Rule::Text(|row| word(row.part.currency.code())),
        "BillingPeriodStart" => Rule::Instant(|row| Some(row.bill.period.interval().start)),
        "BillingPeriodEnd" => Rule::Instant(|row| Some(row.bill.period.interval().end)),
        "ChargeCategory" => Rule::Text(|row| word(row.category.word())),
        "ChargeDescription" => Rule::Text(|row| word(row.part.service_name)),
        "ChargeFrequency" => Rule::Text(|row| word(row.frequency())),
        "ChargePeriodStart" => Rule::Instant(|row| Some(row.interval().start)),
        "ChargePeriodEnd" => Rule::Instant(|row| Some(row.interval().end)),
        "ContractedCost" => Rule::Money(|row| Some(row.contracted_cost())),
        "EffectiveCost" => Rule::Money(|row| Some(row.part.effective_cost)),
        "InvoiceIssuerName" => {
            Rule::Text(|row| word(row.bill.invoice_issuer_name.unwrap_or(row.bill.provider_name)))
        }
        "ListCost" => Rule::Money(|row| Some(row.part.list_cost)),
        "PricingCategory" => Rule::Text(|row| row.pricing_category().map(Cow::from)),
        "ProviderName" | "PublisherName" => Rule::Text(|row| word(row.bill.provider_name)),
        "ServiceCategory" => Rule::Text(|row| word(service(row.part.service_name).0)),
        "ServiceName" => Rule::Text(|row| word(row.part.service_name)),
        "ServiceSubcategory" => Rule::Text(|row| word(service(row.part.service_name).1)),
        "SubAccountId" => Rule::Text(|row| row.sub_account().map(Cow::from)),
        "SubAccountType" => {
            Rule::Text(|row| row.sub_account().map(|_| Cow::from(sub_account_type(row.bill.provider_name))))
        }
        _ => extension(name),
    }
}

/// How a column is filled for which FOCUS has no place.
fn extension<'a>(name: &str) -> Rule<Row<'a>> {
    match name {
        "x_Account" => Rule::Text(|row| word(row.part.account.word())),
        "x_AllocationReason" => Rule::Text(|row| told(row.part.reason).map(Cow::from)),
        "x_AllocationRule" => Rule::Text(|row| word(row.part.rule.word())),
        "x_AttemptId" => Rule::Text(|row| row.part.attempt.map(|id| Cow::from(id.to_string()))),
        "x_Charges" => Rule::Count(|row| Some(row.part.charges)),
        "x_CreditTreatment" => Rule::Text(|row| word(row.bill.credits.word())),
        "x_Evidence" => Rule::Text(|row| word(row.part.evidence.word())),
        "x_ExperimentId" => Rule::Text(|row| row.part.experiment.map(|id| Cow::from(id.0.as_str()))),
        "x_LineType" => Rule::Text(|row| word(row.part.line_type)),
        "x_MarginalCost" => Rule::Money(|row| Some(row.part.marginal_cost)),
        "x_ResourceKind" => Rule::Text(|row| word(row.part.resource_kind.word())),
        "x_UnpricedCharges" => Rule::Count(|row| Some(row.part.unpriced)),
        _ => Rule::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_has_a_rule() {
        for column in ALLOCATED {
            assert!(!matches!(rule(column.name), Rule::Null), "no rule for {}", column.name);
        }
    }
}
