//! Machines made of what attempts held.

use ledger::{
    Attempt, AttemptId, Binding, BindingKind, Capacity, Cause, ExperimentId, ExperimentLink, JoinMethod,
    LinkMethod, Outcome as End, RunState,
};

use super::*;

fn attempt(capacity: Capacity, bindings: Vec<Binding>) -> Attempt {
    Attempt {
        id: AttemptId::of_key("a"),
        canonical_key: "a".to_owned(),
        aliases: Vec::new(),
        link: ExperimentLink { experiment: ExperimentId("e".to_owned()), method: LinkMethod::Explicit }
            .into(),
        ordinal: 1,
        scheduler: "slurm".to_owned(),
        cluster: None,
        namespace: None,
        name: None,
        user: None,
        team: None,
        queue: None,
        submitted_at: None,
        started_at: None,
        ended_at: None,
        state: RunState::Ended,
        outcome: End::Completed,
        cause: Cause::Unknown,
        cause_evidence: Vec::new(),
        exit_code: None,
        restart_index: None,
        gpu_count: None,
        gpu_kind: None,
        gpu_milliseconds: None,
        node_count: None,
        capacity,
        model_version: None,
        config_version: None,
        dataset_snapshot: None,
        bindings,
        phases: Vec::new(),
        checkpoints: Vec::new(),
        interruptions: Vec::new(),
        quality: Vec::new(),
        artifacts: Vec::new(),
        utilisation: Vec::new(),
        source_overwrote: false,
    }
}

fn held((start, end): (i64, Option<i64>), gpus: u64) -> Binding {
    Binding {
        kind: BindingKind::Instance,
        resource_id: Some("i-1".to_owned()),
        node_name: Some("n1".to_owned()),
        sku: Some("box".to_owned()),
        start: span(start, start).start,
        end: end.map(|end| span(end, end).start),
        weight: gpus * 1_000,
        capacity: Some(8_000),
        driver: ShareDriver::Gpu,
        gpus: gpus * 1_000,
        method: JoinMethod::ResourceId,
    }
}

fn facts() -> BTreeMap<String, MachineFacts> {
    let facts = MachineFacts {
        provider: "aws".to_owned(),
        region: "r".to_owned(),
        zone: None,
        machine_type: None,
        tenancy: Tenancy::Shared,
        operating_system: "linux".to_owned(),
        accelerators: None,
        stays: Vec::new(),
        interruptions: Vec::new(),
    };
    BTreeMap::from([("i-1".to_owned(), facts)])
}

/// What each payer bears of an on-demand machine at 10 an hour, or why nobody knows.
fn cost(
    attempts: &[Attempt],
    facts: &BTreeMap<String, MachineFacts>,
) -> Result<Vec<(Payer, String)>, String> {
    let book = book(vec![on_demand("box", "10"), spot("4", -100_000)]);
    let machines = machines(attempts, facts, span(7200, 7200).start);
    let estimate = rate(&book, &machines, &[]);
    let reason = estimate.unpriced().find_map(|line| match &line.outcome {
        Outcome::Unpriced(reason) => Some(reason.to_string()),
        Outcome::Priced { .. } | Outcome::Free => None,
    });
    reason.map_or_else(|| Ok(borne(&estimate)), Err)
}

#[test]
fn attempts_on_one_machine_are_one_machine() {
    let first = attempt(Capacity::OnDemand, vec![held((0, Some(3600)), 4)]);
    let second = attempt(Capacity::OnDemand, vec![held((1800, Some(5400)), 4)]);
    let expect = vec![
        (Payer::Attempt(0), "5".to_owned()),
        (Payer::Attempt(1), "5".to_owned()),
        (Payer::Idle, "5".to_owned()),
    ];
    assert_eq!(cost(&[first, second], &facts()), Ok(expect));
}

#[test]
fn what_is_still_held_is_held_until_now() {
    let running = attempt(Capacity::Spot, vec![held((0, None), 8)]);
    assert_eq!(cost(&[running], &facts()), Ok(vec![(Payer::Attempt(0), "8".to_owned())]));
}

/// T25: a launch that never got a machine costs no compute.
#[test]
fn an_attempt_without_a_machine_costs_no_compute() {
    assert_eq!(cost(&[attempt(Capacity::OnDemand, Vec::new())], &facts()), Ok(Vec::new()));
}

#[test]
fn a_machine_of_which_too_little_is_known_is_unpriced() {
    let one = |capacity| attempt(capacity, vec![held((0, Some(60)), 8)]);
    let unknown = "nobody tells whether `box` was bought on demand, as spot or reserved";
    assert_eq!(cost(&[one(Capacity::Unknown)], &facts()), Err(unknown.to_owned()));
    assert_eq!(cost(&[one(Capacity::OnDemand), one(Capacity::Spot)], &facts()), Err(unknown.to_owned()));
    assert!(cost(&[one(Capacity::OnDemand), one(Capacity::Unknown)], &facts()).is_ok());
    let nowhere = "nobody tells the type and region of `i-1`";
    assert_eq!(cost(&[one(Capacity::OnDemand)], &BTreeMap::new()), Err(nowhere.to_owned()));
}

#[test]
fn the_states_of_a_machine_go_before_what_was_held() {
    let mut facts = facts();
    let stays = vec![Stay { state: MachineState::Running, interval: span(-3600, 7200) }];
    facts.get_mut("i-1").unwrap().stays = stays;
    let attempt = attempt(Capacity::OnDemand, vec![held((0, Some(3600)), 8)]);
    let expect = vec![(Payer::Attempt(0), "10".to_owned()), (Payer::Idle, "20".to_owned())];
    assert_eq!(cost(&[attempt], &facts), Ok(expect));
}
