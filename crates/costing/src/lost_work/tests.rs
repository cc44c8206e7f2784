//! Lost work by grade, what of it was paid, and what is counted.

use ledger::{
    AttemptView, Binding, BindingKind, Checkpoint, JoinMethod, Observation, Phase, QualityResult, RunRecord,
    ShareDriver, SourceId,
};
use proptest::prelude::*;

use super::*;
use crate::attempts::fold;

const HOUR: i64 = 3_600;

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(second)
}

fn says(key: &str, record: RunRecord) -> Observation {
    Observation { source: SourceId("s".to_owned()), key: key.to_owned(), modified_at: None, record }
}

fn ran(key: &str, (start, end): (i64, i64), outcome: Outcome) -> Observation {
    let link = ledger::ExperimentLink {
        experiment: ledger::ExperimentId("e".to_owned()),
        method: ledger::LinkMethod::Explicit,
    };
    let view = AttemptView {
        link: Some(link),
        started_at: Some(at(start)),
        ended_at: Some(at(end)),
        state: RunState::Ended,
        outcome,
        ..AttemptView::of_scheduler("slurm".to_owned())
    };
    says(key, RunRecord::Attempt(view))
}

fn durable(key: &str, second: i64, step: Option<u64>) -> Observation {
    checkpoint(key, Some(at(second)), (step, true))
}

fn checkpoint(
    key: &str,
    completed_at: Option<Timestamp>,
    (step, durable): (Option<u64>, bool),
) -> Observation {
    let started_at = completed_at.is_none().then_some(at(1));
    let record = Checkpoint { step, started_at, completed_at, durable, bytes: None, uri: None };
    says(key, RunRecord::Checkpoint(record))
}

fn logged(key: &str, step: u64, second: i64) -> Observation {
    let record = QualityResult {
        metric: "loss".to_owned(),
        value: 1.0,
        direction: None,
        split: None,
        step: Some(step),
        at: at(second),
        protocol: None,
        is_final: false,
    };
    says(key, RunRecord::Quality(record))
}

fn machine(key: &str, id: &str, (start, end): (i64, i64)) -> Observation {
    let binding = Binding {
        kind: BindingKind::Instance,
        resource_id: Some(id.to_owned()),
        node_name: None,
        sku: None,
        start: at(start),
        end: Some(at(end)),
        weight: 8_000,
        capacity: Some(8_000),
        driver: ShareDriver::Gpu,
        gpus: 8_000,
        method: JoinMethod::ResourceId,
    };
    says(key, RunRecord::Binding(binding))
}

fn trains(key: &str, start: i64, end: i64) -> Observation {
    let interval = Interval { start: at(start), end: at(end) };
    says(key, RunRecord::Phase(Phase { interval, kind: PhaseKind::Train, grade: Grade::Measured }))
}

/// The attempts of the one experiment, and what they lost.
fn lost(observations: &[Observation], every: Option<i64>) -> (Vec<Attempt>, Vec<LostWork>) {
    let attempts = fold(observations).attempts;
    let of_experiment: Vec<&Attempt> = attempts.iter().collect();
    let lost = lost_work(&of_experiment, every);
    (attempts, lost)
}

/// Start and grade of the lost time, with its bounds, in seconds.
fn seconds(work: &LostWork) -> (i64, Grade, i64, i64) {
    let Extent::Known { interval, grade, least, most } = &work.extent else { panic!("{work:?}") };
    (interval.start.seconds(), *grade, *least / 1_000_000, *most / 1_000_000)
}

