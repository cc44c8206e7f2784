//! Reads Google Cloud billing exports, detailed or standard, as JSON lines, CSV or Parquet, plain or under gzip.
//!
//! # What it reads
//!
//! Rows of the BigQuery tables `gcp_billing_export_resource_v1_…` (detailed) and `gcp_billing_export_v1_…` (standard), as
//! people export them to files in a [place](#where-bills-lie): one JSON object a line, CSV with dotted headers, or Parquet
//! with structures and lists. Columns are found by name alone, in any order and subset: `service.id`, `service_id` and the
//! field `id` of `service` are one column. Whole numbers and decimals may be text; times may be ISO or end in ` UTC`; a
//! time without zone is UTC. Credits, labels and tags may be lists, one object alone, JSON in text, or the notation of
//! Python. A JSON row may leave out what it has no value for. Needed are cost, currency and the start of the usage.
//!
//! # How a row becomes charges
//!
//! * Every row stays: the export is append-only, a correction is another row, and nothing is compared or de-duplicated.
//! * The charge of a row has `billed_cost` = `effective_cost` = cost + its credits that are part of the price:
//!   `COMMITTED_USAGE_DISCOUNT`, `COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE`, `FEE_UTILIZATION_OFFSET`,
//!   `SUSTAINED_USAGE_DISCOUNT`, `DISCOUNT`, `SPENDING_BASED_DISCOUNT`, `RESELLER_MARGIN`, `SUBSCRIPTION_BENEFIT`.
//! * Every other credit (`FREE_TIER`, `PROMOTION`, a type that is not known here) is a charge of its own: class `credit`,
//!   its type in `x_credit_type`, its amount as billed and effective cost, list 0, with the resource, tags, interval and
//!   SKU of its row. So Σ `billed_cost` is the net of the file: Σ cost + Σ all credits, to the last decimal.
//! * `list_cost` of usage is `cost_at_list`, and unknown where the row has none; rows that are no usage have 0.
//!   `contracted_cost` of usage is `cost_at_effective_price_default`.
//! * `x_marginal_cost` of usage is its billed cost; usage that a commitment pays (by a credit of a commitment, or by a
//!   consumption model that is not the default), commitment fees, control planes, the uptime of NAT gateways, unused
//!   reservations and all that is no usage add nothing. A credit that is a charge of its own has its amount as marginal
//!   cost where its row adds anything, and else 0: net of credits, what added nothing still adds nothing.
//! * `cost_type` `tax` is class `tax`, `rounding_error` is `other`, `adjustment` is `refund` where its type says that money
//!   is given back and else `other`, with `charge_class` `Correction`. A row with adjustment information stays usage, so
//!   that negated and re-priced usage reaches the run that caused it; it is a `Correction` if its usage is older than its
//!   invoice month.
//! * A row is a commitment's fee by its SKU (`Commitment…`), by a `FEE_UTILIZATION_OFFSET`, or because it names a
//!   subscription without being priced by it. What its usage did not pay back stays on it.
//! * The billing period is `invoice.month`, not the month of the usage. Rows without one stand in the month of their usage
//!   and are counted. A row without a start covers its billing period.
//! * `tags` are the row's labels under their keys, then its tags, then the labels of its project where the key is still
//!   free; a key that is taken stands behind `tag:` or `project:`. System labels stand behind `system:`; the machine type
//!   among them is `x_instance_type`. The labels of GKE cost allocation (`k8s-namespace`, …) are labels like any other.
//! * `resource_id` is `resource.global_name`, else `resource.name`; `sub_account_id` the project; `x_usage_type` the
//!   description of the SKU, by which with the service the kind of resource is told. What they do not tell is `other`.
//! * Amounts are read from text. A double becomes its shortest text first. Digits past the twenty-fourth fractional one
//!   are cut, counted and reported. A row that cannot be read is rejected, with its place.
//! * Columns without a canonical place go into `x_unmapped`, and so do the credits, the cost that they change, tags with
//!   their namespace, adjustment, consumption model and export time.
//!
//! # Costs of a row
//!
//! The first line that fits a row is its line. *Net* is cost + Σ of all credits, those that are charges of their own
//! included: the sums of a row and its credits are told here.
//!
//! | row | billed | effective | list | marginal |
//! |---|---|---|---|---|
//! | `cost_type` `tax`, `rounding_error`, `adjustment` | net | net | 0 | 0 |
//! | fee of a commitment | net | net | 0 | 0 |
//! | service that is support (`…Support`, `…Support Plan…`) | net | net | 0 | 0 |
//! | `cost_type` not known here, without resource and usage amount | net | net | 0 | 0 |
//! | system label `compute.googleapis.com/is_unused_reservation` = `true` | net | net | `cost_at_list` | 0 |
//! | credit of a commitment, or a consumption model that is not the default | net | net | `cost_at_list` | 0 |
//! | Kubernetes Engine: `… Kubernetes Clusters`, `Extended Period`, `Cluster Management` | net | net | `cost_at_list` | 0 |
//! | Networking and Compute Engine: `NAT Gateway` with `Uptime` | net | net | `cost_at_list` | 0 |
//! | all else | net | net | `cost_at_list` | net |
//!
//! A row without `cost_at_list` is unpriced where the table says so. Before credits, effective cost is that of the
//! charges that are no credits: cost + the credits that are part of the price.
//!
//! # What it cannot tell
//!
//! The standard export names no resources: a charge reaches an attempt only by label. An export does not say when a month
//! is closed, so no period is final. Which usage of a negated row was meant is not said beyond its labels and resource.
//! How much of a partly covered row a commitment paid is told, but not which seconds of it.
//!
//! # References
//!
//! * Detailed export: <https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage>
//! * Standard export: <https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/standard-usage>
//! * Spend-based commitments in the export: <https://cloud.google.com/docs/cuds-multiprice-datamodel>

mod column;
mod cost;
mod credit;
mod import;
mod labels;
mod layout;
mod line;
mod meter;
mod row;

use import::Gcp;

use super::table::reader::{Import, table_or_line_files};
use super::{BillBatch, BillInput, BillOptions, BillSummary, BillWarning};
use crate::SourceError;

/// Reads all files of an export and hands on batches of one billing account and invoice month.
///
/// # Errors
/// A fault of a file as a whole, two currencies in one period, a broken limit, or what the sink returns; what was
/// handed on before must then not be kept.
pub fn read(
    input: &BillInput,
    options: &BillOptions,
    sink: &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
) -> Result<BillSummary, SourceError> {
    let files = table_or_line_files(input)?;
    let Import { core, format: gcp, .. } = Import::read(&files, options, Gcp::default(), sink)?;
    let mut summary = core.conclude(input, |_, _| Ok(Vec::new()))?;
    if gcp.without_invoice > 0 {
        summary.warnings.push(BillWarning::new(
            "bill::no_invoice_month",
            format!(
                "{} row(s) have no invoice month and stand in the month of their usage",
                gcp.without_invoice
            ),
        ));
    }
    if summary.names_no_resource() {
        summary.warnings.push(BillWarning::new(
            "bill::no_resource_ids",
            "no resource names: attribution to attempts only by label; use the detailed export, which names resources",
        ));
    }
    Ok(summary)
}
