//! `reconcile --by invoice` and `--by delivery`: the accounts whose sum is the bill, and what restated months changed.

use std::collections::BTreeSet;

use app::{AppError, Context, InvoiceRow};
use ledger::Account;
use money::{Amount, rounding};

use super::{Outcome, Verdict};
use crate::display::{Grid, Machine, Sheet, render};
use crate::session::Session;

/// Which of the two views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// A row a month: its accounts.
    Invoice,
    /// A row a delivery.
    Delivery,
}

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    (view, check): (View, bool),
) -> Result<Outcome, AppError> {
    session.refuse_question("reconcile --by invoice")?;
    let rows = app::invoices(context).await?;
    let document = wire::invoices(&rows);
    let format = session.settings.format;
    let stdout = match view {
        View::Invoice => {
            let machine = Machine { document: &document, rows: &document.rows, meta: None };
            render(format, &machine, || invoice_sheet(&rows))?
        }
        View::Delivery => {
            let steps: Vec<_> = document.rows.iter().flat_map(|row| row.deliveries.clone()).collect();
            let machine = Machine { document: &document, rows: &steps, meta: None };
            render(format, &machine, || delivery_sheet(&rows))?
        }
    };
    let holds = rows.iter().all(|row| row.difference.is_zero());
    let verdict = if check && !holds { Verdict::CheckDidNotHold } else { Verdict::Ok };
    Ok(Outcome { stdout, verdict, ..Outcome::default() })
}

fn invoice_sheet(rows: &[InvoiceRow]) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    if rows.is_empty() {
        sheet.line("no bill yet, so there is nothing to add up");
        return Ok(sheet);
    }
    let used: BTreeSet<Account> = rows.iter().flat_map(|row| row.accounts.keys().copied()).collect();
    let names: Vec<String> =
        used.iter().map(|account| format!(">{}", account.word().replace('_', " ").to_uppercase())).collect();
    let mut titles = vec!["SOURCE", "PERIOD", "CURRENCY"];
    titles.extend(names.iter().map(String::as_str));
    titles.extend([">BILL", ">DIFFERENCE"]);
    let mut grid = Grid::new(titles);
    for row in rows {
        let digits = row.currency.minor_digits();
        // One column of amounts that sum to the bill is rounded as one, so that what is shown adds up too.
        let amounts: Vec<Amount> =
            used.iter().map(|account| row.accounts.get(account).copied().unwrap_or_default()).collect();
        let rounded = rounding::rounded_column(&amounts, digits)?;
        let total = Amount::sum(rounded.iter().copied())?;
        let shown: Vec<String> =
            rounded.into_iter().map(|amount| rounding::display(amount, digits)).collect::<Result<_, _>>()?;
        let mut cells = vec![row.source.to_string(), row.period.to_string(), row.currency.to_string()];
        cells.extend(shown);
        cells.extend([rounding::display(total, digits)?, row.difference.to_string()]);
        grid.row(cells);
    }
    sheet.grid(grid);
    let tied = rows.iter().filter(|row| row.difference.is_zero()).count();
    sheet.line(format!("{tied} of {} bills tie to their accounts to the last digit", rows.len()));
    Ok(sheet)
}

fn delivery_sheet(rows: &[InvoiceRow]) -> Result<Sheet, AppError> {
    let titles = [
        "SOURCE",
        "PERIOD",
        "ARRIVED (UTC)",
        ">CHARGES",
        ">BILLED",
        ">CHANGE",
        ">EFFECTIVE",
        ">CHANGE",
        "CURRENCY",
        "STATE",
    ];
    let mut grid = Grid::new(titles);
    for row in rows {
        let digits = row.currency.minor_digits();
        let change = |change: Option<Amount>| match change {
            Some(change) => rounding::display(change, digits),
            None => Ok("first".to_owned()),
        };
        for step in &row.deliveries {
            let closed = if step.is_final { "final" } else { "open" };
            grid.row(vec![
                row.source.to_string(),
                row.period.to_string(),
                step.arrived_at.day().to_string(),
                step.rows.to_string(),
                rounding::display(step.billed, digits)?,
                change(step.billed_change)?,
                rounding::display(step.effective, digits)?,
                change(step.effective_change)?,
                row.currency.to_string(),
                if step.current { format!("{closed}, in force") } else { format!("{closed}, replaced") },
            ]);
        }
    }
    let mut sheet = Sheet::default();
    sheet.grid(grid);
    Ok(sheet)
}
