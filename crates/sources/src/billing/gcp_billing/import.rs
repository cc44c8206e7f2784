//! Turns the rows of an export into canonical charges, one after another.

use std::collections::BTreeMap;
use std::sync::Arc;

use ledger::{BillingPeriod, ChargeCategory, Interval, LineClass, SplitRole, Timestamp};
use money::{Amount, Currency};

use super::column::{Column, holds_records};
use super::cost::{Costs, Stated};
use super::credit::{Credit, Credits};
use super::labels::Labels;
use super::layout::{Layout, layout};
use super::line::{CostType, Line, is_commitment_model};
use super::meter::{MeterText, Meters};
use super::row::{Row, RowKey};
use crate::SourceError;
use crate::batches::{ChargeRow, Unstored};
use crate::billing::aws_cur::meter::Meter;
use crate::billing::table::cell::Cells;
use crate::billing::table::column::Name as _;
use crate::billing::table::extra::Extra;
use crate::billing::table::reader::{Core, Format, add_source, optional, overflow};
use crate::billing::table::row::Stop as TableStop;
use crate::billing::tally::Tally;
use crate::billing::{BillFile, Unmapped};
use crate::text::Text;

type Stop = TableStop<Column>;

/// Types of credit in one period at most; the provider has about ten.
const CREDIT_TYPES: usize = 256;

/// What of an import the rows of an export change.
#[derive(Debug, Default)]
pub(super) struct Gcp {
    /// Rows that stand in the month of their usage for want of an invoice month.
    pub(super) without_invoice: u64,
    labels: Labels,
    meters: Meters,
}

/// A row read as far as its money.
struct Charge<'c, C> {
    number: u64,
    row: &'c Row<'c, C>,
    key: RowKey<'c>,
    currency: Currency,
    charge_period: Interval,
    line: Line<'c>,
    meter: Meter,
    costs: Costs,
}

impl Gcp {
    /// Hands on the charge of a row, and one for each of its credits that is no part of the price.
    fn hand_on<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        charge: &Charge<'_, C>,
        credits: &Credits,
    ) -> Result<(), SourceError> {
        let file = Arc::clone(&core.file);
        let exported = exported(charge.row, &mut core.tally);
        let main = charge.canonical((&file, &core.extra, &self.labels));
        let group = core.batches.push(&main)?;
        for credit in credits.0.iter().filter(|credit| !credit.is_price()) {
            core.batches.push(&ChargeRow {
                category: ChargeCategory::Credit,
                class: LineClass::Credit,
                correction: None,
                credit_type: Some(credit.kind.as_str().into()),
                description: credit.name.as_deref().map(Text::from).or(main.description),
                billed_cost: credit.amount,
                effective_cost: credit.amount,
                list_cost: Some(Amount::ZERO),
                contracted_cost: None,
                marginal_cost: charge.costs.marginal_of(credit),
                pricing_quantity: None,
                pricing_unit: None,
                unmapped: None,
                ..main
            })?;
        }
        self.without_invoice += u64::from(!charge.key.invoiced);
        add_source(&mut core.batches, group, charge.costs.net)?;
        if let Some(summary) = core.batches.summary_mut(group) {
            add_credits(&mut summary.credits_by_type, credits)?;
            if let Some(at) = exported {
                let (first, last) = summary.export_times.unwrap_or((at, at));
                summary.export_times = Some((first.min(at), last.max(at)));
            }
        }
        Ok(())
    }

    fn judge<'c, C: Cells>(&mut self, row: &Row<'c, C>, credits: &Credits) -> (Line<'c>, Meter) {
        let text = |column| row.text(column).unwrap_or("");
        let (service, sku) = (text(Column::ServiceDescription), text(Column::SkuDescription));
        let meter = self.meters.of(MeterText { service, sku, unit: text(Column::PricingUnit) });
        let amount = row.cell(Column::UsageAmount);
        let resource = row.text(Column::ResourceGlobalName).or_else(|| row.text(Column::ResourceName));
        let line = Line {
            cost_type: CostType::of(text(Column::CostType)),
            service,
            sku,
            adjustment: text(Column::AdjustmentType),
            kind: meter.kind,
            commitment_price: is_commitment_model(
                text(Column::ConsumptionModel),
                text(Column::ConsumptionModelId),
            ),
            has_subscription: row.text(Column::SubscriptionId).is_some(),
            has_fee_offset: credits.any(Credit::is_fee_offset),
            has_commitment_credit: credits.any(Credit::is_commitment),
            is_unused: self.labels.is_unused(),
            has_usage: resource.is_some() || !amount.is_null() && !amount.is_zero(),
        };
        (line, meter)
    }
}

impl Format for Gcp {
    type Column = Column;

    fn layout(&mut self, file: &BillFile, headers: &[String]) -> Result<Layout, SourceError> {
        layout(file, headers)
    }

    fn keeps_whole(&self, path: &str) -> bool {
        holds_records(path)
    }

