//! Requeues, resizes, arrays and overwriting sources: what is another attempt and what is the same one.

use ledger::{AttemptId, AttemptView, Cause, Grade, Outcome, PhaseKind, RunRecord, RunState};

use super::*;
use crate::attempts::experiments;

#[test]
fn a_job_requeued_twice_is_three_attempts_of_one_experiment() {
    let row = |submit, start, end, outcome| AttemptView {
        link: labelled("exp-70"),
        ..segment("slurm:gpu:42", submit, false, ended(start, end, outcome))
    };
    let folded = fold(&[
        ran("slurm:gpu:42:300", row(300, 320, 400, Outcome::Completed)),
        ran("slurm:gpu:42:100", row(100, 110, 150, Outcome::Preempted)),
        ran("slurm:gpu:42:150", row(150, 280, 300, Outcome::Failed)),
        // The same job id months later is another job.
        ran(
            "slurm:gpu:42:9000",
            AttemptView { link: labelled("other"), ..row(9000, 9001, 9002, Outcome::Completed) },
        ),
    ]);
    let keys: Vec<(&str, u32)> = folded
        .attempts
        .iter()
        .filter(|a| a.link.experiment.0 == "exp-70")
        .map(|a| (a.canonical_key.as_str(), a.ordinal))
        .collect();
    assert_eq!(keys, [("slurm:gpu:42:100", 1), ("slurm:gpu:42:150", 2), ("slurm:gpu:42:300", 3)]);
    let all = experiments(&folded.attempts);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].attempts[0], AttemptId::of_key("slurm:gpu:42:100"));
}

#[test]
fn the_export_without_earlier_attempts_and_then_the_full_one_equal_the_full_one_alone() {
    let without =
        [ran("slurm:gpu:6:85", segment("slurm:gpu:6", 85, false, ended(227, 252, Outcome::Completed)))];
    let mut full =
        vec![ran("slurm:gpu:6:77", segment("slurm:gpu:6", 77, false, ended(81, 85, Outcome::Failed)))];
    full.extend(without.clone());
    let both: Vec<Observation> = without.iter().chain(&full).cloned().collect();
    assert_eq!(fold(&both), fold(&full));
    assert_eq!(fold(&full).attempts.len(), 2);
}

#[test]
fn a_later_success_never_changes_a_stored_failed_attempt() {
    let failed = ran(
        "slurm:gpu:7:1",
        AttemptView {
            cause: Cause::OomGpu,
            link: labelled("e"),
            ..segment("slurm:gpu:7", 1, false, ended(2, 36_002, Outcome::Failed))
        },
    );
    let success = ran(
        "slurm:gpu:7:36003",
        AttemptView {
            link: labelled("e"),
            ..segment("slurm:gpu:7", 36_003, false, ended(36_100, 40_000, Outcome::Completed))
        },
    );
    let before = only(std::slice::from_ref(&failed));
    let after = fold(&[success, failed]);
    assert_eq!(&before, attempt(&after, "slurm:gpu:7:1"));
}

#[test]
fn a_resized_job_is_one_attempt_with_the_sum_of_its_segments() {
    let first =
        AttemptView { gpu_count: Some(8_000), node_count: Some(2), ..ended(95, 103, Outcome::Unknown) };
    let second =
        AttemptView { gpu_count: Some(4_000), node_count: Some(1), ..ended(103, 111, Outcome::Completed) };
    let whole = only(&[
        ran("slurm:gpu:16:103", segment("slurm:gpu:16", 103, false, second)),
        bound("slurm:gpu:16:103", node_binding("g1", 103, Some(111), 4_000)),
        ran("slurm:gpu:16:95", segment("slurm:gpu:16", 95, true, first)),
        bound("slurm:gpu:16:95", node_binding("g1", 95, Some(103), 4_000)),
        bound("slurm:gpu:16:95", node_binding("g2", 95, Some(103), 4_000)),
    ]);
    assert_eq!(whole.canonical_key, "slurm:gpu:16:95");
    assert_eq!(whole.aliases, ["slurm:gpu:16:103"]);
    assert_eq!(whole.gpu_milliseconds, Some(96_000));
    assert_eq!((whole.gpu_count, whole.node_count), (Some(8_000), Some(2)));
    assert_eq!((whole.outcome, whole.ended_at), (Outcome::Completed, some(111)));
    assert_eq!(whole.bindings.len(), 3);
    assert!(!whole.source_overwrote);
}

#[test]
fn a_requeue_at_the_moment_of_an_end_is_not_a_resize() {
    let folded = fold(&[
        ran("k:1", segment("k", 1, false, ended(1, 9, Outcome::Preempted))),
        ran("k:9", segment("k", 9, false, ended(9, 20, Outcome::Completed))),
    ]);
    assert_eq!(folded.attempts.len(), 2);
}

