//! `spend`: all money of the bills.

use app::{AppError, Context, SpendBy, SpendTable};
use wire::Empty;

use super::Outcome;
use crate::display::{Cell, Grid, Machine, Sheet, basis_line, mix, money_column, render, single};
use crate::session::Session;

pub(super) async fn run(session: &Session<'_>, context: &Context<'_>, by: &str) -> Result<Outcome, AppError> {
    let by = SpendBy::from_word(by)
        .ok_or_else(|| AppError::new("cli::unknown_dimension", format!("spend is not split by `{by}`")))?;
    let table = app::spend(context, &session.query()?, by).await?;
    let answer = wire::spend(&table)?;
    let machine = Machine { document: &answer, rows: &answer.flat_rows(), meta: Some(&answer.meta) };
    render(session.settings.format, &machine, || sheet(session, &table)).map(Outcome::of)
}

pub(super) fn sheet(session: &Session<'_>, table: &SpendTable) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    sheet.line(basis_line(&table.meta));
    sheet.grid(grid(table)?);
    if table.rows.len() < table.total_rows {
        let all = session.hint(&format!("spend --by {} -a", table.by.word()));
        sheet.hint(format!("{} of {} rows shown ({all} shows the rest)", table.rows.len(), table.total_rows));
    } else if table.total_rows == 0 {
        sheet.line("no charges");
    }
    if table.lacks_activation() {
        sheet.hint(
            "activate a key of runs (trainbill config show): aws ce update-cost-allocation-tags-status \
             --cost-allocation-tags-status TagKey=KEY,Status=Active; it is on the bill of usage from then on",
        );
    }
    Ok(sheet)
}

fn grid(table: &SpendTable) -> Result<Grid, AppError> {
    let hidden = table.total_rows.saturating_sub(table.rows.len());
    let mut cells: Vec<Cell<'_>> =
        table.rows.iter().map(|row| Cell::new(&row.figure, Empty::NoCharges)).collect();
    cells.push(Cell::new(&table.not_shown, Empty::Nothing));
    let costs = money_column(&cells)?;
    let title = table.by.word().replace('_', " ").to_uppercase();
    let has_reasons = table.rows.iter().any(|row| row.reason.is_some());
    let mut titles = vec![title.as_str()];
    titles.extend(has_reasons.then_some("WHY"));
    titles.extend([">PARTS", ">COST", "FIGURE"]);
    let mut grid = Grid::new(titles);
    let line = |key: String, reason: &str, rest: [String; 3]| {
        let reason = has_reasons.then(|| reason.to_owned());
        [key].into_iter().chain(reason).chain(rest).collect::<Vec<_>>()
    };
    for (row, cost) in table.rows.iter().zip(&costs) {
        let rest = [row.parts.to_string(), cost.clone(), mix(&row.figure, Empty::NoCharges)];
        grid.row(line(row.key.clone(), row.reason.as_deref().unwrap_or(""), rest));
    }
    if hidden > 0 {
        let cost = costs.last().cloned().unwrap_or_default();
        let rest = [String::new(), cost, mix(&table.not_shown, Empty::Nothing)];
        grid.row(line(format!("not shown: {hidden}"), "", rest));
    }
    if table.total_rows > 0 {
        let rest =
            [String::new(), single(&table.total, Empty::NoCharges)?, mix(&table.total, Empty::NoCharges)];
        grid.total(line("TOTAL".to_owned(), "", rest));
    }
    Ok(grid)
}
