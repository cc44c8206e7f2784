//! `reconcile`: what was estimated, what the bill says, and why they differ.

use app::settings::Format;
use app::{AppError, Cause, Context, ReconcileBy, Reconciliation};
use money::{Amount, rounding};

use super::{Outcome, Verdict};
use crate::display::{Grid, Machine, Sheet, basis_line, render};
use crate::session::Session;

/// How the comparison is gated.
pub(super) struct Gate {
    /// Exit with 3 where a difference is larger than the tolerance.
    pub(super) check: bool,
    /// The tolerance in thousandths of the bill.
    pub(super) per_mille: i128,
}

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    (by, gate): (ReconcileBy, Gate),
) -> Result<Outcome, AppError> {
    let answer = app::reconcile(context, &session.query()?, by).await?;
    let outside = outside(&answer, gate.per_mille);
    let document = wire::reconcile(&answer);
    let machine = Machine { document: &document, rows: &document.rows, meta: Some(&document.meta) };
    let stdout = render(session.settings.format, &machine, || sheet(&answer))?;
    let verdict = if gate.check && !outside.is_empty() { Verdict::CheckDidNotHold } else { Verdict::Ok };
    let mut notes = Vec::new();
    if !outside.is_empty() {
        notes.push(format!("outside the tolerance: {}", outside.join(", ")));
    }
    if matches!(session.settings.format, Format::Table | Format::Markdown) {
        notes.extend(answer.by_hand.iter().map(|(provider, query)| format!("by hand, {provider}: {query}")));
    }
    Ok(Outcome { stdout, notes, verdict, ..Outcome::default() })
}

/// The tolerance that a text such as `5%` or `0.5%` means, in thousandths.
pub(super) fn tolerance(text: &str) -> Result<i128, AppError> {
    let percent = text.strip_suffix('%').unwrap_or(text);
    let thousandths = percent.parse::<Amount>().ok().and_then(|percent| {
        let unit = 10_i128.pow(money::SCALE - 1);
        (percent >= Amount::ZERO && percent.units() % unit == 0).then(|| percent.units() / unit)
    });
    thousandths.ok_or_else(|| {
        AppError::new("reconcile::bad_tolerance", format!("`{text}` is no tolerance"))
            .help("give a percentage with at most one decimal, such as --tolerance 5%")
    })
}

/// The rows whose difference is larger than so many thousandths of the bill.
fn outside(answer: &Reconciliation, per_mille: i128) -> Vec<String> {
    let is_outside = |row: &&app::ReconcileRow| match (row.difference, row.per_mille()) {
        (Some(difference), Some(part)) => part.abs() > per_mille || (per_mille == 0 && !difference.is_zero()),
        (Some(difference), None) => !difference.is_zero(),
        (None, _) => false,
    };
    answer.rows.iter().filter(is_outside).map(|row| format!("{} {}", row.provider, row.key)).collect()
}

fn sheet(answer: &Reconciliation) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    sheet.line(basis_line(&answer.meta));
    if answer.rows.is_empty() {
        sheet.line("nothing was estimated and no attempt's machine is on a bill");
        return Ok(sheet);
    }
    let digits = answer.meta.currency.map_or(2, |currency| currency.minor_digits());
    let shown = |amount: Option<Amount>| match amount {
        Some(amount) => rounding::display(amount, digits),
        None => Ok("none".to_owned()),
    };
    let key = match answer.by {
        ReconcileBy::Day => "DAY",
        ReconcileBy::Experiment => "EXPERIMENT",
        ReconcileBy::Attempt => "ATTEMPT",
    };
    let titles = ["PROVIDER", key, ">ESTIMATE", ">AWAITING", ">BILL", ">DIFFERENCE", ">%", "WHY", "STATE"];
    let mut grid = Grid::new(titles);
    for row in &answer.rows {
        let mut why = Vec::new();
        for (cause, amount) in &row.causes {
            why.push(format!("{} {}", words(*cause), rounding::display(*amount, digits)?));
        }
        grid.row(vec![
            row.provider.clone(),
            row.key.clone(),
            shown(row.estimate)?,
            shown(row.awaiting)?,
            shown(row.bill)?,
            shown(row.difference)?,
            row.per_mille().map_or_else(|| "none".to_owned(), percent),
            if why.is_empty() { "none".to_owned() } else { why.join(", ") },
            row.state.to_string(),
        ]);
    }
    sheet.grid(grid);
    Ok(sheet)
}

fn percent(per_mille: i128) -> String {
    let sign = if per_mille < 0 { "-" } else { "+" };
    format!("{sign}{}.{}%", per_mille.abs() / 10, per_mille.abs() % 10)
}

const fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Time => "time",
        Cause::Price => "price",
        Cause::PriceOrTime => "price or time",
        Cause::NotEstimated => "not estimated",
        Cause::NotOnTheBill => "not on the bill",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_a_percentage_with_one_decimal() {
        assert_eq!(tolerance("5%").unwrap(), 50);
        assert_eq!(tolerance("0.5").unwrap(), 5);
        for wrong in ["-1%", "five", "0.05%", ""] {
            assert_eq!(tolerance(wrong).unwrap_err().code, "reconcile::bad_tolerance", "{wrong}");
        }
        assert_eq!((percent(-62), percent(5)), ("-6.2%".to_owned(), "+0.5%".to_owned()));
    }
}
