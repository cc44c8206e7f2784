//! The columns of Azure's cost exports that have a meaning here, with the names of every account type and version.

use crate::billing::table::column::{columns, squashed};
use crate::billing::table::layout::Other;

columns! {
    cost Cost;
    AdditionalInfo Map AsIs ["AdditionalInfo"],
    AvailabilityZone Canonical Text ["AvailabilityZone"],
    BenefitId Canonical Text ["BenefitId"],
    BillingAccountId Canonical Text ["BillingAccountId"],
    BillingAccountName Canonical Text ["BillingAccountName"],
    BillingCurrency Canonical Text ["BillingCurrencyCode" "BillingCurrency" "Currency"],
    BillingPeriodEnd Canonical AsIs ["BillingPeriodEndDate" "BillingPeriodEnd"],
    BillingPeriodStart Canonical AsIs ["BillingPeriodStartDate" "BillingPeriodStart"],
    ChargeType Canonical Text ["ChargeType"],
    ConsumedService Canonical Text ["ConsumedService"],
    Cost Canonical AsIs ["CostInBillingCurrency" "PreTaxCost" "Cost"],
    Date Canonical AsIs ["Date" "UsageDateTime" "UsageDate"],
    EffectivePrice Input AsIs ["EffectivePrice"],
    InvoiceId Canonical Text ["InvoiceId"],
    MeterCategory Input Text ["MeterCategory"],
    MeterId Canonical Text ["MeterId"],
    MeterName Canonical Text ["MeterName"],
    MeterSubCategory Input Text ["MeterSubCategory"],
    PartNumber Canonical Text ["PartNumber"],
    PayGCost Input AsIs ["PaygCostInBillingCurrency"],
    PayGPrice Input AsIs ["PayGPrice"],
    PricingCurrency Input Text ["PricingCurrency" "PricingCurrencyCode"],
    PricingModel Input Text ["PricingModel"],
    ProductName Canonical Text ["ProductName" "Product"],
    PublisherName Canonical Text ["PublisherName"],
    Quantity Canonical AsIs ["Quantity" "UsageQuantity"],
    ReservationId Canonical Text ["ReservationId"],
    ResourceId Canonical Text ["ResourceId" "InstanceId" "InstanceName"],
    ResourceLocation Canonical Text ["ResourceLocation" "Location"],
    SubscriptionId Canonical Text ["SubscriptionId" "SubscriptionGuid"],
    SubscriptionName Canonical Text ["SubscriptionName"],
    UnitOfMeasure Canonical Text ["UnitOfMeasure"],
    UnitPrice Input AsIs ["UnitPrice"],
}

/// What a column is that is not among those above.
pub(super) fn other(header: &str) -> Other<'_> {
    if squashed(header) == "tags" { Other::TagMap } else { Other::Value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::billing::table::column::check_spellings;

    #[test]
    fn no_spelling_names_two_columns() {
        check_spellings::<Column>();
    }
}
