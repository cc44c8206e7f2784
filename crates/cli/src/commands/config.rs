//! `config`: the settings in force.

use app::AppError;

use super::Outcome;
use crate::arguments::Config;
use crate::display::{Grid, Machine, Sheet, render};
use crate::session::Session;

pub(super) fn run(session: &Session<'_>, config: &Config) -> Result<Outcome, AppError> {
    let Config::Show { origin } = config;
    let answer = wire::config(&session.settings);
    let machine = Machine { document: &answer, rows: &answer.rows, meta: None };
    let sheet = || {
        let mut titles = vec!["SETTING", "VALUE"];
        titles.extend(origin.then_some("ORIGIN"));
        let mut grid = Grid::new(titles);
        for row in &answer.rows {
            let value = row.value.clone().unwrap_or_else(|| "not set".to_owned());
            let mut cells = vec![row.key.to_owned(), value];
            cells.extend(origin.then(|| row.origin.clone()));
            grid.row(cells);
        }
        let mut sheet = Sheet::default();
        sheet.grid(grid);
        Ok(sheet)
    };
    render(session.settings.format, &machine, sheet).map(Outcome::of)
}
