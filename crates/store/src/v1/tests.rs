//! Every record reads back as it was stored, and an unknown word is refused.

use ledger::{
    Artifact, ArtifactKind, AttemptView, Binding, BindingKind, Capacity, Cause, Chain, Checkpoint, Coverage,
    DeviceError, Direction, ExperimentId, ExperimentLink, Gauge, Grade, Initiator, Interruption, Interval,
    JoinMethod, LinkDecision, LinkMethod, Low, Metric, NodePeriod, Outcome, Phase, PhaseKind, QualityResult,
    RunRecord, RunState, ShareDriver, Snapshot, StoredBytes, Timestamp, Utilisation,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{decode, encode};

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    (0..all.len()).prop_map(|index| all[index])
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "\\PC{0,12}", Just("\u{0}\"\\\n😀".to_owned())]
}

fn instants(count: usize) -> impl Strategy<Value = Vec<Option<Timestamp>>> {
    vec(option::of(any::<i64>().prop_map(Timestamp)), count)
}

fn attempt() -> impl Strategy<Value = RunRecord> {
    let ends = (one_of(RunState::ALL), one_of(Outcome::ALL), one_of(Cause::ALL), one_of(Capacity::ALL));
    let numbers = (any::<Option<i32>>(), any::<Option<u32>>(), any::<Option<u64>>(), any::<Option<u64>>());
    let link = option::of((text(), one_of(LinkMethod::ALL)));
    let chain = option::of((text(), any::<bool>()));
    let texts = (vec(text(), 0..3), vec(text(), 0..3), text(), vec(option::of(text()), 10));
    (texts, instants(3), ends, numbers, link, chain).prop_map(
        |((aliases, cause_evidence, scheduler, mut texts), times, ends, numbers, link, chain)| {
            let mut next = || texts.pop().unwrap();
            RunRecord::Attempt(AttemptView {
                aliases,
                link: link.map(|(name, method)| ExperimentLink { experiment: ExperimentId(name), method }),
                chain: chain.map(|(job, resizing)| Chain { job, resizing }),
                scheduler,
                cluster: next(),
                namespace: next(),
                name: next(),
                user: next(),
                team: next(),
                queue: next(),
                submitted_at: times[0],
                started_at: times[1],
                ended_at: times[2],
                state: ends.0,
                outcome: ends.1,
                cause: ends.2,
                cause_evidence,
                exit_code: numbers.0,
                restart_index: numbers.1,
                gpu_count: numbers.2,
                gpu_kind: next(),
                elapsed_seconds: numbers.3,
                node_count: numbers.1,
                capacity: ends.3,
                model_version: next(),
                config_version: next(),
                dataset_snapshot: next(),
            })
        },
    )
}

fn binding() -> impl Strategy<Value = RunRecord> {
    let words = (one_of(BindingKind::ALL), one_of(ShareDriver::ALL), one_of(JoinMethod::ALL));
    (words, vec(option::of(text()), 3), any::<(i64, Option<i64>)>(), any::<(u64, Option<u64>, u64)>())
        .prop_map(|(words, texts, times, numbers)| {
            RunRecord::Binding(Binding {
                kind: words.0,
                resource_id: texts[0].clone(),
                node_name: texts[1].clone(),
                sku: texts[2].clone(),
                start: Timestamp(times.0),
                end: times.1.map(Timestamp),
                weight: numbers.0,
                capacity: numbers.1,
                driver: words.1,
                gpus: numbers.2,
                method: words.2,
            })
        })
}

fn moments() -> impl Strategy<Value = RunRecord> {
    let phase =
        (one_of(PhaseKind::ALL), one_of(Grade::ALL), any::<(i64, i64)>()).prop_map(|(kind, grade, at)| {
            let interval = Interval { start: Timestamp(at.0), end: Timestamp(at.1) };
            RunRecord::Phase(Phase { interval, kind, grade })
        });
    let checkpoint = (any::<(Option<u64>, bool, Option<u64>)>(), instants(2), option::of(text())).prop_map(
        |((step, durable, bytes), at, uri)| {
            let (started_at, completed_at) = (at[0], at[1]);
            RunRecord::Checkpoint(Checkpoint { step, started_at, completed_at, durable, bytes, uri })
        },
    );
    let interruption = (any::<i64>(), one_of(Initiator::ALL), text(), option::of(text())).prop_map(
        |(at, initiator, signal, resource_id)| {
            RunRecord::Interruption(Interruption { at: Timestamp(at), initiator, signal, resource_id })
        },
    );
    prop_oneof![phase, checkpoint, interruption]
}

fn products() -> impl Strategy<Value = RunRecord> {
    let told = (option::of(one_of(Direction::ALL)), option::of(text()), option::of(text()));
    let quality = (text(), proptest::num::f64::ANY, told, any::<(Option<u64>, i64, bool)>()).prop_map(
        |(metric, value, (direction, split, protocol), (step, at, is_final))| {
            let at = Timestamp(at);
            RunRecord::Quality(QualityResult {
                metric,
                value,
                direction,
                split,
                step,
                at,
                protocol,
                is_final,
            })
        },
    );
    let artifact = (one_of(ArtifactKind::ALL), text(), option::of(text()))
        .prop_map(|(kind, uri, version)| RunRecord::Artifact(Artifact { kind, uri, version }));
    let node = (vec(text(), 3), option::of(text()), any::<(i64, Option<i64>)>(), one_of(Capacity::ALL))
        .prop_map(|(texts, instance_type, times, capacity)| {
            RunRecord::Node(NodePeriod {
                cluster: texts[0].clone(),
                node_name: texts[1].clone(),
                start: Timestamp(times.0),
                end: times.1.map(Timestamp),
                instance_id: texts[2].clone(),
                instance_type,
                capacity,
            })
        });
    prop_oneof![quality, artifact, node]
}

