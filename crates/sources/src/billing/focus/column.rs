//! The columns of FOCUS 1.0 to 1.4 that have a meaning here, with the names that exporters give to what a version lacks.

use super::layout::Layout;
use crate::billing::table::column::{columns, squashed};
use crate::billing::table::layout::Other;

columns! {
    cost BilledCost;
    AllocatedMethodId Input Text ["AllocatedMethodId"],
    AllocatedResourceId Canonical Text ["AllocatedResourceId"],
    AvailabilityZone Canonical Text ["AvailabilityZone"],
    BilledCost Canonical AsIs ["BilledCost"],
    BillingAccountId Canonical Text ["BillingAccountId"],
    BillingAccountName Canonical Text ["BillingAccountName"],
    BillingCurrency Canonical Text ["BillingCurrency"],
    BillingPeriodEnd Canonical AsIs ["BillingPeriodEnd"],
    BillingPeriodStart Canonical AsIs ["BillingPeriodStart"],
    CapacityReservationId Canonical Text ["CapacityReservationId"],
    CapacityReservationStatus Canonical Text ["CapacityReservationStatus"],
    ChargeCategory Canonical Text ["ChargeCategory"],
    ChargeClass Canonical Text ["ChargeClass"],
    ChargeDescription Canonical Text ["ChargeDescription"],
    ChargePeriodEnd Canonical AsIs ["ChargePeriodEnd"],
    ChargePeriodStart Canonical AsIs ["ChargePeriodStart"],
    Class Input Text ["x_Class"],
    CommitmentDiscountId Canonical Text ["CommitmentDiscountId"],
    CommitmentDiscountStatus Input Text ["CommitmentDiscountStatus"],
    CommitmentDiscountType Canonical Text ["CommitmentDiscountType"],
    ContractedBasis Input AsIs ["x_ContractedCost"],
    ContractedCost Canonical AsIs ["ContractedCost"],
    CreditType Input Text ["x_CreditType"],
    EffectiveCost Canonical AsIs ["EffectiveCost"],
    InstanceType Input Text ["x_InstanceType"],
    InvoiceId Canonical Text ["InvoiceId" "x_InvoiceId"],
    InvoiceIssuerName Canonical Text ["InvoiceIssuerName"],
    LineItemId Input Text ["x_LineItemId"],
    LineType Input Text ["x_LineType"],
    ListBasis Input AsIs ["x_ListCost"],
    ListCost Canonical AsIs ["ListCost"],
    ListUnitPrice Input AsIs ["ListUnitPrice"],
    MarginalCost Input AsIs ["x_MarginalCost"],
    Operation Canonical Text ["x_Operation"],
    ParentResourceId Input Text ["x_ParentResourceId"],
    PricingCategory Input Text ["PricingCategory"],
    PricingQuantity Canonical AsIs ["PricingQuantity"],
    PricingUnit Canonical Text ["PricingUnit"],
    ProviderName Canonical Text ["ProviderName" "ServiceProviderName" "HostProviderName"],
    ProviderUnit Input Text ["x_PricingUnit"],
    PublisherName Canonical Text ["PublisherName"],
    RegionId Canonical Text ["RegionId"],
    ResourceId Canonical Text ["ResourceId"],
    ResourceKind Input Text ["x_ResourceKind"],
    ServiceCategory Input Text ["ServiceCategory"],
    ServiceCode Input Text ["x_ServiceCode"],
    ServiceName Canonical Text ["ServiceName"],
    ServiceSubcategory Input Text ["ServiceSubcategory"],
    SkuDetails Map AsIs ["x_SkuDetails"],
    SkuId Canonical Text ["SkuId"],
    SkuPriceDetails Map AsIs ["SkuPriceDetails"],
    SkuPriceId Canonical Text ["SkuPriceId"],
    SplitCost Input AsIs ["x_SplitCost"],
    SplitUnusedCost Input AsIs ["x_SplitUnusedCost"],
    SubAccountId Canonical Text ["SubAccountId"],
    SubAccountName Canonical Text ["SubAccountName"],
    UsageType Canonical Text ["x_UsageType" "SkuMeter" "x_SkuMeterName"],
}

/// What a column is that is not among those above.
pub(super) fn other(header: &str) -> Other<'_> {
    match squashed(header).as_str() {
        "tags" | "allocatedtags" => Other::TagMap,
        "xdiscounts" | "xunmapped" | "allocatedmethoddetails" | "contractapplied" => Other::Map,
        _ => Other::Value,
    }
}

/// The version of FOCUS whose columns a file has.
pub(super) fn version(layout: &Layout) -> &'static str {
    let has = |names: &[&str]| names.iter().any(|name| layout.has_header(name));
    if has(&["InvoiceDetailId", "CommitmentProgramEligibilityDetails"]) {
        "1.4"
    } else if has(&["AllocatedMethodId", "ContractApplied", "HostProviderName", "ServiceProviderName"]) {
        "1.3"
    } else if has(&["PricingCurrency", "BillingAccountType", "InvoiceId"]) {
        "1.2"
    } else if has(&["SkuMeter", "SkuPriceDetails", "CapacityReservationId", "ServiceSubcategory"]) {
        "1.1"
    } else {
        "1.0"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::billing::table::column::check_spellings;

    #[test]
    fn no_spelling_names_two_columns() {
        check_spellings::<Column>();
    }

    #[test]
    fn a_version_is_told_by_its_columns() {
        for (columns, expect) in [
            ("BilledCost,ProviderName", "1.0"),
            ("BilledCost,SkuMeter", "1.1"),
            ("BilledCost,SkuMeter,InvoiceId", "1.2"),
            ("billed_cost,invoice_id,service_provider_name", "1.3"),
            ("BilledCost,AllocatedMethodId,InvoiceDetailId", "1.4"),
        ] {
            let headers: Vec<String> = columns.split(',').map(str::to_owned).collect();
            assert_eq!(version(&Layout::of(&headers, other)), expect, "for {columns}");
        }
    }
}
