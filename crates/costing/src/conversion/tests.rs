//! Which rate a day takes, and that what is converted adds up.

use ledger::{Account, Evidence, ResourceKind, Rule, Step};
use money::Amount;
use proptest::prelude::*;

use super::*;

fn currency(code: &str) -> Currency {
    code.parse().unwrap()
}

fn rate(day: i32, from: &str, to: &str, rate: &str) -> DatedRate {
    DatedRate { day: Day(day), from: currency(from), to: currency(to), rate: rate.parse().ok() }
}

/// Rates of the euro on days 10, 11 and 14, one of them unusable.
fn table() -> RateTable {
    let euro = [(10, "USD", "1.08"), (10, "JPY", "160"), (11, "USD", "1.09"), (14, "USD", "no rate")];
    let rates = euro.map(|(day, to, text)| rate(day, "EUR", to, text));
    RateTable::new(Some(currency("EUR")), rates)
}

fn told(from: &str, to: &str, day: i32) -> String {
    match table().rate(currency(from), currency(to), Day(day)) {
        Ok(rate) => format!("{} of {}", rate.exchange, rate.published.0),
        Err(NoRate::Unusable(day)) => format!("unusable on {}", day.0),
        Err(NoRate::NotPublished(last)) => format!("none, last {:?}", last.map(|day| day.0)),
    }
}

#[test]
fn a_day_takes_its_own_rate_or_the_last_one_before_it() {
    assert_eq!(told("EUR", "USD", 10), "× 1.08 of 10");
    assert_eq!(told("EUR", "USD", 11), "× 1.09 of 11");
    assert_eq!(told("EUR", "USD", 13), "× 1.09 of 11");
    assert_eq!(told("EUR", "USD", 9), "none, last None");
}

#[test]
fn a_rate_is_taken_for_a_week_and_not_for_longer() {
    assert_eq!(told("EUR", "JPY", 17), "× 160 of 10");
    assert_eq!(told("EUR", "JPY", 18), "none, last Some(10)");
}

#[test]
fn a_rate_that_cannot_be_used_is_not_passed_over_for_an_older_one() {
    assert_eq!(told("EUR", "USD", 14), "unusable on 14");
    assert_eq!(told("EUR", "USD", 15), "unusable on 14");
}

#[test]
fn a_pair_is_also_had_the_other_way_round_and_by_way_of_the_base() {
    assert_eq!(told("USD", "EUR", 11), "÷ 1.09 of 11");
    assert_eq!(told("USD", "JPY", 10), "× 160 ÷ 1.08 of 10");
    // Both rates of a cross are of one day.
    assert_eq!(told("JPY", "USD", 11), "× 1.08 ÷ 160 of 10");
    assert_eq!(told("USD", "GBP", 10), "none, last None");
    let without_base = RateTable::new(None, [rate(1, "EUR", "USD", "1.08"), rate(1, "EUR", "JPY", "160")]);
    assert_eq!(
        without_base.rate(currency("USD"), currency("JPY"), Day(1)),
        Err(NoRate::NotPublished(None)),
        "two others are exchanged by way of a base only"
    );
}

fn posting(step: Step, account: Account, units: i128) -> Posting {
    let amount = Amount::from_units(units).unwrap();
    Posting {
        step,
        account,
        attempt: None,
        experiment: None,
        rule: Rule::None,
        evidence: Evidence::Billed,
        reason: String::new(),
        resource_kind: ResourceKind::Compute,
        service_name: String::new(),
        sub_account_id: String::new(),
        line_type: String::new(),
        usage_day: Some(Day(10)),
        currency: currency("EUR"),
        billed_cost: amount,
        list_cost: Amount::ZERO,
        effective_cost: amount,
        marginal_cost: Amount::ZERO,
        charges: 1,
        unpriced: 0,
    }
}

#[test]
fn money_that_came_and_went_on_leaves_nothing_behind_in_another_currency() {
    let thirds = [1, 1, 1].map(|units| posting(Step::Attribution, Account::Unattributed, -units));
    let entered = posting(Step::Intake, Account::Unattributed, 3);
    let by_third = Exchange::Over("2".parse().unwrap());
    let one_by_one = thirds.iter().chain([&entered]).map(|posting| by_third.of(posting.billed_cost).unwrap());
    assert!(!Amount::sum(one_by_one).unwrap().is_zero(), "posting by posting a rest would stay");
    let rest = resting(thirds.into_iter().chain([entered]).collect()).unwrap();
    assert_eq!(rest.len(), 1);
    assert!(is_nothing(&rest[0]));
    assert_eq!(rest[0].charges, 4);
}

