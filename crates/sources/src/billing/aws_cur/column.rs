//! The columns of a cost and usage report that have a meaning here, and every spelling under which they arrive.

use crate::billing::table::column::columns;

columns! {
    LineItemId Canonical ["identitylineitemid" "lineitemid"],
    TimeInterval Dropped ["identitytimeinterval" "timeinterval"],
    PayerAccountId Canonical ["billpayeraccountid" "payeraccountid"],
    PayerAccountName Canonical ["billpayeraccountname" "payeraccountname"],
    PeriodStart Canonical ["billbillingperiodstartdate" "billingperiodstartdate" "billingperiodstart"],
    PeriodEnd Canonical ["billbillingperiodenddate" "billingperiodenddate" "billingperiodend"],
    InvoiceId Canonical ["billinvoiceid" "invoiceid"],
    InvoicingEntity Canonical ["billinvoicingentity" "invoicingentity"],
    BillingEntity Input ["billbillingentity" "billingentity"],
    LegalEntity Canonical ["lineitemlegalentity" "legalentity"],
    Zone Canonical ["lineitemavailabilityzone" "availabilityzone"],
    BlendedCost Dropped ["lineitemblendedcost" "blendedcost"],
    BlendedRate Dropped ["lineitemblendedrate" "blendedrate"],
    Currency Canonical ["lineitemcurrencycode" "currencycode" "currency"],
    Description Canonical ["lineitemlineitemdescription" "lineitemdescription"],
    LineType Canonical ["lineitemlineitemtype" "lineitemtype"],
    NetUnblendedCost Input ["lineitemnetunblendedcost" "netunblendedcost"],
    Operation Canonical ["lineitemoperation" "operation"],
    ProductCode Canonical ["lineitemproductcode" "productcode"],
    ResourceId Canonical ["lineitemresourceid" "resourceid"],
    UnblendedCost Canonical ["lineitemunblendedcost" "unblendedcost"],
    UsageAccountId Canonical ["lineitemusageaccountid" "usageaccountid"],
    UsageAccountName Canonical ["lineitemusageaccountname" "usageaccountname"],
    UsageAmount Canonical ["lineitemusageamount" "usageamount"],
    UsageStart Canonical ["lineitemusagestartdate" "usagestartdate" "usagestart"],
    UsageEnd Canonical ["lineitemusageenddate" "usageenddate" "usageend"],
    UsageType Canonical ["lineitemusagetype" "usagetype"],
    PublicCost Input ["pricingpublicondemandcost" "publicondemandcost"],
    RateCode Canonical ["pricingratecode" "ratecode"],
    RateId Input ["pricingrateid" "rateid"],
    PricingUnit Canonical ["pricingunit"],
    Sku Canonical ["productsku"],
    Region Canonical ["productregioncode" "regioncode"],
    RegionName Canonical ["productregion"],
    InstanceType Canonical ["productinstancetype" "instancetype"],
    ServiceCode Input ["productservicecode" "servicecode"],
    ReservationArn Canonical ["reservationreservationarn" "reservationarn"],
    RiEffective Input ["reservationeffectivecost"],
    RiNetEffective Input ["reservationneteffectivecost"],
    RiUnusedUpfront Input ["reservationunusedamortizedupfrontfeeforbillingperiod"],
    RiNetUnusedUpfront Input ["reservationnetunusedamortizedupfrontfeeforbillingperiod"],
    RiUnusedRecurring Input ["reservationunusedrecurringfee"],
    RiNetUnusedRecurring Input ["reservationnetunusedrecurringfee"],
    RiAmortizedUpfront Input ["reservationamortizedupfrontfeeforbillingperiod"],
    SpArn Canonical ["savingsplansavingsplanarn" "savingsplanarn"],
    SpEffective Input ["savingsplansavingsplaneffectivecost" "savingsplaneffectivecost"],
    SpNetEffective Input ["savingsplannetsavingsplaneffectivecost" "netsavingsplaneffectivecost"],
    SpTotalCommitment Input ["savingsplantotalcommitmenttodate"],
    SpUsedCommitment Input ["savingsplanusedcommitment"],
    SpAmortizedUpfront Input ["savingsplanamortizedupfrontcommitmentforbillingperiod"],
    SplitParent Canonical ["splitlineitemparentresourceid" "parentresourceid"],
    SplitCost Canonical ["splitlineitemsplitcost" "splitcost"],
    NetSplitCost Input ["splitlineitemnetsplitcost" "netsplitcost"],
    UnusedCost Canonical ["splitlineitemunusedcost" "unusedcost"],
    NetUnusedCost Input ["splitlineitemnetunusedcost" "netunusedcost"],
    CapacityReservationArn Canonical [
        "capacityreservationcapacityreservationarn" "capacityreservationarn" "capacityreservationid"
    ],
    CapacityReservationStatus Canonical [
        "capacityreservationcapacityreservationstatus" "capacityreservationstatus"
    ],
}

