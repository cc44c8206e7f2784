//! `prices`: price lists, how old they are, and what a machine costs by them.

use app::{AppError, Context, PriceTable};

use super::Outcome;
use crate::display::{Grid, Machine, Sheet, render};
use crate::session::Session;

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    item: Option<&str>,
) -> Result<Outcome, AppError> {
    session.refuse_question("prices")?;
    let table = app::price_table(context, item).await?;
    let answer = wire::prices(&table);
    let stdout = if item.is_some() {
        let machine = Machine { document: &answer, rows: &answer.prices, meta: None };
        render(session.settings.format, &machine, || Ok(lines(&table)))?
    } else {
        let machine = Machine { document: &answer, rows: &answer.rows, meta: None };
        render(session.settings.format, &machine, || Ok(lists(&table)))?
    };
    Ok(Outcome { stdout, ..Outcome::default() })
}

fn lists(table: &PriceTable) -> Sheet {
    let mut sheet = Sheet::default();
    if table.lists.is_empty() {
        sheet.line("no price list yet; next: trainbill import price-table FILE");
        return sheet;
    }
    let mut grid = Grid::new(["SOURCE", "PUBLISHED", ">AGE", ">PRICES", ">KEPT APART", "IN FORCE", "FILE"]);
    for list in &table.lists {
        grid.row(vec![
            list.source.clone(),
            list.published_at.map_or_else(|| "not told".to_owned(), |at| at.day().to_string()),
            list.age_days.map_or_else(|| "unknown".to_owned(), |days| format!("{days} d")),
            list.prices.to_string(),
            list.quarantined.to_string(),
            if list.in_force { "yes" } else { "no" }.to_owned(),
            list.place.clone(),
        ]);
    }
    sheet.grid(grid);
    sheet
}

fn lines(table: &PriceTable) -> Sheet {
    let titles =
        ["PROVIDER", "REGION", "OPTION", "SYSTEM", "KIND", ">PRICE", "UNIT", "SINCE", "UNTIL", "AT", "NOTE"];
    let mut grid = Grid::new(titles);
    for line in &table.lines {
        let key = &line.row.key;
        let system = match &key.software {
            Some(software) => format!("{} + {software}", key.operating_system),
            None => key.operating_system.clone(),
        };
        grid.row(vec![
            key.provider.clone(),
            key.zone.clone().unwrap_or_else(|| key.region.clone()),
            key.option.to_string(),
            system,
            key.kind.to_string(),
            format!("{} {}", line.price, key.currency),
            key.unit.to_string(),
            key.effective_from.day().to_string(),
            line.row.effective_to.map_or_else(|| "open".to_owned(), |at| at.day().to_string()),
            line.row.origin.to_string(),
            line.doubt.as_ref().map_or_else(String::new, |doubt| format!("kept apart: {doubt}")),
        ]);
    }
    let mut sheet = Sheet::default();
    sheet.grid(grid);
    sheet
}