#[test]
fn every_cost_of_a_posting_is_converted_and_nothing_else_of_it_changes() {
    let amount = |units| Amount::from_units(units).unwrap();
    let of = |code: &str, [billed_cost, list_cost, effective_cost, marginal_cost]: [Amount; 4]| Posting {
        currency: currency(code),
        billed_cost,
        list_cost,
        effective_cost,
        marginal_cost,
        unpriced: 2,
        ..posting(Step::Attribution, Account::Idle, 0)
    };
    let euros = of("EUR", [1, 2, 3, 4].map(amount));
    let dollars = converted(euros, currency("USD"), Exchange::Times("10".parse().unwrap())).unwrap();
    assert_eq!(dollars, of("USD", [10, 20, 30, 40].map(amount)));
}

proptest! {
    #[test]
    fn what_rests_is_what_was_posted_and_its_order_does_not_matter(
        parts in proptest::collection::vec((0_usize..Account::ALL.len(), -1_000_000_i128..1_000_000), 1..30),
    ) {
        let made: Vec<Posting> =
            parts.iter().map(|(account, units)| posting(Step::Intake, Account::ALL[*account], *units)).collect();
        let rest = resting(made.clone()).unwrap();
        let reversed = resting(made.iter().rev().cloned().collect()).unwrap();
        prop_assert_eq!(&rest, &reversed);
        let sum = |all: &[Posting]| Amount::sum(all.iter().map(|posting| posting.billed_cost)).unwrap();
        prop_assert_eq!(sum(&rest), sum(&made));
        let accounts: Vec<Account> = rest.iter().map(|posting| posting.account).collect();
        let mut once = accounts.clone();
        once.dedup();
        prop_assert_eq!(accounts, once, "one posting a place");
    }

    #[test]
    fn parts_that_are_converted_sum_to_the_figure_however_they_are_cut(
        units in proptest::collection::vec(-1_i128 << 80..1 << 80, 1..20), cut in 0_usize..20,
        times in 1_u64..2_000_000, over in 1_u64..2_000_000,
    ) {
        let rate = |digits: u64| format!("{digits}e-4").parse::<Rate>().unwrap();
        let exchange = Exchange::Cross { times: rate(times), over: rate(over) };
        let to = currency("USD");
        let made: Vec<Amount> = units
            .iter()
            .map(|units| converted(posting(Step::Intake, Account::Idle, *units), to, exchange).unwrap().billed_cost)
            .collect();
        let cut = cut.min(made.len());
        let (left, right) = made.split_at(cut);
        let halves = Amount::sum([left, right].map(|half| Amount::sum(half.iter().copied()).unwrap())).unwrap();
        let whole = Amount::sum(made.iter().copied()).unwrap();
        prop_assert_eq!(halves, whole);
        // And the sum is off the converted sum by at most half a unit for each part.
        let at_once = exchange.of(Amount::sum(units.iter().map(|u| Amount::from_units(*u).unwrap())).unwrap()).unwrap();
        let off = whole.checked_sub(at_once).unwrap().units().unsigned_abs();
        prop_assert!(off <= units.len() as u128, "off by {}", off);
    }

    #[test]
    fn the_rate_of_a_pair_and_of_the_pair_the_other_way_round_undo_each_other(
        units in 0_i128..1 << 80, digits in 1_000_u64..100_000,
    ) {
        let rate: Rate = format!("{digits}e-4").parse().unwrap();
        let given = Amount::from_units(units).unwrap();
        let there = Exchange::Times(rate).of(given).unwrap();
        let back = Exchange::Over(rate).of(there).unwrap();
        // Each way rounds once; the way back divides the first rounding by the rate.
        let off = back.checked_sub(given).unwrap().units().unsigned_abs();
        prop_assert!(off <= 1 + 5_000 / u128::from(digits), "off by {}", off);
    }
}
