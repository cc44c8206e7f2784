//! The columns of the exports: all of FOCUS 1.2 by name, then what FOCUS has no place for, with how each is filled.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};

use crate::charges::{Column, ColumnType, arrow_type, column};

use ColumnType::{Instant, Money, Quantity, Row, Text};

/// The columns of FOCUS 1.2. *As told* means the value that the bill itself has under this name in FOCUS.
pub const FOCUS: &[Column] = &[
    column("AvailabilityZone", Text, false, "zone"),
    column("BilledCost", Money, true, "what is invoiced for the row"),
    column("BillingAccountId", Text, true, "account that pays"),
    column("BillingAccountName", Text, false, "name of the account that pays"),
    column("BillingAccountType", Text, true, "as told, else `Billing Account`"),
    column("BillingCurrency", Text, true, "currency of every cost in the row"),
    column("BillingPeriodEnd", Instant, true, "end of the billing period, exclusive"),
    column("BillingPeriodStart", Instant, true, "start of the billing period"),
    column("CapacityReservationId", Text, false, "capacity reservation or block"),
    column(
        "CapacityReservationStatus",
        Text,
        false,
        "of usage of a reservation: as told, else Unused for an unused reservation and Used otherwise",
    ),
    column("ChargeCategory", Text, true, "Usage, Purchase, Tax, Credit or Adjustment"),
    column("ChargeClass", Text, false, "Correction, for rows that correct a closed period"),
    column(
        "ChargeDescription",
        Text,
        false,
        "the provider's description, else its service, line type and usage type",
    ),
    column(
        "ChargeFrequency",
        Text,
        true,
        "as told, else Usage-Based for usage, Recurring for recurring fees, One-Time for the rest",
    ),
    column("ChargePeriodEnd", Instant, true, "end of the charge, exclusive"),
    column("ChargePeriodStart", Instant, true, "start of the charge"),
    column(
        "CommitmentDiscountCategory",
        Text,
        false,
        "as told, else Spend or Usage by the type of the commitment",
    ),
    column("CommitmentDiscountId", Text, false, "savings plan or reservation"),
    column("CommitmentDiscountName", Text, false, "as told"),
    column("CommitmentDiscountQuantity", Quantity, false, "as told"),
    column(
        "CommitmentDiscountStatus",
        Text,
        false,
        "of usage under a commitment: as told, else Unused for the unused part and Used otherwise",
    ),
    column("CommitmentDiscountType", Text, false, "kind of commitment"),
    column("CommitmentDiscountUnit", Text, false, "as told"),
    column("ConsumedQuantity", Quantity, false, "of usage: as told, else the pricing quantity"),
    column("ConsumedUnit", Text, false, "of usage: as told, else the pricing unit"),
    column(
        "ContractedCost",
        Money,
        true,
        "as told; else the list cost of usage under a commitment, the effective cost of other usage, and the billed cost of the rest",
    ),
    column("ContractedUnitPrice", Money, false, "as told"),
    column(
        "EffectiveCost",
        Money,
        true,
        "amortised and negotiated; nothing for the purchase of a commitment or a capacity block",
    ),
    column("InvoiceId", Text, false, "invoice; null while the bill is open"),
    column("InvoiceIssuerName", Text, true, "as told, else the provider"),
    column(
        "ListCost",
        Money,
        true,
        "of usage at public rates, or as billed where no public price is known; of the rest as billed",
    ),
    column(
        "ListUnitPrice",
        Money,
        false,
        "as told, else list cost by pricing quantity; null where no public price is known",
    ),
    column(
        "PricingCategory",
        Text,
        false,
        "as told; else Committed under a commitment, Dynamic for spot, Standard for other usage and purchases",
    ),
    column("PricingCurrency", Text, true, "as told, else the billing currency"),
    column("PricingCurrencyContractedUnitPrice", Money, false, "as told"),
    column(
        "PricingCurrencyEffectiveCost",
        Money,
        false,
        "the effective cost where both currencies are one, else as told",
    ),
    column("PricingCurrencyListUnitPrice", Money, false, "as told"),
    column("PricingQuantity", Quantity, false, "amount used, in PricingUnit; null for tax"),
    column("PricingUnit", Text, false, "unit of PricingQuantity, its times in FOCUS's words: Hours for Hrs"),
    column("ProviderName", Text, true, "who provides the resource"),
    column("PublisherName", Text, true, "who sells it; the provider where not told"),
    column("RegionId", Text, false, "region"),
    column("RegionName", Text, false, "as told"),
    column("ResourceId", Text, false, "resource"),
    column("ResourceName", Text, false, "as told"),
    column("ResourceType", Text, false, "as told, else by the form of the resource's id"),
    column("ServiceCategory", Text, true, "as told, else by the name of the service"),
    column("ServiceName", Text, true, "service, as the provider's code"),
    column("ServiceSubcategory", Text, true, "as told, else by the name of the service"),
    column("SkuId", Text, false, "SKU"),
    column("SkuMeter", Text, false, "what is metered: the provider's usage type"),
    column("SkuPriceDetails", Text, false, "as told, else the instance type, as a flat JSON object"),
    column("SkuPriceId", Text, false, "rate"),
    column("SubAccountId", Text, false, "account that used it"),
    column("SubAccountName", Text, false, "name of the account that used it"),
    column("SubAccountType", Text, false, "as told, else the provider's word for such an account"),
    column("Tags", Text, false, "flat JSON object of tags by the provider's key"),
];

