//! `export`: the current bills and the runs in open forms.

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
    let (report, of) = match export {
        Export::Focus { file, allocated, replace } => {
            let form = if allocated { ExportForm::Allocated } else { ExportForm::Enriched };
            let form = (form, session.settings.credits);
            let report = app::export_focus(context, form, &file, replace).await?;
            let of = format!("{} rows of {} deliveries", report.rows, report.deliveries);
            (report, of)
        }
        Export::Openlineage { file, replace } => {
            let report = app::export_openlineage(context, &file, replace).await?;
            let of = format!("{} run events", report.rows);
            (report, of)
        }
    };
    let answer = wire::export(&report);
    let machine = Machine { document: &answer, rows: std::slice::from_ref(&answer), meta: None };
    let stdout = render(session.settings.format, &machine, || {
        let mut sheet = Sheet::default();
        sheet.line(format!("{}: {of}", report.file));
        Ok(sheet)
    })?;
    let told = |warning: &ImportWarning| AppError {
        help: warning.help.clone(),
        ..AppError::new(warning.code.clone(), warning.message.clone())
    };
    Ok(Outcome { stdout, warnings: report.warnings.iter().map(told).collect(), ..Outcome::default() })
}
