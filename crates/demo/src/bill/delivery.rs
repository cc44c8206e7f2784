//! Deliveries of a bill: data files of an export execution and the manifest that names them.

use std::path::Path;

use money::Amount;
use serde_json::json;

use super::columns::{COLUMNS, Row, Sheet};
use super::{Window, amortised, lines, table, text};
use crate::company::{Company, Payer};
use crate::exact::sum;
use crate::random::Stream;
use crate::span::{DAY, LAST, rfc3339};
use crate::{DemoError, ExpectedBill, files};

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Parquet, a folder for each execution.
    Parquet,
    /// Gzip-compressed CSV that the next execution overwrites, in two parts.
    Csv,
}

impl Form {
    const fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "snappy.parquet",
            Self::Csv => "csv.gz",
        }
    }

    const fn parts(self) -> usize {
        match self {
            Self::Parquet => 1,
            Self::Csv => 2,
        }
    }
}

/// An export: who pays, how it is written, and the folder that was copied from its bucket.
#[derive(Debug)]
pub(crate) struct Export<'a> {
    /// Who pays.
    pub(crate) payer: &'static Payer,
    /// How it is written.
    pub(crate) form: Form,
    /// The copied folder.
    pub(crate) folder: &'a Path,
}

/// Writes the delivery of one period and says what it comes to.
pub(crate) fn write(
    company: &Company,
    export: &Export<'_>,
    window: Window,
) -> Result<ExpectedBill, DemoError> {
    let payer = export.payer;
    let lines = lines(company, payer, window)?;
    let label = format!("delivery {} {} {}", payer.id, window.period, window.early);
    let mut stream = Stream::new(company.seed, &label);
    let execution = stream.uuid();
    let settled = window.month.end <= LAST && !window.early;
    let invoice = if settled { format!("26{:08}", stream.next() % 100_000_000) } else { String::new() };
    let sheet = Sheet { payer, month: window.month, invoice };
    // Ids of rows are new in every delivery, as the provider's are.
    let ids: Vec<String> =
        lines.iter().map(|_| stream.letters(52, b"abcdefghijklmnopqrstuvwxyz234567")).collect();
    let rows: Vec<Row<'_>> = lines.iter().zip(&ids).map(|(line, id)| (line, &sheet, id.as_str())).collect();
    // Four days after a month's end, or six hours after the last metered hour.
    let made = if settled { window.month.end + 4 * DAY } else { window.covered.end + DAY / 4 };
    let stamp = rfc3339(made).replace(['-', ':'], "");
    let run = (execution.as_str(), stamp.as_str());
    let keys = write_parts(export, (window, run), &rows)?;
    write_manifest(export, (window, run), &keys)?;
    let billed = sum(lines.iter().filter(|line| !amortised::is_split(line)).map(|line| line.cost))?;
    let effective = lines.iter().map(amortised::effective).collect::<Result<Vec<Amount>, DemoError>>()?;
    let rows = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    Ok(ExpectedBill {
        payer: payer.id.to_owned(),
        period: window.period,
        rows,
        billed,
        effective: sum(effective)?,
    })
}

type Run<'a> = (Window, (&'a str, &'a str));

/// The folder of an execution under `data/` or `metadata/`.
fn place(form: Form, (window, (execution, stamp)): Run<'_>) -> String {
    match form {
        Form::Parquet => format!("BILLING_PERIOD={}/{stamp}-{execution}", window.period),
        Form::Csv => format!("BILLING_PERIOD={}", window.period),
    }
}

fn write_parts(export: &Export<'_>, run: Run<'_>, rows: &[Row<'_>]) -> Result<Vec<String>, DemoError> {
    let form = export.form;
    let size = rows.len().div_ceil(form.parts()).max(1);
    let mut keys = Vec::new();
    for (number, part) in rows.chunks(size).enumerate() {
        let name = export.payer.export;
        let file = format!("{name}-{:05}.{}", number + 1, form.extension());
        let key = format!("{name}/data/{}/{file}", place(form, run));
        let path = export.folder.join(&key);
        match form {
            Form::Parquet => table::write(&path, part)?,
            Form::Csv => text::write(&path, part)?,
        }
        keys.push(key);
    }
    Ok(keys)
}

fn write_manifest(export: &Export<'_>, run: Run<'_>, keys: &[String]) -> Result<(), DemoError> {
    let Payer { id, export: name, .. } = *export.payer;
    let (window, (execution, _)) = run;
    let columns: Vec<_> =
        COLUMNS.iter().map(|column| json!({ "name": column.name, "type": column.kind.word() })).collect();
    let files: Vec<String> =
        keys.iter().map(|key| format!("s3://larkspur-billing-{id}/cur2/{key}")).collect();
    let manifest = json!({
        "executionId": execution,
        "exportName": name,
        "exportArn": format!("arn:aws:bcm-data-exports:us-east-1:{id}:export/{name}"),
        "account": id,
        "billingPeriod": { "start": rfc3339(window.month.start), "end": rfc3339(window.month.end) },
        "columns": columns,
        "dataFiles": files,
    });
    let key = format!("{name}/metadata/{}/{name}-Manifest.json", place(export.form, run));
    files::write(&export.folder.join(key), serde_json::to_string_pretty(&manifest)?.as_bytes())
}
