//! The enriched form: canonical charges as FOCUS rows.

use std::sync::LazyLock;

use arrow::array::UInt32Array;
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use ledger::{ChargeCategory, LineClass};

use super::batch::{Batch, at, canonical};
use super::charge::{Charge, Part};
use super::column::{ENRICHED, schema_with};
use super::table::{Rule, build, not_built};
use super::told::{Keys, Told};
use crate::SourceError;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| schema_with(ENRICHED));

/// The schema of [`enriched`]: [`super::FOCUS`] and [`ENRICHED`].
pub fn enriched_schema() -> SchemaRef {
    SchemaRef::clone(&SCHEMA)
}

/// A batch of charges as FOCUS rows, in their order.
///
/// # Errors
/// `export::not_canonical` if the batch is none of [`crate::charges::schema`], text columns of other encodings aside.
pub fn enriched(batch: &RecordBatch) -> Result<RecordBatch, SourceError> {
    let batch = canonical(batch)?;
    let (batch, parts) = parted(&batch)?;
    let batch = Batch::of(&batch);
    let mut keys = Keys::default();
    let charges = parts.into_iter().enumerate().map(|(row, part)| {
        let told = Told::read(batch.text(const { at("x_unmapped") }, row), &mut keys)?;
        Ok(Charge { batch: &batch, row, part, told })
    });
    build(enriched_schema(), |name| rule(name, &batch), charges)
}

/// The rows, those of fees that carry amortised cost twice, and which part of its charge each is.
fn parted(batch: &RecordBatch) -> Result<(RecordBatch, Vec<Part>), SourceError> {
    let charges = Batch::of(batch);
    let mut rows: Vec<u32> = Vec::with_capacity(batch.num_rows());
    let mut parts = Vec::with_capacity(batch.num_rows());
    for (row, number) in (0..batch.num_rows()).zip(0_u32..) {
        if carries_amortised_cost(&charges, row) {
            rows.extend([number, number]);
            parts.extend([Part::Purchase, Part::Amortised]);
        } else {
            rows.push(number);
            parts.push(Part::Whole);
        }
    }
    if rows.len() == batch.num_rows() {
        return Ok((batch.clone(), parts));
    }
    let expanded = take_record_batch(batch, &UInt32Array::from(rows)).map_err(not_built)?;
    Ok((expanded, parts))
}

/// True for the purchase of a commitment or a capacity reservation with an effective cost, which FOCUS puts on usage.
fn carries_amortised_cost(charges: &Batch, row: usize) -> bool {
    let text = |column| charges.text(column, row);
    let is_purchase = text(const { at("charge_category") }) == Some(ChargeCategory::Purchase.word());
    let buys = match text(const { at("x_class") }).and_then(LineClass::from_word) {
        Some(LineClass::CapacityBlockFee) => true,
        Some(LineClass::Commitment) => {
            text(const { at("commitment_discount_id") }).is_some()
                || text(const { at("capacity_reservation_id") }).is_some()
        }
        _ => false,
    };
    let effective = || charges.money(const { at("effective_cost") }, row);
    is_purchase && buys && effective().is_some_and(|cost| !cost.is_zero())
}

