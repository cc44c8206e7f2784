//! Price lists: the newest list of a source is in force; what nobody can mean is kept apart.

use std::collections::BTreeMap;
use std::path::Path;

use costing::attempts::fold;
use sources::Zone;
use sources::prices::{self, PriceList, PriceOptions};
use store::{PriceArrival, Store};

use super::{ImportReport, ImportWarning, name_of, open, record, settle_current};
use crate::{AppError, Context};

/// A format of price lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceFormat {
    /// AWS bulk offer file or `GetProducts` answers.
    AwsOffer,
    /// AWS spot price history.
    AwsSpotHistory,
    /// Google Cloud billing catalogue.
    GcpCatalogue,
    /// SkyPilot catalogue.
    Skypilot,
    /// A table of one's own.
    PriceTable,
}

impl PriceFormat {
    /// Every format.
    pub const ALL: [Self; 5] =
        [Self::AwsOffer, Self::AwsSpotHistory, Self::GcpCatalogue, Self::Skypilot, Self::PriceTable];

    /// Its name on the command line and in the list of sources.
    pub const fn id(self) -> &'static str {
        match self {
            Self::AwsOffer => "aws-offer",
            Self::AwsSpotHistory => "aws-spot-history",
            Self::GcpCatalogue => "gcp-catalogue",
            Self::Skypilot => "skypilot",
            Self::PriceTable => "price-table",
        }
    }
}

/// How to import a price list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceImport {
    /// Name of the source; the format's if none is given.
    pub source: Option<String>,
    /// Provider in lower case, for lists that do not tell it.
    pub provider: Option<String>,
    /// Day since which prices hold that carry no date, as `YYYY-MM-DD`.
    pub in_force_from: Option<String>,
}

/// Imports a price list.
///
/// # Errors
/// A coded error of the reader or the store; the store is then as it was.
pub async fn prices(
    context: &Context<'_>,
    format: PriceFormat,
    place: &Path,
    options: &PriceImport,
) -> Result<ImportReport, AppError> {
    let source = options.source.clone().unwrap_or_else(|| format.id().to_owned());
    let list = read(context, format, place, (options, &source))?;
    let store = Store::create(&context.store).await?;
    let lock = store.lock()?;
    store.sweep(&lock).await?;
    let mut report = report(format, place, &list);
    let arrival = PriceArrival {
        source,
        published_at: list.published_at,
        prices: list.prices,
        quarantined: list.quarantined.into_iter().map(|held| (held.row, held.doubt.to_string())).collect(),
    };
    context.progress.stage("keeping prices");
    report.unchanged = !store.take_prices(&lock, &arrival, &record(context, &report)).await?;
    let attempts = fold(&store.observations().await?).attempts;
    let postings = settle_current(context, &store, &attempts, &[]).await?;
    report.settled = postings.len() as u64;
    if report.settled > 0 {
        store.settle_anew(&lock, postings).await?;
    }
    crate::estimate::keep(context, &store, &lock, &attempts).await?;
    Ok(report)
}

fn read(
    context: &Context<'_>,
    format: PriceFormat,
    place: &Path,
    (options, source): (&PriceImport, &str),
) -> Result<PriceList, AppError> {
    context.progress.stage("reading prices");
    let file = open(place)?;
    let mut reader = PriceOptions::new(name_of(place), source);
    reader.provider.clone_from(&options.provider);
    reader.in_force_from = match &options.in_force_from {
        None => None,
        Some(day) => Some(sources::instant(day, &Zone::Utc).map_err(|_| {
            AppError::new("prices::not_a_day", format!("`{day}` is no day"))
                .help("give the day since which the prices hold as YYYY-MM-DD")
        })?),
    };
    Ok(match format {
        PriceFormat::AwsOffer => prices::aws_offer::read(file, &reader)?,
        PriceFormat::AwsSpotHistory => prices::aws_spot_history::read(file, &reader)?,
        PriceFormat::GcpCatalogue => prices::gcp_catalogue::read(file, &reader)?,
        PriceFormat::Skypilot => prices::skypilot::read(file, &reader)?,
        PriceFormat::PriceTable => prices::price_table::read(file, &reader)?,
    })
}

fn report(format: PriceFormat, place: &Path, list: &PriceList) -> ImportReport {
    let warning = |code: &str, message: String| ImportWarning { code: code.to_owned(), message, help: None };
    let mut doubts: BTreeMap<String, u64> = BTreeMap::new();
    for held in &list.quarantined {
        *doubts.entry(held.doubt.to_string()).or_default() += 1;
    }
    let kept_apart = doubts.iter().map(|(doubt, count)| {
        warning("prices::quarantined", format!("{count} price(s) kept apart: each {doubt}"))
    });
    let passed_over = list.passed_over.iter().map(|(why, count)| {
        warning("prices::passed_over", format!("{count} price(s) are not rated here: {why}"))
    });
    let told = list.warnings.iter().map(ImportWarning::from);
    ImportReport {
        rows: list.rows,
        accepted: list.rows - list.rejected,
        rejected: list.rejected,
        rejections: list.rejections.clone(),
        warnings: told.chain(kept_apart).chain(passed_over).collect(),
        ..ImportReport::of(format.id(), place.to_string_lossy().into_owned())
    }
}