fn gauge() -> impl Strategy<Value = Gauge> {
    let low = option::of(any::<(u32, u32, u32, u32, Option<u64>)>()).prop_map(|low| {
        low.map(|(seconds, longest, at_start, at_end, power)| Low {
            seconds,
            longest,
            at_start,
            at_end,
            power,
        })
    });
    let told = any::<(Option<u32>, Option<u64>, Option<u64>, Option<u64>)>();
    (one_of(Metric::ALL), told, low).prop_map(|(metric, (samples, mean, least, greatest), low)| Gauge {
        metric,
        samples,
        mean,
        least,
        greatest,
        low,
    })
}

fn usage() -> impl Strategy<Value = RunRecord> {
    let coverage = option::of(any::<(u32, u32, u32)>());
    let names = (text(), option::of(text()), option::of(text()));
    let told = (names, any::<(i64, i64)>(), coverage, vec(gauge(), 0..3), vec(any::<(i64, u32)>(), 0..3));
    let utilisation = told.prop_map(|((device, host, model), (start, end), coverage, gauges, errors)| {
        RunRecord::Utilisation(Utilisation {
            device,
            host,
            model,
            window: Interval { start: Timestamp(start), end: Timestamp(end) },
            coverage: coverage.map(|(step_seconds, expected, seen)| Coverage {
                step_seconds,
                expected,
                seen,
            }),
            gauges,
            errors: errors.into_iter().map(|(at, code)| DeviceError { at: Timestamp(at), code }).collect(),
        })
    });
    let numbers = any::<(bool, u64, u64, i64)>();
    let stored =
        (text(), text(), option::of(text()), numbers).prop_map(|(bucket, prefix, class, numbers)| {
            let (is_current, objects, bytes, at) = numbers;
            let at = Timestamp(at);
            RunRecord::Stored(StoredBytes { bucket, prefix, class, is_current, objects, bytes, at })
        });
    prop_oneof![utilisation, stored]
}

/// What is not of one attempt, or not of a source.
fn decisions() -> impl Strategy<Value = RunRecord> {
    let link = (any::<i64>(), option::of(text()), text(), option::of(text())).prop_map(
        |(at, experiment, by, reason)| {
            let experiment = experiment.map(ExperimentId);
            RunRecord::Link(LinkDecision { at: Timestamp(at), experiment, by, reason })
        },
    );
    let snapshot = (text(), any::<i64>(), vec(text(), 0..3)).prop_map(|(scope, taken_at, alive)| {
        RunRecord::Snapshot(Snapshot { scope, taken_at: Timestamp(taken_at), alive })
    });
    prop_oneof![link, snapshot]
}

proptest! {
    #[test]
    fn every_record_reads_back_as_it_was_stored(
        record in prop_oneof![attempt(), binding(), moments(), products(), usage(), decisions()]
    ) {
        let text = encode(&record).unwrap();
        let read = decode(&text).unwrap();
        prop_assert_eq!(encode(&read).unwrap(), text);
        // A value that is not a number is not equal to itself; its text is.
        let is_nan = matches!(&record, RunRecord::Quality(quality) if quality.value.is_nan());
        prop_assert!(is_nan || read == record);
    }
}

#[test]
fn values_that_are_no_numbers_are_kept_as_words() {
    for (value, word) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf"), (0.1, "0.1")]
    {
        let quality = QualityResult {
            metric: "loss".to_owned(),
            value,
            direction: Some(Direction::Minimise),
            split: None,
            step: Some(10),
            at: Timestamp(1),
            protocol: None,
            is_final: false,
        };
        assert_eq!(
            encode(&RunRecord::Quality(quality)).unwrap(),
            format!(
                r#"{{"quality":{{"metric":"loss","value":"{word}","direction":"minimise","step":10,"at":1,"is_final":false}}}}"#
            )
        );
    }
}

#[test]
fn what_says_nothing_new_has_the_text_that_it_always_had() {
    let interruption = |resource_id| {
        let signal = "PREEMPTED".to_owned();
        let record = Interruption { at: Timestamp(1), initiator: Initiator::Scheduler, signal, resource_id };
        encode(&RunRecord::Interruption(record)).unwrap()
    };
    assert_eq!(
        interruption(None),
        r#"{"interruption":{"at":1,"initiator":"scheduler","signal":"PREEMPTED"}}"#
    );
    assert_eq!(
        interruption(Some("i-1".to_owned())),
        r#"{"interruption":{"at":1,"initiator":"scheduler","signal":"PREEMPTED","resource_id":"i-1"}}"#
    );
    let view = AttemptView::of_scheduler("slurm".to_owned());
    assert!(!encode(&RunRecord::Attempt(view)).unwrap().contains("namespace"));
}

#[test]
fn what_is_not_known_is_refused_and_never_a_default() {
    let check = |text: &str, code: &str| assert_eq!(decode(text).unwrap_err().code(), code, "for {text}");
    check(r#"{"phase":{"start":1,"end":2,"kind":"train","grade":"guessed"}}"#, "store::unknown_word");
    check(r#"{"phase":{"start":1,"end":2,"kind":"nap","grade":"measured"}}"#, "store::unknown_word");
    check(r#"{"phase":{"start":1,"end":2,"kind":"train"}}"#, "store::record");
    check(r#"{"phase":{"start":1,"end":2,"kind":"train","grade":"measured","mood":1}}"#, "store::record");
    check(r#"{"mood":{}}"#, "store::record");
    check("", "store::record");
}
