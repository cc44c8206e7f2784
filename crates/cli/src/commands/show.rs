//! `show`: one experiment's bill.

use app::{AppError, AttemptRow, Context, Statement};
use ledger::{Outcome as Ending, ResourceKind, RunState, Settlement};
use wire::{Empty, empty_cost, empty_wasted};

use super::Outcome;
use super::ls::{attempts, quality};
use crate::display::{
    Cell, Grid, Machine, RowTotal, Sheet, basis_line, duration, evidence_line, gpu_hours, money_matrix,
    render, settled_mix, single, time,
};
use crate::session::Session;

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    experiment: &str,
) -> Result<Outcome, AppError> {
    let statement = app::show(context, &session.query()?, experiment).await?;
    let answer = wire::show(&statement)?;
    let machine = Machine { document: &answer, rows: &answer.rows, meta: Some(&answer.meta) };
    render(session.settings.format, &machine, || sheet(session, &statement)).map(Outcome::of)
}

pub(super) fn sheet(session: &Session<'_>, statement: &Statement) -> Result<Sheet, AppError> {
    let row = &statement.row;
    let mut sheet = Sheet::default();
    let team = row.team.as_ref().map(|team| format!(" · team {team}")).unwrap_or_default();
    sheet.line(format!(
        "{} · {} · attempts {} · {} · quality {}{team}",
        row.experiment,
        row.status.word(),
        attempts(row),
        row.capacity,
        quality(row)
    ));
    sheet.line(basis_line(&statement.meta));
    let cost = single(&statement.total, empty_cost(row.settlement))?;
    let wasted = single(&row.wasted, empty_wasted(row))?;
    sheet.line(format!("All-in cost  {cost}    Wasted  {wasted}    Bill  {}", row.settlement));
    sheet.gap();
    let (matrix, totals) = totals(statement)?;
    if !statement.attempts.is_empty() {
        sheet.grid(attempts_grid(statement, &totals));
        sheet.gap();
    }
    if !matrix.is_empty() {
        sheet.grid(matrix);
        sheet.gap();
    }
    closing(&mut sheet, session, (statement, &totals))?;
    Ok(sheet)
}

/// The matrix, and the sum of each of its rows as text.
fn totals(statement: &Statement) -> Result<(Grid, RowTexts), AppError> {
    let settlement = |attempt: Option<u32>| {
        let found = statement.attempts.iter().find(|row| Some(row.ordinal) == attempt);
        found.map_or(Settlement::Open, |row| row.settlement)
    };
    let cells: Vec<Vec<Cell<'_>>> = statement
        .matrix
        .iter()
        .map(|row| row.cells.iter().map(|f| Cell::new(f, Empty::NoCharges)).collect())
        .collect();
    let wasted = |attempt: Option<u32>| {
        statement.attempts.iter().any(|row| row.wasted && Some(row.ordinal) == attempt)
    };
    let totals: Vec<RowTotal<'_>> = statement
        .matrix
        .iter()
        .map(|row| RowTotal {
            cell: Cell::new(&row.total, empty_cost(settlement(row.attempt))),
            in_part: wasted(row.attempt),
        })
        .collect();
    let kinds: Vec<Cell<'_>> = statement.kind_totals.iter().map(|f| Cell::new(f, Empty::NoCharges)).collect();
    let texts = money_matrix(&cells, &totals, &kinds)?;
    let titles: Vec<String> = statement
        .kinds
        .iter()
        .map(|kind| format!(">{}", kind.word().replace('_', " ").to_uppercase()))
        .collect();
    let titles = ["ATTEMPT"].into_iter().chain(titles.iter().map(String::as_str)).chain([">TOTAL"]);
    let mut matrix = Grid::new(titles);
    let line = |label: String, cells: Vec<String>, total: &str| {
        let cells = cells.into_iter().map(|cell| if cell == NO_CHARGES { "–".to_owned() } else { cell });
        [label].into_iter().chain(cells).chain([total.to_owned()]).collect::<Vec<_>>()
    };
    if !statement.kinds.is_empty() {
        for ((row, cells), total) in statement.matrix.iter().zip(texts.cells).zip(&texts.row_totals) {
            let label =
                row.attempt.map_or_else(|| "whole experiment".to_owned(), |ordinal| ordinal.to_string());
            matrix.row(line(label, cells, total));
        }
        let total = single(&statement.total, empty_cost(statement.row.settlement))?;
        matrix.total(line("TOTAL".to_owned(), texts.column_totals, &total));
    }
    let rows = statement.matrix.iter().map(|row| row.attempt).zip(texts.row_totals).collect();
    Ok((matrix, RowTexts(rows)))
}

