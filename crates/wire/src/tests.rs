//! Tests of the public shapes.

use app::{ExperimentList, ExperimentRow as Row, ExperimentStatus};
use engine::QueryResult;
use ledger::{CostBasis, CreditTreatment, Day, Evidence, ExperimentId, Measure, Scope, Settlement};

use super::*;

fn measure() -> Measure {
    Measure {
        currency: "USD".parse().unwrap(),
        basis: CostBasis::Effective,
        credits: CreditTreatment::BeforeCredits,
    }
}

fn figure(parts: &[(Evidence, &str)], unpriced: u64) -> ledger::Figure {
    let mut figure = ledger::Figure::nothing(measure());
    figure.by_evidence =
        parts.iter().map(|(evidence, amount)| (*evidence, amount.parse().unwrap())).collect();
    figure.unpriced = unpriced;
    figure
}

fn meta() -> app::Meta {
    app::Meta {
        basis: CostBasis::Effective,
        scope: Scope::Direct,
        credits: CreditTreatment::BeforeCredits,
        currency: "USD".parse().ok(),
        conversion: None,
        since: Some(Day::from_civil(2026, 10, 1).start()),
        until: None,
        as_of: None,
        policy: None,
        complete_to: Some(Day::from_civil(2026, 10, 31)),
    }
}

fn row(name: &str, cost: ledger::Figure, settlement: Settlement) -> Row {
    Row {
        experiment: ExperimentId(name.to_owned()),
        status: ExperimentStatus::Completed,
        attempts: 2,
        failed_attempts: 1,
        capacity: "mixed".to_owned(),
        gpu_milliseconds: Some(7_500),
        team: None,
        started_at: Some(Day::from_civil(2026, 10, 2).start()),
        cost,
        wasted: figure(&[], 0),
        quality: Some(("val_acc".to_owned(), f64::NAN)),
        settlement,
    }
}

fn experiments() -> ExperimentList {
    let cost = figure(&[(Evidence::Billed, "1.5"), (Evidence::Modelled, "0.000000000000000000000001")], 0);
    ExperimentList {
        meta: meta(),
        rows: vec![
            row("a", cost.clone(), Settlement::Final),
            row("b", figure(&[], 0), Settlement::AwaitingBill),
        ],
        total_rows: 3,
        not_shown: figure(&[(Evidence::Billed, "2")], 0),
        total: figure(&[(Evidence::Billed, "3.5"), (Evidence::Modelled, "0.000000000000000000000001")], 0),
        wasted_total: figure(&[(Evidence::Billed, "0.25")], 0),
        settlement: ledger::Settlement::Open,
    }
}

