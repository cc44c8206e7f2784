//! `coverage`: which attempts and how much money lack which field, and what would fix it.

use app::{AppError, Context, CoverageReport};
use wire::Empty;

use super::Outcome;
use crate::display::{Cell, Grid, Machine, Sheet, basis_line, money_column, render, single};
use crate::session::Session;

/// Attempts that are shown one by one.
const ATTEMPTS_SHOWN: usize = 5;

pub(super) async fn run(session: &Session<'_>, context: &Context<'_>) -> Result<Outcome, AppError> {
    let query = session.query()?;
    let report = app::coverage_report(context, &query).await?;
    let answer = wire::coverage(&report)?;
    let machine = Machine { document: &answer, rows: &answer.rows, meta: Some(&answer.meta) };
    let shown = query.limit.map_or(usize::MAX, |limit| limit.min(ATTEMPTS_SHOWN));
    render(session.settings.format, &machine, || sheet(&report, shown)).map(Outcome::of)
}

fn sheet(report: &CoverageReport, shown: usize) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    sheet.line(basis_line(&report.meta));
    if report.attempts == 0 {
        sheet.line("no attempts");
        return Ok(sheet);
    }
    let cost = single(&report.cost, Empty::NoCharges)?;
    sheet.line(format!("{} attempts that cost {cost}", report.attempts));
    sheet.grid(fields(report)?);
    let lacking: Vec<_> = report.scores.iter().filter(|one| !one.missing.is_empty()).collect();
    if !lacking.is_empty() {
        let mut grid = Grid::new(["ATTEMPT", ">KNOWN", ">OF", "MISSING"]);
        for one in lacking.iter().take(shown) {
            let missing: Vec<&str> = one.missing.iter().map(|field| field.word()).collect();
            let name = format!("{}#{}", one.experiment, one.ordinal);
            grid.row(vec![name, one.known.to_string(), one.due.to_string(), missing.join(", ")]);
        }
        sheet.grid(grid);
        if lacking.len() > shown {
            sheet.hint(format!(
                "{shown} of {} attempts that lack a field shown (-a shows the rest)",
                lacking.len()
            ));
        }
    }
    Ok(sheet)
}

fn fields(report: &CoverageReport) -> Result<Grid, AppError> {
    let empty = |missing: u64| if missing == 0 { Empty::Nothing } else { Empty::NoCharges };
    let cells: Vec<Cell<'_>> = report
        .fields
        .iter()
        .map(|row| Cell::new(&row.coverage.missing_cost, empty(row.coverage.missing)))
        .collect();
    let costs = money_column(&cells)?;
    let mut grid =
        Grid::new(["FIELD", ">KNOWN", ">MISSING", ">COST OF THESE", "FROM", "WHAT WOULD SUPPLY IT"]);
    for (row, cost) in report.fields.iter().zip(costs) {
        let coverage = &row.coverage;
        grid.row(vec![
            coverage.field.word().replace('_', " "),
            coverage.known.to_string(),
            coverage.missing.to_string(),
            cost,
            row.remedy.map_or("", |remedy| remedy.source).to_owned(),
            row.remedy.map_or("", |remedy| remedy.command).to_owned(),
        ]);
    }
    Ok(grid)
}
