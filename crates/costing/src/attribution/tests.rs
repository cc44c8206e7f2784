//! The laws of the split: parts sum to the whole, time granularity and order do not matter, shares are as held.

use ledger::{Evidence, Rule, ShareDriver};
use proptest::prelude::*;

use super::*;

fn attempt(index: u32) -> Landing {
    Landing::of(Place::Attempt { index, rule: Rule::ResourceTime, evidence: Evidence::Modelled })
}

fn holder(index: u32, interval: (i64, i64), weight: u64, capacity: Option<u64>) -> Holder {
    Holder {
        start: interval.0,
        end: interval.1,
        landing: attempt(index),
        experiment: index % 2,
        weight,
        capacity,
        driver: ShareDriver::Gpu,
    }
}

fn split(
    timeline: &Timeline,
    interval: (i64, i64),
    amount: i128,
) -> std::collections::BTreeMap<Landing, i128> {
    let claim = Claim::Shared { timeline, rest: Landing::IDLE };
    let all = divide(&claim, interval, amount);
    let mut parts: std::collections::BTreeMap<Landing, i128> = all.iter().copied().collect();
    assert_eq!(parts.len(), all.len(), "a place is told twice");
    parts.retain(|_, part| *part != 0);
    parts
}

#[test]
fn two_runs_on_one_box_share_it_and_do_not_each_get_it() {
    let timeline = Timeline::of(&[holder(1, (10, 11), 8, Some(8)), holder(2, (10, 11), 8, Some(8))]);
    let parts = split(&timeline, (0, 24), 240);
    assert_eq!(parts[&attempt(1)], 5);
    assert_eq!(parts[&attempt(2)], 5);
    assert_eq!(parts[&Landing::IDLE], 230);
}

#[test]
fn one_gpu_of_eight_is_an_eighth() {
    let timeline = Timeline::of(&[holder(1, (0, 24), 1, Some(8))]);
    let parts = split(&timeline, (0, 24), 240);
    assert_eq!(parts[&attempt(1)], 30);
    assert_eq!(parts[&Landing::IDLE], 210);
}

#[test]
fn a_node_of_unknown_size_is_all_its_holders() {
    let timeline = Timeline::of(&[holder(1, (0, 10), 2, None), holder(2, (5, 10), 6, None)]);
    let parts = split(&timeline, (0, 10), 80);
    assert_eq!(parts[&attempt(1)], 40 + 10);
    assert_eq!(parts[&attempt(2)], 30);
}

#[test]
fn a_window_of_which_half_is_billed_is_held_whole_by_a_run_of_that_half() {
    let mut timeline = Timeline::of(&[holder(1, (30, 60), 8, Some(8))]);
    assert_eq!(split(&timeline, (0, 60), 30), [(attempt(1), 15), (Landing::IDLE, 15)].into());
    timeline.set_running(vec![RunningTime { start: 0, end: 60, micros: 30 }]);
    assert_eq!(split(&timeline, (0, 60), 30), [(attempt(1), 30)].into());
    timeline.set_running(vec![RunningTime { start: 0, end: 60, micros: 40 }]);
    assert_eq!(split(&timeline, (0, 60), 40), [(attempt(1), 30), (Landing::IDLE, 10)].into());
}

#[test]
fn a_split_by_time_under_an_experiments_tag_is_modelled() {
    let timeline = Timeline::of(&[holder(1, (0, 30), 8, Some(8)), holder(3, (30, 60), 8, Some(8))]);
    let rest = Landing::of(Place::Experiment { index: 1, rule: Rule::Tag, evidence: Evidence::Billed });
    let claim = Claim::SharedWithin { timeline: &timeline, experiment: 1, rest };
    let mut evidence = Vec::new();
    for interval in [(0, 60), (0, 30)] {
        for (landing, _) in divide(&claim, interval, 60) {
            match landing.place() {
                Place::Attempt { evidence: found, .. } => evidence.push(found),
                place => panic!("{place:?}"),
            }
        }
    }
    assert_eq!(evidence, [Evidence::Modelled, Evidence::Modelled, Evidence::Billed]);
}

#[test]
fn an_instant_charge_goes_to_the_holder_of_that_instant() {
    let timeline = Timeline::of(&[holder(1, (0, 10), 8, Some(8)), holder(2, (10, 20), 8, Some(8))]);
    assert_eq!(split(&timeline, (10, 10), 7), [(attempt(2), 7)].into());
    assert_eq!(split(&timeline, (20, 20), 7), [(Landing::IDLE, 7)].into());
}

#[test]
fn a_job_without_accelerators_has_no_share_of_an_accelerator_node() {
    let neighbour = Holder { driver: ShareDriver::Cpu, ..holder(2, (0, 10), 64, Some(96)) };
    let timeline = Timeline::of(&[holder(1, (0, 10), 8, Some(8)), neighbour]);
    assert_eq!(split(&timeline, (0, 10), 100), [(attempt(1), 100)].into());
}

