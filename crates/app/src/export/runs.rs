//! `export openlineage`: the attempts as run events, for catalogues of lineage and for another store.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use sources::export::openlineage::events;

use super::{ExportReport, not_over_a_file};
use crate::books::Books;
use crate::{AppError, Context, ImportWarning};

/// Writes every attempt as OpenLineage run events, one JSON object a line; the file takes its name only when it is whole.
///
/// # Errors
/// `export::exists` unless `replace`, `export::not_written`; else of the store.
pub async fn export_openlineage(
    context: &Context<'_>,
    file: &Path,
    replace: bool,
) -> Result<ExportReport, AppError> {
    not_over_a_file(file, replace)?;
    let books = Books::open(context).await?;
    context.progress.stage("writing run events");
    let partial = file.with_extension("partial");
    let not_written = |error: std::io::Error| {
        AppError::new("export::not_written", error.to_string()).at(file.to_string_lossy())
    };
    let mut output = BufWriter::new(File::create(&partial).map_err(not_written)?);
    let (mut rows, mut timeless) = (0, 0_u64);
    for attempt in &books.attempts {
        let told = events(attempt);
        timeless += u64::from(told.is_empty());
        for event in told {
            writeln!(output, "{event}").map_err(not_written)?;
            rows += 1;
        }
        context.progress.rows(1);
    }
    output.into_inner().map_err(|error| not_written(error.into_error()))?.sync_all().map_err(not_written)?;
    std::fs::rename(&partial, file).map_err(not_written)?;
    let warning = (timeless > 0).then(|| ImportWarning {
        code: "export::no_time".to_owned(),
        message: format!(
            "{timeless} attempts are not in it: nothing tells when they were, and an event must"
        ),
        help: Some("trainbill sql \"select attempt_id from attempts where started_at is null\"".to_owned()),
    });
    Ok(ExportReport {
        file: file.to_string_lossy().into_owned(),
        rows,
        deliveries: 0,
        warnings: warning.into_iter().collect(),
    })
}
