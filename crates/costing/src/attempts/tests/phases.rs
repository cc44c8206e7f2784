//! The phases told of an attempt become one partition of its time.

use ledger::{Grade, Interval, Outcome, Phase, PhaseKind, PhaseKind as Kind, RunRecord};
use proptest::prelude::*;

use super::*;
use crate::phases::{held, parts, within};

fn told(kind: PhaseKind, start: i64, end: i64) -> Observation {
    graded(kind, (start, end), Grade::Measured)
}

fn graded(kind: PhaseKind, (start, end): (i64, i64), grade: Grade) -> Observation {
    let interval = Interval { start: at(start), end: at(end) };
    says("k", RunRecord::Phase(Phase { interval, kind, grade }))
}

/// An attempt that was handed in at 0, started at 100 and ended at 1,000.
fn handed_in() -> Observation {
    ran("k", AttemptView { submitted_at: some(0), ..ended(100, 1_000, Outcome::Completed) })
}

fn seconds(phases: &[Phase]) -> Vec<(PhaseKind, i64, i64)> {
    phases.iter().map(|p| (p.kind, p.interval.start.seconds(), p.interval.end.seconds())).collect()
}

fn of(more: Vec<Observation>) -> Attempt {
    only(&[vec![handed_in()], more].concat())
}

/// R69: a checkpoint that is written or restored, an evaluation and a wait for data are phases of their own.
#[test]
fn what_is_told_inside_of_training_interrupts_it() {
    let run = of(vec![
        told(Kind::Init, 100, 200),
        told(Kind::Train, 150, 950),
        told(Kind::CheckpointSave, 400, 440),
        told(Kind::Eval, 600, 700),
        told(Kind::DataLoad, 690, 710),
        told(Kind::Upload, 940, 980),
    ]);
    assert_eq!(
        seconds(&run.phases),
        [
            (Kind::Queue, 0, 100),
            (Kind::Init, 100, 150),
            (Kind::Train, 150, 400),
            (Kind::CheckpointSave, 400, 440),
            (Kind::Train, 440, 600),
            (Kind::Eval, 600, 700),
            (Kind::DataLoad, 700, 710),
            (Kind::Train, 710, 950),
            (Kind::Upload, 950, 980),
            (Kind::Unknown, 980, 1_000),
        ]
    );
}

#[test]
fn of_any_two_kinds_told_of_one_instant_the_stated_one_stands() {
    let order = [
        Kind::CheckpointRestore,
        Kind::CheckpointSave,
        Kind::Eval,
        Kind::DataLoad,
        Kind::Idle,
        Kind::Train,
        Kind::Upload,
        Kind::Init,
        Kind::ContainerStart,
        Kind::Provision,
        Kind::Teardown,
        Kind::Unknown,
    ];
    assert_eq!(order.len() + 1, Kind::ALL.len(), "all but the queue, which is never told of after the start");
    for (place, strong) in order.iter().enumerate() {
        for weak in order.iter().skip(place + 1) {
            let run = of(vec![told(*weak, 100, 1_000), told(*strong, 300, 400)]);
            assert_eq!(run.phases[2].kind, *strong, "{strong} before {weak}");
            assert_eq!(run.phases[2].interval, Interval { start: at(300), end: at(400) });
        }
    }
}

#[test]
fn the_better_grade_of_one_kind_stands_whoever_told_it_last() {
    let run = of(vec![
        graded(Kind::Train, (100, 1_000), Grade::Modelled),
        graded(Kind::Train, (200, 300), Grade::Measured),
    ]);
    let grades: Vec<Grade> = run.phases.iter().map(|phase| phase.grade).collect();
    assert_eq!(grades, [Grade::Derived, Grade::Modelled, Grade::Measured, Grade::Modelled]);
}