/// The sums of the matrix's rows as text, so that every place of a statement shows one number.
struct RowTexts(Vec<(Option<u32>, String)>);

impl RowTexts {
    fn of_attempt(&self, ordinal: u32) -> String {
        let found = self.0.iter().find(|(attempt, _)| *attempt == Some(ordinal));
        found.map_or_else(|| NO_CHARGES.to_owned(), |(_, text)| text.clone())
    }
}

const NO_CHARGES: &str = wire::State::NoCharges.word();

fn attempts_grid(statement: &Statement, totals: &RowTexts) -> Grid {
    let mut grid = Grid::new([
        "ATTEMPT",
        "OUTCOME",
        "CAPACITY",
        "STARTED (UTC)",
        ">QUEUED",
        ">HELD",
        ">GPU-H",
        ">COST",
        "WASTED",
        "FIGURE",
    ]);
    for attempt in &statement.attempts {
        grid.row(vec![
            attempt.ordinal.to_string(),
            ending(attempt),
            attempt.capacity.to_string(),
            time(attempt.started_at, "not started"),
            duration(attempt.queue_micros, "not reported"),
            duration(attempt.held_micros, if attempt.started_at.is_some() { "not ended" } else { "nothing" }),
            if attempt.started_at.is_some() { gpu_hours(attempt.gpu_milliseconds) } else { "0.0".to_owned() },
            totals.of_attempt(attempt.ordinal),
            if attempt.wasted { "yes" } else { "no" }.to_owned(),
            settled_mix(&attempt.cost, attempt.settlement),
        ]);
    }
    grid
}

/// `failed: oom_gpu`, `preempted: spot_interruption`, `running`.
fn ending(attempt: &AttemptRow) -> String {
    let unknown_cause = attempt.cause == ledger::Cause::Unknown;
    match (attempt.state, attempt.outcome) {
        (RunState::Pending | RunState::Running, _) => attempt.state.to_string(),
        (RunState::Lost, Ending::Unknown) => "lost".to_owned(),
        (_, Ending::Completed) => attempt.outcome.to_string(),
        (_, _) if unknown_cause => attempt.outcome.to_string(),
        (_, _) => format!("{}: {}", attempt.outcome, attempt.cause),
    }
}

fn closing(
    sheet: &mut Sheet,
    session: &Session<'_>,
    (statement, totals): (&Statement, &RowTexts),
) -> Result<(), AppError> {
    let row = &statement.row;
    let evidence = evidence_line(&statement.total)?;
    if !evidence.is_empty() {
        sheet.line(format!("evidence    {evidence}"));
    }
    let settlement = match row.settlement {
        Settlement::AwaitingBill => "awaiting bill: figures rise when the bill for the time of use is here",
        Settlement::Open => "open: the bill still moves",
        Settlement::Final => "final: the provider has closed the bill",
        Settlement::Restated => "restated: a closed bill was delivered again with other figures",
    };
    sheet.line(format!("settlement  {settlement}"));
    if row.failed_attempts > 0 {
        let wasted = statement.attempts.iter().filter(|attempt| attempt.wasted);
        let parts: Vec<String> = wasted
            .map(|attempt| format!("attempt {} {}", attempt.ordinal, totals.of_attempt(attempt.ordinal)))
            .collect();
        let total = single(&row.wasted, empty_wasted(row))?;
        sheet.line(format!("wasted      {total} = {}", parts.join(" + ")));
    }
    let unjoined: Vec<String> = (statement.attempts.iter())
        .filter(|attempt| attempt.unjoined_bindings > 0)
        .map(|attempt| format!("attempt {} held {}", attempt.ordinal, attempt.unjoined_bindings))
        .collect();
    if !unjoined.is_empty() {
        sheet.line(format!(
            "unjoined    nodes whose instance is not known, so that no charge can join: {}",
            unjoined.join(", ")
        ));
    }
    let dearest =
        statement.kinds.iter().zip(&statement.kind_totals).max_by_key(|(_, figure)| figure.total().ok());
    let kind = dearest.map_or_else(String::new, |(kind, _): (&ResourceKind, _)| format!(" {kind}"));
    sheet.hint(format!("next: {}", session.hint(&format!("why {}{kind}", word(&row.experiment.0)))));
    Ok(())
}

/// A name as a shell takes it.
pub(super) fn word(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.:/@+=".contains(c));
    if plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}
