//! Split cost allocation: a charge and the charges allocated from it are counted once, whichever carries the money.

use super::bill::Bill;
use super::support::{USAGE, file, read_csv, read_files};

const ORIGIN: &str = "ResourceId=i-gpu";
const HALF: &str =
    "BilledCost=5;EffectiveCost=5;ListCost=6;PricingQuantity=0.5;AllocatedMethodId=m;ResourceId=i-gpu";

fn rows(origin: Option<&str>) -> Vec<String> {
    let mut rows = vec![
        format!(
            "{USAGE};{HALF};AllocatedResourceId=pod-a;AllocatedTags={{\"attempt\":\"a\"}};Tags={{\"t\":\"1\"}}"
        ),
        format!("{USAGE};{HALF};AllocatedResourceId=pod-b"),
        format!("{USAGE};ResourceId=i-other"),
    ];
    rows.extend(origin.map(|costs| format!("{USAGE};{ORIGIN};{costs}")));
    rows
}

fn text(rows: &[String]) -> String {
    file(&rows.iter().map(String::as_str).collect::<Vec<_>>())
}

fn totals(bill: &Bill) -> String {
    let period = bill.period();
    format!(
        "{} {} {} {}",
        period.billed_total, period.effective_total, period.list_total, period.marginal_total
    )
}

#[test]
fn allocated_charges_are_the_charges_where_their_origin_has_no_cost() {
    for origin in [None, Some("BilledCost=0;EffectiveCost=0;ListCost=0;PricingQuantity=0")] {
        let bill = read_csv(&text(&rows(origin))).unwrap();
        assert_eq!(totals(&bill), "20 20 24 20", "for {origin:?}");
        let pod = &bill.rows[0];
        assert_eq!((pod["x_class"].as_str(), pod["x_split_role"].as_str()), ("usage", "none"));
        assert_eq!((pod["resource_id"].as_str(), pod["x_parent_resource_id"].as_str()), ("pod-a", "i-gpu"));
        assert_eq!(pod["tags"], r#"{"attempt":"a","t":"1"}"#);
        assert_eq!(bill.period().split_rows, 0);
    }
}

#[test]
fn allocated_charges_carry_no_money_beside_their_origins_cost() {
    let bill = read_csv(&text(&rows(Some("BilledCost=10")))).unwrap();
    assert_eq!(totals(&bill), "20 20 24 20");
    let pod = &bill.rows[0];
    assert_eq!((pod["x_class"].as_str(), pod["x_split_role"].as_str()), ("split_detail", "child"));
    assert_eq!((pod["billed_cost"].as_str(), pod["x_split_cost"].as_str()), ("0", "5"));
    assert_eq!(bill.period().split_rows, 2);
}

#[test]
fn what_was_not_allocated_stays_with_the_origin() {
    let bill = read_csv(&text(&rows(Some("BilledCost=3;EffectiveCost=3;ListCost=4;PricingQuantity=0.3"))));
    assert_eq!(totals(&bill.unwrap()), "23 23 28 23");
}

#[test]
fn an_origin_in_another_file_is_found() {
    let all = rows(Some("BilledCost=10"));
    let (parts, origins) = (text(&all[..2]), text(&all[2..]));
    for files in [[("a.csv", &parts), ("b.csv", &origins)], [("a.csv", &origins), ("b.csv", &parts)]] {
        let files = files.map(|(name, text)| (name, text.as_bytes()));
        assert_eq!(totals(&read_files(&files).unwrap()), "20 20 24 20");
    }
}

#[test]
fn two_conventions_in_one_delivery_are_refused() {
    let mut all = rows(Some("BilledCost=10"));
    all.push(format!("{USAGE};{HALF};AllocatedResourceId=pod-c;ResourceId=i-third"));
    let fault = read_csv(&text(&all)).map(|_| ()).unwrap_err();
    assert_eq!(fault.code, "bill::mixed_allocation");
    assert_eq!(fault.found.as_deref(), Some("1 resource(s) with their cost and 1 without"));
}