#[test]
fn a_source_that_overwrites_a_failure_opens_a_session_and_keeps_the_failure() {
    let failed = ran_at("mlflow:t:r", 60, ended(10, 50, Outcome::Failed));
    let resumed = ran_at("mlflow:t:r", 80, running(10));
    let finished = ran_at("mlflow:t:r", 200, ended(10, 190, Outcome::Completed));
    for seen in [vec![failed.clone(), resumed.clone(), finished.clone()], vec![finished, resumed, failed]] {
        let folded = fold(&seen);
        let first = attempt(&folded, "mlflow:t:r");
        assert_eq!((first.outcome, first.started_at, first.ended_at), (Outcome::Failed, some(10), some(50)));
        let second = attempt(&folded, "mlflow:t:r#2");
        assert_eq!(
            (second.outcome, second.started_at, second.ended_at),
            (Outcome::Completed, some(80), some(190))
        );
        assert!(first.source_overwrote && second.source_overwrote);
        assert_eq!((first.ordinal, second.ordinal), (1, 2));
        assert_eq!(first.link, second.link);
        assert_eq!(folded.notes[0].code, "attempt::source_overwrote");
    }
}

#[test]
fn a_failure_that_later_reads_as_a_success_was_resumed_even_if_nobody_saw_it_run() {
    let folded = fold(&[
        ran_at("mlflow:t:r", 200, ended(10, 190, Outcome::Completed)),
        ran_at("mlflow:t:r", 60, ended(10, 50, Outcome::Failed)),
    ]);
    assert_eq!(attempt(&folded, "mlflow:t:r").ended_at, some(50));
    let second = attempt(&folded, "mlflow:t:r#2");
    assert_eq!(
        (second.started_at, second.ended_at),
        (None, some(190)),
        "the start is not known, so it is not told"
    );
    assert_eq!(second.ordinal, 2);
}

#[test]
fn a_new_start_after_the_end_is_another_session_with_its_own_records() {
    let quality = |at_second| {
        RunRecord::Quality(ledger::QualityResult {
            metric: "loss".to_owned(),
            value: 1.0,
            direction: None,
            split: None,
            step: None,
            at: at(at_second),
            protocol: None,
            is_final: true,
        })
    };
    let folded = fold(&[
        ran("k", ended(10, 20, Outcome::Failed)),
        ran("k", ended(30, 40, Outcome::Completed)),
        says("k", quality(20)),
        says("k", quality(40)),
        bound("k", node_binding("a", 10, Some(20), 1_000)),
        bound("k", node_binding("a", 30, Some(40), 1_000)),
    ]);
    for (key, end) in [("k", 20), ("k#2", 40)] {
        let session = attempt(&folded, key);
        assert_eq!(session.quality.len(), 1);
        assert_eq!(session.quality[0].at, at(end));
        assert_eq!(session.bindings.len(), 1);
        assert_eq!(session.bindings[0].end, some(end));
    }
}

#[test]
fn array_tasks_and_retries_of_a_pipeline_keep_their_own_keys() {
    let task = |n: i64| AttemptView { link: labelled("sweep"), ..ended(10 + n, 20 + n, Outcome::Completed) };
    let row = |n: i64| ran(&format!("slurm:gpu:5_{n}:1"), task(n));
    let folded = fold(&[row(2), row(1), row(3)]);
    let ordinals: Vec<u32> = folded.attempts.iter().map(|a| a.ordinal).collect();
    assert_eq!(ordinals, [1, 2, 3]);
    assert_eq!(experiments(&folded.attempts)[0].attempts.len(), 3);
}

#[test]
fn waiting_is_queue_time_and_never_held_time() {
    let waited = only(&[ran(
        "k",
        AttemptView {
            submitted_at: some(100),
            gpu_count: Some(8_000),
            ..ended(4_120, 4_130, Outcome::Completed)
        },
    )]);
    assert_eq!(waited.gpu_milliseconds, Some(80_000));
    let shown: Vec<(PhaseKind, i64)> =
        waited.phases.iter().map(|p| (p.kind, p.interval.micros() / 1_000_000)).collect();
    assert_eq!(shown, [(PhaseKind::Queue, 4_020), (PhaseKind::Unknown, 10)]);
    assert!(waited.phases.iter().all(|phase| phase.grade == Grade::Derived));
}

#[test]
fn a_launch_that_never_started_holds_nothing() {
    let never = only(&[ran(
        "k",
        AttemptView {
            submitted_at: some(0),
            ended_at: some(4_020),
            state: RunState::Ended,
            outcome: Outcome::Failed,
            cause: Cause::LaunchFailure,
            gpu_count: Some(100_000),
            elapsed_seconds: Some(0),
            ..view()
        },
    )]);
    assert_eq!(never.gpu_milliseconds, Some(0));
    assert_eq!(never.phases.len(), 1);
    assert_eq!((never.phases[0].kind, never.phases[0].interval.micros()), (PhaseKind::Queue, 4_020_000_000));
}