#[test]
fn waiting_in_a_queue_holds_nothing_and_a_machine_that_waits_is_held() {
    // The machine was taken at 60 and let go at 1,000; the source calls it all a queue until 150.
    let run = of(vec![told(Kind::Queue, 0, 150), bound("k", instance("i-1", 60, Some(1_000)))]);
    assert_eq!(
        seconds(&run.phases),
        [
            (Kind::Queue, 0, 60),
            (Kind::Provision, 60, 100),
            (Kind::Idle, 100, 150),
            (Kind::Unknown, 150, 1_000)
        ]
    );
    let held: Vec<bool> = parts(&run).iter().map(|part| part.is_held).collect();
    assert_eq!(held, [false, true, true, true]);
}

#[test]
fn without_a_word_of_machines_what_follows_the_start_is_held() {
    let run = of(vec![told(Kind::Train, 200, 900)]);
    let shown: Vec<_> = parts(&run).iter().map(|part| (part.kind, part.is_held)).collect();
    assert_eq!(
        shown,
        [(Kind::Queue, false), (Kind::Unknown, true), (Kind::Train, true), (Kind::Unknown, true)]
    );
}

#[test]
fn a_part_ends_where_the_last_machine_is_let_go() {
    let run = of(vec![
        told(Kind::Train, 100, 1_000),
        bound("k", instance("i-1", 100, Some(300))),
        bound("k", instance("i-2", 200, Some(400))),
        bound("k", instance("i-3", 700, Some(900))),
    ]);
    let shown: Vec<_> = parts(&run)
        .iter()
        .map(|part| (part.interval.start.seconds(), part.interval.end.seconds(), part.is_held))
        .collect();
    assert_eq!(
        shown,
        [(0, 100, false), (100, 400, true), (400, 700, false), (700, 900, true), (900, 1_000, false)]
    );
}

#[test]
fn what_was_told_of_a_time_that_is_not_the_attempt_s_is_cut_off() {
    let run = of(vec![told(Kind::Train, -50, 2_000)]);
    assert_eq!(seconds(&run.phases), [(Kind::Train, 0, 1_000)]);
}

#[test]
fn an_attempt_that_goes_on_is_told_of_as_far_as_its_records_reach() {
    let open = AttemptView { submitted_at: some(0), ..running(100) };
    let waiting = only(&[ran("k", open.clone())]);
    assert_eq!(seconds(&waiting.phases), [(Kind::Queue, 0, 100)]);
    let trains = only(&[ran("k", open), told(Kind::Train, 200, 400)]);
    assert_eq!(
        seconds(&trains.phases),
        [(Kind::Queue, 0, 100), (Kind::Unknown, 100, 200), (Kind::Train, 200, 400)]
    );
}

#[test]
fn a_machine_that_is_billed_beyond_the_attempt_came_up_for_it_or_went_down_after_it() {
    let run = of(vec![told(Kind::Train, 100, 1_000)]);
    let billed = within(&run, Interval { start: at(-3_600), end: at(3_600) });
    assert_eq!(
        seconds(&billed),
        [
            (Kind::Provision, -3_600, 0),
            (Kind::Queue, 0, 100),
            (Kind::Train, 100, 1_000),
            (Kind::Teardown, 1_000, 3_600)
        ]
    );
    let inside = within(&run, Interval { start: at(250), end: at(260) });
    assert_eq!(seconds(&inside), [(Kind::Train, 250, 260)]);
    let open = only(&[ran("k", running(100)), told(Kind::Train, 100, 200)]);
    assert_eq!(seconds(&within(&open, Interval { start: at(150), end: at(900) }))[1].0, Kind::Unknown);
}

