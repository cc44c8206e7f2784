//! `demo`: a small company to look around in.

use std::path::Path;

use app::settings::Format;
use app::{AppError, Context, DemoReport};

use super::{Outcome, import, ls};
use crate::display::{Machine, Sheet, render};
use crate::session::Session;

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    (dir, seed): (&Path, u64),
) -> Result<Outcome, AppError> {
    let mut query = session.query()?;
    let report = app::demo(context, dir, seed).await?;
    if query.currency.is_none() {
        query.convert_to = query.convert_to.or(report.convert_to);
    }
    let list = app::ls(&context.with_store(report.store.clone()), &query).await?;
    let answer = wire::demo(&report);
    let machine = Machine { document: &answer, rows: &answer.rows, meta: None };
    let stdout = render(session.settings.format, &machine, || sheet(session, &report, &list))?;
    let for_people = session.settings.format == Format::Table;
    // What the demo's imports warn of is part of the demo; a machine finds it in the document.
    let warnings =
        if for_people { report.imports.iter().flat_map(import::warnings).collect() } else { Vec::new() };
    Ok(Outcome { stdout, warnings, ..Outcome::default() })
}

fn sheet(session: &Session<'_>, report: &DemoReport, list: &app::ExperimentList) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    let (dir, store) = (report.dir.display(), report.store.display());
    sheet.line(format!("Wrote exports  {dir}/exports"));
    sheet.line(format!(
        "Imported       {} experiments, {} attempts, {} days of bills (prices and rates are made up)",
        report.experiments, report.attempts, report.days
    ));
    sheet.line(format!("Store          {store}"));
    sheet.gap();
    sheet.extend(ls::sheet(session, list)?);
    if let Some(first) = list.rows.iter().find(|row| row.failed_attempts > 0).or(list.rows.first()) {
        let name = super::show::word(&first.experiment.0);
        sheet.gap();
        let to = list.meta.conversion.as_ref().map(|conversion| format!(" --convert-to {}", conversion.to));
        sheet.hint(format!("next: trainbill show {name}{} --store {store}", to.unwrap_or_default()));
        sheet.hint(format!("      trainbill check --store {store}"));
    }
    Ok(sheet)
}
