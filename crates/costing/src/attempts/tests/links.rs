//! How an attempt comes to its experiment: what people decide, what records say, and how sure it is.

use ledger::{Confidence, LinkDecision, LinkMethod, Outcome};

use super::*;
use crate::attempts::experiments;

fn decided(key: &str, second: i64, (by, experiment): (&str, Option<&str>)) -> Observation {
    let decision = LinkDecision {
        at: at(second),
        experiment: experiment.map(|name| ExperimentId(name.to_owned())),
        by: by.to_owned(),
        reason: None,
    };
    Observation::of_decision(key.to_owned(), decision)
}

fn explicit(experiment: &str) -> AttemptView {
    AttemptView { link: linked(experiment, LinkMethod::Explicit), ..ended(10, 20, Outcome::Completed) }
}

#[test]
fn a_link_by_hand_outranks_what_any_record_says_and_tells_who_and_when() {
    let decision = decided("k", 50, ("ann", Some("vitl")));
    // A record that comes later, and is newer, does not change it.
    let linked = only(&[decision, ran_at("k", 90, explicit("other"))]).link;
    assert_eq!((linked.experiment.0.as_str(), linked.method), ("vitl", LinkMethod::Manual));
    assert_eq!(linked.confidence, Confidence::CERTAIN);
    let behind = linked.decision.unwrap();
    assert_eq!((behind.by.as_str(), behind.at), ("ann", at(50)));
}

#[test]
fn the_latest_decision_holds_and_one_that_was_taken_back_leaves_the_link_to_records() {
    let decisions = [
        decided("k", 50, ("ann", Some("a"))),
        decided("k", 60, ("bob", Some("b"))),
        decided("k", 70, ("bob", None)),
        decided("k", 80, ("ann", Some("c"))),
    ];
    for (count, experiment, method) in [
        (0, "record", LinkMethod::Explicit),
        (1, "a", LinkMethod::Manual),
        (2, "b", LinkMethod::Manual),
        (3, "record", LinkMethod::Explicit),
        (4, "c", LinkMethod::Manual),
    ] {
        let mut observations = vec![ran("k", explicit("record"))];
        observations.extend(decisions.iter().take(count).rev().cloned());
        let linked = only(&observations).link;
        assert_eq!((linked.experiment.0.as_str(), linked.method), (experiment, method), "after {count}");
    }
}

#[test]
fn two_decisions_of_one_instant_that_differ_are_told_and_two_that_agree_are_not() {
    let of = |experiment: &str| {
        fold(&[
            ran("k", explicit("record")),
            decided("k", 50, ("ann", Some("a"))),
            decided("k", 50, ("bob", Some(experiment))),
        ])
    };
    let differ = of("b");
    assert_eq!(codes(&differ), ["attempt::links_at_odds"]);
    assert_eq!(attempt(&differ, "k").link.experiment.0, "b");
    assert_eq!(
        differ.notes[0].message,
        "linked twice at 1970-01-01T00:00:50Z: `b` by bob and `a` by ann; the first holds until one is set again"
    );
    assert!(of("a").notes.is_empty());
}

#[test]
fn a_decision_names_an_attempt_by_any_name_that_it_alone_has_and_its_sessions_apart() {
    let view = AttemptView { aliases: vec!["db=7".to_owned()], ..explicit("record") };
    let by_alias = only(&[ran("k", view.clone()), decided("db=7", 50, ("ann", Some("a")))]);
    assert_eq!(by_alias.link.experiment.0, "a");
    let sessions = fold(&[
        ran("k", ended(10, 20, Outcome::Failed)),
        ran("k", ended(30, 40, Outcome::Completed)),
        decided("k#2", 50, ("ann", Some("a"))),
    ]);
    assert_eq!(attempt(&sessions, "k#2").link.experiment.0, "a");
    assert_eq!(attempt(&sessions, "k").link.method, LinkMethod::OwnJob);
    let nobody = fold(&[ran("k", view.clone()), decided("unheard", 50, ("ann", Some("a")))]);
    assert_eq!(codes(&nobody), ["attempt::link_without_attempt"]);
    let several = fold(&[ran("k", view.clone()), ran("l", view), decided("db=7", 50, ("ann", Some("a")))]);
    assert_eq!(several.notes[0].message, "a link by hand is kept, but 2 attempts have that name");
}

#[test]
fn attempts_are_numbered_in_the_experiment_that_they_were_linked_to() {
    let folded = fold(&[
        ran("first", explicit("vitl")),
        ran(
            "stray",
            AttemptView { link: linked("typo", LinkMethod::Label), ..ended(30, 40, Outcome::Completed) },
        ),
        decided("stray", 50, ("ann", Some("vitl"))),
    ]);
    let all = experiments(&folded.attempts);
    assert_eq!((all.len(), all[0].attempts.len()), (1, 2));
    assert_eq!(attempt(&folded, "stray").ordinal, 2);
}

#[test]
fn every_link_tells_how_it_was_found_and_how_sure_that_is() {
    for (method, confidence) in [
        (LinkMethod::Explicit, "1"),
        (LinkMethod::Label, "0.95"),
        (LinkMethod::Tracker, "0.9"),
        (LinkMethod::NameRule, "0.7"),
        (LinkMethod::OwnJob, "0.5"),
    ] {
        let told = only(&[ran("k", AttemptView { link: linked("e", method), ..running(10) })]).link;
        assert_eq!((told.method, told.confidence.to_string().as_str()), (method, confidence));
        assert!(told.decision.is_none());
    }
    let nothing = only(&[ran("k", running(10))]).link;
    assert_eq!((nothing.method, nothing.confidence), (LinkMethod::OwnJob, Confidence::thousandths(500)));
}

/// A scheduler's job, and another source's view of an execution in the same experiment.
fn beside(view: AttemptView, binding: Option<Binding>) -> Folded {
    let job = AttemptView { link: labelled("e"), ..ended(1_000, 9_000, Outcome::Completed) };
    let view = AttemptView { link: labelled("e"), scheduler: "mlflow".to_owned(), ..view };
    let mut observations = vec![
        ran("slurm:gpu:1:900", job),
        bound("slurm:gpu:1:900", node_binding("g1", 1_000, Some(9_000), 8_000)),
        ran("mlflow:t:r:0", view),
    ];
    observations.extend(binding.map(|binding| bound("mlflow:t:r:0", binding)));
    fold(&observations)
}

#[test]
fn a_session_beside_a_job_of_its_experiment_looks_like_a_duplicate_and_is_told() {
    let told = beside(ended(1_100, 8_900, Outcome::Completed), None);
    assert_eq!((told.attempts.len(), codes(&told)), (2, vec!["attempt::possible_duplicate"]));
    assert_eq!(told.notes[0].key, "mlflow:t:r:0");
    let on_the_node = Some(node_binding("g1", 1_100, Some(8_900), 8_000));
    let shared = beside(ended(1_100, 8_900, Outcome::Completed), on_the_node);
    assert_eq!(codes(&shared), ["attempt::possible_duplicate"]);
}

#[test]
fn what_ran_at_another_time_or_on_another_machine_is_no_duplicate() {
    for (start, end) in [(1_601, 8_900), (1_100, 9_601), (100, 300)] {
        let apart = beside(ended(start, end, Outcome::Completed), None);
        assert!(apart.notes.is_empty(), "from {start} to {end}: {:?}", apart.notes);
    }
    let elsewhere = Some(node_binding("g2", 1_100, Some(8_900), 8_000));
    assert!(beside(ended(1_100, 8_900, Outcome::Completed), elsewhere).notes.is_empty());
}
