//! Which fields are known, missing or not due, what would supply them, and what the missing ones cost.

use ledger::{
    Artifact, ArtifactKind, AttemptView, Binding, BindingKind, CostBasis, CreditTreatment, Evidence,
    ExperimentId, ExperimentLink, JoinMethod, Observation, QualityResult, RunRecord, ShareDriver, SourceId,
    Timestamp,
};
use proptest::prelude::*;

use super::*;
use crate::attempts::fold;

fn says(key: &str, record: RunRecord) -> Observation {
    Observation { source: SourceId("s".to_owned()), key: key.to_owned(), modified_at: None, record }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(second)
}

fn view(scheduler: &str) -> AttemptView {
    AttemptView {
        submitted_at: Some(at(1)),
        started_at: Some(at(2)),
        ended_at: Some(at(3)),
        state: RunState::Ended,
        outcome: Outcome::Completed,
        ..AttemptView::of_scheduler(scheduler.to_owned())
    }
}

fn only(observations: &[Observation]) -> Attempt {
    fold(observations).attempts.into_iter().next().unwrap()
}

fn of(view: AttemptView) -> Completeness {
    completeness(&only(&[says("k", RunRecord::Attempt(view))]), FromBill::default())
}

fn missing(complete: &Completeness) -> Vec<&'static str> {
    let missing = complete.fields.iter().filter(|(_, standing)| *standing == Standing::Missing);
    missing.map(|(field, _)| field.word()).collect()
}

fn machine(resource_id: &str, sku: Option<&str>) -> Observation {
    let binding = Binding {
        kind: BindingKind::Instance,
        resource_id: Some(resource_id.to_owned()),
        node_name: None,
        sku: sku.map(str::to_owned),
        start: at(2),
        end: Some(at(3)),
        weight: 8_000,
        capacity: None,
        driver: ShareDriver::Gpu,
        gpus: 8_000,
        method: JoinMethod::ResourceId,
    };
    says("k", RunRecord::Binding(binding))
}

/// R38: everything that is told of a completed attempt of a cluster is eighteen fields of eighteen.
#[test]
fn a_record_that_tells_everything_is_complete() {
    let told = |text: &str| Some(text.to_owned());
    let everything = AttemptView {
        link: Some(ExperimentLink { experiment: ExperimentId("vitl".to_owned()), method: LinkMethod::Label }),
        cluster: told("c"),
        namespace: told("ml"),
        model_version: told("v3"),
        config_version: told("c1"),
        dataset_snapshot: told("d1"),
        ..view("kubernetes")
    };
    let quality = QualityResult {
        metric: "val_acc".to_owned(),
        value: 0.8,
        direction: None,
        split: None,
        step: None,
        at: at(3),
        protocol: None,
        is_final: true,
    };
    let model = Artifact { kind: ArtifactKind::Model, uri: "s3://m/v3".to_owned(), version: None };
    let attempt = only(&[
        says("k", RunRecord::Attempt(AttemptView { outcome: Outcome::Completed, ..everything.clone() })),
        machine("i-1", Some("p4d.24xlarge")),
        says("k", RunRecord::Quality(quality)),
        says("k", RunRecord::Artifact(model)),
    ]);
    let complete = completeness(&attempt, FromBill { account: true, region: true, sku: false });
    assert_eq!(missing(&complete), Vec::<&str>::new());
    // A completed attempt has no reason of failure to tell.
    assert_eq!((complete.standing(Field::FailureReason), complete.score()), (Standing::NotDue, (17, 17)));
    assert!(complete.remedies.is_empty());
}

#[test]
fn what_is_missing_is_named_with_what_supplies_it() {
    let bare = of(AttemptView { cluster: Some("c".to_owned()), ..view("slurm") });
    assert_eq!(
        missing(&bare),
        [
            "experiment",
            "model_version",
            "config_version",
            "dataset_snapshot",
            "cloud_account",
            "region",
            "sku",
            "gpu_count",
            "final_metric",
            "artifact_location"
        ]
    );
    assert_eq!(bare.score(), (6, 16));
    let remedies: Vec<Field> = bare.remedies.iter().map(|remedy| remedy.field).collect();
    assert_eq!(remedies.iter().map(|field| field.word()).collect::<Vec<_>>(), missing(&bare));
    let of_field = |field| bare.remedies.iter().find(|remedy| remedy.field == field).unwrap();
    assert_eq!(
        of_field(Field::DatasetSnapshot).command,
        "sbatch --comment='experiment=NAME;dataset=SNAPSHOT' …"
    );
    assert_eq!(of_field(Field::Sku).source, "Slurm's table of instances");
    assert_eq!(of_field(Field::Region).command, "trainbill import aws-cur PLACE");
}

