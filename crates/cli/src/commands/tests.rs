//! Tests of how answers look to people.

use std::collections::BTreeMap;

use app::{
    AttemptRow, ExperimentList, ExperimentRow, ExperimentStatus, ExplainLine, Explanation, MatrixRow, Meta,
    Selection, SpendBy, SpendRow, SpendTable, Statement,
};
use ledger::{
    AttemptId, Capacity, Cause, CostBasis, CreditTreatment, Day, DeliveryId, Evidence, ExperimentId, Figure,
    LineClass, Measure, Outcome, ResourceKind, Rule, RunState, Scope, Settlement, SourceId, Timestamp,
};
use money::Amount;

use super::{ls, show, spend, why};
use crate::arguments::Global;
use crate::session::{Session, Surroundings};

const BILLED: Evidence = Evidence::Billed;
const MODELLED: Evidence = Evidence::Modelled;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn figure(parts: &[(Evidence, &str)]) -> Figure {
    let measure = Measure {
        currency: "USD".parse().unwrap(),
        basis: CostBasis::Effective,
        credits: CreditTreatment::BeforeCredits,
    };
    Figure {
        by_evidence: parts.iter().map(|(evidence, text)| (*evidence, amount(text))).collect(),
        ..Figure::nothing(measure)
    }
}

fn meta() -> Meta {
    Meta {
        basis: CostBasis::Effective,
        scope: Scope::Direct,
        credits: CreditTreatment::BeforeCredits,
        currency: "USD".parse().ok(),
        conversion: None,
        since: None,
        until: None,
        as_of: None,
        policy: None,
        complete_to: Some(Day::from_civil(2026, 10, 31)),
    }
}

fn at(hour: i64) -> Timestamp {
    Timestamp(Day::from_civil(2026, 10, 30).start().0 + hour * 3_600_000_000)
}

fn experiment(name: &str, cost: &[(Evidence, &str)], wasted: &[(Evidence, &str)]) -> ExperimentRow {
    ExperimentRow {
        experiment: ExperimentId(name.to_owned()),
        status: ExperimentStatus::Completed,
        attempts: 2,
        failed_attempts: u32::from(!wasted.is_empty()),
        capacity: "mixed".to_owned(),
        gpu_milliseconds: Some(8_000 * 3600 * 3),
        team: Some("vision".to_owned()),
        started_at: Some(at(1)),
        cost: figure(cost),
        wasted: figure(wasted),
        quality: Some(("val_acc".to_owned(), 0.781)),
        settlement: Settlement::Final,
    }
}

fn attempt(ordinal: u32, outcome: Outcome, cost: &[(Evidence, &str)]) -> AttemptRow {
    let failed = outcome != Outcome::Completed;
    AttemptRow {
        attempt: AttemptId::of_key(&ordinal.to_string()),
        key: format!("slurm:c:{ordinal}"),
        ordinal,
        outcome,
        state: RunState::Ended,
        cause: if failed { Cause::OomGpu } else { Cause::Unknown },
        cause_evidence: Vec::new(),
        capacity: Capacity::Spot,
        submitted_at: Some(at(0)),
        started_at: Some(at(1)),
        ended_at: Some(at(11)),
        queue_micros: Some(3_600_000_000),
        held_micros: Some(36_000_000_000),
        gpu_milliseconds: Some(8_000 * 36_000),
        nodes: Some(1),
        unjoined_bindings: u32::from(failed),
        cost: figure(cost),
        wasted: failed,
        settlement: Settlement::Final,
    }
}

