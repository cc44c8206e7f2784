//! What a credit and a commitment on a row change of its costs, and what is a charge of its own.

use money::Amount;
use serde_json::json;

use super::support::{amount, hour, read_rows, with};

#[test]
fn a_commitment_is_paid_by_its_fee_and_not_by_the_usage_that_it_covers() {
    let subscription = json!({"instance_id": "subscriptions/1"});
    let fee = json!({"sku": {"id": "F", "description": "Compute Flexible fee"}, "subscription": subscription, "cost_at_list": "0.3",
        "consumption_model": {"description": "Default"}, "credits": [{"type": "FEE_UTILIZATION_OFFSET", "amount": "-0.25"}]});
    let covered = json!({"subscription": subscription, "consumption_model": {"description": "Compute Flexible CUDs 1 Year"},
        "cost_at_list": "0.4", "cost_at_effective_price_default": "0.35"});
    let over = json!({"consumption_model": {"id": "7754-699E-0EBF", "description": "Default"}, "cost_at_list": "0.2"});
    let bill = read_rows(&[with(hour("0.3"), fee), with(hour("0.25"), covered), with(hour("0.2"), over)]);
    assert_eq!(bill.column("x_class"), ["commitment", "usage", "usage"]);
    assert_eq!(bill.column("billed_cost"), ["0.05", "0.25", "0.2"]);
    assert_eq!(bill.column("list_cost"), ["0", "0.4", "0.2"]);
    assert_eq!(bill.column("contracted_cost"), ["", "0.35", ""]);
    assert_eq!(bill.column("x_marginal_cost"), ["0", "0", "0.2"]);
    assert_eq!(bill.column("commitment_discount_id"), ["subscriptions/1", "subscriptions/1", ""]);
}

#[test]
fn every_credit_has_its_place_and_an_unknown_type_is_a_charge_of_its_own() {
    let types = [
        ("COMMITTED_USAGE_DISCOUNT", true),
        ("COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE", true),
        ("FEE_UTILIZATION_OFFSET", true),
        ("SUSTAINED_USAGE_DISCOUNT", true),
        ("DISCOUNT", true),
        ("SPENDING_BASED_DISCOUNT", true),
        ("RESELLER_MARGIN", true),
        ("SUBSCRIPTION_BENEFIT", true),
        ("FREE_TIER", false),
        ("PROMOTION", false),
        ("CREDIT_TYPE_UNSPECIFIED", false),
        ("GIFT_OF_2027", false),
    ];
    for (kind, is_price) in types {
        let bill = read_rows(&[with(hour("10"), json!({"credits": [{"type": kind, "amount": -4}]}))]);
        let expect: &[&str] = if is_price { &["6"] } else { &["10", "-4"] };
        assert_eq!(bill.column("billed_cost"), expect, "for {kind}");
        assert_eq!(bill.column("effective_cost"), expect, "for {kind}");
        let committed = kind.starts_with("COMMITTED") || kind == "FEE_UTILIZATION_OFFSET";
        assert_eq!(bill.column("x_marginal_cost"), if committed { &["0"] } else { expect }, "for {kind}");
        assert_eq!(bill.period().credits_by_type[kind].to_string(), "-4");
        assert_eq!(
            bill.rows.last().unwrap().get("x_credit_type").map(String::as_str),
            (!is_price).then_some(kind)
        );
    }
    let untold = read_rows(&[with(hour("10"), json!({"credits": [{"amount": "-4"}]}))]);
    assert_eq!(untold.rows[1]["x_credit_type"], "CREDIT_TYPE_UNSPECIFIED");
}

#[test]
fn a_credit_takes_off_what_its_row_added_and_no_more() {
    let gift = json!({"type": "PROMOTION", "amount": "-4"});
    let taken_back = json!({"type": "PROMOTION", "amount": "1"});
    let paid = json!({"type": "COMMITTED_USAGE_DISCOUNT", "amount": "-7"});
    let cluster = json!({"service": {"description": "Kubernetes Engine"}, "sku": {"description": "Zonal Kubernetes Clusters"}});
    for (others, marginal) in [
        (json!({"credits": [gift, taken_back]}), ["10", "-4", "1"].as_slice()),
        (json!({"credits": [paid, gift]}), &["0", "0"]),
        (
            json!({"credits": [gift], "consumption_model": {"description": "Compute Flexible CUDs 1 Year"}}),
            &["0", "0"],
        ),
        (with(cluster, json!({"credits": [gift]})), &["0", "0"]),
        (json!({"credits": [gift], "cost_type": "tax"}), &["0", "0"]),
    ] {
        let bill = read_rows(&[with(hour("10"), others.clone())]);
        assert_eq!(bill.column("x_marginal_cost"), marginal, "for {others}");
        let total = Amount::sum(marginal.iter().map(|text| amount(text))).unwrap();
        assert_eq!(bill.period().marginal_total, total, "for {others}");
    }
}
