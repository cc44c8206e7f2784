//! Answers for machines: JSON, JSON lines and CSV, with exact amounts.

use app::AppError;
use app::settings::Format;
use serde::Serialize;
use wire::{Meta, flat};

use super::Sheet;

/// An answer in its public shape.
pub(crate) struct Machine<'a, A, R> {
    /// The JSON document.
    pub(crate) document: &'a A,
    /// The rows of a flat file.
    pub(crate) rows: &'a [R],
    /// What the figures are, for columns of their own in CSV.
    pub(crate) meta: Option<&'a Meta>,
}

/// An answer in the form that is asked for.
pub(crate) fn render<A: Serialize, R: Serialize + Default>(
    format: Format,
    machine: &Machine<'_, A, R>,
    sheet: impl FnOnce() -> Result<Sheet, AppError>,
) -> Result<String, AppError> {
    match format {
        Format::Table => Ok(sheet()?.text()),
        Format::Markdown => Ok(sheet()?.markdown()),
        Format::Json => Ok(serde_json::to_string_pretty(machine.document).map_err(unwritable)? + "\n"),
        Format::Jsonl => {
            let mut lines = String::new();
            for row in machine.rows {
                lines.push_str(&serde_json::to_string(row).map_err(unwritable)?);
                lines.push('\n');
            }
            Ok(lines)
        }
        Format::Csv => {
            let flat = flat(machine.rows).map_err(unwritable)?;
            csv(&flat.columns, &flat.rows, machine.meta)
        }
    }
}

/// CSV with a header; what is not known is empty.
pub(crate) fn csv(
    columns: &[String],
    rows: &[Vec<Option<String>>],
    meta: Option<&Meta>,
) -> Result<String, AppError> {
    let currency = |meta: &Meta| meta.currency.clone().unwrap_or_default();
    let rates = |meta: &Meta| meta.conversion.as_ref().map(wire::Conversion::cell).unwrap_or_default();
    let (titles, stated) = match meta {
        None => (Vec::new(), Vec::new()),
        Some(meta) => (
            vec!["basis", "credits", "scope", "currency", "rates"],
            vec![
                meta.basis.to_owned(),
                meta.credits.to_owned(),
                meta.scope.to_owned(),
                currency(meta),
                rates(meta),
            ],
        ),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(String::as_str).chain(titles)).map_err(unwritable)?;
    for row in rows {
        let cells = row.iter().map(|cell| cell.as_deref().unwrap_or(""));
        writer.write_record(cells.chain(stated.iter().map(String::as_str))).map_err(unwritable)?;
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.error()))?;
    String::from_utf8(bytes).map_err(unwritable)
}

fn unwritable(error: impl std::fmt::Display) -> AppError {
    AppError::new("cli::cannot_write", error.to_string())
}
