//! Reads AWS cost and usage reports: CUR 2.0 data exports and the legacy report, as CSV, CSV under gzip or Parquet.
//!
//! # What it reads
//!
//! A [place](#where-bills-lie), with the manifests of a data export or a legacy report where it has them. Columns are
//! found by name alone, in any order and subset: `line_item_unblended_cost`, `lineItem/UnblendedCost` and
//! `LINE_ITEM_UNBLENDED_COST` are one column. Maps (`product`, `resource_tags`, `tags`, `cost_category`, `discount`)
//! may be Parquet maps, lists of pairs, structures, or text as JSON or in the notation of Python or Athena; legacy
//! reports have one column per tag. A column that is not text may hold text, a number, a decimal or a timestamp.
//! Needed are line item type, unblended cost, usage start, usage end or time interval, product code and currency.
//!
//! # How a row becomes a charge
//!
//! * `billed_cost` is the unblended cost. Rows of split cost allocation data (operation `EKSPod-EC2`, `ECSTask-EC2`)
//!   carry no money of their own: class `split_detail`, costs 0, shares in `x_split_cost` and `x_split_unused_cost`.
//! * `effective_cost` amortises by line type: covered usage at its savings plan or reservation cost, a recurring fee
//!   at its unused part, negations and upfront fees at nothing, everything else as billed. If the columns of a family
//!   are not in the file, its rows stand as billed; if a single value is missing, so does its row. Both are counted.
//! * Negotiated prices: a net value is used where there is one, and else the gross value; but in a payer's period
//!   with a row whose type ends in `Discount` the net columns are not used at all, since they tell the same discount.
//! * `list_cost` of usage is the public on-demand cost where it is above zero and the row was paid for or covered; 0
//!   where public and billed cost are 0; and unknown for spot, capacity blocks, free tiers that the public column
//!   charges, and missing columns. Rows that are no usage have 0.
//! * `x_marginal_cost` is the unblended cost of on-demand and spot usage; covered usage, commitments, control planes,
//!   hours of NAT gateways, unused reservations, flat rates and all that is no usage add nothing.
//! * The $0 row of a capacity reservation as a whole (`Reservation:`) is no usage, class `other`: its hours stand again in
//!   the rows of the instances that ran in it and of what ran empty (`UnusedBox:`).
//! * A refund is a FOCUS `Adjustment` of class `Correction`; a refund of a capacity block joins its fee's class.
//! * Amounts are read from text. A double becomes its shortest text first. Digits past the twenty-fourth fractional
//!   one are cut, counted and reported.
//! * A row without a start covers its billing period; a row that cannot be read is rejected, with its place, and its
//!   cost still counts in what the period must tie to.
//! * Tags keep the provider's key. Columns without a canonical place, and the inputs of the amortisation where they
//!   are not zero, go into `x_unmapped` as text; `BlendedCost` and `BlendedRate` are left out (averages over
//!   accounts, never a basis), and so is the time interval, which repeats the usage dates.
//!
//! # Costs of a row
//!
//! The first line that fits a row is its line. *Unblended*, *net unblended* and so on are the columns; *(net)* is the
//! net column of the same name where it has a value and may be used, else the column itself.
//!
//! | row | billed | effective | list | marginal |
//! |---|---|---|---|---|
//! | operation `EKSPod-EC2`, `ECSTask-EC2`; a split parent and no unblended cost | 0 | 0 | 0 | 0 |
//! | fee or refund, usage type with `CapacityBlockFee`, no commitment named | unblended | (net) unblended | 0 | 0 |
//! | `SavingsPlanNegation`, `SavingsPlanUpfrontFee` | unblended | 0 | 0 | 0 |
//! | `SavingsPlanRecurringFee` | unblended | total commitment to date − used commitment | 0 | 0 |
//! | `RIFee` | unblended | (net) unused amortised upfront fee + (net) unused recurring fee | 0 | 0 |
//! | `Fee` that names a reservation | unblended | 0 | 0 | 0 |
//! | `Refund` of a product `…SavingsPlans`, `Refund for one-time fee for Savings Plan ID…` | unblended | 0 | 0 | 0 |
//! | `Tax`, `Credit`, `Refund`, `Fee`, types ending in `Discount`, support plans | unblended | (net) unblended | 0 | 0 |
//! | type not known here, without resource and usage amount | unblended | (net) unblended | 0 | 0 |
//! | operation `RunInstances:CB…` | unblended | as below | unpriced | 0 |
//! | usage type with `UnusedBox:` or `UnusedDed:` | unblended | as below | public | 0 |
//! | `SavingsPlanCoveredUsage` | unblended | (net) savings plan effective cost | public | 0 |
//! | `DiscountedUsage` | unblended | (net) reservation effective cost | public | 0 |
//! | `FlatRateSubscription`; `NatGateway-Hours`; EKS and ECS but transfer, Fargate, `EKS-Auto:` and split rows | unblended | (net) unblended | public | 0 |
//! | all else | unblended | (net) unblended | public | unblended |
//!
//! *Public* is the public on-demand cost where it is above 0 and so is the unblended cost, or the usage is covered; 0
//! where both are 0 and the usage is not spot; else the row is unpriced. Support plans are the products
//! `OCBPremiumSupport` and `AWSSupport…`. Where the file has no column for the effective cost of savings plans or of
//! reservations, or a row no value in any of the columns that its effective cost is made of, the row stands as billed.
//!
//! # What it cannot tell
//!
//! Without resource ids (an option of the export) a charge reaches an attempt only by tag. The public price of spot
//! capacity is not in a report. A capacity block is billed as one fee: the engine spreads it over its hours. A report
//! has no tag whose key was not activated for billing: `spend --by tag` tells that from a tag that is missing.
//!
//! # References
//!
//! * Data exports, table `COST_AND_USAGE_REPORT`: <https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html>
//! * Legacy columns: <https://docs.aws.amazon.com/cur/latest/userguide/data-dictionary.html>
//! * Amortised cost by line type: <https://catalog.workshops.aws/cur-query-library>
//! * Split cost allocation: <https://docs.aws.amazon.com/cur/latest/userguide/split-cost-allocation-data.html>

