//! Names that lack the cluster: `job_id=42` and `pod_uid=…`.

use ledger::{AttemptView, Confidence, LinkMethod, Outcome};

use super::*;

/// A tracker's session from 110 to 900 that names its job or pod without the cluster.
fn session(alias: &str) -> Observation {
    let view = AttemptView {
        aliases: vec![alias.to_owned()],
        link: linked("vitl", LinkMethod::Explicit),
        scheduler: "wandb".to_owned(),
        ..ended(110, 900, Outcome::Completed)
    };
    Observation { source: SourceId("wandb".to_owned()), ..ran("wandb:t/p/r:110", view) }
}

fn job(cluster: &str, job: &str, start: i64, end: i64) -> Observation {
    let view = AttemptView {
        aliases: vec![format!("job_id={job}")],
        link: linked("own", LinkMethod::OwnJob),
        ..ended(start, end, Outcome::Failed)
    };
    ran(&format!("slurm:{cluster}:{job}:{start}"), view)
}

#[test]
fn a_job_id_that_one_cluster_has_joins_its_execution_less_surely() {
    let folded = fold(&[session("job_id=42"), job("gpu", "42", 100, 1_000), job("gpu", "421", 100, 1_000)]);
    let joined = attempt(&folded, "slurm:gpu:42:100");
    assert_eq!((folded.attempts.len(), codes(&folded)), (2, vec![]));
    assert_eq!((joined.link.experiment.0.as_str(), joined.link.method), ("vitl", LinkMethod::Explicit));
    assert_eq!(joined.link.confidence, Confidence::thousandths(800), "no surer than the join");
    assert_eq!(joined.outcome, Outcome::Failed, "the scheduler's end stands");
    let named = fold(&[session("slurm:gpu:42"), job("gpu", "42", 100, 1_000)]);
    assert_eq!(named.attempts[0].link.confidence, Confidence::thousandths(950));
    let exact = fold(&[session("slurm:gpu:42:100"), job("gpu", "42", 100, 1_000)]);
    assert_eq!(exact.attempts[0].link.confidence, Confidence::CERTAIN);
}

#[test]
fn a_job_id_that_several_clusters_have_at_that_time_stays_apart_and_is_told() {
    let folded = fold(&[session("job_id=42"), job("a", "42", 100, 1_000), job("b", "42", 105, 1_000)]);
    assert_eq!((folded.attempts.len(), codes(&folded)), (3, vec!["attempt::ambiguous_alias"]));
    assert_eq!(
        folded.notes[0].message,
        "`job_id=42` may be `slurm:a:42:100` or `slurm:b:42:105`, so it stays an attempt of its own; name the cluster, \
         or link it by hand"
    );
    let of_another_month =
        fold(&[session("job_id=42"), job("a", "42", 100, 1_000), job("b", "42", 90_000, 99_000)]);
    assert_eq!((of_another_month.attempts.len(), codes(&of_another_month)), (2, vec![]));
}

#[test]
fn a_name_with_its_cluster_decides_where_the_other_is_ambiguous() {
    let mut both = session("job_id=42");
    let RunRecord::Attempt(view) = &mut both.record else { panic!("a view") };
    view.aliases.push("slurm:b:42".to_owned());
    let folded = fold(&[both, job("a", "42", 100, 1_000), job("b", "42", 105, 1_000)]);
    assert_eq!((folded.attempts.len(), codes(&folded)), (2, vec![]));
    assert_eq!(attempt(&folded, "slurm:b:42:105").link.experiment.0, "vitl");
}

#[test]
fn executions_of_one_job_never_join_each_other_by_its_id() {
    let folded =
        fold(&[job("gpu", "42", 100, 1_000), job("gpu", "42", 1_000, 2_000), job("gpu", "42", 2_000, 3_000)]);
    assert_eq!((folded.attempts.len(), codes(&folded)), (3, vec![]));
}

#[test]
fn a_pod_is_found_by_its_uid_as_an_attempt_by_itself_or_as_a_rank_of_one() {
    let alone = [session("pod_uid=u7"), ran("k8s:c1:u7:train:0", ended(100, 1_000, Outcome::Completed))];
    let rank = AttemptView { aliases: vec!["k8s:c1:u7".to_owned()], ..ended(100, 1_000, Outcome::Completed) };
    let gang = [session("pod_uid=u7"), ran("k8s:c1:set:0", rank.clone())];
    // What runs inside knows its cluster as well.
    let inside = [session("k8s:c1:u7"), ran("k8s:c1:set:0", rank)];
    for (observations, confidence) in [(alone, 800), (gang, 800), (inside, 950)] {
        let joined = only(&observations);
        assert_eq!(joined.link.experiment.0, "vitl", "{}", joined.canonical_key);
        assert_eq!(joined.link.confidence, Confidence::thousandths(confidence));
    }
}

#[test]
fn a_label_of_the_job_itself_is_surer_than_a_session_that_joined_by_a_bare_number() {
    let labelled = AttemptView { link: labelled("mine"), ..ended(100, 1_000, Outcome::Completed) };
    let joined = only(&[session("job_id=42"), ran("slurm:gpu:42:100", labelled)]);
    assert_eq!((joined.link.experiment.0.as_str(), joined.link.method), ("mine", LinkMethod::Label));
}