    fn take<C: Cells>(&mut self, core: &mut Core<'_>, number: u64, row: &Row<'_, C>) -> Result<(), Stop> {
        let key = row.key()?;
        let currency = core.currency_of(row, Column::Currency)?;
        let cost = core.tally.counted(row.cost()?);
        let credits = Credits::of(row, &mut core.tally)?;
        let charge_period = row.charge_period(&key)?;
        core.extra.unreadable_maps += self.labels.read(row)?;
        let (line, meter) = self.judge(row, &credits);
        let at_list = optional(row, Column::CostAtList, &mut core.tally);
        let at_default = optional(row, Column::CostAtDefault, &mut core.tally);
        let costs = Costs::of(&line, Stated { cost, at_list, at_default }, &credits, meter.standing)?;
        if core.options.unmapped == Unmapped::Keep {
            // What is billed is no longer the cost where credits change it.
            let cost = (!credits.0.is_empty()).then(|| (Column::Cost.shown(), row.cell(Column::Cost)));
            core.extra.read_unmapped(row, cost);
        }
        let charge = Charge { number, row, key, currency, charge_period, line, meter, costs };
        Ok(self.hand_on(core, &charge, &credits)?)
    }

    fn rejected<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        row: &Row<'_, C>,
    ) -> Result<Option<(usize, Amount)>, SourceError> {
        let (Ok(key), Ok(currency), Ok(cost)) = (row.key(), row.currency(Column::Currency), row.cost())
        else {
            return Ok(None);
        };
        // Of credits that cannot be read nothing is known; the cost before them is.
        let credits = Credits::of(row, &mut Tally::default()).ok().and_then(|credits| credits.total().ok());
        let Ok(net) = cost.amount.checked_add(credits.unwrap_or(Amount::ZERO)) else { return Ok(None) };
        let group = core.batches.group(key.payer, key.period, currency)?;
        Ok(Some((group, net)))
    }
}

/// When the row was exported; a time that cannot be read is left out and counted, since no money hangs on it.
fn exported<C: Cells>(row: &Row<'_, C>, tally: &mut Tally) -> Option<Timestamp> {
    let cell = row.cell(Column::ExportTime);
    cell.instant().unwrap_or_else(|_| {
        tally.unreadable(Column::ExportTime.shown(), cell);
        None
    })
}

fn add_credits(by_type: &mut BTreeMap<String, Amount>, credits: &Credits) -> Result<(), SourceError> {
    for credit in &credits.0 {
        if let Some(total) = by_type.get_mut(&credit.kind) {
            *total = total.checked_add(credit.amount).map_err(overflow)?;
        } else if by_type.len() < CREDIT_TYPES {
            by_type.insert(credit.kind.clone(), credit.amount);
        } else {
            let message = format!("more than {CREDIT_TYPES} types of credit in one billing period");
            return Err(SourceError::new("bill::too_large", message)
                .help("check that the column `credits` holds the provider's credits"));
        }
    }
    Ok(())
}

impl<'c, C: Cells> Charge<'c, C> {
    /// The canonical row of the charge itself.
    fn canonical<'r>(&'r self, (file, extra, labels): (&'r str, &'r Extra, &'r Labels)) -> ChargeRow<'r> {
        let text = |column| self.row.named(column);
        let usage_month = BillingPeriod::of(self.charge_period.start);
        let corrects = self.line.is_correction(usage_month, self.key.period);
        let subscription = text(Column::SubscriptionId);
        ChargeRow {
            row: self.number,
            file: file.into(),
            line_item_id: None,
            payer: self.key.payer.into(),
            payer_name: None,
            currency: self.currency,
            period: self.key.period,
            billing_period: self.key.period.interval(),
            charge_period: self.charge_period,
            category: self.line.category(),
            correction: corrects.then(|| Text::word("Correction")),
            description: text(Column::SkuDescription),
            billed_cost: self.costs.billed,
            effective_cost: self.costs.billed,
            list_cost: self.costs.list,
            contracted_cost: self.costs.contracted,
            marginal_cost: self.costs.marginal(),
            pricing_quantity: self.row.cell(Column::PricingAmount).quantity(),
            pricing_unit: text(Column::PricingUnit),
            commitment_id: subscription,
            commitment_type: subscription.map(|_| Text::word("Committed Use Discount")),
            capacity_reservation_id: None,
            capacity_reservation_status: labels.is_unused().then(|| Text::word("Unused")),
            invoice_id: None,
            invoice_issuer: None,
            provider: Text::word("Google Cloud"),
            publisher: text(Column::Seller),
            region: text(Column::Region),
            zone: text(Column::Zone),
            resource_id: text(Column::ResourceGlobalName).or_else(|| text(Column::ResourceName)),
            service: text(Column::ServiceDescription)
                .or_else(|| text(Column::ServiceId))
                .unwrap_or(Text::word("unknown")),
            sku: text(Column::SkuId),
            sku_price: None,
            sub_account: text(Column::ProjectId),
            sub_account_name: text(Column::ProjectName),
            tags: labels.tags().map(Text::from),
            line_type: text(Column::CostType).unwrap_or(Text::word("")),
            class: self.line.class(),
            resource_kind: self.meter.kind,
            usage_type: text(Column::SkuDescription),
            operation: None,
            instance_type: labels.machine().map(Text::from),
            credit_type: None,
            split_role: SplitRole::None,
            parent_resource_id: None,
            split_cost: None,
            split_unused_cost: None,
            unmapped: extra.unmapped(),
            unstored: Unstored::default(),
        }
    }
}
