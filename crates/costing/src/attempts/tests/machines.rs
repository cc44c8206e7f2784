//! Interruptions of machines find the attempts that held them.

use ledger::{Attempt, AttemptView, Cause, Initiator, Interruption, Outcome, RunRecord, RunState};

use super::*;

const WARNING: &str = "spot interruption warning: terminate";

/// What EC2 told of a machine.
fn taken(machine: &str, second: i64, (initiator, signal): (Initiator, &str)) -> Observation {
    let record = Interruption { at: at(second), initiator, signal: signal.to_owned(), resource_id: None };
    Observation {
        source: SourceId("ec2-events".to_owned()),
        ..says_at(&format!("instance:{machine}"), second, RunRecord::Interruption(record))
    }
}

fn warned(machine: &str, second: i64) -> Observation {
    taken(machine, second, (Initiator::Provider, WARNING))
}

fn shown(attempt: &Attempt) -> Vec<(Option<&str>, i64, Initiator)> {
    let told = attempt.interruptions.iter();
    told.map(|one| (one.resource_id.as_deref(), one.at.seconds(), one.initiator)).collect()
}

#[test]
fn a_warning_goes_to_the_attempt_that_held_the_machine_then_and_is_its_cause() {
    let lost_node = AttemptView { cause: Cause::NodeFailure, ..ended(100, 1_050, Outcome::Failed) };
    let folded = fold(&[
        ran("before", ended(10, 100, Outcome::Completed)),
        bound("before", instance("i-1", 10, Some(100))),
        ran("then", lost_node),
        bound("then", instance("i-1", 100, Some(1_050))),
        ran("elsewhere", ended(100, 1_050, Outcome::Completed)),
        bound("elsewhere", instance("i-2", 100, Some(1_050))),
        warned("i-1", 1_000),
    ]);
    let then = attempt(&folded, "then");
    assert_eq!(shown(then), [(Some("i-1"), 1_000, Initiator::Provider)]);
    assert_eq!((then.outcome, then.cause), (Outcome::Failed, Cause::SpotInterruption));
    assert_eq!(then.cause_evidence, [format!("i-1: {WARNING} at 1970-01-01T00:16:40Z")]);
    for other in ["before", "elsewhere"] {
        assert!(attempt(&folded, other).interruptions.is_empty(), "{other}");
    }
    assert!(folded.unclaimed.is_empty() && folded.notes.is_empty(), "{:?}", folded.notes);
}

#[test]
fn a_gang_of_nodes_is_interrupted_once_and_every_attempt_that_shares_the_machine_is() {
    let mut observations = vec![warned("i-2", 500)];
    for key in ["gang", "neighbour"] {
        observations.push(ran(key, ended(100, 560, Outcome::Preempted)));
        observations.push(bound(key, instance("i-2", 100, Some(300))));
        observations.push(bound(key, instance("i-2", 300, Some(560))));
    }
    observations.extend(["i-1", "i-3"].map(|id| bound("gang", instance(id, 100, Some(560)))));
    let folded = fold(&observations);
    for key in ["gang", "neighbour"] {
        assert_eq!(shown(attempt(&folded, key)), [(Some("i-2"), 500, Initiator::Provider)], "{key}");
    }
}

#[test]
fn who_took_the_machine_is_kept_and_a_user_is_no_spot_interruption() {
    let by_user = (Initiator::User, "instance-terminated-by-user");
    let lost_node = AttemptView { cause: Cause::NodeFailure, ..ended(100, 560, Outcome::Failed) };
    let stopped =
        only(&[ran("k", lost_node), bound("k", instance("i-1", 100, Some(560))), taken("i-1", 540, by_user)]);
    assert_eq!(shown(&stopped), [(Some("i-1"), 540, Initiator::User)]);
    assert_eq!(stopped.cause, Cause::NodeFailure);
}

#[test]
fn the_scheduler_s_own_cause_stands_and_a_completed_attempt_has_none() {
    for (outcome, cause) in [(Outcome::Failed, Cause::OomGpu), (Outcome::Completed, Cause::Unknown)] {
        let told = only(&[
            ran("k", AttemptView { cause, ..ended(100, 560, outcome) }),
            bound("k", instance("i-1", 100, Some(560))),
            warned("i-1", 500),
        ]);
        assert_eq!((told.cause, told.interruptions.len()), (cause, 1), "{outcome}");
    }
}

#[test]
fn a_record_that_comes_after_the_end_is_of_the_attempt_that_gave_way_and_not_of_one_that_completed() {
    let late = (Initiator::Provider, "instance-terminated-no-capacity");
    // Seconds after the attempt let the machine go.
    for (outcome, after, is_its_own) in [
        (Outcome::Preempted, 0, true),
        (Outcome::Preempted, 240, true),
        (Outcome::Preempted, 241, false),
        (Outcome::Completed, 0, true),
        (Outcome::Completed, 1, false),
    ] {
        let folded = fold(&[
            ran("k", ended(100, 560, outcome)),
            bound("k", instance("i-1", 100, Some(560))),
            taken("i-1", 560 + after, late),
        ]);
        let found = !attempt(&folded, "k").interruptions.is_empty();
        assert_eq!(found, is_its_own, "{outcome}, {after} seconds after the end");
        assert_eq!(folded.unclaimed.len(), usize::from(!is_its_own));
    }
}

#[test]
fn a_running_attempt_is_warned_and_goes_on() {
    let open = only(&[ran("k", running(100)), bound("k", instance("i-1", 100, None)), warned("i-1", 500)]);
    assert_eq!((open.state, open.cause, open.interruptions.len()), (RunState::Running, Cause::Unknown, 1));
}

#[test]
fn an_interruption_that_no_attempt_held_is_kept_and_told_until_one_comes() {
    let alone = fold(&[warned("i-4", 500)]);
    assert_eq!((alone.attempts.len(), alone.unclaimed.len()), (0, 1));
    assert_eq!(codes(&alone), ["attempt::interruption_without_attempt"]);
    assert_eq!(
        alone.notes[0].message,
        format!("`{WARNING}` by provider at 1970-01-01T00:08:20Z is kept, but no attempt held `i-4` then")
    );
    let later = [warned("i-4", 500), ran("k", running(100)), bound("k", instance("i-4", 100, None))].to_vec();
    let found = fold(&later);
    assert!(found.unclaimed.is_empty() && found.notes.is_empty());
    assert_eq!(attempt(&found, "k").interruptions.len(), 1);
}

#[test]
fn a_node_name_is_interrupted_as_the_machine_that_it_was() {
    let node = says("node:gpu:cld1", RunRecord::Node(period("cld1", 50, Some(600), "i-9")));
    let named = only(&[
        ran("slurm:gpu:1:90", ended(100, 560, Outcome::Failed)),
        bound("slurm:gpu:1:90", node_binding("cld1", 100, Some(560), 8_000)),
        node,
        warned("i-9", 500),
    ]);
    assert_eq!(shown(&named), [(Some("i-9"), 500, Initiator::Provider)]);
}
