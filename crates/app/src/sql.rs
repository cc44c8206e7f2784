//! `sql`: the user's own questions over `charges`, `postings`, `attempts` and `experiments`.

use engine::{QueryResult, Table, query};
use ledger::{Attempt, Timestamp};

use crate::books::Books;
use crate::{AppError, Context};

/// Runs one reading statement over the current state of the store.
///
/// # Errors
/// A store that cannot be read, or what the engine says of the statement.
pub async fn sql(context: &Context<'_>, statement: &str) -> Result<QueryResult, AppError> {
    let books = Books::open(context).await?;
    let rooted =
        |files: &[std::path::PathBuf]| files.iter().map(|f| books.store.root().join(f)).collect::<Vec<_>>();
    let charges = books.current.iter().flat_map(|delivery| rooted(&delivery.files)).collect();
    let postings = books.settlements.iter().flat_map(|settlement| rooted(&settlement.files)).collect();
    let tables = vec![
        Table::Files { name: "charges", files: charges, schema: sources::charges::schema() },
        Table::Files { name: "postings", files: postings, schema: store::postings_schema() },
        attempts_table(&books),
        experiments_table(&books),
    ];
    Ok(query(tables, statement, context.limits).await?)
}

const ATTEMPTS: [(&str, bool); 24] = [
    ("attempt_id", false),
    ("canonical_key", false),
    ("experiment_id", false),
    ("link_method", false),
    ("ordinal", true),
    ("scheduler", false),
    ("cluster", false),
    ("name", false),
    ("user_name", false),
    ("team", false),
    ("queue", false),
    ("submitted_at", false),
    ("started_at", false),
    ("ended_at", false),
    ("state", false),
    ("outcome", false),
    ("cause", false),
    ("exit_code", true),
    ("restart_index", true),
    ("gpu_count_milli", true),
    ("gpu_milliseconds", true),
    ("node_count", true),
    ("capacity", false),
    ("bindings", true),
];

fn attempts_table(books: &Books) -> Table {
    Table::Texts {
        name: "attempts",
        columns: ATTEMPTS.to_vec(),
        rows: books.attempts.iter().map(attempt_cells).collect(),
    }
}

fn attempt_cells(attempt: &Attempt) -> Vec<Option<String>> {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    vec![
        Some(attempt.id.to_string()),
        Some(attempt.canonical_key.clone()),
        Some(attempt.link.experiment.0.clone()),
        Some(attempt.link.method.word().to_owned()),
        Some(attempt.ordinal.to_string()),
        Some(attempt.scheduler.clone()),
        attempt.cluster.clone(),
        attempt.name.clone(),
        attempt.user.clone(),
        attempt.team.clone(),
        attempt.queue.clone(),
        time(attempt.submitted_at),
        time(attempt.started_at),
        time(attempt.ended_at),
        Some(attempt.state.word().to_owned()),
        Some(attempt.outcome.word().to_owned()),
        Some(attempt.cause.word().to_owned()),
        attempt.exit_code.map(|code| code.to_string()),
        number(attempt.restart_index.map(u64::from)),
        number(attempt.gpu_count),
        number(attempt.gpu_milliseconds),
        number(attempt.node_count.map(u64::from)),
        Some(attempt.capacity.word().to_owned()),
        Some(attempt.bindings.len().to_string()),
    ]
}

fn experiments_table(books: &Books) -> Table {
    let rows = books.experiments.iter().map(|experiment| {
        vec![
            Some(experiment.id.0.clone()),
            Some(experiment.attempts.len().to_string()),
            experiment.team.clone(),
        ]
    });
    Table::Texts {
        name: "experiments",
        columns: vec![("experiment_id", false), ("attempts", true), ("team", false)],
        rows: rows.collect(),
    }
}