#[test]
fn grade_a_is_what_was_done_again_and_the_step_that_was_under_way() {
    // A step a minute, done at its end; the run dies in its step 6. The restart begins at step 4.
    let mut all = vec![ran("a", (0, 390), Outcome::Preempted), ran("b", (500, 900), Outcome::Completed)];
    all.extend((0..=5).map(|step| logged("a", step, 60 * (i64::try_from(step).unwrap() + 1))));
    all.extend((4..=9).map(|step| logged("b", step, 560 + 60 * i64::try_from(step - 4).unwrap())));
    let (attempts, lost) = lost(&all, None);
    assert_eq!(lost.len(), 1);
    // Steps 4 and 5, and half of step 6.
    assert_eq!(seconds(&lost[0]), (240, Grade::Measured, 150, 150));
    assert_eq!(lost[0].continued_by, Some(attempts[1].id));
    assert!(!lost[0].is_abandoned);
}

#[test]
fn a_step_log_with_gaps_gives_a_range() {
    // Only every hundredth step is logged: the restart lies somewhere between steps 100 and 200.
    let all = [
        ran("a", (0, 2_500), Outcome::Failed),
        logged("a", 100, 1_000),
        logged("a", 200, 2_000),
        ran("b", (3_000, 6_000), Outcome::Completed),
        logged("b", 200, 3_500),
    ];
    assert_eq!(seconds(&lost(&all, None).1[0]), (1_000, Grade::Measured, 500, 1_500));
}

#[test]
fn grade_b_is_from_the_last_durable_checkpoint_to_the_end() {
    let base = [
        ran("a", (0, 5 * HOUR), Outcome::Preempted),
        trains("a", 600, 5 * HOUR),
        ran("b", (6 * HOUR, 9 * HOUR), Outcome::Completed),
        // That the experiment tells of checkpoints at all.
        durable("b", 8 * HOUR, None),
    ];
    for (told, since) in [
        (vec![durable("a", HOUR, None), durable("a", 4 * HOUR, None)], 4 * HOUR),
        // Begun and never completed, or not on anything that survives: they do not count.
        (vec![durable("a", HOUR, None), checkpoint("a", None, (None, true))], HOUR),
        (vec![durable("a", HOUR, None), checkpoint("a", Some(at(4 * HOUR)), (None, false))], HOUR),
        // None at all: from the start of training.
        (vec![], 600),
        // The restart began at step 150: it had restored the older one.
        (
            vec![
                durable("a", HOUR, Some(100)),
                durable("a", 4 * HOUR, Some(400)),
                logged("b", 150, 7 * HOUR),
            ],
            HOUR,
        ),
    ] {
        let all = [base.to_vec(), told.clone()].concat();
        let (_, lost) = lost(&all, Some(60_000_000));
        let length = 5 * HOUR - since;
        assert_eq!(seconds(&lost[0]), (since, Grade::Derived, length, length), "{told:?}");
    }
}

#[test]
fn grade_c_is_half_the_interval_and_at_most_all_of_it() {
    let all = [ran("a", (0, 5 * HOUR), Outcome::Timeout), ran("b", (6 * HOUR, 7 * HOUR), Outcome::Completed)];
    for (every, expected, most) in
        [(2 * HOUR, HOUR, 2 * HOUR), (6 * HOUR, 3 * HOUR, 5 * HOUR), (30 * HOUR, 5 * HOUR, 5 * HOUR)]
    {
        let (_, lost) = lost(&all, Some(every * 1_000_000));
        assert_eq!(seconds(&lost[0]), (5 * HOUR - expected, Grade::Modelled, 0, most), "every {every} s");
    }
}

#[test]
fn where_nobody_tells_of_checkpoints_the_loss_is_not_known_and_is_not_nothing() {
    let all = [ran("a", (0, 5 * HOUR), Outcome::Failed), ran("b", (6 * HOUR, 7 * HOUR), Outcome::Completed)];
    let (attempts, lost) = lost(&all, None);
    let at_most = Interval { start: at(0), end: at(5 * HOUR) };
    assert_eq!(lost[0].extent, Extent::NotReported { at_most });
    assert_eq!((lost[0].interval(), lost[0].gpu_milliseconds(&attempts[0])), (None, None));
}

