//! `export`: the current bills in an open form.

use app::{AppError, Context, ExportForm, ImportWarning};

use super::Outcome;
use crate::arguments::Export;
use crate::display::{Machine, Sheet, render};
use crate::session::Session;

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    export: Export,
) -> Result<Outcome, AppError> {
    session.refuse_question("export")?;
    let Export::Focus { file, allocated, replace } = export;
    let form = if allocated { ExportForm::Allocated } else { ExportForm::Enriched };
    let report = app::export_focus(context, (form, session.settings.credits), &file, replace).await?;
    let answer = wire::export(&report);
    let machine = Machine { document: &answer, rows: std::slice::from_ref(&answer), meta: None };
    let stdout = render(session.settings.format, &machine, || {
        let mut sheet = Sheet::default();
        sheet.line(format!("{}: {} rows of {} deliveries", report.file, report.rows, report.deliveries));
        Ok(sheet)
    })?;
    let told = |warning: &ImportWarning| AppError {
        help: warning.help.clone(),
        ..AppError::new(warning.code.clone(), warning.message.clone())
    };
    Ok(Outcome { stdout, warnings: report.warnings.iter().map(told).collect(), ..Outcome::default() })
}