#[test]
fn a_list_is_meta_rows_and_total_with_exact_amounts() {
    let answer = list(&experiments()).unwrap();
    insta::assert_snapshot!(serde_json::to_string(&answer.meta).unwrap(), @r#"{"basis":"effective","scope":"direct","credits":"before credits","currency":"USD","conversion":null,"since":"2026-10-01T00:00:00Z","until":null,"as_of":null,"policy":null,"complete_to":"2026-10-31"}"#);
    insta::assert_snapshot!(serde_json::to_string(&answer.rows[0]).unwrap(), @r#"{"experiment":"a","status":"completed","attempts":2,"failed_attempts":1,"capacity":"mixed","team":null,"started_at":"2026-10-02T00:00:00Z","gpu":{"seconds":"7.5","state":"reported"},"cost":{"amount":"1.500000000000000000000001","state":"mixed","evidence":{"billed":"1.5","split":"0","modelled":"0.000000000000000000000001","estimated":"0"},"unpriced":0},"wasted":{"amount":null,"state":"no charges","evidence":{"billed":null,"split":null,"modelled":null,"estimated":null},"unpriced":0},"quality":{"metric":"val_acc","value":null,"state":"not finite"},"settlement":"final"}"#);
    insta::assert_snapshot!(serde_json::to_string(&answer.total).unwrap(), @r#"{"experiments":3,"cost":{"amount":"3.500000000000000000000001","state":"mixed","evidence":{"billed":"3.5","split":"0","modelled":"0.000000000000000000000001","estimated":"0"},"unpriced":0},"wasted":"0.25"}"#);
}

#[test]
fn the_flat_rows_sum_to_the_total() {
    let answer = list(&experiments()).unwrap();
    let flat = flat(&answer.flat_rows()).unwrap();
    let column = flat.columns.iter().position(|name| name == "cost_amount").unwrap();
    let amounts = flat.rows.iter().filter_map(|row| row[column].as_deref()).map(|text| text.parse().unwrap());
    assert_eq!(money::Amount::sum(amounts).unwrap().to_string(), answer.total.cost.amount.unwrap());
    assert_eq!(flat.rows.last().unwrap()[0].as_deref(), Some("(not shown: 1)"));
}

#[test]
fn what_is_not_known_is_null_beside_a_word_and_never_zero() {
    let check = |figure: &ledger::Figure, empty, amount: Option<&str>, state: &str| {
        let figure = Figure::of(figure, empty).unwrap();
        assert_eq!((figure.amount.as_deref(), figure.state), (amount, state));
    };
    check(&figure(&[], 0), Empty::AwaitingBill, None, "awaiting bill");
    check(&figure(&[], 0), Empty::NoCharges, None, "no charges");
    check(&figure(&[], 0), Empty::Nothing, Some("0"), "nothing");
    check(&figure(&[(Evidence::Billed, "0")], 2), Empty::NoCharges, None, "unpriced");
    check(&figure(&[(Evidence::Billed, "1")], 2), Empty::NoCharges, Some("1"), "incomplete");
    check(&figure(&[(Evidence::Modelled, "0")], 0), Empty::NoCharges, Some("0"), "modelled");
    check(
        &figure(&[(Evidence::Billed, "0"), (Evidence::Split, "2")], 0),
        Empty::NoCharges,
        Some("2"),
        "split",
    );
}

#[test]
fn every_row_of_a_flat_file_is_as_long_as_its_header() {
    let header = flat::<ExperimentRow>(&[]).unwrap();
    assert!(header.rows.is_empty());
    assert_eq!(header.columns[..3], ["experiment", "status", "attempts"]);
    assert!(header.columns.contains(&"cost_evidence_modelled".to_owned()));
    let overlap = OverlapRow { start: "s".to_owned(), end: "e".to_owned(), weight: 4000, of: 8000 };
    let rows = [ExplainRow { overlaps: vec![overlap], ..ExplainRow::default() }];
    let explained = flat(&rows).unwrap();
    assert_eq!(explained.columns.len(), explained.rows[0].len());
    assert!(explained.rows[0].contains(&Some("start=s end=e weight=4000 of=8000".to_owned())));
}

#[test]
fn sql_rows_are_objects_in_the_order_of_the_columns() {
    let result = QueryResult {
        columns: ["z", "a", "money", "nan"].map(str::to_owned).to_vec(),
        bare: vec![true, false, false, true],
        rows: vec![vec![Some("3".to_owned()), None, Some("1.10".to_owned()), Some("NaN".to_owned())]],
    };
    let answer = sql(&result);
    insta::assert_snapshot!(serde_json::to_string(&answer).unwrap(), @r#"{"columns":["z","a","money","nan"],"rows":[{"z":3,"a":null,"money":"1.10","nan":null}]}"#);
    assert_eq!(answer.lines().unwrap(), [r#"{"z":3,"a":null,"money":"1.10","nan":null}"#]);
}

#[test]
fn a_check_has_its_public_columns() {
    let balance = app::BalanceCheck {
        source: ledger::SourceId("aws-cur:1".to_owned()),
        billing_period: "2026-10".parse().unwrap(),
        basis: CostBasis::List,
        currency: "USD".parse().unwrap(),
        charges_total: "10".parse().unwrap(),
        accounts_total: "9.99".parse().unwrap(),
        difference: "0.01".parse().unwrap(),
        unpriced: 3,
    };
    let answer = check(&app::CheckReport { balances: vec![balance], others: Vec::new() });
    assert!(!answer.holds);
    insta::assert_snapshot!(serde_json::to_string(&answer.rows).unwrap(), @r#"[{"source":"aws-cur:1","billing_period":"2026-10","basis":"list","currency":"USD","charges_total":"10","accounts_total":"9.99","difference":"0.01","unpriced":3}]"#);
}
