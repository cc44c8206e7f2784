//! Laws of the fold for any set of observations.

use ledger::{
    AttemptView, Checkpoint, Initiator, Interruption, LinkDecision, Outcome, Phase, PhaseKind, QualityResult,
    RunRecord, Snapshot, StoredBytes, Utilisation,
};
use proptest::prelude::*;

use super::*;
use crate::attempts::experiments;

fn any_view() -> impl Strategy<Value = AttemptView> {
    let times =
        (proptest::option::of(0_i64..60), proptest::option::of(0_i64..60), proptest::option::of(0_i64..60));
    let words = (0_usize..4, 0_usize..6, 0_usize..3, any::<bool>(), proptest::option::of(0_usize..4));
    (times, words, proptest::option::of(0_u64..9_000)).prop_map(|((submit, start, end), words, gpu_count)| {
        let (state, outcome, alias, resizing, link) = words;
        AttemptView {
            submitted_at: submit.map(at),
            started_at: start.map(at),
            ended_at: end.map(at),
            state: RunState::ALL[state],
            outcome: Outcome::ALL[outcome],
            aliases: match alias {
                0 => vec![format!("k{}", outcome % 4)],
                1 => Vec::new(),
                _ => vec!["job_id=7".to_owned()],
            },
            chain: (alias == 1).then(|| Chain { job: "job".to_owned(), resizing }),
            link: link.and_then(|method| linked("e", LinkMethod::ALL[method])),
            gpu_count,
            ..view()
        }
    })
}

fn any_record() -> impl Strategy<Value = RunRecord> {
    let span = || (0_i64..60, proptest::option::of(0_i64..30), 0_usize..3);
    let node_name = |n: usize| format!("n{n}");
    prop_oneof![
        4 => any_view().prop_map(RunRecord::Attempt),
        2 => span().prop_map(move |(start, length, n)| {
            RunRecord::Binding(node_binding(&node_name(n), start, length.map(|l| start + l), 1_000))
        }),
        1 => span().prop_map(move |(start, length, n)| {
            RunRecord::Node(period(&node_name(n), start, length.map(|l| start + l), &format!("i-{start}")))
        }),
        1 => span().prop_map(|(start, length, n)| RunRecord::Phase(Phase {
            interval: ledger::Interval { start: at(start), end: at(start + length.unwrap_or(1)) },
            kind: PhaseKind::ALL[n],
            grade: ledger::Grade::Measured,
        })),
        1 => span().prop_map(|(start, length, _)| RunRecord::Checkpoint(Checkpoint {
            step: Some(1),
            started_at: some(start),
            completed_at: length.map(|l| at(start + l)),
            durable: true,
            bytes: None,
            uri: None,
        })),
        1 => (0_i64..60, 0_usize..4).prop_map(|(when, which)| RunRecord::Quality(QualityResult {
            metric: "loss".to_owned(),
            value: ["0.5", "-0", "NaN", "-inf"][which].parse().unwrap(),
            direction: None,
            split: None,
            step: None,
            at: at(when),
            protocol: None,
            is_final: false,
        })),
        1 => span().prop_map(|(start, length, n)| RunRecord::Utilisation(Utilisation {
            device: format!("d{n}"),
            host: None,
            model: None,
            window: ledger::Interval { start: at(start), end: at(start + length.unwrap_or(0)) },
            coverage: length.map(|l| ledger::Coverage {
                step_seconds: 1,
                expected: 30,
                seen: u32::try_from(l).unwrap(),
            }),
            gauges: Vec::new(),
            errors: Vec::new(),
        })),
        1 => (0_i64..9, 0_u64..3).prop_map(|(when, bytes)| RunRecord::Stored(StoredBytes {
            bucket: "b".to_owned(),
            prefix: format!("p{bytes}/"),
            class: None,
            is_current: true,
            objects: 1,
            bytes,
            at: at(when),
        })),
    ]
}

/// What is said of machines and clusters and not of one attempt, and what people decide.
fn any_other() -> impl Strategy<Value = Observation> {
    let interruption = (0_i64..60, 0_usize..3, 0_usize..60).prop_map(|(when, initiator, machine)| {
        let initiator = Initiator::ALL[initiator];
        let record = Interruption { at: at(when), initiator, signal: "taken".to_owned(), resource_id: None };
        says_at(&format!("instance:i-{machine}"), when, RunRecord::Interruption(record))
    });
    let holding = (0_usize..4, 0_usize..60, 0_i64..60, proptest::option::of(0_i64..30)).prop_map(
        |(key, machine, start, length)| {
            bound(&format!("k{key}"), instance(&format!("i-{machine}"), start, length.map(|l| start + l)))
        },
    );
    let decision = (0_usize..4, 0_i64..3, proptest::option::of(0_usize..2)).prop_map(|(key, when, to)| {
        let experiment = to.map(|to| ExperimentId(format!("by-hand-{to}")));
        let decision = LinkDecision { at: at(when), experiment, by: "ann".to_owned(), reason: None };
        says(&format!("k{key}"), RunRecord::Link(decision))
    });
    let snapshot = (0_i64..70, proptest::collection::vec(0_usize..4, 0..3)).prop_map(|(when, alive)| {
        let alive = alive.into_iter().map(|key| format!("k{key}")).collect();
        let record = Snapshot { scope: "k".to_owned(), taken_at: at(when), alive };
        let source = SourceId("s0".to_owned());
        Observation { source, ..says_at("snapshot:k", when, RunRecord::Snapshot(record)) }
    });
    prop_oneof![interruption, holding, decision, snapshot]
}

