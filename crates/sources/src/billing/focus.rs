//! Reads FOCUS cost and usage files, versions 1.0 to 1.4, of any provider, as CSV, CSV under gzip or Parquet.
//!
//! # What it reads
//!
//! A [place](#where-bills-lie). Columns are found by name alone, in any order: `BilledCost`, `billedcost` and
//! `billed_cost` are one column, so exports of AWS, Azure and GCP and tables that passed through a lower-casing catalog
//! are read alike. The version is told by the columns. Needed are billed and effective cost, billing currency, charge
//! category, and start and end of the charge period. An empty value and the word `NULL` are no value; a date without
//! zone is UTC; `Tags`, `AllocatedTags` and `SkuPriceDetails` may be JSON text, a Parquet map or a structure. Columns
//! that FOCUS does not know are kept in `x_unmapped`.
//!
//! # How a row becomes a charge
//!
//! * `billed_cost`, `effective_cost` and `contracted_cost` are the columns of these names. The purchase of a commitment
//!   has an effective cost of nothing, since its cost belongs to the usage that it covers; where a file says otherwise
//!   its value is kept in `x_unmapped` and the effective basis is withheld. A missing effective cost stands as billed
//!   and is counted.
//! * `list_cost` is `ListCost` of rows of category Usage and 0 of all others, since list costs of purchases and of the
//!   usage that they cover tell the same thing twice. In a file with unit prices a row of usage without one is unpriced:
//!   its list cost is no public price but a copy of another cost.
//! * `x_marginal_cost` is the billed cost of usage that no commitment covers.
//! * Classes: Tax; Credit; Adjustment and every row of class Correction are refunds; support plans; a purchase with a
//!   commitment or a capacity reservation, and the unused part of a commitment, are commitments; usage of an unused
//!   capacity reservation is an unused reservation; model APIs are inference; other usage is usage; other purchases are
//!   other. A charge category that FOCUS does not know rejects its row.
//! * Split cost allocation (1.3): allocated charges sum to their origin charge, and each is counted once. Where the
//!   origin's rows are missing, zero or hold only a remainder, the allocated charges are charges like all others, for
//!   the allocated resource, with the origin in `x_parent_resource_id`. Where the origin's rows still hold the whole
//!   cost, the allocated charges are rows of class `split_detail` without money, with their part in `x_split_cost`.
//!   Which of both a delivery does is found by comparing the sums before any row is valued; a delivery that does both
//!   is refused.
//! * An enriched export of trainbill has columns that tell class, kind of resource, line type, list and marginal cost,
//!   and is read back to the charges that it was made of; the other rules are for files of others.
//! * The kind of resource comes from AWS usage types where they are exported, and else from the words of service
//!   category, service and meter.
//!
//! # Costs of a row
//!
//! The first line that fits a row is its line; all but split details, which cost nothing.
//!
//! | row | billed | effective | list | marginal |
//! |---|---|---|---|---|
//! | Tax, Credit, Adjustment; class Correction; support (`…Support`, `AWS Support…`, `…Support Plan…`) | `BilledCost` | `EffectiveCost` | 0 | 0 |
//! | Purchase with a commitment discount | `BilledCost` | 0 | 0 | 0 |
//! | other Purchase | `BilledCost` | `EffectiveCost` | 0 | 0 |
//! | Usage with a commitment discount, or priced as `Committed`, or `Unused` | `BilledCost` | `EffectiveCost` | `ListCost` | 0 |
//! | other Usage | `BilledCost` | `EffectiveCost` | `ListCost` | `BilledCost` |
//!
//! Where `EffectiveCost` is missing it is `BilledCost`. Usage without `ListCost` is unpriced, and so is usage without
//! `ListUnitPrice` in a file that has the column.
//!
//! # What it cannot tell
//!
//! FOCUS has no id of a row. A capacity block's fee is a purchase that its provider may or may not amortise. The quality
//! gate withholds a basis whose figures contradict the rest of the file, such as effective costs that were rounded to
//! whole numbers.
//!
//! # References
//!
//! * Specification: <https://focus.finops.org/focus-specification/>
//! * AWS data exports, table FOCUS 1.2: <https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws.html>
//! * Azure exports of FOCUS: <https://learn.microsoft.com/azure/cost-management-billing/dataset-schema/cost-usage-details-focus>

mod column;
mod cost;
mod import;
pub(in crate::billing) mod kind;
mod layout;
mod line;
mod nulls;
mod own;
mod split;

use import::Focus;
use split::Allocation;

use super::table::reader::{Import, table_files};
use super::{BillBatch, BillInput, BillOptions, BillSummary};
use crate::SourceError;

/// Reads all files of an export and hands on batches of one payer and billing period.
///
/// # Errors
/// A fault of a file as a whole, two currencies in one period, two conventions of split data, a broken limit, or what
/// the sink returns; what was handed on before must then not be kept.
pub fn read(
    input: &BillInput,
    options: &BillOptions,
    sink: &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
) -> Result<BillSummary, SourceError> {
    let files = table_files(input)?;
    let allocation = Allocation::of(&files, &options.limits)?;
    let Import { core, .. } = Import::read(&files, options, Focus::new(allocation), sink)?;
    core.conclude(input, |_, _| Ok(Vec::new()))
}
