//! Generated bills: engine = oracle, and neither the split into files nor the order of rows matters.

use ledger::{Attempt, LineClass, ResourceKind};
use proptest::prelude::*;
use testkit::build::{HOUR, JULY, TestCharge, attempt, batch, holding};
use testkit::oracle;

use crate::{run, sums, write};

const MINUTE: i64 = HOUR / 60;

fn attempts() -> impl Strategy<Value = Vec<Attempt>> {
    let held = (0_usize..4, 0_i64..600, 1_i64..400, 1_u64..9, 1_u64..9);
    let one = (0_usize..3, proptest::collection::vec(held, 0..4));
    proptest::collection::vec(one, 0..6).prop_map(|all| {
        let made = all.into_iter().enumerate().map(|(index, (experiment, held))| {
            let mut made = attempt(&format!("test:{index}"), &format!("exp-{experiment}"), (0, 10));
            made.bindings = held
                .into_iter()
                .map(|(resource, start, length, gpus, of)| {
                    let from = JULY + start * MINUTE;
                    holding(&format!("i-{resource}"), (from, from + length * MINUTE), gpus, of)
                })
                .collect();
            made
        });
        made.collect()
    })
}

fn tags() -> impl Strategy<Value = Vec<(String, String)>> {
    let one = prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec![("user_experiment_id".to_owned(), "exp-1".to_owned())]),
        1 => Just(vec![("user:Experiment".to_owned(), "exp-untold".to_owned())]),
        1 => Just(vec![("attempt_id".to_owned(), "test:0".to_owned()), ("team".to_owned(), "vision".to_owned())]),
    ];
    one
}

fn charges() -> impl Strategy<Value = Vec<TestCharge>> {
    let classes =
        prop_oneof![8 => Just(LineClass::Usage), 1 => Just(LineClass::Tax), 1 => Just(LineClass::Credit)];
    let cost = -(10_i128.pow(27))..10_i128.pow(27);
    let one = (
        proptest::option::of(0_usize..6),
        (0_i64..700, prop_oneof![Just(0_i64), Just(60), 1_i64..900]),
        classes,
        (0..ResourceKind::ALL.len(), tags()),
        (cost.clone(), proptest::option::of(cost.clone()), cost),
    );
    let charge =
        one.prop_map(|(resource, (start, length), class, (kind, tags), (billed, list, effective))| {
            TestCharge {
                resource: resource.map(|resource| format!("i-{resource}")),
                interval: (JULY + start * MINUTE, JULY + (start + length) * MINUTE),
                class,
                kind: ResourceKind::ALL[kind],
                tags,
                costs: [Some(billed), list, Some(effective), Some(billed / 3)],
            }
        });
    proptest::collection::vec(charge, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_is_the_oracle(charges in charges(), attempts in attempts()) {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "one.parquet", &batch(&charges));
        let (plan, attributed) = run(vec![file], &attempts);
        prop_assert_eq!(sums(&plan, &attributed, &attempts), oracle::attribute(&charges, &attempts));
        prop_assert_eq!(attributed.witness.rows, charges.len() as u64);
        let unpriced: u64 = charges.iter().filter(|charge| charge.costs[1].is_none()).count() as u64;
        prop_assert!(attributed.groups().map(|group| group.unpriced).sum::<u64>() >= unpriced);
    }

    #[test]
    fn splitting_the_bill_into_files_in_another_order_changes_nothing(
        charges in charges(), attempts in attempts(), at in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let whole = write(folder.path(), "whole.parquet", &batch(&charges));
        let cut = if charges.is_empty() { 0 } else { at.index(charges.len()) };
        let mut tail = charges[cut..].to_vec();
        tail.reverse();
        let parts = vec![
            write(folder.path(), "b.parquet", &batch(&tail)),
            write(folder.path(), "a.parquet", &batch(&charges[..cut])),
        ];
        let (plan, one) = run(vec![whole], &attempts);
        let mut reversed = attempts.clone();
        reversed.reverse();
        let (_, other) = run(parts, &reversed);
        prop_assert_eq!(sums(&plan, &one, &attempts), sums(&plan, &other, &attempts));
    }
}
