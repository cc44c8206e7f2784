//! `check`: whether every account still adds up to the bill.

use app::{AppError, CheckReport, Context};

use super::{Outcome, Verdict};
use crate::display::{Grid, Machine, Sheet, render};
use crate::session::Session;

pub(super) async fn run(session: &Session<'_>, context: &Context<'_>) -> Result<Outcome, AppError> {
    session.refuse_question("check")?;
    let report = app::check(context).await?;
    let answer = wire::check(&report);
    let machine = Machine { document: &answer, rows: &answer.rows, meta: None };
    let stdout = render(session.settings.format, &machine, || Ok(sheet(&report)))?;
    let verdict = if report.holds() { Verdict::Ok } else { Verdict::CheckDidNotHold };
    Ok(Outcome { stdout, warnings: failures(&report), verdict, ..Outcome::default() })
}

pub(super) fn sheet(report: &CheckReport) -> Sheet {
    let mut sheet = Sheet::default();
    let titles = [
        "SOURCE",
        "PERIOD",
        "BASIS",
        "CURRENCY",
        ">CHARGES",
        ">ACCOUNTS",
        ">DIFFERENCE",
        ">UNPRICED",
        "HOLDS",
    ];
    let mut grid = Grid::new(titles);
    for balance in &report.balances {
        grid.row(vec![
            balance.source.to_string(),
            balance.billing_period.to_string(),
            balance.basis.to_string(),
            balance.currency.to_string(),
            balance.charges_total.to_string(),
            balance.accounts_total.to_string(),
            balance.difference.to_string(),
            balance.unpriced.to_string(),
            if balance.difference.is_zero() { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    sheet.grid(grid);
    let others = report.others.iter().filter(|other| other.holds).count();
    let balances = report.balances.iter().filter(|balance| balance.difference.is_zero()).count();
    sheet.line(format!(
        "{balances} of {} sums hold to the last digit, {others} of {} other checks hold",
        report.balances.len(),
        report.others.len()
    ));
    if report.balances.is_empty() {
        sheet.line("no bill yet, so there is nothing to add up");
    }
    sheet
}

/// What did not hold, in full.
fn failures(report: &CheckReport) -> Vec<AppError> {
    let balances =
        report.balances.iter().filter(|balance| !balance.difference.is_zero()).map(|balance| AppError {
            expected: Some(format!("charges  {}", balance.charges_total)),
            found: Some(format!("accounts {} (difference {})", balance.accounts_total, balance.difference)),
            ..AppError::new("check::does_not_add_up", "the accounts do not add up to the charges").at(
                format!(
                    "{} {} {} {}",
                    balance.source, balance.billing_period, balance.basis, balance.currency
                ),
            )
        });
    let others = report.others.iter().filter(|other| !other.holds).map(|other| AppError {
        expected: Some(other.expected.clone()),
        found: Some(other.found.clone()),
        ..AppError::new(format!("check::{}", other.name), "the check does not hold").at(other.subject.clone())
    });
    balances.chain(others).collect()
}
