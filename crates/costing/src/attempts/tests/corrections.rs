//! Newer views of the same execution, id collisions, links and companions.

use ledger::{
    AttemptView, Capacity, Cause, Checkpoint, LinkMethod, Observation, Outcome, RunRecord, RunState, SourceId,
};

use super::*;

#[test]
fn partial_events_of_one_run_add_up() {
    let done = only(&[
        ran_at(
            "ol:1",
            500,
            AttemptView {
                ended_at: some(500),
                state: RunState::Ended,
                outcome: Outcome::Failed,
                cause: Cause::OomGpu,
                cause_evidence: vec!["CUDA out of memory".to_owned()],
                ..view()
            },
        ),
        ran_at("ol:1", 100, AttemptView { model_version: Some("v3".to_owned()), ..running(100) }),
        ran_at("ol:1", 300, AttemptView { state: RunState::Running, ..view() }),
    ]);
    assert_eq!((done.started_at, done.ended_at), (some(100), some(500)));
    assert_eq!((done.state, done.outcome, done.cause), (RunState::Ended, Outcome::Failed, Cause::OomGpu));
    assert_eq!(done.model_version.as_deref(), Some("v3"));
    assert_eq!(done.cause_evidence, ["CUDA out of memory"]);
}

#[test]
fn a_start_without_an_end_stays_running() {
    let open = only(&[ran_at("ol:1", 100, running(100)), bound("ol:1", node_binding("a", 100, None, 8_000))]);
    assert_eq!((open.state, open.outcome, open.ended_at), (RunState::Running, Outcome::Unknown, None));
    assert_eq!(open.gpu_count, Some(8_000));
    assert_eq!(open.gpu_milliseconds, None, "what it will have held is not known yet");
}

#[test]
fn a_newer_snapshot_corrects_the_older_and_a_more_final_one_wins_without_times() {
    let corrected = only(&[
        ran_at("k", 90, ended(10, 60, Outcome::Failed)),
        ran_at("k", 80, AttemptView { cause: Cause::AppError, ..ended(12, 70, Outcome::Cancelled) }),
    ]);
    assert_eq!((corrected.started_at, corrected.ended_at), (some(10), some(60)));
    assert_eq!(corrected.outcome, Outcome::Failed);
    let final_one = only(&[ran("k", ended(10, 60, Outcome::Completed)), ran("k", running(10))]);
    assert_eq!((final_one.state, final_one.ended_at), (RunState::Ended, some(60)));
    assert!(!final_one.source_overwrote);
}

#[test]
fn an_attempt_corrected_to_completed_has_no_cause_of_failure() {
    let corrected = only(&[
        ran_at("k", 70, AttemptView { cause: Cause::NodeFailure, ..ended(10, 60, Outcome::Failed) }),
        ran_at("k", 80, ended(10, 60, Outcome::Completed)),
    ]);
    assert_eq!((corrected.outcome, corrected.cause), (Outcome::Completed, Cause::Unknown));
}

#[test]
fn another_source_that_lags_behind_does_not_reopen_an_end() {
    let lagging = Observation { source: SourceId("tracker".to_owned()), ..ran_at("k", 100, running(10)) };
    let done = only(&[ran_at("k", 60, ended(10, 60, Outcome::Completed)), lagging]);
    assert_eq!((done.state, done.source_overwrote), (RunState::Ended, false));
}

#[test]
fn what_was_lost_sight_of_has_the_time_it_was_last_seen_and_can_come_back() {
    let last_seen = AttemptView { started_at: some(10), ended_at: some(50), state: RunState::Lost, ..view() };
    let lost = ran_at("k", 60, last_seen);
    let gone = only(&[ran_at("k", 20, running(10)), lost.clone()]);
    assert_eq!((gone.state, gone.outcome, gone.ended_at), (RunState::Lost, Outcome::Unknown, some(50)));
    let back = only(&[lost, ran_at("k", 70, running(10))]);
    assert_eq!((back.state, back.ended_at), (RunState::Running, None));
}

#[test]
fn two_executions_under_one_id_are_two_attempts_and_a_note() {
    let folded = fold(&[
        ran("wandb:x", ended(10, 100, Outcome::Completed)),
        bound("wandb:x", node_binding("host-a", 10, Some(100), 1_000)),
        ran("wandb:x", ended(40, 90, Outcome::Failed)),
        bound("wandb:x", node_binding("host-b", 40, Some(90), 1_000)),
    ]);
    let first = attempt(&folded, "wandb:x");
    let second = attempt(&folded, "wandb:x@40");
    assert_eq!((first.outcome, first.ended_at, first.bindings.len()), (Outcome::Completed, some(100), 1));
    assert_eq!((second.outcome, second.ended_at, second.bindings.len()), (Outcome::Failed, some(90), 1));
    assert_eq!(folded.notes.len(), 1);
    assert_eq!(folded.notes[0].code, "attempt::id_collision");
    assert_eq!(
        folded.notes[0].message,
        "id collision: `wandb:x` names 2 executions: from 1970-01-01T00:00:10Z on host-a; from 1970-01-01T00:00:40Z \
         on host-b"
    );
    assert_eq!(second.cause_evidence, [folded.notes[0].message.clone()]);
}

#[test]
fn the_same_host_twice_is_a_correction_and_no_collision() {
    let one = only(&[
        ran("k", ended(10, 100, Outcome::Completed)),
        bound("k", node_binding("a", 10, Some(100), 1_000)),
        ran("k", ended(11, 100, Outcome::Completed)),
        bound("k", node_binding("a", 11, Some(100), 1_000)),
    ]);
    assert_eq!(one.started_at, some(10));
    assert_eq!(one.bindings.len(), 1);
}

