//! Objects of Kubernetes clusters: attempts by controller, what they held, why they ended, and what is hidden.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;
#[path = "kubernetes/recorded.rs"]
mod recorded;
mod shared;

use ledger::{AttemptView, Binding, Capacity, Cause, Outcome, Phase, PhaseKind, RunRecord, RunState};
use proptest::prelude::*;
use sources::SourceError;
use sources::telemetry::TelemetryRead;
use sources::telemetry::kubernetes::{KubernetesOptions, read};

fn options() -> KubernetesOptions {
    KubernetesOptions {
        file: "cluster.json".to_owned(),
        experiment_keys: vec!["experiment_id".to_owned(), "experiment".to_owned()],
        ..KubernetesOptions::default()
    }
}

fn typed(text: &str) -> Result<TelemetryRead, SourceError> {
    read(text.as_bytes(), &options())
}

fn file(name: &str) -> TelemetryRead {
    documents::file(&format!("kubernetes/{name}"), |bytes| read(bytes, &options()))
}

fn view<'r>(read: &'r TelemetryRead, key: &str) -> &'r AttemptView {
    let mut views = read.observations.iter().filter(|seen| seen.key == format!("k8s:c1:{key}"));
    let found = views.find_map(|seen| match &seen.record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no attempt {key}"))
}

fn bindings<'r>(read: &'r TelemetryRead, key: &str) -> Vec<&'r Binding> {
    let of_key = read.observations.iter().filter(|seen| seen.key == format!("k8s:c1:{key}"));
    let bindings = of_key.filter_map(|seen| match &seen.record {
        RunRecord::Binding(binding) => Some(binding),
        _ => None,
    });
    bindings.collect()
}

fn phases<'r>(read: &'r TelemetryRead, key: &str) -> Vec<&'r Phase> {
    let of_key = read.observations.iter().filter(|seen| seen.key == format!("k8s:c1:{key}"));
    let phases = of_key.filter_map(|seen| match &seen.record {
        RunRecord::Phase(phase) => Some(phase),
        _ => None,
    });
    phases.collect()
}

/// When each node was held, and how much of it.
fn held(read: &TelemetryRead, key: &str) -> Vec<String> {
    let time = |at: ledger::Timestamp| at.to_string()[11..16].to_owned();
    let shown = |b: &&Binding| {
        let end = b.end.map_or_else(|| "now".to_owned(), time);
        let capacity = b.capacity.map_or_else(|| "?".to_owned(), |all| all.to_string());
        format!("{} {}-{end} {}/{capacity}", b.node_name.as_deref().unwrap(), time(b.start), b.weight)
    };
    bindings(read, key).iter().map(shown).collect()
}

fn warned(read: &TelemetryRead, code: &str) -> Option<String> {
    read.warnings.iter().find(|warning| warning.code == code).map(|warning| warning.message.clone())
}

#[test]
fn a_restart_of_a_job_set_is_an_attempt_with_a_binding_a_node() {
    let read = file("synthetic_jobset.json");
    let now = view(&read, "js1:2");
    assert_eq!((now.state, now.restart_index), (RunState::Running, Some(2)));
    assert_eq!(held(&read, "js1:2"), ["ip-1 12:02-now 8000/8000", "ip-2 12:03-now 8000/8000"]);
    assert_eq!(now.link.clone().unwrap().experiment.0, "vitl-tune");
    // The restart deleted the pods of the attempts before: they failed, and what they held is not told.
    for (key, ended) in [("js1:0", None), ("js1:1", Some("2026-07-01T12:00:00Z"))] {
        let gone = view(&read, key);
        assert_eq!(
            (gone.outcome, gone.ended_at.map(|at| at.to_string()).as_deref()),
            (Outcome::Failed, ended)
        );
        assert_eq!(gone.link, now.link);
        assert!(bindings(&read, key).is_empty());
    }
    assert!(warned(&read, "kubernetes::pods_gone").unwrap().starts_with("2 attempt(s)"));
    let earlier = file("synthetic_jobset_earlier.json");
    assert_eq!(view(&earlier, "js1:1").state, RunState::Running);
}

/// T24: four ranks of two accelerators each, on one node of 8000 thousandths, hold it once.
#[test]
fn ranks_on_one_node_hold_it_once() {
    let read = file("synthetic_ranks.json");
    assert_eq!(held(&read, "js9:0"), ["ip-1 10:01-11:01 8000/8000"]);
    assert_eq!(view(&read, "js9:0").outcome, Outcome::Completed);
}