/// T19: a job that was suspended for three hours, of which the source counts only the time that it ran.
#[test]
fn a_suspended_job_is_one_attempt_whose_suspension_is_idle_and_never_training() {
    const HOUR: i64 = 3_600;
    let job = AttemptView {
        elapsed_seconds: Some(5 * 3_600),
        gpu_count: Some(8_000),
        ..ended(0, 8 * HOUR, Outcome::Completed)
    };
    let run = only(&[
        ran("k", job),
        told(Kind::Train, 0, 8 * HOUR),
        bound("k", instance("i-1", 0, Some(8 * HOUR))),
    ]);
    assert_eq!(seconds(&run.phases), [(Kind::Train, 0, 5 * HOUR), (Kind::Idle, 5 * HOUR, 8 * HOUR)]);
    assert_eq!(run.phases[1].grade, Grade::Modelled, "the source tells how long, and not when");
    assert!(parts(&run).iter().all(|part| part.is_held), "the machine was held all the same");
    assert_eq!(run.gpu_milliseconds, Some(5 * 3_600 * 8_000));
}

fn any_phase() -> impl Strategy<Value = Observation> {
    let kind = 0..Kind::ALL.len();
    let grade = 0..Grade::ALL.len();
    (kind, grade, -200_i64..1_200, 0_i64..400).prop_map(|(kind, grade, start, length)| {
        // Not whole seconds: nothing may be rounded on the way.
        let (start, end) = (at(start).0 + 7, at(start + length).0 + 13);
        let interval = Interval { start: Timestamp(start), end: Timestamp(end) };
        says("k", RunRecord::Phase(Phase { interval, kind: Kind::ALL[kind], grade: Grade::ALL[grade] }))
    })
}

fn any_attempt() -> impl Strategy<Value = Attempt> {
    let phases = proptest::collection::vec(any_phase(), 0..12);
    let holdings = proptest::collection::vec((0_usize..3, -100_i64..1_100, 1_i64..500), 0..5);
    (phases, holdings, 0_i64..400, 0_i64..400).prop_map(|(mut all, holdings, wait, length)| {
        let view = AttemptView { submitted_at: some(0), ..ended(wait, wait + length, Outcome::Failed) };
        all.push(ran("k", view));
        for (machine, start, length) in holdings {
            all.push(bound("k", instance(&format!("i-{machine}"), start, Some(start + length))));
        }
        only(&all)
    })
}

fn micros(phases: &[Phase]) -> i64 {
    phases.iter().map(|phase| phase.interval.micros()).sum()
}

// R14: phases sum to the attempt's time, and the time of any charge is divided over them without rest.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_parts_sum_to_the_time_from_the_submission_to_the_end(run in any_attempt()) {
        let (start, end) = (run.submitted_at.unwrap(), run.ended_at.unwrap());
        prop_assert_eq!(micros(&run.phases), end.0 - start.0);
        let mut from = start;
        for phase in &run.phases {
            prop_assert_eq!(phase.interval.start, from, "in order, without gap and overlap");
            prop_assert!(phase.interval.end > from);
            from = phase.interval.end;
        }
    }

    #[test]
    fn cutting_by_what_was_held_changes_no_time_and_no_queue_is_held(run in any_attempt()) {
        let cut = parts(&run);
        prop_assert_eq!(cut.iter().map(|part| part.interval.micros()).sum::<i64>(), micros(&run.phases));
        let machines = held(&run);
        for part in &cut {
            let inside = machines.iter().filter_map(|holding| holding.intersection(part.interval));
            let covered: i64 = inside.map(Interval::micros).sum();
            let expect = if part.is_held { part.interval.micros() } else { 0 };
            prop_assert!(machines.is_empty() || covered == expect, "{part:?}");
            prop_assert!(!(part.is_held && part.kind == Kind::Queue), "{part:?}");
        }
    }

    #[test]
    fn any_interval_is_divided_over_phases_without_rest(
        run in any_attempt(), start in -2_000_000_000_i64..2_000_000_000, length in 0_i64..2_000_000_000,
    ) {
        let interval = Interval { start: Timestamp(start), end: Timestamp(start + length) };
        let parts = within(&run, interval);
        prop_assert_eq!(micros(&parts), length);
        prop_assert!(parts.windows(2).all(|pair| pair[0].interval.end == pair[1].interval.start));
    }
}
