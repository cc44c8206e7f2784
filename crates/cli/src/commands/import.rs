//! `import`: bills and run records.

use app::settings::Format;
use app::{
    AppError, BillImport, Context, Decision, DeliveryLine, ImportReport, PriceFormat, PriceImport, RunImport,
};
use money::rounding;

use super::Outcome;
use crate::arguments::{Bill, Import, PriceFile};
use crate::display::{Grid, Machine, Sheet, render};
use crate::session::Session;

/// Rejected rows that are shown one by one.
const REJECTIONS_SHOWN: usize = 5;

/// The zone that the command line gives.
pub(super) fn time_zone(import: &Import) -> Option<&str> {
    match import {
        Import::Runs(records) => records.time_zone(),
        Import::AwsCur(_)
        | Import::AzureCost(_)
        | Import::Focus(_)
        | Import::GcpBilling(_)
        | Import::AwsOffer(_)
        | Import::AwsSpotHistory(_)
        | Import::GcpCatalogue(_)
        | Import::Skypilot(_)
        | Import::PriceTable(_)
        | Import::Rates { .. } => None,
    }
}

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    import: Import,
) -> Result<Outcome, AppError> {
    session.refuse_question("import")?;
    let report = match import {
        Import::AwsCur(bill) => import_bill(context, "aws-cur", bill).await?,
        Import::AzureCost(bill) => import_bill(context, "azure-cost", bill).await?,
        Import::Focus(bill) => import_bill(context, "focus", bill).await?,
        Import::GcpBilling(bill) => import_bill(context, "gcp-billing", bill).await?,
        Import::AwsOffer(file) => import_prices(context, PriceFormat::AwsOffer, file).await?,
        Import::AwsSpotHistory(file) => import_prices(context, PriceFormat::AwsSpotHistory, file).await?,
        Import::GcpCatalogue(file) => import_prices(context, PriceFormat::GcpCatalogue, file).await?,
        Import::Skypilot(file) => import_prices(context, PriceFormat::Skypilot, file).await?,
        Import::PriceTable(file) => import_prices(context, PriceFormat::PriceTable, file).await?,
        Import::Rates { file, source } => app::import_rates(context, &file, source).await?,
        Import::Runs(records) => {
            let (format, files, options) = records.asked();
            let time_zone = session.settings.time_zone.clone();
            app::import_runs(context, format, &files, &RunImport { time_zone, ..options }).await?
        }
    };
    answer(session, &report)
}

/// Keeps what a person says of an attempt.
pub(super) async fn link(
    session: &Session<'_>,
    context: &Context<'_>,
    decision: Decision,
) -> Result<Outcome, AppError> {
    session.refuse_question("link")?;
    answer(session, &app::link(context, &decision).await?)
}

fn answer(session: &Session<'_>, report: &ImportReport) -> Result<Outcome, AppError> {
    let answer = wire::import(report);
    let machine = Machine { document: &answer, rows: std::slice::from_ref(&answer), meta: None };
    let stdout = match session.settings.format {
        Format::Csv => {
            render(Format::Csv, &Machine { document: &answer, rows: &answer.rows, meta: None }, || {
                Ok(Sheet::default())
            })?
        }
        format @ (Format::Table | Format::Json | Format::Jsonl | Format::Markdown) => {
            render(format, &machine, || sheet(session, report))?
        }
    };
    Ok(Outcome { stdout, warnings: warnings(report), ..Outcome::default() })
}

async fn import_bill(context: &Context<'_>, reader: &str, bill: Bill) -> Result<ImportReport, AppError> {
    let Bill { place, source, replace } = bill;
    app::bill(context, reader, &place, &BillImport { source, replace }).await
}

async fn import_prices(
    context: &Context<'_>,
    format: PriceFormat,
    file: PriceFile,
) -> Result<ImportReport, AppError> {
    let PriceFile { file, source, provider, since_day } = file;
    let options = PriceImport { source, provider, in_force_from: since_day };
    app::import_prices(context, format, &file, &options).await
}

fn sheet(session: &Session<'_>, report: &ImportReport) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    for line in summary(report) {
        sheet.line(line);
    }
    if !report.deliveries.is_empty() {
        sheet.grid(deliveries(&report.deliveries)?);
    }
    let next = match report.kind {
        "rates" => "ls --convert-to CODE",
        kind if PriceFormat::ALL.iter().any(|format| format.id() == kind) => "prices",
        _ => "ls",
    };
    sheet.hint(format!("next: {}", session.hint(next)));
    Ok(sheet)
}

/// What an import did, in a line or two; `demo` shows it as well.
pub(super) fn summary(report: &ImportReport) -> Vec<String> {
    let kind = report.kind;
    let rows =
        format!("{} rows read, {} accepted, {} rejected", report.rows, report.accepted, report.rejected);
    let not_read = format!("{kind}: {} deliveries unchanged, not read again", report.not_read);
    if report.unchanged && report.rows == 0 && report.not_read > 0 {
        return vec![not_read];
    }
    let mut lines = vec![if report.unchanged {
        format!("{kind}: nothing new; the store holds all of it already ({rows})")
    } else {
        format!("{kind}: {rows}")
    }];
    if report.not_read > 0 {
        lines.push(not_read);
    }
    if report.unchanged {
        return lines;
    }
    if report.new_observations + report.known_observations > 0 {
        lines.push(format!(
            "{kind}: {} new observations, {} known",
            report.new_observations, report.known_observations
        ));
    }
    if report.settled > 0 {
        lines.push(format!("{kind}: {} deliveries attributed anew", report.settled));
    }
    lines
}

fn deliveries(lines: &[DeliveryLine]) -> Result<Grid, AppError> {
    let mut grid =
        Grid::new(["SOURCE", "PERIOD", "STATE", ">CHARGES", ">BILLED", ">BEFORE", "CURRENCY", "BILL"]);
    for line in lines {
        let digits = line.currency.minor_digits();
        let before = match line.billed_before {
            Some(before) => rounding::display(before, digits)?,
            None => "none".to_owned(),
        };
        grid.row(vec![
            line.source.to_string(),
            line.period.to_string(),
            line.state.to_owned(),
            line.rows.to_string(),
            rounding::display(line.billed, digits)?,
            before,
            line.currency.to_string(),
            if line.is_final { "final" } else { "open" }.to_owned(),
        ]);
    }
    Ok(grid)
}

/// What the user should know of an import.
pub(super) fn warnings(report: &ImportReport) -> Vec<AppError> {
    let told = report.warnings.iter().map(|warning| AppError {
        help: warning.help.clone(),
        ..AppError::new(warning.code.clone(), warning.message.clone())
    });
    let rejected = report.rejections.iter().take(REJECTIONS_SHOWN).map(|rejection| {
        let column = rejection.column.as_ref().map(|column| format!(" column {column}")).unwrap_or_default();
        AppError {
            expected: Some(rejection.expected.clone()),
            found: Some(rejection.found.clone()),
            ..AppError::new(rejection.code, "a row is rejected")
                .at(format!("{}:{}{column}", rejection.file, rejection.row))
        }
    });
    let mut warnings: Vec<AppError> = told.chain(rejected).collect();
    let shown = u64::try_from(report.rejections.len().min(REJECTIONS_SHOWN)).unwrap_or(u64::MAX);
    if report.rejected > shown {
        let message = format!("{} more rows are rejected", report.rejected - shown);
        warnings.push(AppError::new("row::rejected", message).at(report.place.clone()));
    }
    warnings
}