#[test]
fn why_an_attempt_ended_follows_from_what_its_pod_and_its_queue_say() {
    let read = file("synthetic_jobs.json");
    for (key, outcome, cause) in [
        ("b1:train:0", Outcome::Preempted, Cause::PreemptedScheduler),
        ("b2:train:0", Outcome::Completed, Cause::Unknown),
        ("o1:train:0", Outcome::Failed, Cause::OomHost),
        ("o2:train:0", Outcome::Failed, Cause::OomHost),
        ("o3:train:0", Outcome::Failed, Cause::OomGpu),
        ("q1:train:0", Outcome::Preempted, Cause::EvictedQuota),
        ("r1:train:2", Outcome::Failed, Cause::AppError),
        ("r1:train:3", Outcome::Unknown, Cause::Unknown),
        ("r2:train:0", Outcome::Failed, Cause::AppError),
        ("z1:train:0", Outcome::Preempted, Cause::SpotInterruption),
        ("v1:train:0", Outcome::Unknown, Cause::Unknown),
        ("k1:train:0", Outcome::Failed, Cause::LaunchFailure),
        ("l1:train:0", Outcome::Timeout, Cause::TimeLimit),
        ("g1:train:0", Outcome::Failed, Cause::NodeFailure),
        ("d1:train:0", Outcome::Preempted, Cause::Unknown),
    ] {
        let view = view(&read, key);
        assert_eq!((view.outcome, view.cause), (outcome, cause), "for {key}: {:?}", view.cause_evidence);
    }
    assert_eq!(
        view(&read, "b1:train:0").link,
        view(&read, "b2:train:0").link,
        "both tries are of one experiment"
    );
    assert_eq!(
        view(&read, "o1:train:0").link.clone().unwrap().experiment.0,
        "oom-case",
        "a variable names it"
    );
    assert_eq!(view(&read, "q1:train:0").queue.as_deref(), Some("shared-a100"));
}

// Trap22.
#[test]
fn a_job_that_failed_has_no_completion_time_and_the_start_of_a_resumed_one_is_not_asked() {
    let read = file("synthetic_jobs.json");
    // `startTime` of the job was set again at 11:30 when it was resumed: the first try began before.
    assert_eq!(held(&read, "b1:train:0"), ["ip-1 10:10-11:00 4000/8000"]);
    assert_eq!(held(&read, "b2:train:0"), ["ip-2 11:30-13:00 4000/8000"]);
    assert!(warned(&read, "kubernetes::job_without_pods").unwrap().starts_with("1 job(s)"));
}

// Trap21.
#[test]
fn only_the_last_end_of_a_container_is_kept_and_what_is_missing_is_told() {
    let read = file("synthetic_jobs.json");
    assert!(warned(&read, "kubernetes::earlier_runs_hidden").unwrap().starts_with("2 earlier run(s)"));
    // The node stays held while the container waits to be started again.
    assert_eq!(held(&read, "r1:train:2"), ["ip-2 11:00-11:50 1000/8000"]);
    assert_eq!(held(&read, "r1:train:3"), ["ip-2 11:50-now 1000/8000"]);
    assert_eq!(held(&read, "r2:train:0"), ["ip-2 10:01-10:30 1000/8000"]);
}

// Trap20: 0001-01-01 is written where nothing is known.
#[test]
fn the_zero_time_is_no_time() {
    let read = file("synthetic_jobs.json");
    assert_eq!(held(&read, "z1:train:0"), ["gke-1 10:01-10:31 1000/1000"]);
}

#[test]
fn what_was_never_scheduled_holds_nothing_and_waiting_is_not_held() {
    let read = file("synthetic_jobs.json");
    let never = view(&read, "v1:train:0");
    assert_eq!((never.state, never.started_at), (RunState::Pending, None));
    assert!(bindings(&read, "v1:train:0").is_empty());
    let phases: Vec<_> =
        phases(&read, "b1:train:0").iter().map(|p| (p.kind, p.interval.micros() / 60_000_000)).collect();
    assert_eq!(phases, [(PhaseKind::Queue, 10), (PhaseKind::ContainerStart, 2)]);
}

/// T15: a slice of three sevenths is 428 thousandths of an accelerator.
#[test]
fn a_slice_is_a_part_of_an_accelerator() {
    let read = file("synthetic_jobs.json");
    assert_eq!(held(&read, "s1:train:0"), ["ip-mig 10:01-11:01 428/8000"], "three of seven");
    assert_eq!(
        held(&read, "c1:train:0"),
        ["ip-1 10:01-10:12 1500/96000"],
        "processors where no accelerator is"
    );
}

#[test]
fn a_node_is_the_machine_that_its_bill_names() {
    let read = file("synthetic_jobs.json");
    let nodes: Vec<(String, Capacity)> = read
        .observations
        .iter()
        .filter_map(|seen| match &seen.record {
            RunRecord::Node(node) => Some((node.instance_id.clone(), node.capacity)),
            _ => None,
        })
        .collect();
    let vm = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/0";
    let expect = [
        (vm, Capacity::Spot),
        ("//compute.googleapis.com/projects/proj/zones/us-central1-a/instances/gke-1", Capacity::Spot),
        ("i-01", Capacity::Spot),
        ("i-02", Capacity::OnDemand),
        ("i-03", Capacity::OnDemand),
    ];
    assert_eq!(nodes, expect.map(|(id, capacity)| (id.to_owned(), capacity)));
    assert_eq!(view(&read, "b1:train:0").gpu_kind.as_deref(), Some("NVIDIA-A100-SXM4-40GB"));
}

