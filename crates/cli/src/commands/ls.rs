//! `ls`: experiments with what they cost.

use app::{AppError, Context, ExperimentList, ExperimentRow};
use ledger::{Evidence, Figure};
use wire::{Empty, empty_cost, empty_total, empty_wasted};

use super::Outcome;
use crate::display::{
    Cell, Grid, Machine, Sheet, basis_line, gpu_hours, mix, money_column, render, settled_mix, single,
};
use crate::session::Session;

pub(super) async fn run(session: &Session<'_>, context: &Context<'_>) -> Result<Outcome, AppError> {
    let list = app::ls(context, &session.query()?).await?;
    let answer = wire::list(&list)?;
    let machine = Machine { document: &answer, rows: &answer.flat_rows(), meta: Some(&answer.meta) };
    render(session.settings.format, &machine, || sheet(session, &list)).map(Outcome::of)
}

/// The experiments as a table; `demo` shows it as well.
pub(super) fn sheet(session: &Session<'_>, list: &ExperimentList) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    sheet.line(basis_line(&list.meta));
    sheet.grid(grid(list)?);
    let hidden = list.total_rows.saturating_sub(list.rows.len());
    if hidden > 0 {
        let all = session.hint("ls -a");
        sheet.hint(format!(
            "{} of {} experiments shown ({all} shows the rest)",
            list.rows.len(),
            list.total_rows
        ));
    } else if list.total_rows == 0 {
        sheet.line("no experiments");
    }
    Ok(sheet)
}

fn grid(list: &ExperimentList) -> Result<Grid, AppError> {
    let hidden = list.total_rows.saturating_sub(list.rows.len());
    let rest = wasted_not_shown(list)?;
    let mut costs: Vec<Cell<'_>> =
        list.rows.iter().map(|row| Cell::new(&row.cost, empty_cost(row.settlement))).collect();
    let mut wasted: Vec<Cell<'_>> =
        list.rows.iter().map(|row| Cell::new(&row.wasted, empty_wasted(row))).collect();
    costs.push(Cell::new(&list.not_shown, Empty::Nothing));
    wasted.push(Cell::new(&rest, Empty::Nothing));
    let (costs, wasted) = (money_column(&costs)?, money_column(&wasted)?);
    let mut grid = Grid::new([
        "EXPERIMENT",
        "STATUS",
        "ATTEMPTS",
        "CAPACITY",
        ">GPU-H",
        ">COST",
        ">WASTED",
        "QUALITY",
        "FIGURE",
    ]);
    for ((row, cost), wasted) in list.rows.iter().zip(&costs).zip(&wasted) {
        grid.row(vec![
            row.experiment.to_string(),
            row.status.word().to_owned(),
            attempts(row),
            row.capacity.clone(),
            gpu_hours(row.gpu_milliseconds),
            cost.clone(),
            wasted.clone(),
            quality(row),
            settled_mix(&row.cost, row.settlement),
        ]);
    }
    let sum = |label: &str, cost: &str, wasted: &str, figure: &str| {
        [label, "", "", "", "", cost, wasted, "", figure].map(str::to_owned).to_vec()
    };
    if let (Some(cost), Some(wasted)) = (costs.last(), wasted.last())
        && hidden > 0
    {
        grid.row(sum(&format!("not shown: {hidden}"), cost, wasted, &mix(&list.not_shown, Empty::Nothing)));
    }
    if list.total_rows > 0 {
        let failed = list.rows.iter().any(|row| row.failed_attempts > 0);
        let no_waste = if failed { empty_total(list) } else { Empty::Nothing };
        let (total, wasted) =
            (single(&list.total, empty_total(list))?, single(&list.wasted_total, no_waste)?);
        grid.total(sum("TOTAL", &total, &wasted, &settled_mix(&list.total, list.settlement)));
    }
    Ok(grid)
}

/// The waste of the rows past the limit; only its amount is shown, so its evidence is left at one.
fn wasted_not_shown(list: &ExperimentList) -> Result<Figure, AppError> {
    let rest = wire::list(list)?.not_shown.wasted.parse()?;
    Ok(Figure::of(list.total.measure, Evidence::Modelled, rest))
}

/// `3 (2 failed)`.
pub(super) fn attempts(row: &ExperimentRow) -> String {
    match (row.attempts, row.failed_attempts) {
        (0, _) => "none".to_owned(),
        (attempts, 0) => attempts.to_string(),
        (attempts, failed) => format!("{attempts} ({failed} failed)"),
    }
}

/// `val_acc 0.7810`.
pub(super) fn quality(row: &ExperimentRow) -> String {
    match &row.quality {
        Some((metric, value)) => format!("{metric} {value:.4}"),
        None => "not reported".to_owned(),
    }
}
