//! What is told of devices and of places in buckets, and whose it is.

use ledger::{
    Artifact, ArtifactKind, Checkpoint, Coverage, Gauge, Interval, Metric, StoredBytes, Utilisation,
};
use proptest::prelude::*;

use super::*;

fn busy(device: &str, (start, end): (i64, i64), seen: u32) -> Utilisation {
    let share = u64::from(seen) * 1_000;
    Utilisation {
        device: device.to_owned(),
        host: Some("n1".to_owned()),
        model: None,
        window: Interval { start: at(start), end: at(end) },
        coverage: Some(Coverage { step_seconds: 10, expected: 360, seen }),
        gauges: vec![Gauge { mean: Some(share), ..Gauge::of(Metric::GpuBusy) }],
        errors: Vec::new(),
    }
}

fn used(key: &str, told: Utilisation) -> Observation {
    says(key, RunRecord::Utilisation(told))
}

fn job(key: &str, (start, end): (i64, i64)) -> Observation {
    ran(key, ended(start, end, Outcome::Completed))
}

/// How many samples each attempt has of its devices, and how many windows are of nobody's.
fn whose(observations: &[Observation]) -> (Vec<(String, Vec<u32>)>, usize) {
    let folded = fold(observations);
    let seen = |told: &Utilisation| told.coverage.map_or(0, |coverage| coverage.seen);
    let of = |attempt: &Attempt| {
        (attempt.canonical_key.clone(), attempt.utilisation.iter().map(seen).collect::<Vec<u32>>())
    };
    (folded.attempts.iter().map(of).collect(), folded.devices.len())
}

fn owned(expect: &[(&str, &[u32])]) -> Vec<(String, Vec<u32>)> {
    expect.iter().map(|(key, seen)| ((*key).to_owned(), seen.to_vec())).collect()
}

#[test]
fn a_job_s_device_is_told_with_the_execution_that_held_it_then() {
    let first = job("slurm:gpu:42:100", (100, 3_700));
    let requeued = job("slurm:gpu:42:4000", (4_000, 7_600));
    let other = job("slurm:gpu:421:100", (100, 3_700));
    let told = [
        used("slurm:gpu:42", busy("d1", (0, 3_600), 5)),
        used("slurm:gpu:42", busy("d1", (3_600, 7_200), 7)),
        used("slurm:gpu:42", busy("d1", (90_000, 93_600), 9)),
    ];
    let all = [&[first, requeued, other][..], &told].concat();
    let expect: [(&str, &[u32]); 3] =
        [("slurm:gpu:421:100", &[]), ("slurm:gpu:42:100", &[5]), ("slurm:gpu:42:4000", &[7])];
    let (mut found, loose) = whose(&all);
    let mut expect = owned(&expect);
    found.sort();
    expect.sort();
    // The second hour is shared: the execution that had most of it has it. The last is of no execution.
    assert_eq!((found, loose), (expect, 1));
}

#[test]
fn a_pod_is_found_by_its_uid_or_its_name() {
    let named = AttemptView {
        aliases: vec!["ml/train-0".to_owned()],
        cluster: Some("c1".to_owned()),
        ..ended(0, 3_600, Outcome::Completed)
    };
    let of_set = ran("k8s:c1:js1:0", named);
    let alone = job("k8s:c1:u1:train:0", (0, 3_600));
    let told = [
        used("k8s:c1/ml/pod/train-0", busy("d1", (0, 3_600), 5)),
        used("k8s:c1:u1", busy("d2", (0, 3_600), 6)),
        used("k8s:c2/ml/pod/train-0", busy("d3", (0, 3_600), 7)),
        used("device:d4", busy("d4", (0, 3_600), 8)),
    ];
    let (found, loose) = whose(&[&[of_set, alone][..], &told].concat());
    assert_eq!(found, owned(&[("k8s:c1:js1:0", &[5]), ("k8s:c1:u1:train:0", &[6])]));
    assert_eq!(loose, 2, "another cluster's pod, and a device that nobody is said to have held");
}