#[test]
fn a_pod_that_is_killed_while_it_is_deleted_did_not_run_out_of_memory() {
    let pod = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u","deletionTimestamp":"2026-07-01T10:30:00Z"},
        "spec":{"containers":[{"name":"c"}]},"status":{"phase":"Running","containerStatuses":[{"name":"c","restartCount":0,
        "state":{"terminated":{"exitCode":137,"reason":"Error","finishedAt":"2026-07-01T10:29:00Z"}}}]}}"#;
    let read =
        read(pod.as_bytes(), &KubernetesOptions { cluster: Some("c1".to_owned()), ..options() }).unwrap();
    assert_eq!(
        (view(&read, "u:c:0").outcome, view(&read, "u:c:0").cause),
        (Outcome::Cancelled, Cause::Unknown)
    );
}

#[test]
fn operators_count_their_attempts_in_their_own_ways() {
    let read = file("synthetic_operators.json");
    // A new master is a new attempt, and so is a restart of its container; the worker goes on through all of them.
    assert_eq!(held(&read, "pj:m1"), ["ip-1 10:01-11:00 4000/8000", "ip-2 10:02-11:00 4000/8000"]);
    assert_eq!(held(&read, "pj:m2"), ["ip-1 11:02-11:28 4000/8000", "ip-2 11:00-11:28 4000/8000"]);
    assert_eq!(held(&read, "pj:m2:1"), ["ip-1 11:28-now 4000/8000", "ip-2 11:28-now 4000/8000"]);
    assert_eq!(view(&read, "pj:m2:1").state, RunState::Running);
    // The cluster of a retried RayJob is another one; two workers on one node are added up.
    assert_eq!(
        (view(&read, "rj:tune-c1").outcome, view(&read, "rj:tune-b").outcome),
        (Outcome::Failed, Outcome::Completed)
    );
    assert_eq!(held(&read, "rj:tune-b"), ["ip-2 11:02-12:50 2000/8000", "ip-2 12:50-13:00 1000/8000"]);
    assert_eq!(view(&read, "rj:tune-b").link, view(&read, "rj:tune-c1").link);
    assert_eq!(
        (view(&read, "vj:1").outcome, view(&read, "vj:2").outcome),
        (Outcome::Failed, Outcome::Completed)
    );
    assert_eq!(view(&read, "vj:2").queue.as_deref(), Some("gold"));
}

#[test]
fn a_watch_tells_of_every_run_and_of_a_pod_that_is_gone_without_an_end() {
    let read = file("synthetic_watch.json");
    let runs = ["w1:train:0", "w1:train:1", "w1:train:2"].map(|key| held(&read, key).join(", "));
    assert_eq!(
        runs,
        ["ip-1 10:01-11:00 1000/8000", "ip-1 11:00-12:00 1000/8000", "ip-1 12:00-12:39 1000/8000"]
    );
    assert_eq!(view(&read, "w1:train:2").state, RunState::Lost);
    assert_eq!(warned(&read, "kubernetes::earlier_runs_hidden"), None);
}

#[test]
fn a_pod_that_a_later_list_does_not_hold_is_lost_and_never_completed() {
    let read = file("synthetic_lists.json");
    let lost = view(&read, "a1:train:0");
    assert_eq!((lost.state, lost.outcome), (RunState::Lost, Outcome::Unknown));
    assert_eq!(
        lost.ended_at.unwrap().to_string(),
        "2026-07-01T10:30:00Z",
        "the latest time that the list tells"
    );
    assert_eq!(view(&read, "b1:train:0").outcome, Outcome::Completed);
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("synthetic_broken.json");
    assert_eq!((read.rows, read.accepted), (13, 4));
}

#[test]
fn a_cluster_has_to_be_named() {
    let text = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u"},"spec":{"containers":[{"name":"c"}]}}"#;
    assert_eq!(typed(text).unwrap_err().code, "kubernetes::no_cluster");
    let given = KubernetesOptions { cluster: Some("lab".to_owned()), ..options() };
    assert_eq!(read(text.as_bytes(), &given).unwrap().observations[0].key, "k8s:lab:u:c:0");
    assert_eq!(typed("").unwrap(), TelemetryRead::default());
    assert_eq!(typed("{\"kind\":").unwrap_err().code, "kubernetes::not_json");
}

proptest! {
    #[test]
    fn no_change_of_a_good_list_makes_it_panic(change in documents::changes()) {
        documents::survives("kubernetes/synthetic_operators.json", change, |bytes| read(bytes, &options()))?;
    }
}