mod column;
mod cost;
mod derived;
mod discount;
mod import;
mod layout;
mod line;
pub(in crate::billing) mod meter;
mod outcome;
mod product;
mod row;
mod run;
mod words;

use import::Report;

use super::table::reader::{Import, overflow, table_files};
use super::{BillBatch, BillInput, BillOptions, BillSummary, BillWarning};
use crate::SourceError;
use discount::DiscountPeriods;

/// Reads all files of a report and hands on batches of one payer and billing period.
///
/// # Errors
/// A fault of a file as a whole, two currencies in one period, a broken limit, or what the sink returns; what was
/// handed on before must then not be kept.
pub fn read(
    input: &BillInput,
    options: &BillOptions,
    sink: &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
) -> Result<BillSummary, SourceError> {
    let files = table_files(input)?;
    let discounts = DiscountPeriods::of(&files, &options.limits)?;
    let Import { core, format: report, .. } = Import::read(&files, options, Report::new(&discounts), sink)?;
    let mut summary = core.conclude(input, |group, period| match report.facts.get(group) {
        Some(facts) => facts.close(period).map_err(overflow),
        None => Ok(Vec::new()),
    })?;
    for period in &mut summary.periods {
        period.tag_columns.clone_from(&report.tag_columns);
    }
    if summary.names_no_resource() {
        summary.warnings.push(BillWarning::new(
            "bill::no_resource_ids",
            "no resource ids: attribution to attempts only by tag; switch on INCLUDE_RESOURCES in the export",
        ));
    }
    Ok(summary)
}
