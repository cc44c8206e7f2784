//! The columns of a cost and usage report that have a meaning here, and every spelling under which they arrive.

use crate::billing::table::column::{columns, squashed};
use crate::billing::table::layout::Other;

columns! {
    cost UnblendedCost;
    LineItemId Canonical Text ["identitylineitemid" "lineitemid"],
    TimeInterval Read Text ["identitytimeinterval" "timeinterval"],
    PayerAccountId Canonical Text ["billpayeraccountid" "payeraccountid"],
    PayerAccountName Canonical Text ["billpayeraccountname" "payeraccountname"],
    PeriodStart Canonical AsIs ["billbillingperiodstartdate" "billingperiodstartdate" "billingperiodstart"],
    PeriodEnd Canonical AsIs ["billbillingperiodenddate" "billingperiodenddate" "billingperiodend"],
    InvoiceId Canonical Text ["billinvoiceid" "invoiceid"],
    InvoicingEntity Canonical Text ["billinvoicingentity" "invoicingentity"],
    BillingEntity Input Text ["billbillingentity" "billingentity"],
    LegalEntity Canonical Text ["lineitemlegalentity" "legalentity"],
    Zone Canonical Text ["lineitemavailabilityzone" "availabilityzone"],
    BlendedCost Dropped Text ["lineitemblendedcost" "blendedcost"],
    BlendedRate Dropped Text ["lineitemblendedrate" "blendedrate"],
    Currency Canonical Text ["lineitemcurrencycode" "currencycode" "currency"],
    Description Canonical Text ["lineitemlineitemdescription" "lineitemdescription"],
    LineType Canonical Text ["lineitemlineitemtype" "lineitemtype"],
    NetUnblendedCost Input AsIs ["lineitemnetunblendedcost" "netunblendedcost"],
    Operation Canonical Text ["lineitemoperation" "operation"],
    ProductCode Canonical Text ["lineitemproductcode" "productcode"],
    ResourceId Canonical Text ["lineitemresourceid" "resourceid"],
    UnblendedCost Canonical AsIs ["lineitemunblendedcost" "unblendedcost"],
    UsageAccountId Canonical Text ["lineitemusageaccountid" "usageaccountid"],
    UsageAccountName Canonical Text ["lineitemusageaccountname" "usageaccountname"],
    UsageAmount Canonical AsIs ["lineitemusageamount" "usageamount"],
    UsageStart Canonical AsIs ["lineitemusagestartdate" "usagestartdate" "usagestart"],
    UsageEnd Canonical AsIs ["lineitemusageenddate" "usageenddate" "usageend"],
    UsageType Canonical Text ["lineitemusagetype" "usagetype"],
    PublicCost Input AsIs ["pricingpublicondemandcost" "publicondemandcost"],
    RateCode Canonical Text ["pricingratecode" "ratecode"],
    RateId Input Text ["pricingrateid" "rateid"],
    PricingUnit Canonical Text ["pricingunit"],
    Sku Canonical Text ["productsku"],
    Region Canonical Text ["productregioncode" "regioncode"],
    RegionName Canonical Text ["productregion"],
    InstanceType Canonical Text ["productinstancetype" "instancetype"],
    ServiceCode Input Text ["productservicecode" "servicecode"],
    ReservationArn Canonical Text ["reservationreservationarn" "reservationarn"],
    RiEffective Input AsIs ["reservationeffectivecost"],
    RiNetEffective Input AsIs ["reservationneteffectivecost"],
    RiUnusedUpfront Input AsIs ["reservationunusedamortizedupfrontfeeforbillingperiod"],
    RiNetUnusedUpfront Input AsIs ["reservationnetunusedamortizedupfrontfeeforbillingperiod"],
    RiUnusedRecurring Input AsIs ["reservationunusedrecurringfee"],
    RiNetUnusedRecurring Input AsIs ["reservationnetunusedrecurringfee"],
    RiAmortizedUpfront Input AsIs ["reservationamortizedupfrontfeeforbillingperiod"],
    SpArn Canonical Text ["savingsplansavingsplanarn" "savingsplanarn"],
    SpEffective Input AsIs ["savingsplansavingsplaneffectivecost" "savingsplaneffectivecost"],
    SpNetEffective Input AsIs ["savingsplannetsavingsplaneffectivecost" "netsavingsplaneffectivecost"],
    SpTotalCommitment Input AsIs ["savingsplantotalcommitmenttodate"],
    SpUsedCommitment Input AsIs ["savingsplanusedcommitment"],
    SpAmortizedUpfront Input AsIs ["savingsplanamortizedupfrontcommitmentforbillingperiod"],
    SplitParent Canonical Text ["splitlineitemparentresourceid" "parentresourceid"],
    SplitCost Canonical AsIs ["splitlineitemsplitcost" "splitcost"],
    NetSplitCost Input AsIs ["splitlineitemnetsplitcost" "netsplitcost"],
    UnusedCost Canonical AsIs ["splitlineitemunusedcost" "unusedcost"],
    NetUnusedCost Input AsIs ["splitlineitemnetunusedcost" "netunusedcost"],
    CapacityReservationArn Canonical Text [
        "capacityreservationcapacityreservationarn" "capacityreservationarn" "capacityreservationid"
    ],
    CapacityReservationStatus Canonical Text [
        "capacityreservationcapacityreservationstatus" "capacityreservationstatus"
    ],
    Product Map AsIs ["product"],
}

/// What a column is that is not among those above: a tag, a map of tags, another map, or a value.
pub(super) fn other(header: &str) -> Other<'_> {
    match squashed(header).as_str() {
        "resourcetags" | "tags" => Other::TagMap,
        "costcategory" | "discount" => Other::Map,
        _ => tag_key(header).map_or(Other::Value, Other::Tag),
    }
}

/// The provider's tag key in a header of one tag, such as `user:team` in `resourceTags/user:team`.
fn tag_key(header: &str) -> Option<&str> {
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
    use super::*;
    use crate::billing::table::column::{Name, check_spellings};

    #[test]
    fn no_spelling_names_two_columns() {
        check_spellings::<Column>();
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
        assert_eq!(other("resource_tags"), Other::TagMap);
        assert_eq!(other("costCategory"), Other::Map);
        assert_eq!(other("costCategory/team"), Other::Value);
    }
}
