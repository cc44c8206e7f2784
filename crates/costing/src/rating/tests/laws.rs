//! The laws of rating, for any use.

use super::*;

/// Runs of one machine in order, apart from each other: gaps and lengths in seconds.
fn runs() -> impl Strategy<Value = Vec<(i64, i64)>> {
    proptest::collection::vec((1_i64..5_000, 1_i64..20_000), 1..6).prop_map(|steps| {
        let mut at = 0;
        let run = |(gap, length): (i64, i64)| {
            let start = at + gap;
            at = start + length;
            (start, at)
        };
        steps.into_iter().map(run).collect()
    })
}

fn holders() -> impl Strategy<Value = Vec<Holder>> {
    let one = (0_u32..4, 0_i64..60_000, 1_i64..60_000, 1_u64..8)
        .prop_map(|(index, start, length, weight)| holder(index, (start, start + length), (weight, 8)));
    proptest::collection::vec(one, 0..6)
}

fn prices() -> Vec<PriceRow> {
    vec![spot("9.123456789", -10), spot("7.77", 4_321), spot("11.000000000000000001", 30_000)]
}

proptest! {
    #[test]
    fn the_shares_of_every_line_sum_to_it_and_the_lines_to_the_total(
        runs in runs(), holders in holders(), gib in 1_u64..5_000,
    ) {
        let book = book([prices(), vec![gp3()]].concat());
        let held = Machine { holders: holders.clone(), ..machine(PurchaseOption::Spot, &runs) };
        let disk = Volume { holders, ..volume(gib, span(0, 90 * 86_400)) };
        let estimate = rate(&book, &[held], &[disk]);
        let mut sum = Amount::ZERO;
        for line in &estimate.lines {
            let Outcome::Priced { amount, shares, .. } = &line.outcome else { panic!("{line:?}") };
            prop_assert_eq!(Amount::sum(shares.iter().map(|(_, share)| *share)).unwrap(), *amount);
            sum = sum.checked_add(*amount).unwrap();
        }
        prop_assert_eq!(estimate.totals().unwrap().into_values().collect::<Vec<_>>(), [sum]);
        prop_assert_eq!(Amount::sum(estimate.by_payer().unwrap().into_values()).unwrap(), sum);
    }

    #[test]
    fn the_order_and_the_cuts_of_the_states_do_not_matter(runs in runs(), cut in 10_i64..990, turn in 0_usize..6) {
        let book = book(prices());
        let whole = machine(PurchaseOption::Spot, &runs);
        let mut cut_up = whole.clone();
        cut_up.stays = whole
            .stays
            .iter()
            .flat_map(|stay| {
                let at = Timestamp(stay.interval.start.0 + stay.interval.micros() / 1_000 * cut);
                let part = |start, end| Stay { interval: Interval { start, end }, ..*stay };
                [part(at, stay.interval.end), part(stay.interval.start, at)]
            })
            .collect();
        let length = cut_up.stays.len();
        cut_up.stays.rotate_left(turn % length);
        let mut other = machine(PurchaseOption::Spot, &[(7, 70)]);
        other.resource_id = "i-0".to_owned();
        let forwards = rate(&book, &[whole, other.clone()], &[]);
        let backwards = rate(&book, &[other, cut_up], &[]);
        prop_assert_eq!(forwards, backwards);
    }

    #[test]
    fn cutting_the_time_of_a_volume_changes_at_most_a_unit_a_cut(gib in 1_u64..100_000, cut in 1_i64..90 * 86_400) {
        let book = book(vec![gp3()]);
        let total = |estimate: Estimate<'_>| estimate.totals().unwrap().into_values().next().unwrap();
        let end = 91 * 86_400;
        let whole = total(rate(&book, &[], &[volume(gib, span(0, end))]));
        let parts = total(rate(&book, &[], &[volume(gib, span(0, cut)), volume(gib, span(cut, end))]));
        prop_assert!((whole.units() - parts.units()).abs() <= 1);
    }

    #[test]
    fn a_start_bills_its_minimum_once_and_its_time_exactly(runs in runs()) {
        let book = book(vec![on_demand("box", "3600")]);
        let estimate = rate(&book, &[machine(PurchaseOption::OnDemand, &runs)], &[]);
        let billed: i64 = runs.iter().map(|(start, end)| (end - start).max(60)).sum();
        prop_assert_eq!(usd(&estimate), billed.to_string());
        let minimums = estimate.lines.iter().filter(|line| line.rule == RatingRule::MinimumCharge).count();
        prop_assert_eq!(minimums, runs.iter().filter(|(start, end)| end - start < 60).count());
    }
}
