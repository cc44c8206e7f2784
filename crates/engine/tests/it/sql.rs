//! The user's SQL reads and only reads, and money stays exact.

use engine::{Table, query};
use ledger::{LineClass, ResourceKind};
use testkit::build::{HOUR, JULY, TestCharge, batch};

use crate::{limits, write};

fn tables(folder: &std::path::Path) -> Vec<Table> {
    let charge = |units: i128| TestCharge {
        resource: Some("i-1".to_owned()),
        interval: (JULY, JULY + HOUR),
        class: LineClass::Usage,
        kind: ResourceKind::Compute,
        tags: vec![("team".to_owned(), "vision".to_owned())],
        costs: [Some(units), None, Some(units), Some(0)],
    };
    // Twenty-four digits after the point: one double would lose most of them.
    let batch = batch(&[charge(1), charge(10_i128.pow(24) * 9_000_000_000_000)]);
    let files = vec![write(folder, "charges.parquet", &batch)];
    let texts = Table::Texts {
        name: "attempts",
        columns: vec![("attempt_id", false), ("ordinal", true)],
        rows: vec![vec![Some("a".to_owned()), Some("3".to_owned())], vec![Some("b".to_owned()), None]],
    };
    vec![Table::Files { name: "charges", files, schema: sources::charges::schema() }, texts]
}

async fn ask(statement: &str) -> Result<Vec<Vec<Option<String>>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let answer = query(tables(folder.path()), statement, limits()).await;
    answer.map(|answer| answer.rows).map_err(|error| error.to_string())
}

fn cell(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[tokio::test]
async fn sums_are_exact_to_the_last_digit() {
    let rows =
        ask("select sum(billed_cost), sum(list_cost), sum(x_marginal_cost) from charges").await.unwrap();
    assert_eq!(rows, [[cell("9000000000000.000000000000000000000001"), None, cell("0")]]);
}

#[tokio::test]
async fn texts_times_and_numbers_come_as_themselves() {
    let rows = ask("select service_name, charge_period_start, count(*) from charges where tags like '%vision%' group by 1, 2")
        .await
        .unwrap();
    assert_eq!(rows, [[cell("AmazonEC2"), cell("2026-07-01T00:00:00Z"), cell("2")]]);
    let rows = ask("select attempt_id, ordinal from attempts order by 1").await.unwrap();
    assert_eq!(rows, [[cell("a"), cell("3")], [cell("b"), None]]);
}

#[tokio::test]
async fn writing_statements_are_refused() {
    for statement in [
        "drop table charges",
        "insert into attempts values ('c', 1)",
        "create table t as select 1",
        "copy charges to 'x.csv'",
        "set datafusion.execution.batch_size = 1",
    ] {
        assert!(ask(statement).await.is_err(), "for {statement}");
    }
    assert!(ask("select nothing from charges").await.unwrap_err().contains("nothing"));
}
