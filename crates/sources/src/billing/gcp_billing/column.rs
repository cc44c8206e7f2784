//! The columns of a billing export that have a meaning here, and every spelling under which they arrive.

use crate::billing::table::column::columns;

columns! {
    BillingAccountId Canonical ["billingaccountid"],
    InvoiceMonth Canonical ["invoicemonth"],
    CostType Canonical ["costtype"],
    ServiceId Input ["serviceid"],
    ServiceDescription Canonical ["servicedescription"],
    SkuId Canonical ["skuid"],
    SkuDescription Canonical ["skudescription"],
    UsageStart Canonical ["usagestarttime"],
    UsageEnd Canonical ["usageendtime"],
    ProjectId Canonical ["projectid"],
    ProjectName Canonical ["projectname"],
    ProjectLabels Canonical ["projectlabels"],
    Labels Canonical ["labels"],
    SystemLabels Canonical ["systemlabels"],
    Tags Input ["tags"],
    Region Canonical ["locationregion"],
    Zone Canonical ["locationzone"],
    ResourceName Input ["resourcename"],
    ResourceGlobalName Canonical ["resourceglobalname"],
    Cost Input ["cost"],
    Currency Canonical ["currency"],
    UsageAmount Input ["usageamount"],
    PricingAmount Canonical ["usageamountinpricingunits"],
    PricingUnit Canonical ["usagepricingunit"],
    Credits Input ["credits"],
    AdjustmentType Input ["adjustmentinfotype"],
    ExportTime Input ["exporttime"],
    CostAtList Input ["costatlist"],
    CostAtDefault Input ["costateffectivepricedefault"],
    ConsumptionModelId Input ["consumptionmodelid"],
    ConsumptionModel Input ["consumptionmodeldescription"],
    SubscriptionId Canonical ["subscriptioninstanceid"],
    Seller Canonical ["sellername"],
}

/// How many columns are known.
pub(super) const COLUMNS: usize = Column::ALL.len();

impl Column {
    /// True for a column whose value is text.
    pub(super) const fn is_text(self) -> bool {
        !self.is_repeated()
            && !matches!(
                self,
                Self::UsageStart
                    | Self::UsageEnd
                    | Self::Cost
                    | Self::UsageAmount
                    | Self::PricingAmount
                    | Self::ExportTime
                    | Self::CostAtList
                    | Self::CostAtDefault
            )
    }

    /// True for a column that holds records.
    pub(super) const fn is_repeated(self) -> bool {
        matches!(self, Self::ProjectLabels | Self::Labels | Self::SystemLabels | Self::Tags | Self::Credits)
    }

    /// The name under which the export has it, for messages.
    pub(super) fn shown(self) -> &'static str {
        match self {
            Self::BillingAccountId => "billing_account_id",
            Self::InvoiceMonth => "invoice.month",
            Self::UsageStart => "usage_start_time",
            Self::UsageEnd => "usage_end_time",
            Self::ExportTime => "export_time",
            Self::CostAtList => "cost_at_list",
            Self::CostAtDefault => "cost_at_effective_price_default",
            other => other.spellings().first().copied().unwrap_or(""),
        }
    }
}

/// True for the dotted name of a column of records, which a single record does not take apart.
pub(super) fn is_repeated_path(path: &str) -> bool {
    matches!(path, "labels" | "system_labels" | "tags" | "credits" | "project.labels" | "project.ancestors")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::billing::table::column::squashed;

    #[test]
    fn no_spelling_names_two_columns() {
        let mut seen = BTreeMap::new();
        for column in Column::ALL {
            for spelling in column.spellings() {
                assert_eq!(squashed(spelling), *spelling);
                assert_eq!(seen.insert(*spelling, *column), None, "for {spelling}");
            }
            assert_eq!(squashed(column.shown()), *column.spellings().first().unwrap());
        }
    }
}
