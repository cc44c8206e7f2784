//! Lists of exchange rates: the newest list of a source is in force.

use std::path::Path;

use sources::prices::rates::{self, RateList, RateOptions};
use store::{RateArrival, Store};

use super::{ImportReport, ImportWarning, name_of, open, record};
use crate::{AppError, Context};

/// The source of a list that is named after nobody.
const OWN: &str = "rates";
/// The source of reference rates: the European Central Bank.
const REFERENCE: &str = "ecb";

/// Imports a list of rates; `source` names it, else its form does.
///
/// # Errors
/// A coded error of the reader or the store; the store is then as it was.
pub async fn rates(
    context: &Context<'_>,
    place: &Path,
    source: Option<String>,
) -> Result<ImportReport, AppError> {
    context.progress.stage("reading rates");
    let list = rates::read(open(place)?, &RateOptions::new(name_of(place)))?;
    let store = Store::create(&context.store).await?;
    let lock = store.lock()?;
    store.sweep(&lock).await?;
    let mut report = report(place, &list);
    let by_form = if list.is_reference { REFERENCE } else { OWN };
    let source = source.unwrap_or_else(|| by_form.to_owned());
    context.progress.stage("keeping rates");
    let arrival = RateArrival { source, base: list.base, rates: list.rates };
    report.unchanged = !store.take_rates(&lock, &arrival, &record(context, &report)).await?;
    Ok(report)
}

fn report(place: &Path, list: &RateList) -> ImportReport {
    let told = list.warnings.iter().map(ImportWarning::from);
    let passed_over = (list.passed_over > 0).then(|| ImportWarning {
        code: "rates::passed_over".to_owned(),
        message: format!(
            "{} of {} cells hold no rate, or one that is told twice",
            list.passed_over, list.rows
        ),
        help: None,
    });
    ImportReport {
        rows: list.rows,
        accepted: list.rows - list.rejected,
        rejected: list.rejected,
        rejections: list.rejections.clone(),
        warnings: told.chain(passed_over).collect(),
        ..ImportReport::of("rates", place.to_string_lossy().into_owned())
    }
}
