//! The quality gate: each finding from rows that show it, and none from rows that do not.

use ledger::CostBasis;
use proptest::prelude::*;
use sources::billing::PeriodSummary;

use super::support::{USAGE, file, read_csv};

fn period(rows: &[String]) -> PeriodSummary {
    let text = file(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    read_csv(&text).unwrap().period().clone()
}

/// The findings of `count` rows of usage with these columns beside a row of plain usage.
fn findings(count: usize, more: &str) -> Vec<String> {
    let mut rows = vec![format!("{USAGE};{more}"); count];
    rows.push(format!("{USAGE};Tags={{\"a\":\"b\"}}"));
    let shown = |found: &sources::billing::quality::BasisQuality| {
        let basis = found.basis.map_or("all", CostBasis::word);
        format!("{} {basis} {} {}", found.code, if found.usable { "warned" } else { "withheld" }, found.rows)
    };
    period(&rows).quality.iter().map(shown).collect()
}

#[test]
fn nothing_is_found_in_plain_usage() {
    assert_eq!(findings(100, "Tags={\"a\":\"b\"}"), Vec::<String>::new());
}

#[test]
fn a_rounded_cost_is_found_on_enough_rows() {
    let cents = "BilledCost=10.4;ListCost=12.3;ListUnitPrice=12.3";
    assert_eq!(findings(49, cents), Vec::<String>::new());
    assert_eq!(findings(50, cents), ["quality::rounded effective withheld 50"]);
    assert_eq!(findings(50, &format!("{cents};EffectiveCost=10.4")), Vec::<String>::new());
    let list = "BilledCost=10.4;EffectiveCost=10.4";
    assert_eq!(findings(50, list), ["quality::rounded list withheld 50"]);
    // Usage under a commitment is billed and amortised differently, so it tells nothing of rounding.
    assert_eq!(findings(50, &format!("{cents};CommitmentDiscountId=sp")), Vec::<String>::new());
}

#[test]
fn a_commitments_usage_without_public_price_withholds_the_list_basis() {
    let covered = "CommitmentDiscountId=sp;ListCost=0;ListUnitPrice=0";
    assert_eq!(findings(1, covered), ["quality::list_zero list withheld 1"]);
    assert_eq!(findings(1, &format!("{covered};PricingQuantity=0;EffectiveCost=0")), Vec::<String>::new());
    assert_eq!(findings(1, "ListCost=0;ListUnitPrice=0"), Vec::<String>::new());
}

#[test]
fn the_effective_basis_is_withheld_where_it_is_not_told() {
    assert_eq!(findings(2, "EffectiveCost="), ["bill::effective_unknown effective withheld 2"]);
    let purchase = "ChargeCategory=Purchase;CommitmentDiscountId=sp";
    assert_eq!(findings(1, purchase), ["quality::effective_on_purchase effective withheld 1"]);
    assert_eq!(findings(1, &format!("{purchase};EffectiveCost=0")), Vec::<String>::new());
}

#[test]
fn a_list_cost_that_is_not_price_times_quantity_is_said() {
    assert_eq!(findings(1, "PricingQuantity=10000"), ["quality::list_price list warned 1"]);
    assert_eq!(findings(1, "PricingQuantity=1.0005"), Vec::<String>::new());
    assert_eq!(findings(1, "ListCost=0.00001;ListUnitPrice=0.00005"), Vec::<String>::new());
}

#[test]
fn odd_rows_and_missing_columns_are_said() {
    assert_eq!(findings(3, "PricingQuantity=-1;ListCost=-12"), ["quality::negative_usage all warned 3"]);
    assert_eq!(findings(2, "RegionId=NULL"), ["quality::null_text all warned 2"]);
    let rows = vec![format!("{USAGE};RegionId="); 50];
    let period = period(&rows);
    let columns: Vec<&str> = period.quality.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(columns, ["`region_id` is null in all 50 rows", "`tags` is null in all 50 rows"]);
    assert_eq!((period.null_rates["region_id"], period.null_rates["sku_id"]), (50, 0));
    assert!(!period.null_rates.contains_key("billed_cost"));
    let unpriced = vec![format!("{USAGE};ListCost=;Tags={{\"a\":\"b\"}}"); 50];
    assert!(!self::period(&unpriced).is_usable(CostBasis::List));
    assert!(self::period(&unpriced[..49]).is_usable(CostBasis::List));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_does_not_depend_on_the_order(picks in proptest::collection::vec(0_usize..5, 1..80)) {
        let kinds = [
            "BilledCost=10.4", "EffectiveCost=", "CommitmentDiscountId=sp;ListCost=0", "PricingQuantity=-1", "Tags=NULL",
        ];
        let rows: Vec<String> = picks.iter().map(|pick| format!("{USAGE};{}", kinds[*pick])).collect();
        let turned: Vec<String> = rows.iter().rev().cloned().collect();
        prop_assert_eq!(period(&rows), period(&turned));
    }
}