impl Column {
    /// True for a column whose value is text.
    pub(super) const fn is_text(self) -> bool {
        !matches!(
            self,
            Self::PeriodStart
                | Self::PeriodEnd
                | Self::UsageStart
                | Self::UsageEnd
                | Self::UsageAmount
                | Self::UnblendedCost
                | Self::NetUnblendedCost
                | Self::PublicCost
                | Self::RiEffective
                | Self::RiNetEffective
                | Self::RiUnusedUpfront
                | Self::RiNetUnusedUpfront
                | Self::RiUnusedRecurring
                | Self::RiNetUnusedRecurring
                | Self::RiAmortizedUpfront
                | Self::SpEffective
                | Self::SpNetEffective
                | Self::SpTotalCommitment
                | Self::SpUsedCommitment
                | Self::SpAmortizedUpfront
                | Self::SplitCost
                | Self::NetSplitCost
                | Self::UnusedCost
                | Self::NetUnusedCost
        )
    }

    /// The name under which a report is asked for it, for messages.
    pub(super) fn shown(self) -> &'static str {
        self.spellings().first().copied().unwrap_or("")
    }
}

/// How many columns are known.
pub(super) const COLUMNS: usize = Column::ALL.len();

/// The families of columns whose name ends in a key of the customer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// `resourceTags/user:team`, `resource_tags_user_team`, the map `resource_tags`; the map `tags`.
    Tags,
    /// `product/…`, whose map gives region and instance type where their own columns are missing.
    Product,
    /// `costCategory/…`, `discount/…`: kept in `x_unmapped`.
    Kept,
}

/// The family of a whole-map column of this squashed name.
pub(super) fn map_family(squashed: &str) -> Option<Family> {
    match squashed {
        "resourcetags" | "tags" => Some(Family::Tags),
        "product" => Some(Family::Product),
        "costcategory" | "discount" => Some(Family::Kept),
        _ => None,
    }
}

/// The provider's tag key in a header of one tag, such as `user:team` in `resourceTags/user:team`.
pub(super) fn tag_key(header: &str) -> Option<&str> {
    for prefix in ["resourceTags/", "resource_tags/", "resource_tags_", "tags/"] {
        let Some((head, key)) = header.split_at_checked(prefix.len()) else { continue };
        if head.eq_ignore_ascii_case(prefix) && !key.is_empty() {
            return Some(key);
        }
    }
    None
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
        }
    }

    #[test]
    fn every_way_to_write_a_name_is_one_name() {
        for spelling in [
            "savingsPlan/SavingsPlanARN",
            "savingsPlan/SavingsPlanArn",
            "savings_plan_savings_plan_a_r_n",
            "SAVINGS_PLAN_SAVINGS_PLAN_A_R_N",
        ] {
            assert!(Column::SpArn.spellings().contains(&squashed(spelling).as_str()), "for {spelling}");
        }
    }

    #[test]
    fn a_tag_keeps_the_providers_key() {
        assert_eq!(tag_key("resourceTags/user:Team"), Some("user:Team"));
        assert_eq!(tag_key("resource_tags_user_team"), Some("user_team"));
        assert_eq!(tag_key("RESOURCE_TAGS_USER_TEAM"), Some("USER_TEAM"));
        assert_eq!(tag_key("resource_tags"), None);
        assert_eq!(tag_key("noTags/user:team"), None);
    }
}