fn with_session(test: impl FnOnce(&Session<'_>)) {
    let surroundings = Surroundings { environment: BTreeMap::new(), now: at(0) };
    // A file that the desk may hold is not read: the program's folder has none of that name.
    let global = Global::default();
    test(&Session::open(&global, None, &surroundings).unwrap());
}

#[test]
fn a_list_adds_up_as_it_is_shown() {
    let mut pending = experiment("vits-abl", &[], &[]);
    pending.settlement = Settlement::AwaitingBill;
    pending.quality = None;
    pending.gpu_milliseconds = None;
    let list = ExperimentList {
        meta: meta(),
        rows: vec![
            experiment("vitl-tune", &[(BILLED, "199.634"), (MODELLED, "326.43")], &[(BILLED, "126")]),
            experiment("resnet-abl", &[(BILLED, "10.004")], &[]),
            pending,
        ],
        total_rows: 5,
        not_shown: figure(&[(BILLED, "3.004")]),
        total: figure(&[(BILLED, "212.642"), (MODELLED, "326.43")]),
        wasted_total: figure(&[(BILLED, "126")]),
        settlement: Settlement::AwaitingBill,
    };
    with_session(|session| {
        insta::assert_snapshot!(ls::sheet(session, &list).unwrap().text(), @r"
    effective basis · before credits · direct · USD · bill complete to 2026-10-31
    EXPERIMENT    STATUS     ATTEMPTS      CAPACITY         GPU-H           COST  WASTED  QUALITY         FIGURE
    vitl-tune     completed  2 (1 failed)  mixed             24.0         526.07  126.00  val_acc 0.7810  modelled + billed
    resnet-abl    completed  2             mixed             24.0          10.00    0.00  val_acc 0.7810  billed
    vits-abl      completed  2             mixed     not reported  awaiting bill    0.00  not reported    awaiting bill
    not shown: 2                                                            3.00    0.00                  billed
                                                                   ─────────────  ──────
    TOTAL                                                                 539.07  126.00                  modelled + billed, awaiting bill
    3 of 5 experiments shown (trainbill ls -a shows the rest)
    ")
    });
}

fn statement() -> Statement {
    let nothing = figure(&[]);
    let third = "0.333333333333333333333333";
    let row = experiment(
        "vitl-tune",
        &[(BILLED, "2.414999999999999999999999")],
        &[(BILLED, "0.333333333333333333333333")],
    );
    Statement {
        meta: meta(),
        attempts: vec![
            attempt(1, Outcome::Failed, &[(BILLED, third)]),
            attempt(2, Outcome::Completed, &[(BILLED, "0.666666666666666666666666")]),
        ],
        kinds: vec![ResourceKind::Compute, ResourceKind::ObjectStorage],
        matrix: vec![
            MatrixRow {
                attempt: Some(1),
                cells: vec![figure(&[(BILLED, third)]), nothing.clone()],
                total: figure(&[(BILLED, third)]),
            },
            MatrixRow {
                attempt: Some(2),
                cells: vec![figure(&[(BILLED, third)]), figure(&[(BILLED, third)])],
                total: figure(&[(BILLED, "0.666666666666666666666666")]),
            },
            MatrixRow {
                attempt: None,
                cells: vec![nothing, figure(&[(BILLED, "1.415")])],
                total: figure(&[(BILLED, "1.415")]),
            },
        ],
        kind_totals: vec![
            figure(&[(BILLED, "0.666666666666666666666666")]),
            figure(&[(BILLED, "1.748333333333333333333333")]),
        ],
        total: row.cost.clone(),
        row,
    }
}

#[test]
fn a_statement_sums_both_ways_and_says_what_was_lost() {
    with_session(|session| {
        insta::assert_snapshot!(show::sheet(session, &statement()).unwrap().text(), @r"
    vitl-tune · completed · attempts 2 (1 failed) · mixed · quality val_acc 0.7810 · team vision
    effective basis · before credits · direct · USD · bill complete to 2026-10-31
    All-in cost  2.41    Wasted  0.33    Bill  final

    ATTEMPT  OUTCOME          CAPACITY  STARTED (UTC)     QUEUED     HELD  GPU-H  COST  WASTED  FIGURE
    1        failed: oom_gpu  spot      2026-10-30 01:00  1h 00m  10h 00m   80.0  0.33  yes     billed
    2        completed        spot      2026-10-30 01:00  1h 00m  10h 00m   80.0  0.67  no      billed

    ATTEMPT           COMPUTE  OBJECT STORAGE  TOTAL
    1                    0.33               –   0.33
    2                    0.33            0.34   0.67
    whole experiment        –            1.41   1.41
                         ────            ────   ────
    TOTAL                0.66            1.75   2.41

    evidence    billed 2.41
    settlement  final: the provider has closed the bill
    wasted      0.33 = attempt 1 0.33
    unjoined    nodes whose instance is not known, so that no charge can join: attempt 1 held 1
    next: trainbill why vitl-tune object_storage
    ")
    });
}

#[test]
fn a_statement_in_markdown_has_tables_and_no_hints() {
    with_session(|session| {
        let markdown = show::sheet(session, &statement()).unwrap().markdown();
        assert!(
            markdown
                .contains("| ATTEMPT | COMPUTE | OBJECT STORAGE | TOTAL |\n| --- | ---: | ---: | ---: |\n")
        );
        assert!(!markdown.contains("next:"));
    });
}

#[test]
fn an_explanation_names_charge_share_rule_and_place() {
    let charge = engine::ChargeRow {
        row: 17,
        file: "cur-00001.parquet".to_owned(),
        line_item_id: "li-1".to_owned(),
        line_type: "Usage".to_owned(),
        class: LineClass::Usage,
        resource_kind: ResourceKind::Compute,
        service_name: "AmazonEC2".to_owned(),
        usage_type: "BoxUsage:p4d.24xlarge".to_owned(),
        description: String::new(),
        resource_id: Some("i-0a1\u{1b}[31m".to_owned()),
        tags: None,
        interval: (at(1).0, at(2).0),
        costs: [None; 4],
        sold: engine::Sold::default(),
    };
    let line = |attempt| ExplainLine {
        source: SourceId("aws-cur:1".to_owned()),
        period: "2026-10".parse().unwrap(),
        delivery: DeliveryId("9c1e".to_owned()),
        charge: charge.clone(),
        charge_cost: Some(amount("32.7726")),
        attempt,
        rule: Rule::ResourceTime,
        evidence: MODELLED,
        overlaps: Vec::new(),
        shared_micros: None,
        amount: amount("16.3863"),
        currency: "USD".parse().unwrap(),
        rate_day: at(1).day(),
        note: None,
    };
    let explanation = Explanation {
        meta: meta(),
        selection: Selection {
            experiment: "vitl-tune".to_owned(),
            attempt: None,
            kind: Some(ResourceKind::Compute),
        },
        total: figure(&[(MODELLED, "32.7726")]),
        lines: vec![line(Some(1)), line(None)],
        conversions: Vec::new(),
    };
    let rest = wire::why(&explanation, Some(1)).unwrap().not_shown;
    with_session(|session| {
        let text = why::sheet(session, &explanation, &rest).unwrap().text();
        assert!(!text.contains('\u{1b}'));
        insta::assert_snapshot!(text, @r"
    vitl-tune · compute
    effective basis · before credits · direct · USD · bill complete to 2026-10-31
    32.77  modelled 32.77
    = Σ what each charge cost, negotiated and amortised, whole where it names the run

      16.3863 USD  of 32.7726 USD  →  attempt 1
        charge    2026-10-30T01:00:00Z to 2026-10-30T02:00:00Z · AmazonEC2 BoxUsage:p4d.24xlarge · i-0a1\u{1b}[31m
        rule      resource_time: the run held the resource at the time · modelled
        source    aws-cur:1 2026-10 · delivery 9c1e · cur-00001.parquet:17 · li-1
      16.3863 USD  not shown: 1 more parts
        trainbill why vitl-tune compute -a shows them
    = 32.7726 USD  exactly, the sum of 2 parts of charges; shown as 32.77
    ");
    });
}

#[test]
fn spend_that_is_not_shown_is_in_the_sum() {
    let row = |key: &str, reason: Option<&str>, text: &str| SpendRow {
        key: key.to_owned(),
        reason: reason.map(str::to_owned),
        figure: figure(&[(BILLED, text)]),
        parts: 3,
    };
    let table = SpendTable {
        meta: meta(),
        by: SpendBy::Account,
        rows: vec![row("attempt", None, "5.005"), row("credit", Some("the provider's credits"), "-1.005")],
        total_rows: 3,
        not_shown: figure(&[(BILLED, "1.004")]),
        total: figure(&[(BILLED, "5.004")]),
    };
    with_session(|session| {
        insta::assert_snapshot!(spend::sheet(session, &table).unwrap().text(), @r"
    effective basis · before credits · direct · USD · bill complete to 2026-10-31
    ACCOUNT       WHY                     PARTS   COST  FIGURE
    attempt                                   3   5.01  billed
    credit        the provider's credits      3  -1.01  billed
    not shown: 1                                  1.00  billed
                                                 ─────
    TOTAL                                         5.00  billed
    2 of 3 rows shown (trainbill spend --by account -a shows the rest)
    ")
    });
}
