//! Bindings: node names become instances, sizes are filled, reports of one resource are one holding.

use ledger::{
    AttemptView, Binding, BindingKind, Capacity, JoinMethod, Observation, Outcome, RunRecord, ShareDriver,
};

use super::*;

fn node(record: NodePeriod, modified: Option<i64>) -> Observation {
    let key = format!("node:{}:{}", record.cluster, record.node_name);
    Observation { modified_at: modified.map(at), ..says(&key, RunRecord::Node(record)) }
}

#[test]
fn a_node_name_is_the_instance_that_it_was_at_the_time() {
    let attempt = only(&[
        ran("k", AttemptView { gpu_count: Some(8_000), ..ended(100, 200, Outcome::Completed) }),
        bound("k", node_binding("cld1", 100, Some(200), 8_000)),
        node(period("cld1", 50, Some(130), "i-old"), None),
        node(period("cld1", 150, None, "i-new"), None),
    ]);
    let shown: Vec<_> = attempt
        .bindings
        .iter()
        .map(|b| {
            (b.kind, b.resource_id.as_deref(), b.start.seconds(), b.end.map(|end| end.seconds()), b.capacity)
        })
        .collect();
    assert_eq!(
        shown,
        [
            (BindingKind::Instance, Some("i-new"), 150, Some(200), Some(8_000)),
            (BindingKind::Instance, Some("i-old"), 100, Some(130), Some(8_000)),
            (BindingKind::Node, None, 130, Some(150), None),
        ]
    );
    assert_eq!(attempt.bindings[0].method, JoinMethod::InstanceTable);
    assert_eq!(attempt.bindings[0].node_name.as_deref(), Some("cld1"));
    assert_eq!(attempt.capacity, Capacity::Spot);
}

#[test]
fn a_node_that_was_up_and_then_closed_is_one_period_and_a_missed_power_down_ends_at_the_next_power_up() {
    let attempt = only(&[
        ran("k", ended(100, 300, Outcome::Completed)),
        bound("k", node_binding("n", 100, Some(300), 1_000)),
        node(period("n", 90, None, "i-1"), Some(95)),
        node(period("n", 90, Some(200), "i-1"), Some(210)),
        node(period("n", 200, None, "i-2"), None),
        node(NodePeriod { cluster: "other".to_owned(), ..period("n", 0, None, "i-wrong") }, None),
    ]);
    let ids: Vec<_> = attempt.bindings.iter().map(|b| b.resource_id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["i-1", "i-2"]);
    assert_eq!(attempt.gpu_milliseconds, Some(200_000));
}

#[test]
fn capacity_is_told_only_if_all_nodes_agree() {
    let mixed = only(&[
        ran("k", ended(100, 200, Outcome::Completed)),
        bound("k", node_binding("a", 100, Some(200), 1_000)),
        bound("k", node_binding("b", 100, Some(200), 1_000)),
        node(period("a", 0, None, "i-a"), None),
        node(NodePeriod { capacity: Capacity::OnDemand, ..period("b", 0, None, "i-b") }, None),
    ]);
    assert_eq!(mixed.capacity, Capacity::Unknown);
    assert_eq!(mixed.gpu_count, Some(2_000), "without a count of its own the bindings tell it");
}

#[test]
fn the_size_of_a_known_type_is_filled_and_of_others_stays_unknown() {
    let with_sku = |sku: &str, driver| Binding {
        kind: BindingKind::Instance,
        resource_id: Some("i-1".to_owned()),
        sku: Some(sku.to_owned()),
        driver,
        ..node_binding("n", 1, Some(2), 500)
    };
    for (sku, driver, expect) in [
        ("g5.12xlarge", ShareDriver::Gpu, Some(4_000)),
        ("g6f.4xlarge", ShareDriver::Gpu, Some(500)),
        ("m7i.large", ShareDriver::Gpu, None),
        ("g5.12xlarge", ShareDriver::Cpu, None),
    ] {
        let attempt = only(&[ran("k", ended(1, 2, Outcome::Completed)), bound("k", with_sku(sku, driver))]);
        assert_eq!(attempt.bindings[0].capacity, expect, "for {sku} by {driver}");
    }
}

#[test]
fn ranks_that_each_report_their_node_hold_it_once() {
    let reports = [(10, None), (11, Some(50)), (12, Some(49)), (10, Some(50))];
    let mut observations: Vec<Observation> =
        reports.into_iter().map(|(start, end)| bound("k", node_binding("n", start, end, 4_000))).collect();
    observations.push(ran("k", ended(10, 50, Outcome::Completed)));
    let attempt = only(&observations);
    assert_eq!(attempt.bindings.len(), 1);
    assert_eq!((attempt.bindings[0].start, attempt.bindings[0].end), (at(10), some(50)));
    assert_eq!(attempt.gpu_milliseconds, Some(160_000));
}

#[test]
fn a_report_of_the_same_holding_that_tells_the_size_of_the_node_takes_the_place_of_one_that_does_not() {
    let holding = Binding { sku: None, capacity: None, ..node_binding("cld1", 100, Some(200), 4_000) };
    let sized = Binding { capacity: Some(8_000), ..holding.clone() };
    let attempt = only(&[
        ran("k", ended(100, 200, Outcome::Completed)),
        bound("k", holding.clone()),
        bound("k", sized.clone()),
        bound("k", Binding { weight: 2_000, ..holding.clone() }),
    ]);
    let shown: Vec<_> = attempt.bindings.iter().map(|b| (b.weight, b.capacity)).collect();
    assert_eq!(shown, [(2_000, None), (4_000, Some(8_000))], "only what differs in nothing else gives way");
}

#[test]
fn an_open_binding_ends_with_its_attempt_and_a_newer_report_corrects_an_older() {
    let report =
        |modified, end, gpus| says_at("k", modified, RunRecord::Binding(node_binding("n", 10, end, gpus)));
    let open = only(&[ran("k", ended(10, 50, Outcome::Failed)), report(20, None, 8_000)]);
    assert_eq!(open.bindings[0].end, some(50));
    let corrected = only(&[
        ran("k", ended(10, 50, Outcome::Failed)),
        report(20, None, 8_000),
        report(60, Some(40), 4_000),
    ]);
    assert_eq!(corrected.bindings.len(), 1);
    assert_eq!((corrected.bindings[0].end, corrected.bindings[0].gpus), (some(40), 4_000));
}

#[test]
fn parts_of_a_heterogeneous_job_are_several_bindings_of_one_attempt() {
    let het = only(&[
        ran("slurm:gpu:14:1", AttemptView { gpu_count: Some(10_000), ..ended(10, 20, Outcome::Completed) }),
        bound("slurm:gpu:14:1", node_binding("g1", 10, Some(20), 8_000)),
        bound("slurm:gpu:14:1", node_binding("g2", 10, Some(20), 2_000)),
    ]);
    assert_eq!((het.bindings.len(), het.gpu_milliseconds), (2, Some(100_000)));
}
