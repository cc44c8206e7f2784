//! Reads Azure's own cost exports (usage details of EA, MCA and pay-as-you-go accounts) as CSV, CSV under gzip or Parquet.
//!
//! # What it reads
//!
//! A [place](#where-bills-lie). Columns are found by name alone: `CostInBillingCurrency`, `costInBillingCurrency`
//! and the older `PreTaxCost` are one column, and so are `Date` and `UsageDateTime`. A mark of byte order before the
//! header is skipped. Dates are ISO or month/day/year. Needed are cost, date, currency and meter category; a file
//! without currency is refused, since no currency is assumed.
//!
//! # Actual or amortised
//!
//! Azure writes two exports of the same spend. In that of actual cost a reservation or savings plan costs what was paid
//! for it and the usage that it covers costs nothing; in that of amortised cost the usage costs its share, and what was
//! not used has rows of type `UnusedReservation` or `UnusedSavingsPlan`. Which one a file is shows by these rows, and by
//! a file name that says `actualcost` or `amortizedcost`. Both in one import are refused: they are never added.
//!
//! # How a row becomes a charge
//!
//! * `billed_cost` and `effective_cost` are the cost column. The export of actual cost does not tell the effective cost
//!   of covered usage and of the purchases of commitments, so where it has such rows the quality gate withholds the
//!   effective basis. The export of amortised cost does not tell what was invoiced, so there it withholds the billed one.
//!   Without commitments both exports are alike and both bases stand.
//! * `list_cost` is the pay-as-you-go cost in the billing currency, else pay-as-you-go price × quantity where the price
//!   is in the billing currency and it is clear whether it is that of one unit or of a block such as `10 Hours`; else
//!   the row is unpriced. Rows that are no usage have 0.
//! * `x_marginal_cost` is the cost of usage that no commitment covers.
//! * Charge types: Usage; Purchase (of a commitment, of support, or other); Refund and adjustments are refunds; the
//!   unused types are commitments; Tax; Credit. Another type is kept as it is and is no usage. An export without the
//!   column holds usage alone.
//! * A charge takes its whole day. A billing period ends after the last day that the export gives.
//! * `ServiceType` of `AdditionalInfo` is the instance type. Tags may lack their braces.
//!
//! # Costs of a row
//!
//! | row | billed | effective | list | marginal |
//! |---|---|---|---|---|
//! | Usage that no commitment covers | cost | cost | retail | cost |
//! | Usage under a reservation or savings plan | cost | cost | retail | 0 |
//! | all other charge types, and support plans | cost | cost | 0 | 0 |
//!
//! *Retail* is `PaygCostInBillingCurrency`, else `PayGPrice` × quantity, if both are in one currency. In a meter of blocks
//! (`10 Hours`, `10K`) `PayGPrice` is that of the block where `UnitPrice` is that of the block, which shows by
//! `EffectivePrice` being a tenth (…) of it to within a hundredth; where both are equal it is that of one; else, and
//! where a block is no power of ten, the row is unpriced. So it is with a price of 0 where the row costs something or
//! is covered. A commitment covers usage by `PricingModel`, and if that does not tell, by a reservation or benefit id.
//!
//! # What it cannot tell
//!
//! The hour of a charge, and which of an instance's rows a GPU is: it is part of the machine's price. Exports whose
//! headers were translated are refused by the first column that is not found.
//!
//! # References
//!
//! * Columns: <https://learn.microsoft.com/azure/cost-management-billing/automate/understand-usage-details-fields>
//! * Actual and amortised cost: <https://learn.microsoft.com/azure/cost-management-billing/reservations/understand-reserved-instance-usage-ea>

mod column;
mod date;
mod evidence;
mod import;
mod layout;
mod line;
mod list;

use evidence::Export;
use import::Azure;
use ledger::CostBasis;

use super::quality::BasisQuality;
use super::table::reader::{Import, table_files};
use super::{BillBatch, BillInput, BillOptions, BillSummary, PeriodSummary};
use crate::SourceError;

/// Reads all files of an export and hands on batches of one payer and billing period.
///
/// # Errors
/// A fault of a file as a whole, two currencies in one period, `bill::mixed_amortisation`, a broken limit, or what the
/// sink returns; what was handed on before must then not be kept.
pub fn read(
    input: &BillInput,
    options: &BillOptions,
    sink: &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
) -> Result<BillSummary, SourceError> {
    let files = table_files(input)?;
    let Import { core, format: mut azure, .. } = Import::read(&files, options, Azure::default(), sink)?;
    let export = azure.evidence.export()?;
    core.conclude(input, |_, period| {
        if export == Some(Export::Amortised) {
            withhold_billed(period);
        }
        Ok(Vec::new())
    })
}

/// The amortised export tells every effective cost and no billed one.
fn withhold_billed(period: &mut PeriodSummary) {
    period.effective_unknown = 0;
    period.quality.push(BasisQuality::warn(
        "quality::amortised_export",
        (Some(CostBasis::Billed), false, period.rows),
        "the export of amortised cost does not tell what was invoiced; billed cost stands as amortised"
            .to_owned(),
    ));
}