#[test]
fn provider_split_rows_replace_the_join_where_they_tell() {
    let joined = Timeline::of(&[holder(1, (0, 10), 8, Some(8))]);
    let told = Timeline::of(&[holder(2, (4, 6), 3, None), holder(3, (4, 6), 1, None)]);
    let parts = split(&joined.overridden_by(&told), (0, 10), 100);
    assert_eq!(parts, [(attempt(1), 80), (attempt(2), 15), (attempt(3), 5)].into());
}

fn holders() -> impl Strategy<Value = Vec<Holder>> {
    let one = (0_u32..5, 0_i64..100, 0_i64..60, 0_u64..10, proptest::option::of(1_u64..12));
    proptest::collection::vec(one, 0..12).prop_map(|all| {
        all.into_iter()
            .map(|(i, start, length, weight, cap)| holder(i, (start, start + length), weight, cap))
            .collect()
    })
}

proptest! {
    #[test]
    fn parts_sum_to_the_charge(
        holders in holders(), start in 0_i64..120, length in 0_i64..80, amount in -1_000_000_000_i128..1_000_000_000,
    ) {
        let parts = split(&Timeline::of(&holders), (start, start + length), amount);
        prop_assert_eq!(parts.values().sum::<i128>(), amount);
    }

    #[test]
    fn a_split_in_two_is_the_split(
        holders in holders(), start in 0_i64..120, length in 0_i64..80, amount in -1_000_000_000_i128..1_000_000_000,
    ) {
        let timeline = Timeline::of(&holders);
        let split = Split::of(&Claim::Shared { timeline: &timeline, rest: Landing::IDLE }, (start, start + length));
        if let Some((first, second)) = split.in_two(amount) {
            let mut scratch = Scratch::default();
            prop_assert_eq!(split.apply(amount, &mut scratch), [first, second]);
        }
    }

    #[test]
    fn a_claim_of_one_experiment_keeps_the_whole_charge_there(
        holders in holders(), start in 0_i64..120, length in 0_i64..80, amount in -1_000_000_i128..1_000_000,
    ) {
        let timeline = Timeline::of(&holders);
        let rest = Landing::of(Place::Experiment { index: 1, rule: Rule::Tag, evidence: Evidence::Billed });
        let claim = Claim::SharedWithin { timeline: &timeline, experiment: 1, rest };
        let mut total = 0;
        for (landing, part) in divide(&claim, (start, start + length), amount) {
            total += part;
            if let Place::Attempt { index, rule, .. } = landing.place() {
                assert!(part == 0 || (index % 2 == 1 && rule == Rule::Tag));
            } else {
                assert_eq!(landing, rest);
            }
        }
        prop_assert_eq!(total, amount);
    }

    #[test]
    fn the_order_of_holders_does_not_matter(holders in holders(), seed in any::<u64>()) {
        let mut shuffled = holders.clone();
        shuffled.sort_by_key(|h| (h.start.cast_unsigned() ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ h.weight);
        prop_assert_eq!(Timeline::of(&shuffled), Timeline::of(&holders));
    }

    #[test]
    fn hourly_and_daily_rows_give_the_same_to_within_a_unit_a_row(holders in holders(), amount in 0_i128..1_000_000_000) {
        // One row of twenty hours against twenty rows of one hour, at the same price.
        let timeline = Timeline::of(&holders);
        let whole = split(&timeline, (20, 40), amount * 20);
        let mut hourly = std::collections::BTreeMap::new();
        for hour in 20..40 {
            for (landing, part) in split(&timeline, (hour, hour + 1), amount) {
                *hourly.entry(landing).or_insert(0) += part;
            }
        }
        for landing in whole.keys().chain(hourly.keys()) {
            let off = whole.get(landing).unwrap_or(&0) - hourly.get(landing).unwrap_or(&0);
            prop_assert!(off.abs() <= 20 * 7, "{landing:?} is off by {off}");
        }
    }

    #[test]
    fn a_window_and_its_split_hold_for_every_interval_inside_its_steady_time(
        holders in holders(), intervals in proptest::collection::vec((0_i64..120, 0_i64..40), 1..20),
    ) {
        let timeline = Timeline::of(&holders);
        let claim = Claim::Shared { timeline: &timeline, rest: Landing::IDLE };
        let (mut window, mut steady, mut split) = (Window::NONE, (i64::MAX, i64::MIN), Split::default());
        for (start, length) in intervals {
            let interval = (start, start + length);
            if length == 0 || interval.0 < steady.0 || interval.1 > steady.1 {
                window = split.make(&claim, window, interval);
                steady = timeline.steady(window, interval);
            }
            let expected = timeline.overlapping(interval.0, interval.1);
            prop_assert_eq!(timeline.segments_of(window), expected);
            prop_assert_eq!(&split, &Split::of(&claim, interval));
        }
    }
}
