//! Attempts that vanish between two snapshots.

use ledger::{Outcome, RunRecord, RunState, Snapshot};

use super::*;

fn snapshot(second: i64, alive: &[&str]) -> Observation {
    let record = Snapshot {
        scope: "k8s:c1:".to_owned(),
        taken_at: at(second),
        alive: alive.iter().map(|key| (*key).to_owned()).collect(),
    };
    says_at("snapshot:k8s:c1:", second, RunRecord::Snapshot(record))
}

/// A pod that was last told of at 100, when it began, with the machine that it held.
fn pod() -> Vec<Observation> {
    vec![
        ran_at("k8s:c1:p:main:0", 100, running(100)),
        bound("k8s:c1:p:main:0", node_binding("n", 100, None, 8_000)),
    ]
}

fn after(snapshots: &[Observation]) -> Attempt {
    only(&[pod(), snapshots.to_vec()].concat())
}

#[test]
fn what_a_later_snapshot_lacks_is_lost_when_it_was_last_seen_and_lets_go_what_it_held() {
    let there = ["k8s:c1:p:main:0"];
    for (snapshots, last_seen) in [
        (vec![snapshot(200, &there), snapshot(500, &there), snapshot(800, &[])], 500),
        (vec![snapshot(200, &there), snapshot(500, &[]), snapshot(800, &[])], 200),
        (vec![snapshot(800, &[])], 100),
    ] {
        let gone = after(&snapshots);
        assert_eq!((gone.state, gone.outcome), (RunState::Lost, Outcome::Unknown), "never completed");
        assert_eq!(gone.ended_at, some(last_seen));
        assert_eq!(gone.bindings[0].end, some(last_seen));
        assert_eq!(gone.gpu_milliseconds, Some(u64::try_from(last_seen - 100).unwrap() * 8_000));
    }
}

#[test]
fn what_is_still_there_or_came_back_was_never_lost() {
    let there = ["k8s:c1:p:main:0"];
    for snapshots in [
        vec![snapshot(200, &there)],
        vec![snapshot(200, &there), snapshot(500, &[]), snapshot(800, &there)],
        // A snapshot of before it began.
        vec![snapshot(50, &[])],
        // A snapshot of another cluster speaks of no key here.
        vec![Observation {
            record: RunRecord::Snapshot(Snapshot {
                scope: "k8s:c2:".to_owned(),
                taken_at: at(900),
                alive: Vec::new(),
            }),
            ..snapshot(900, &[])
        }],
        // A source that never told of it may not know it.
        vec![Observation { source: SourceId("elsewhere".to_owned()), ..snapshot(900, &[]) }],
    ] {
        let open = after(&snapshots);
        assert_eq!((open.state, open.ended_at), (RunState::Running, None), "{snapshots:?}");
    }
}

#[test]
fn an_end_that_was_told_stands() {
    let ended = ran_at("k8s:c1:p:main:0", 400, ended(100, 400, Outcome::Completed));
    let done = only(&[pod(), vec![ended, snapshot(200, &["k8s:c1:p:main:0"]), snapshot(500, &[])]].concat());
    assert_eq!((done.state, done.outcome, done.ended_at), (RunState::Ended, Outcome::Completed, some(400)));
}

#[test]
fn a_companion_that_went_on_moves_the_time_when_it_was_last_seen() {
    let tracker = AttemptView { aliases: vec!["k8s:c1:p:main:0".to_owned()], ..running(110) };
    let heard = ran_at("wandb:r", 700, tracker);
    let gone = only(&[pod(), vec![snapshot(200, &["k8s:c1:p:main:0"]), snapshot(800, &[]), heard]].concat());
    assert_eq!((gone.state, gone.ended_at), (RunState::Lost, some(700)));
}

#[test]
fn what_never_started_and_vanished_held_nothing() {
    let waiting = AttemptView { submitted_at: some(100), ..view() };
    let gone = only(&[ran_at("k8s:c1:q:main:0", 100, waiting), snapshot(300, &[])]);
    assert_eq!((gone.state, gone.started_at, gone.ended_at), (RunState::Lost, None, some(100)));
}