// T24: four ranks of one node that each tell of its devices tell of them once.
#[test]
fn t24_a_device_counts_once_whoever_tells_of_it() {
    let ranks: Vec<Observation> = (0..4)
        .map(|rank| Observation {
            source: SourceId(format!("rank{rank}")),
            ..used("slurm:gpu:42", busy("d1", (0, 3_600), 5))
        })
        .collect();
    let all = [&[job("slurm:gpu:42:0", (0, 3_600))][..], &ranks].concat();
    assert_eq!(whose(&all), (owned(&[("slurm:gpu:42:0", &[5])]), 0));
}

#[test]
fn a_window_that_was_seen_in_part_gives_way_to_the_whole_of_it() {
    let attempt = job("slurm:gpu:42:0", (0, 7_200));
    let half = used("slurm:gpu:42", busy("d1", (0, 1_800), 180));
    let whole = used("slurm:gpu:42", busy("d1", (0, 3_600), 350));
    let next = used("slurm:gpu:42", busy("d1", (3_600, 7_200), 360));
    let (found, _) = whose(&[attempt.clone(), half.clone(), whole, next]);
    assert_eq!(found, owned(&[("slurm:gpu:42:0", &[350, 360])]));
    // A summary of a job without samples says less than samples of any part of it.
    let summary = Utilisation { coverage: None, ..busy("d1", (0, 7_200), 0) };
    assert_eq!(
        whose(&[attempt, half, used("slurm:gpu:42:0", summary)]).0,
        owned(&[("slurm:gpu:42:0", &[180])])
    );
}

fn in_bucket(uri: &str) -> Binding {
    Binding {
        kind: BindingKind::BucketPrefix,
        resource_id: Some(uri.to_owned()),
        node_name: None,
        driver: ShareDriver::Whole,
        weight: 1_000,
        gpus: 0,
        method: JoinMethod::Declared,
        ..node_binding("", 0, None, 0)
    }
}

fn listed(place: &str, step: u64, completed: Option<i64>) -> Observation {
    let checkpoint = Checkpoint {
        step: Some(step),
        started_at: None,
        completed_at: completed.map(at),
        durable: completed.is_some(),
        bytes: Some(7),
        uri: Some(format!("{place}/checkpoint-{step}/")),
    };
    Observation { modified_at: completed.map(at), ..says(place, RunRecord::Checkpoint(checkpoint)) }
}

fn steps(folded: &Folded) -> Vec<(&str, Vec<u64>)> {
    let of = |attempt: &'_ Attempt| attempt.checkpoints.iter().filter_map(|c| c.step).collect();
    folded.attempts.iter().map(|attempt| (attempt.canonical_key.as_str(), of(attempt))).collect()
}

#[test]
fn a_checkpoint_that_was_found_is_of_the_attempt_that_ran_when_it_was_complete() {
    let all = [
        job("a", (100, 500)),
        bound("a", in_bucket("s3://ml/vitl")),
        job("b", (600, 900)),
        bound("b", in_bucket("ml/vitl")),
        job("other", (0, 9_000)),
        bound("other", in_bucket("s3://ml/vitl-2")),
        listed("s3://ml/vitl/run", 1, Some(300)),
        listed("s3://ml/vitl/run", 2, Some(550)),
        listed("s3://ml/vitl/run", 3, Some(700)),
        listed("s3://ml/vitl/run", 4, None),
    ];
    let folded = fold(&all);
    // What was complete just after an attempt had ended is still its own: the next one had not begun.
    assert_eq!(steps(&folded), [("a", vec![1, 2]), ("b", vec![3]), ("other", vec![])]);
    assert!(folded.notes.is_empty(), "{:?}", folded.notes);
}