#[test]
fn every_machine_of_a_gang_loses_what_it_held_and_nothing_beyond() {
    // Two machines of eight; the second came two hours late. The last checkpoint was at one hour.
    let all = [
        ran("a", (0, 5 * HOUR), Outcome::Preempted),
        durable("a", HOUR, None),
        machine("a", "i-1", (0, 5 * HOUR)),
        machine("a", "i-2", (2 * HOUR, 5 * HOUR + 120)),
        ran("b", (6 * HOUR, 7 * HOUR), Outcome::Completed),
    ];
    let (attempts, lost) = lost(&all, None);
    let on: Vec<_> = lost[0]
        .held(&attempts[0])
        .into_iter()
        .map(|loss| (loss.binding.resource_id.as_deref().unwrap(), loss.interval.micros() / 3_600_000_000))
        .collect();
    assert_eq!(on, [("i-1", 4), ("i-2", 3)]);
    assert_eq!(lost[0].gpu_milliseconds(&attempts[0]), Some(7 * 3_600 * 8_000));
    assert_eq!(lost[0].paid(&attempts[0]), [Interval { start: at(HOUR), end: at(5 * HOUR) }]);
}

#[test]
fn time_in_which_nothing_was_held_is_lost_and_not_paid() {
    let all = [
        ran("a", (0, 5 * HOUR), Outcome::Preempted),
        durable("a", HOUR, None),
        machine("a", "i-1", (0, 2 * HOUR)),
        machine("a", "i-1", (4 * HOUR, 5 * HOUR)),
        ran("b", (6 * HOUR, 7 * HOUR), Outcome::Completed),
    ];
    let (attempts, lost) = lost(&all, None);
    let paid: Vec<i64> =
        lost[0].paid(&attempts[0]).iter().map(|part| part.micros() / 3_600_000_000).collect();
    assert_eq!((paid, lost[0].interval().unwrap().micros() / 3_600_000_000), (vec![1, 1], 4));
}

#[test]
fn an_abandoned_experiment_is_failed_spend_as_a_whole_and_its_lost_work_is_not_added() {
    let failed = [
        ran("a", (0, 5 * HOUR), Outcome::Failed),
        durable("a", HOUR, None),
        ran("b", (6 * HOUR, 7 * HOUR), Outcome::Failed),
    ];
    let (_, abandoned) = lost(&failed, None);
    assert_eq!(abandoned.len(), 2);
    assert!(abandoned.iter().all(|work| work.is_abandoned));
    assert_eq!(counted(&abandoned).count(), 0);
    // A later success takes that back, and no stored attempt has changed.
    let success = [failed.to_vec(), vec![ran("c", (8 * HOUR, 9 * HOUR), Outcome::Completed)]].concat();
    let (_, lost) = lost(&success, None);
    assert_eq!(counted(&lost).count(), 2);
    assert_eq!(lost[0].extent, abandoned[0].extent);
}

#[test]
fn what_completed_or_never_started_or_goes_on_loses_nothing() {
    let running = AttemptView {
        started_at: Some(at(6 * HOUR)),
        state: RunState::Running,
        ..AttemptView::of_scheduler("slurm".to_owned())
    };
    let never = AttemptView {
        submitted_at: Some(at(0)),
        ended_at: Some(at(HOUR)),
        state: RunState::Ended,
        outcome: Outcome::Failed,
        ..AttemptView::of_scheduler("slurm".to_owned())
    };
    let all = [
        ran("done", (0, 5 * HOUR), Outcome::Completed),
        durable("done", HOUR, None),
        says("open", RunRecord::Attempt(running)),
        says("never", RunRecord::Attempt(never)),
    ];
    assert_eq!(lost(&all, Some(HOUR)).1, []);
}