/// How a column is filled.
fn rule<'a>(name: &str, batch: &'a Batch) -> Rule<Charge<'a>> {
    if let Some(copied) = copied(name) {
        return batch.array(copied).map_or(Rule::Null, Rule::Copy);
    }
    match name {
        "BilledCost" => Rule::Money(Charge::billed_cost),
        "BillingAccountType" => Rule::Text(Charge::billing_account_type),
        "CapacityReservationStatus" => Rule::Text(Charge::capacity_reservation_status),
        "ChargeCategory" => Rule::Text(Charge::charge_category),
        "ChargeClass" => Rule::Text(Charge::charge_class),
        "ChargeDescription" => Rule::Text(Charge::charge_description),
        "ChargeFrequency" => Rule::Text(Charge::charge_frequency),
        "CommitmentDiscountCategory" => Rule::Text(Charge::commitment_discount_category),
        "CommitmentDiscountName" => Rule::Text(Charge::commitment_discount_name),
        "CommitmentDiscountQuantity" => Rule::Quantity(Charge::commitment_discount_quantity),
        "CommitmentDiscountStatus" => Rule::Text(Charge::commitment_discount_status),
        "CommitmentDiscountUnit" => Rule::Text(Charge::commitment_discount_unit),
        "ConsumedQuantity" => Rule::Quantity(Charge::consumed_quantity),
        "ConsumedUnit" => Rule::Text(Charge::consumed_unit),
        "ContractedCost" => Rule::Money(Charge::contracted_cost),
        "ContractedUnitPrice" => Rule::Money(Charge::contracted_unit_price),
        "EffectiveCost" => Rule::Money(Charge::effective_cost),
        "InvoiceIssuerName" => Rule::Text(Charge::invoice_issuer_name),
        "ListCost" => Rule::Money(Charge::list_cost),
        "ListUnitPrice" => Rule::Money(Charge::list_unit_price),
        "PricingCategory" => Rule::Text(Charge::pricing_category),
        "PricingCurrency" => Rule::Text(Charge::pricing_currency),
        "PricingCurrencyContractedUnitPrice" => Rule::Money(Charge::pricing_currency_contracted_unit_price),
        "PricingCurrencyEffectiveCost" => Rule::Money(Charge::pricing_currency_effective_cost),
        "PricingCurrencyListUnitPrice" => Rule::Money(Charge::pricing_currency_list_unit_price),
        "PricingQuantity" => Rule::Quantity(Charge::pricing_quantity),
        "PricingUnit" => Rule::Text(Charge::pricing_unit),
        "PublisherName" => Rule::Text(Charge::publisher_name),
        "RegionName" => Rule::Text(Charge::region_name),
        "ResourceName" => Rule::Text(Charge::resource_name),
        "ResourceType" => Rule::Text(Charge::resource_type),
        "ServiceCategory" => Rule::Text(Charge::service_category),
        "ServiceSubcategory" => Rule::Text(Charge::service_subcategory),
        "SkuMeter" => Rule::Text(Charge::sku_meter),
        "SkuPriceDetails" => Rule::Text(Charge::sku_price_details),
        "SubAccountType" => Rule::Text(Charge::sub_account_type),
        "x_ContractedCost" => Rule::Money(Charge::told_contracted_cost),
        "x_ListCost" => Rule::Money(Charge::known_list_cost),
        "x_MarginalCost" => Rule::Money(Charge::marginal_cost),
        "x_Unmapped" => Rule::Text(Charge::unmapped),
        _ => Rule::Null,
    }
}

/// The canonical column that a column repeats.
fn copied(name: &str) -> Option<usize> {
    let column = match name {
        "AvailabilityZone" => "availability_zone",
        "BillingAccountId" => "billing_account_id",
        "BillingAccountName" => "billing_account_name",
        "BillingCurrency" => "billing_currency",
        "BillingPeriodEnd" => "billing_period_end",
        "BillingPeriodStart" => "billing_period_start",
        "CapacityReservationId" => "capacity_reservation_id",
        "ChargePeriodEnd" => "charge_period_end",
        "ChargePeriodStart" => "charge_period_start",
        "CommitmentDiscountId" => "commitment_discount_id",
        "CommitmentDiscountType" => "commitment_discount_type",
        "InvoiceId" => "invoice_id",
        "ProviderName" => "provider_name",
        "RegionId" => "region_id",
        "ResourceId" => "resource_id",
        "ServiceName" => "service_name",
        "SkuId" => "sku_id",
        "SkuPriceId" => "sku_price_id",
        "SubAccountId" => "sub_account_id",
        "SubAccountName" => "sub_account_name",
        "Tags" => "tags",
        "x_Class" => "x_class",
        "x_CreditType" => "x_credit_type",
        "x_InstanceType" => "x_instance_type",
        "x_LineItemId" => "x_line_item_id",
        "x_LineType" => "x_line_type",
        "x_Operation" => "x_operation",
        "x_ParentResourceId" => "x_parent_resource_id",
        "x_PricingUnit" => "pricing_unit",
        "x_ResourceKind" => "x_resource_kind",
        "x_SourceFile" => "x_file",
        "x_SourceRow" => "x_row",
        "x_SplitCost" => "x_split_cost",
        "x_SplitRole" => "x_split_role",
        "x_SplitUnusedCost" => "x_split_unused_cost",
        "x_UsageType" => "x_usage_type",
        _ => return None,
    };
    Some(at(column))
}

#[cfg(test)]
mod tests {
    use super::super::FOCUS;
    use super::*;

    #[test]
    fn every_column_has_a_rule() {
        let batch = Batch::of(&RecordBatch::new_empty(crate::charges::schema()));
        for column in FOCUS.iter().chain(ENRICHED) {
            assert!(!matches!(rule(column.name, &batch), Rule::Null), "no rule for {}", column.name);
        }
    }
}