#[test]
fn the_nearest_prefix_is_meant_and_what_is_of_none_is_noted() {
    let wide = [job("wide", (0, 900)), bound("wide", in_bucket("s3://ml"))];
    let near = [job("near", (0, 900)), bound("near", in_bucket("s3://ml/vitl/run"))];
    let all =
        [&wide[..], &near, &[listed("s3://ml/vitl/run", 1, Some(5)), listed("s3://ml/bert", 2, Some(5))]]
            .concat();
    let folded = fold(&all);
    assert_eq!(steps(&folded), [("near", vec![1]), ("wide", vec![2])]);
    let stray = fold(
        &[&near[..], &[listed("s3://ml/bert", 2, Some(5)), listed("s3://ml/vitl/run", 1, Some(-5))]].concat(),
    );
    assert_eq!(steps(&stray), [("near", vec![])], "nothing is complete before its attempt began");
    let noted: Vec<(&str, &str)> = stray.notes.iter().map(|note| (note.code, note.key.as_str())).collect();
    let code = "attempt::records_without_attempt";
    assert_eq!(noted, [(code, "s3://ml/bert"), (code, "s3://ml/vitl/run")]);
}

#[test]
fn what_an_attempt_told_of_itself_is_not_told_twice() {
    let own = Checkpoint {
        step: Some(1),
        started_at: some(290),
        completed_at: some(300),
        durable: true,
        bytes: None,
        uri: Some("s3://ml/vitl/checkpoint-1".to_owned()),
    };
    let model = Artifact { kind: ArtifactKind::Model, uri: "s3://ml/vitl/final/".to_owned(), version: None };
    let found = Observation {
        modified_at: some(450),
        ..says("s3://ml/vitl/final", RunRecord::Artifact(model.clone()))
    };
    let all = [
        job("a", (100, 500)),
        bound("a", in_bucket("s3://ml/vitl")),
        says("a", RunRecord::Checkpoint(own)),
        says("a", RunRecord::Artifact(Artifact { version: Some("v1".to_owned()), ..model })),
        listed("s3://ml/vitl", 1, Some(310)),
        listed("s3://ml/vitl", 2, Some(400)),
        found,
    ];
    let attempt = only(&all);
    assert_eq!(
        attempt.checkpoints.iter().map(|c| (c.step, c.completed_at)).collect::<Vec<_>>(),
        [(Some(1), some(300)), (Some(2), some(400))]
    );
    assert_eq!(attempt.artifacts.iter().map(|a| a.version.as_deref()).collect::<Vec<_>>(), [Some("v1")]);
}

#[test]
fn what_rests_in_a_bucket_is_what_its_newest_listing_found() {
    let stored = |bucket: &str, prefix: &str, (time, bytes): (i64, u64)| {
        let (bucket, prefix) = (bucket.to_owned(), prefix.to_owned());
        let at = at(time);
        let stored = StoredBytes { bucket, prefix, class: None, is_current: true, objects: 1, bytes, at };
        says("s3://b", RunRecord::Stored(stored))
    };
    let all = [
        stored("b", "gone/", (10, 5)),
        stored("b", "x/", (10, 5)),
        stored("b", "x/", (20, 7)),
        stored("c", "y/", (5, 1)),
    ];
    let found: Vec<(String, u64)> = fold(&all).stored.into_iter().map(|s| (s.prefix, s.bytes)).collect();
    assert_eq!(found, [("x/".to_owned(), 7), ("y/".to_owned(), 1)]);
}

proptest! {
    #[test]
    fn no_instant_of_a_device_counts_twice(
        windows in proptest::collection::vec((0_usize..2, 0_i64..50, 1_i64..30, 0_u32..9), 0..12),
    ) {
        let told: Vec<Observation> = windows
            .iter()
            .map(|(device, start, length, seen)| {
                used("k", busy(&format!("d{device}"), (*start, start + length), *seen))
            })
            .collect();
        let folded = fold(&told);
        for device in ["d0", "d1"] {
            let mut spans: Vec<Interval> =
                folded.devices.iter().filter(|told| told.device == device).map(|told| told.window).collect();
            spans.sort();
            prop_assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{:?}", spans);
            let is_told = windows.iter().any(|(number, ..)| format!("d{number}") == device);
            prop_assert_eq!(spans.is_empty(), !is_told);
        }
    }
}