#[test]
fn the_best_link_wins_and_a_job_without_one_is_its_own_experiment() {
    let view_of = |experiment: &str, method| AttemptView { link: linked(experiment, method), ..running(10) };
    let explicit = only(&[
        ran_at("k", 30, view_of("job-k", LinkMethod::OwnJob)),
        ran_at("k", 20, view_of("by-name", LinkMethod::NameRule)),
        ran_at("k", 10, view_of("declared", LinkMethod::Explicit)),
        ran_at("k", 25, view_of("label", LinkMethod::Label)),
    ]);
    assert_eq!(explicit.link.experiment.0, "declared");
    let own = only(&[ran("k:7:1", segment("k:7", 1, false, running(2)))]);
    assert_eq!((own.link.experiment.0.as_str(), own.link.method), ("k:7", LinkMethod::OwnJob));
}

#[test]
fn a_tracker_session_that_names_the_job_adds_to_it_and_makes_no_second_attempt() {
    let tracker = |record| Observation { source: SourceId("ol".to_owned()), ..says("ol:9", record) };
    let session = AttemptView {
        aliases: vec!["slurm:gpu:1:5".to_owned()],
        link: linked("exp", LinkMethod::Explicit),
        config_version: Some("c1".to_owned()),
        scheduler: "openlineage".to_owned(),
        ..ended(12, 18, Outcome::Failed)
    };
    let checkpoint = Checkpoint {
        step: Some(1),
        started_at: None,
        completed_at: some(15),
        durable: true,
        bytes: None,
        uri: None,
    };
    let job = only(&[
        tracker(RunRecord::Attempt(session)),
        tracker(RunRecord::Checkpoint(checkpoint)),
        tracker(RunRecord::Binding(node_binding("g1.local", 12, Some(18), 1_000))),
        ran("slurm:gpu:1:5", AttemptView { capacity: Capacity::Spot, ..ended(10, 20, Outcome::Failed) }),
        bound("slurm:gpu:1:5", node_binding("g1", 10, Some(20), 1_000)),
    ]);
    assert_eq!((job.canonical_key.as_str(), job.scheduler.as_str()), ("slurm:gpu:1:5", "slurm"));
    assert_eq!((job.started_at, job.ended_at), (some(10), some(20)));
    assert_eq!((job.link.experiment.0.as_str(), job.config_version.as_deref()), ("exp", Some("c1")));
    assert_eq!((job.checkpoints.len(), job.bindings.len()), (1, 1), "the machine is held once");
    assert_eq!(job.aliases, ["ol:9"]);
}

#[test]
fn records_of_an_attempt_that_nobody_saw_run_are_noted() {
    let folded = fold(&[bound("tb:x", node_binding("a", 1, None, 1))]);
    assert_eq!((folded.attempts.len(), folded.notes.len()), (0, 1));
    assert_eq!(folded.notes[0].code, "attempt::records_without_attempt");
}

#[test]
fn a_checkpoint_that_was_seen_to_begin_is_the_one_that_completed() {
    let checkpoint = |step, completed| {
        RunRecord::Checkpoint(Checkpoint {
            step: Some(step),
            started_at: some(20),
            completed_at: completed,
            durable: true,
            bytes: None,
            uri: None,
        })
    };
    let kept = only(&[
        ran("k", ended(10, 60, Outcome::Preempted)),
        says("k", checkpoint(100, None)),
        says("k", checkpoint(100, some(30))),
        says("k", checkpoint(200, None)),
    ]);
    let shown: Vec<_> = kept.checkpoints.iter().map(|c| (c.step, c.completed_at)).collect();
    assert_eq!(shown, [(Some(200), None), (Some(100), some(30))]);
}

/// A tracker's session that names a job, of which a scheduler tells two executions: 100 to 5,000 and 6,000 to 9,000.
fn session_of_job(job: &str, start: i64) -> Folded {
    let session =
        AttemptView { aliases: vec![job.to_owned()], model_version: Some("v3".to_owned()), ..running(start) };
    fold(&[
        ran("slurm:gpu:42:90", ended(100, 5_000, Outcome::Failed)),
        ran("slurm:gpu:42:5500", ended(6_000, 9_000, Outcome::Completed)),
        ran("slurm:gpu:421:90", ended(100, 9_000, Outcome::Completed)),
        ran("mlflow:t:run:0", session),
    ])
}

#[test]
fn a_session_that_names_a_job_joins_the_execution_in_which_it_began() {
    for (start, expect) in [
        (110, "slurm:gpu:42:90"),
        (4_999, "slurm:gpu:42:90"),
        (5_100, "slurm:gpu:42:90"),
        (5_990, "slurm:gpu:42:5500"),
        (6_000, "slurm:gpu:42:5500"),
        (9_500, "slurm:gpu:42:5500"),
    ] {
        let folded = session_of_job("slurm:gpu:42", start);
        let found: Vec<&str> = folded
            .attempts
            .iter()
            .filter(|attempt| attempt.model_version.is_some())
            .map(|attempt| attempt.canonical_key.as_str())
            .collect();
        assert_eq!((found, folded.attempts.len()), (vec![expect], 3), "a session that began at {start}");
    }
}

#[test]
fn a_session_outside_of_a_jobs_time_and_a_job_that_nobody_tells_of_stay_apart() {
    for (job, start) in [("slurm:gpu:42", 9_601), ("slurm:gpu:4", 110), ("slurm:gpu:43", 110), ("", 110)] {
        let folded = session_of_job(job, start);
        assert_eq!(folded.attempts.len(), 4, "a session of `{job}` that began at {start}");
    }
}