/// What an enriched export has beside [`FOCUS`].
pub const ENRICHED: &[Column] = &[
    column("x_Class", Text, true, "what the attribution makes of the row"),
    column("x_ContractedCost", Money, false, "contracted cost as far as the bill tells it"),
    column("x_CreditType", Text, false, "for a credit on a row of usage: its type"),
    column("x_InstanceType", Text, false, "instance type"),
    column("x_LineItemId", Text, false, "the provider's id of the row"),
    column("x_LineType", Text, true, "the provider's line type"),
    column("x_ListCost", Money, false, "cost under basis `list`; null where no public price is known"),
    column("x_MarginalCost", Money, true, "what the row added beyond sunk commitments"),
    column("x_Operation", Text, false, "the provider's operation"),
    column("x_ParentResourceId", Text, false, "for split rows: the resource whose cost is split"),
    column("x_PricingUnit", Text, false, "the provider's unit of PricingQuantity"),
    column("x_ResourceKind", Text, true, "kind of resource"),
    column("x_SourceFile", Text, true, "file that the charge came from"),
    column("x_SourceRow", Row, true, "row in that file, from 1 after the header"),
    column("x_SplitCost", Money, false, "for split rows: the part of the parent's cost used"),
    column("x_SplitRole", Text, true, "none, or child for a row of split data"),
    column("x_SplitUnusedCost", Money, false, "for split rows: the part of the parent's idle cost"),
    column("x_Unmapped", Text, false, "JSON object of the source's columns without a place here"),
    column("x_UsageType", Text, false, "the provider's usage type"),
];

/// What an allocated export has beside [`FOCUS`].
pub const ALLOCATED: &[Column] = &[
    column("x_Account", Text, true, "where the amount rests"),
    column("x_AllocationReason", Text, false, "why it rests there, for accounts that are not a run's"),
    column("x_AllocationRule", Text, true, "the rule that claimed it"),
    column("x_AttemptId", Text, false, "the attempt"),
    column("x_Charges", Row, true, "charges behind the amounts"),
    column("x_CreditTreatment", Text, true, "whether provider credits are subtracted"),
    column("x_Evidence", Text, true, "how the amount was got"),
    column("x_ExperimentId", Text, false, "the experiment"),
    column("x_LineType", Text, true, "the provider's line type"),
    column("x_MarginalCost", Money, true, "what was added beyond sunk commitments"),
    column("x_ResourceKind", Text, true, "kind of resource"),
    column("x_UnpricedCharges", Row, true, "charges among them without a public price, which ListCost lacks"),
];

/// The Arrow schema of FOCUS's columns and `more`.
pub(super) fn schema_with(more: &[Column]) -> SchemaRef {
    let field = |c: &Column| Field::new(c.name, arrow_type(c.kind), !c.required);
    Arc::new(Schema::new(FOCUS.iter().chain(more).map(field).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn focus_has_its_57_columns_and_extensions_have_their_prefix() {
        assert_eq!(FOCUS.len(), 57);
        assert!(FOCUS.is_sorted_by_key(|column| column.name));
        for more in [ENRICHED, ALLOCATED] {
            assert!(more.is_sorted_by_key(|column| column.name));
            assert!(more.iter().all(|column| column.name.starts_with("x_")));
        }
    }
}
