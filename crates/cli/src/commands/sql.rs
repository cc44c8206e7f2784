//! `sql`: the user's own statement over the store.

use std::io::Read;

use app::settings::Format;
use app::{AppError, Context};
use engine::QueryResult;

use super::Outcome;
use crate::display::{Grid, Sheet, csv};
use crate::session::Session;

/// Bytes of the longest statement that is read.
const STATEMENT_BYTES_MAX: u64 = 1 << 20;

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    statement: &str,
) -> Result<Outcome, AppError> {
    session.refuse_question("sql")?;
    let read = if statement == "-" { Some(standard_input()?) } else { None };
    let result = app::sql(context, read.as_deref().unwrap_or(statement)).await?;
    let unwritable = |error: serde_json::Error| AppError::new("cli::cannot_write", error.to_string());
    let answer = wire::sql(&result);
    let stdout = match session.settings.format {
        Format::Table => sheet(&result).text(),
        Format::Markdown => sheet(&result).markdown(),
        Format::Json => serde_json::to_string_pretty(&answer).map_err(unwritable)? + "\n",
        Format::Jsonl => {
            answer.lines().map_err(unwritable)?.join("\n") + if result.rows.is_empty() { "" } else { "\n" }
        }
        Format::Csv => csv(&result.columns, &result.rows, None)?,
    };
    Ok(Outcome::of(stdout))
}

fn standard_input() -> Result<String, AppError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(STATEMENT_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| AppError::new("cli::cannot_read", error.to_string()).at("standard input"))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > STATEMENT_BYTES_MAX {
        let message = format!("the statement is longer than {STATEMENT_BYTES_MAX} bytes");
        return Err(AppError::new("cli::statement_too_long", message).at("standard input"));
    }
    Ok(text)
}

fn sheet(result: &QueryResult) -> Sheet {
    let is_number = |column: usize| {
        let mut cells =
            result.rows.iter().filter_map(|row| row.get(column).and_then(Option::as_deref)).peekable();
        cells.peek().is_some()
            && cells.all(|cell| cell.bytes().all(|b| b.is_ascii_digit() || b".-+e".contains(&b)))
    };
    let titles: Vec<String> = (result.columns.iter().enumerate())
        .map(|(index, name)| if is_number(index) { format!(">{name}") } else { name.clone() })
        .collect();
    let mut grid = Grid::new(titles.iter().map(String::as_str));
    for row in &result.rows {
        grid.row(row.iter().map(|cell| cell.clone().unwrap_or_else(|| "null".to_owned())).collect());
    }
    let mut sheet = Sheet::default();
    sheet.grid(grid);
    sheet
}