#[test]
fn what_an_attempt_cannot_tell_yet_or_at_all_is_not_due() {
    let running =
        AttemptView { ended_at: None, state: RunState::Running, outcome: Outcome::Unknown, ..view("slurm") };
    let failed = AttemptView { outcome: Outcome::Failed, ..view("manual") };
    let never = AttemptView { started_at: None, outcome: Outcome::Cancelled, ..view("slurm") };
    for (view, not_due) in [
        (
            running,
            vec!["namespace", "ended_at", "status", "failure_reason", "final_metric", "artifact_location"],
        ),
        (failed, vec!["cluster", "namespace", "final_metric", "artifact_location"]),
        (
            never,
            vec![
                "cloud_account",
                "region",
                "namespace",
                "sku",
                "gpu_count",
                "started_at",
                "final_metric",
                "artifact_location",
            ],
        ),
    ] {
        let complete = of(view);
        let found = complete.fields.iter().filter(|(_, standing)| *standing == Standing::NotDue);
        assert_eq!(found.map(|(field, _)| field.word()).collect::<Vec<_>>(), not_due);
    }
}

#[test]
fn the_id_of_a_managed_job_names_its_account_and_region() {
    let job = "arn:aws:sagemaker:eu-west-1:111122223333:training-job/t";
    let attempt = only(&[says("k", RunRecord::Attempt(view("sagemaker"))), machine(job, Some("ml.p4d"))]);
    let complete = completeness(&attempt, FromBill::default());
    for field in [Field::CloudAccount, Field::Region, Field::Sku, Field::GpuCount] {
        assert_eq!(complete.standing(field), Standing::Known, "{field}");
    }
    // One machine without a type is enough for it to be missing.
    let partly = only(&[
        says("k", RunRecord::Attempt(view("slurm"))),
        machine("i-1", Some("p4d.24xlarge")),
        machine("i-2", None),
    ]);
    assert_eq!(completeness(&partly, FromBill::default()).standing(Field::Sku), Standing::Missing);
}

fn measure() -> Measure {
    Measure {
        currency: "USD".parse().unwrap(),
        basis: CostBasis::Effective,
        credits: CreditTreatment::BeforeCredits,
    }
}

fn usd(amount: &str) -> Figure {
    Figure::of(measure(), Evidence::Modelled, amount.parse().unwrap())
}

/// R41: of three attempts that cost 10, 20 and an unknown amount, one names its model; the others lack it for 20 and more.
#[test]
fn coverage_is_by_attempts_and_by_money_and_unknown_money_is_not_nothing() {
    let attempt = |key: &str, model: Option<&str>| {
        let view = AttemptView { model_version: model.map(str::to_owned), ..view("slurm") };
        only(&[says(key, RunRecord::Attempt(view))])
    };
    let attempts = [attempt("a", Some("v1")), attempt("b", None), attempt("c", None)];
    let all: Vec<Completeness> = attempts.iter().map(|a| completeness(a, FromBill::default())).collect();
    let costs = BTreeMap::from([(attempts[0].id, usd("10")), (attempts[1].id, usd("20"))]);
    let covered = coverage(&all, &costs, measure()).unwrap();
    assert_eq!((covered.attempts, covered.without_cost), (3, 1));
    assert_eq!(covered.cost.total().unwrap().to_string(), "30");
    let model = covered.fields.iter().find(|one| one.field == Field::ModelVersion).unwrap();
    assert_eq!((model.known, model.missing, model.not_due), (1, 2, 0));
    assert_eq!(model.missing_cost.total().unwrap().to_string(), "20");
    assert_eq!(model.missing_without_cost, 1);
}

#[test]
fn costs_of_unlike_measures_are_refused() {
    let attempt = only(&[says("k", RunRecord::Attempt(view("slurm")))]);
    let all = [completeness(&attempt, FromBill::default())];
    let list = Measure { basis: CostBasis::List, ..measure() };
    let costs = BTreeMap::from([(attempt.id, Figure::of(list, Evidence::Billed, "1".parse().unwrap()))]);
    let refused = coverage(&all, &costs, measure()).unwrap_err();
    assert!(matches!(refused, UnlikeAmounts::Measure { .. }), "{refused}");
}

proptest! {
    #[test]
    fn every_attempt_and_all_money_stand_once_in_every_field(
        told in proptest::collection::vec(
            (0_usize..4, 0_usize..6, any::<bool>(), proptest::option::of(0_i64..1_000)), 0..8,
        ),
    ) {
        let mut all = Vec::new();
        let mut costs = BTreeMap::new();
        for (index, (state, outcome, has_model, cost)) in told.iter().enumerate() {
            let view = AttemptView {
                state: RunState::ALL[*state],
                outcome: Outcome::ALL[*outcome],
                model_version: has_model.then(|| "v".to_owned()),
                ..view("kubernetes")
            };
            let attempt = only(&[says(&format!("k{index}"), RunRecord::Attempt(view))]);
            costs.extend(cost.map(|cost| (attempt.id, usd(&cost.to_string()))));
            all.push(completeness(&attempt, FromBill::default()));
        }
        let covered = coverage(&all, &costs, measure()).unwrap();
        prop_assert_eq!(covered.fields.len(), Field::ALL.len());
        for field in &covered.fields {
            prop_assert_eq!(field.known + field.missing + field.not_due, covered.attempts, "{}", field.field);
            prop_assert!(field.missing_cost.total().unwrap() <= covered.cost.total().unwrap());
        }
        for one in &all {
            let (known, due) = one.score();
            prop_assert_eq!(due - known, one.remedies.len());
        }
    }
}