#[test]
fn trials_side_by_side_do_not_go_on_from_each_other_and_retries_of_one_job_do() {
    // Two jobs of one sweep; each is run twice.
    let all = [
        ran("slurm:c:1:0", (0, HOUR), Outcome::Failed),
        ran("slurm:c:2:0", (0, 2 * HOUR), Outcome::Failed),
        ran("slurm:c:2:7200", (2 * HOUR, 3 * HOUR), Outcome::Completed),
        ran("slurm:c:1:3600", (2 * HOUR + 60, 3 * HOUR), Outcome::Completed),
        ran("slurm:c:3:0", (0, HOUR), Outcome::Failed),
        ran("slurm:c:4:0", (4 * HOUR, 5 * HOUR), Outcome::Completed),
    ];
    let (attempts, lost) = lost(&all, None);
    let key = |id: AttemptId| {
        attempts
            .iter()
            .find(|attempt| attempt.id == id)
            .map(|attempt| attempt.canonical_key.as_str())
            .unwrap()
    };
    let pairs: Vec<(&str, Option<&str>)> =
        lost.iter().map(|work| (key(work.attempt), work.continued_by.map(key))).collect();
    assert_eq!(
        pairs,
        [
            ("slurm:c:1:0", Some("slurm:c:1:3600")),
            ("slurm:c:3:0", None),
            ("slurm:c:2:0", Some("slurm:c:2:7200"))
        ]
    );
}

/// R68, with the published figures of a run of 384 accelerators and 105 seconds an iteration: it failed two iterations
/// before a checkpoint of every 250, and called that 7.3 hours.
#[test]
fn two_iterations_before_the_checkpoint_are_7_23_hours() {
    let (iteration, saved) = (105, 1_000_000);
    let died = saved + 248 * iteration;
    let all = [
        ran("a", (0, died), Outcome::Failed),
        durable("a", saved, Some(9_500)),
        ran("b", (died + HOUR, died + 2 * HOUR), Outcome::Completed),
    ];
    let (_, known) = lost(&all, None);
    assert_eq!(seconds(&known[0]).2, 26_040, "7.23 h");
    // Told no more than that a checkpoint is written every 100 iterations, at most 2.92 hours are lost.
    let untold = [all[0].clone(), all[2].clone()];
    let (_, modelled) = lost(&untold, Some(100 * iteration * 1_000_000));
    assert_eq!(seconds(&modelled[0]).3, 10_500, "2.92 h");
}

proptest! {
    #[test]
    fn lost_work_lies_inside_the_attempt_and_within_its_bounds(
        ends in proptest::collection::vec((1_i64..50, 1_i64..50, 0_usize..5), 1..5),
        saved in proptest::collection::vec((0_usize..5, 0_i64..300), 0..8),
        steps in proptest::collection::vec((0_usize..5, 0_u64..20, 0_i64..300), 0..12),
        every in proptest::option::of(1_i64..100),
    ) {
        let mut all = Vec::new();
        let mut from = 0;
        for (index, (wait, length, outcome)) in ends.iter().enumerate() {
            all.push(ran(&format!("a{index}"), (from + wait, from + wait + length), Outcome::ALL[*outcome]));
            from += wait + length;
        }
        let kept = |index: usize| index < ends.len();
        all.extend(saved.iter().filter(|(i, _)| kept(*i)).map(|(i, t)| durable(&format!("a{i}"), *t, None)));
        all.extend(steps.iter().filter(|(i, ..)| kept(*i)).map(|(i, s, t)| logged(&format!("a{i}"), *s, *t)));
        let (attempts, lost) = lost(&all, every.map(|every| every * 1_000_000));
        for work in &lost {
            let attempt = attempts.iter().find(|attempt| attempt.id == work.attempt).unwrap();
            prop_assert_ne!(attempt.outcome, Outcome::Completed);
            let whole = Interval { start: attempt.started_at.unwrap(), end: attempt.ended_at.unwrap() };
            let interval = match work.extent {
                Extent::Known { interval, least, most, .. } => {
                    prop_assert!(0 <= least && least <= interval.micros() && interval.micros() <= most);
                    prop_assert!(most <= whole.micros());
                    interval
                }
                Extent::NotReported { at_most } => at_most,
            };
            prop_assert!(whole.start <= interval.start && interval.end == whole.end);
        }
    }
}