fn any_observations() -> impl Strategy<Value = Vec<Observation>> {
    (any_records(), proptest::collection::vec(any_other(), 0..8)).prop_map(|(mut all, more)| {
        all.extend(more);
        all
    })
}

fn any_records() -> impl Strategy<Value = Vec<Observation>> {
    let one = (0_usize..6, 0_usize..2, proptest::option::of(0_i64..70), any_record());
    let one = one.prop_map(|(key, source, modified, record)| Observation {
        source: SourceId(format!("s{source}")),
        key: ["k0", "k1", "k2", "k3", "slurm:a:7:0", "slurm:b:7:0"][key].to_owned(),
        modified_at: modified.map(at),
        record,
    });
    proptest::collection::vec(one, 0..24)
}

/// NaN is not equal to itself, so results are compared as text.
fn text(folded: &Folded) -> String {
    format!("{folded:#?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_order_duplication_and_split_give_the_same_attempts(
        (observations, shuffled) in any_observations()
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        repeat in 0_usize..24,
        cut in 0_usize..24,
    ) {
        let expect = text(&fold(&observations));
        prop_assert_eq!(&expect, &text(&fold(&shuffled)));
        let mut imported: Vec<Observation> = shuffled.iter().skip(cut).cloned().collect();
        imported.extend(shuffled.iter().take(cut).cloned());
        imported.extend(observations.iter().take(repeat).cloned());
        prop_assert_eq!(&expect, &text(&fold(&imported)));
    }

    #[test]
    fn ids_are_unique_and_every_attempt_has_one_place_in_one_experiment(observations in any_observations()) {
        let folded = fold(&observations);
        let mut ids: Vec<_> = folded.attempts.iter().map(|attempt| attempt.id).collect();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), folded.attempts.len());
        let placed: usize = experiments(&folded.attempts).iter().map(|experiment| experiment.attempts.len()).sum();
        prop_assert_eq!(placed, folded.attempts.len());
        for experiment in experiments(&folded.attempts) {
            for (index, id) in experiment.attempts.iter().enumerate() {
                let attempt = folded.attempts.iter().find(|attempt| attempt.id == *id).unwrap();
                prop_assert_eq!(usize::try_from(attempt.ordinal).unwrap(), index + 1);
            }
        }
    }

    #[test]
    fn every_interruption_of_a_machine_is_of_an_attempt_or_told_to_be_of_none(observations in any_observations()) {
        let folded = fold(&observations);
        let claimed = |one: &Interruption| {
            folded.attempts.iter().filter(|attempt| attempt.interruptions.contains(one)).count()
        };
        for observation in &observations {
            let RunRecord::Interruption(said) = &observation.record else { continue };
            let machine = observation.key.strip_prefix("instance:").unwrap().to_owned();
            let one = Interruption { resource_id: Some(machine), ..said.clone() };
            prop_assert_eq!(claimed(&one) == 0, folded.unclaimed.contains(&one), "{:?}", one);
        }
        let once = |attempt: &Attempt| attempt.interruptions.windows(2).all(|pair| pair[0] != pair[1]);
        prop_assert!(folded.attempts.iter().all(once));
    }

    #[test]
    fn phases_are_a_partition_of_every_attempt_s_time(observations in any_observations()) {
        for attempt in fold(&observations).attempts {
            let parts = &attempt.phases;
            prop_assert!(parts.windows(2).all(|pair| pair[0].interval.end == pair[1].interval.start));
            let first = attempt.submitted_at.min(attempt.started_at).or(attempt.submitted_at).or(attempt.started_at);
            if let (Some(first), Some(end)) = (first, attempt.ended_at) {
                let sum: i64 = parts.iter().map(|phase| phase.interval.micros()).sum();
                prop_assert_eq!(sum, (end.0 - first.0).max(0));
            }
        }
    }

    #[test]
    fn a_retry_with_a_later_key_changes_no_other_attempt(
        observations in any_observations(), end in 101_i64..200,
    ) {
        let before = fold(&observations);
        let mut more = observations;
        more.push(ran("retry", AttemptView { link: labelled("e"), ..ended(100, end, Outcome::Completed) }));
        let after = fold(&more);
        for attempt in &before.attempts {
            let same = after.attempts.iter().find(|other| other.id == attempt.id).unwrap();
            // A retry's place comes last unless an attempt of the experiment has no time at all.
            let timed = attempt.started_at.or(attempt.submitted_at).or(attempt.ended_at).is_some();
            let mut same = same.clone();
            if !timed {
                same.ordinal = attempt.ordinal;
            }
            prop_assert_eq!(format!("{attempt:#?}"), format!("{same:#?}"));
        }
    }

    #[test]
    fn bindings_of_a_node_and_its_instances_cover_the_same_time(
        start in 0_i64..60, length in 1_i64..60, periods in proptest::collection::vec((0_i64..90, 0_i64..40), 0..6),
    ) {
        let mut observations = vec![
            ran("k", ended(start, start + length, Outcome::Completed)),
            bound("k", node_binding("n", start, Some(start + length), 1_000)),
        ];
        for (from, up) in periods {
            let record = RunRecord::Node(period("n", from, Some(from + up), &format!("i-{from}")));
            observations.push(says("node:gpu:n", record));
        }
        let mut bindings = only(&observations).bindings;
        bindings.sort_by_key(|binding| binding.start);
        let mut at_second = start;
        for binding in bindings {
            prop_assert_eq!(binding.start, at(at_second));
            at_second = binding.end.unwrap().seconds();
        }
        prop_assert_eq!(at_second, start + length);
    }
}
