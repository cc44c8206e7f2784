//! The columns of a billing export that have a meaning here, and every spelling under which they arrive.

use crate::billing::table::column::{columns, squashed};
use crate::billing::table::layout::Other;

columns! {
    cost Cost;
    BillingAccountId Canonical Text ["billing_account_id"],
    InvoiceMonth Canonical Text ["invoice.month"],
    CostType Canonical Text ["cost_type"],
    ServiceId Input Text ["service.id"],
    ServiceDescription Canonical Text ["service.description"],
    SkuId Canonical Text ["sku.id"],
    SkuDescription Canonical Text ["sku.description"],
    UsageStart Canonical AsIs ["usage_start_time"],
    UsageEnd Canonical AsIs ["usage_end_time"],
    ProjectId Canonical Text ["project.id"],
    ProjectName Canonical Text ["project.name"],
    ProjectLabels Labels AsIs ["project.labels"],
    Labels Labels AsIs ["labels"],
    SystemLabels Labels AsIs ["system_labels"],
    Tags Records AsIs ["tags"],
    Region Canonical Text ["location.region"],
    Zone Canonical Text ["location.zone"],
    ResourceName Input Text ["resource.name"],
    ResourceGlobalName Canonical Text ["resource.global_name"],
    Cost Canonical AsIs ["cost"],
    Currency Canonical Text ["currency"],
    UsageAmount Input AsIs ["usage.amount"],
    PricingAmount Canonical AsIs ["usage.amount_in_pricing_units"],
    PricingUnit Canonical Text ["usage.pricing_unit"],
    Credits Records AsIs ["credits"],
    AdjustmentType Input Text ["adjustment_info.type"],
    ExportTime Input AsIs ["export_time"],
    CostAtList Input AsIs ["cost_at_list"],
    CostAtDefault Input AsIs ["cost_at_effective_price_default"],
    ConsumptionModelId Input Text ["consumption_model.id"],
    ConsumptionModel Input Text ["consumption_model.description"],
    SubscriptionId Canonical Text ["subscription.instance_id"],
    Seller Canonical Text ["seller_name"],
}

/// What a column is that is not among those above.
pub(super) fn other(header: &str) -> Other<'_> {
    if squashed(header) == "projectancestors" { Other::Records } else { Other::Value }
}

/// True for the dotted name of a column of records, which a single record does not take apart.
pub(super) fn holds_records(path: &str) -> bool {
    matches!(path, "labels" | "system_labels" | "tags" | "credits" | "project.labels" | "project.ancestors")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::billing::table::column::{Kept, Name as _, check_spellings};

    #[test]
    fn no_spelling_names_two_columns() {
        check_spellings::<Column>();
    }

    #[test]
    fn every_column_of_records_stays_whole() {
        for column in Column::ALL {
            let records = matches!(column.kept(), Kept::Labels | Kept::Records);
            assert_eq!(holds_records(column.shown()), records, "for {column:?}");
        }
        assert_eq!(other("project.ancestors"), Other::Records);
    }
}
