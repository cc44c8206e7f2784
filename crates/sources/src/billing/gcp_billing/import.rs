//! Turns the rows of an export into canonical charges, one after another.

use std::collections::BTreeMap;
use std::rc::Rc;

use ledger::{BillingPeriod, ChargeCategory, Interval, LineClass, SplitRole, Timestamp};
use money::{Amount, AmountError, Currency};

use super::column::{Column, is_repeated_path};
use super::cost::{Costs, Stated};
use super::credit::Credits;
use super::extra::Extra;
use super::layout::Layout;
use super::line::{CostType, Line, is_commitment_model};
use super::meter::{Meter, MeterText, Meters};
use super::row::{Fault, Row, RowKey};
use crate::SourceError;
use crate::batches::{Batches, ChargeRow};
use crate::billing::table::cell::Cells;
use crate::billing::table::fault::overflow;
use crate::billing::table::progress::Advance;
use crate::billing::table::{BrokenRow, Visitor, Wanted};
use crate::billing::tally::{RowFault, RowPlace, Tally};
use crate::billing::{BillFile, BillOptions, PeriodSummary, Unmapped};

/// Types of credit in one period at most; the provider has about ten.
const CREDIT_TYPES: usize = 256;

/// The state of an import between two rows.
pub(super) struct Import<'a> {
    pub(super) options: &'a BillOptions,
    pub(super) batches: Batches<'a>,
    pub(super) tally: Tally,
    pub(super) extra: Extra,
    /// Rows that stand in the month of their usage for want of an invoice month.
    pub(super) without_invoice: u64,
    meters: Meters,
    layout: Option<Rc<Layout>>,
    file: Rc<str>,
    advance: Advance,
}

/// Why the reading of a row ends.
type Stop = crate::billing::table::fault::Stop<Column>;

impl From<AmountError> for Stop {
    fn from(fault: AmountError) -> Self {
        Self::Reject(Fault::out_of_range(Column::Cost, fault))
    }
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

impl<'a> Import<'a> {
    /// No rows yet.
    pub(super) fn new(options: &'a BillOptions, batches: Batches<'a>) -> Self {
        Self {
            options,
            batches,
            tally: Tally::default(),
            extra: Extra::default(),
            without_invoice: 0,
            meters: Meters::default(),
            layout: None,
            file: Rc::from(""),
            advance: Advance::default(),
        }
    }

    /// Reads a row and hands it on.
    fn take<C: Cells>(&mut self, number: u64, row: &Row<'_, C>) -> Result<(), Stop> {
        let key = row.key()?;
        let currency = row.currency()?;
        let cost = self.tally.counted(row.cost()?);
        let credits = Credits::of(row, &mut self.tally)?;
        let charge_period = row.charge_period(&key)?;
        self.extra.read_labels(row)?;
        let (line, meter) = self.judge(row, &credits);
        let mut optional = |column: Column| self.tally.amount(column.shown(), row.cell(column));
        let (at_list, at_default) = (optional(Column::CostAtList), optional(Column::CostAtDefault));
        let costs = Costs::of(&line, Stated { cost, at_list, at_default }, &credits, meter.standing)?;
        if self.options.unmapped == Unmapped::Keep {
            self.extra.read_unmapped(row, !credits.0.is_empty());
        }
        let charge = Charge { number, row, key, currency, charge_period, line, meter, costs };
        Ok(self.hand_on(&charge, &credits)?)
    }

    /// Hands on the charge of a row, and one for each of its credits that is no part of the price.
    fn hand_on<C: Cells>(&mut self, charge: &Charge<'_, C>, credits: &Credits) -> Result<(), SourceError> {
        let file = Rc::clone(&self.file);
        let exported = self.exported(charge.row);
        let main = charge.canonical(&file, &self.extra);
        let group = self.batches.push(&main)?;
        for credit in credits.0.iter().filter(|credit| !credit.is_price()) {
            self.batches.push(&ChargeRow {
                category: ChargeCategory::Credit,
                class: LineClass::Credit,
                correction: None,
                credit_type: Some(&credit.kind),
                description: credit.name.as_deref().or(main.description),
                billed_cost: credit.amount,
                effective_cost: credit.amount,
                list_cost: Some(Amount::ZERO),
                contracted_cost: None,
                marginal_cost: Amount::ZERO,
                pricing_quantity: None,
                pricing_unit: None,
                unmapped: None,
                ..main
            })?;
        }
        self.without_invoice += u64::from(!charge.key.invoiced);
        if let Some(summary) = self.batches.summary_mut(group) {
            summary.source_total = summary.source_total.checked_add(charge.costs.net).map_err(overflow)?;
            add_credits(&mut summary.credits_by_type, credits)?;
            if let Some(at) = exported {
                let (first, last) = summary.export_times.unwrap_or((at, at));
                summary.export_times = Some((first.min(at), last.max(at)));
            }
        }
        Ok(())
    }

    /// When the row was exported; a time that cannot be read is left out and counted, since no money hangs on it.
    fn exported<C: Cells>(&mut self, row: &Row<'_, C>) -> Option<Timestamp> {
        let cell = row.cell(Column::ExportTime);
        cell.instant().unwrap_or_else(|_| {
            let mut found = String::new();
            cell.write_to(&mut found);
            self.tally.unreadable(Column::ExportTime.shown(), &found);
            None
        })
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
            has_fee_offset: credits.any(super::credit::Credit::is_fee_offset),
            has_commitment_credit: credits.any(super::credit::Credit::is_commitment),
            is_unused: self.extra.is_unused(),
            has_usage: resource.is_some() || !amount.is_null() && !amount.is_zero(),
        };
        (line, meter)
    }

    /// Adds the cost of a rejected row, and its credits if they can be read, to what its period should hold.
    fn account_for_rejected<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<(), SourceError> {
        let (Ok(key), Ok(currency), Ok(cost)) = (row.key(), row.currency(), row.cost()) else {
            return Ok(());
        };
        let credits = Credits::of(row, &mut Tally::default())
            .and_then(|credits| credits.total().map_err(|fault| Fault::out_of_range(Column::Credits, fault)));
        let Ok(net) = cost.amount.checked_add(credits.unwrap_or(Amount::ZERO)) else { return Ok(()) };
        let group = self.batches.group(key.payer, key.period, currency)?;
        if let Some(summary) = self.batches.summary_mut(group) {
            add_rejected(summary, net).map_err(overflow)?;
        }
        Ok(())
    }
}

fn add_rejected(summary: &mut PeriodSummary, net: Amount) -> Result<(), AmountError> {
    summary.source_total = summary.source_total.checked_add(net)?;
    summary.rejected_total = summary.rejected_total.checked_add(net)?;
    Ok(())
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

impl Visitor for Import<'_> {
    fn header(&mut self, file: &BillFile, headers: &[String]) -> Result<Option<Vec<Wanted>>, SourceError> {
        self.advance.next_file();
        self.file = Rc::from(file.name.as_str());
        let layout = Layout::of(headers);
        // JSON lines start without columns; their first row is checked.
        if !headers.is_empty() {
            layout.check(file)?;
        }
        let wanted = layout.wanted(self.options.unmapped);
        self.layout = Some(Rc::new(layout));
        Ok(Some(wanted))
    }

    fn wider(&mut self, file: &BillFile, headers: &[String]) -> Result<(), SourceError> {
        let layout = Layout::of(headers);
        layout.check(file)?;
        self.layout = Some(Rc::new(layout));
        Ok(())
    }

    fn keeps_whole(&self, path: &str) -> bool {
        is_repeated_path(path)
    }

    fn row(&mut self, number: u64, cells: &impl Cells) -> Result<(), SourceError> {
        let Some(layout) = self.layout.clone() else { return Ok(()) };
        self.tally.count_row();
        let row = Row { layout: &layout, cells };
        match self.take(number, &row) {
            Ok(()) => Ok(()),
            Err(Stop::End(error)) => Err(error.at(format!("{}:{number}", self.file))),
            Err(Stop::Reject(fault)) => {
                self.account_for_rejected(&row)?;
                let place = RowPlace { file: &self.file, row: number };
                let name = layout.name(fault.column);
                let fault = RowFault { code: fault.code, found: fault.found, expected: fault.expected };
                self.tally.reject(place, &fault, name, &self.options.limits);
                Ok(())
            }
        }
    }

    fn broken(&mut self, number: u64, broken: BrokenRow) {
        self.tally.count_row();
        let place = RowPlace { file: &self.file, row: number };
        self.tally.reject_broken(place, broken, &self.options.limits);
    }

    fn note(&mut self, code: &'static str, message: String) {
        self.tally.warn(code, message);
    }

    fn progress(&mut self, rows: u64, bytes: u64) {
        self.advance.tell(self.options, rows, bytes);
    }
}

impl<'c, C: Cells> Charge<'c, C> {
    /// The canonical row of the charge itself.
    fn canonical<'r>(&'r self, file: &'r str, extra: &'r Extra) -> ChargeRow<'r> {
        let text = |column| self.row.text(column);
        let usage_month = BillingPeriod::of(self.charge_period.start);
        let corrects = self.line.is_correction(usage_month, self.key.period);
        let subscription = text(Column::SubscriptionId);
        ChargeRow {
            row: self.number,
            file,
            line_item_id: None,
            payer: self.key.payer,
            payer_name: None,
            currency: self.currency,
            period: self.key.period,
            billing_period: self.key.period.interval(),
            charge_period: self.charge_period,
            category: self.line.category(),
            correction: corrects.then_some("Correction"),
            description: text(Column::SkuDescription),
            billed_cost: self.costs.billed,
            effective_cost: self.costs.billed,
            list_cost: self.costs.list,
            contracted_cost: self.costs.contracted,
            marginal_cost: self.costs.marginal,
            pricing_quantity: self.row.cell(Column::PricingAmount).quantity(),
            pricing_unit: text(Column::PricingUnit),
            commitment_id: subscription,
            commitment_type: subscription.map(|_| "Committed Use Discount"),
            capacity_reservation_id: None,
            capacity_reservation_status: extra.is_unused().then_some("Unused"),
            invoice_id: None,
            invoice_issuer: None,
            provider: "Google Cloud",
            publisher: text(Column::Seller),
            region: text(Column::Region),
            zone: text(Column::Zone),
            resource_id: text(Column::ResourceGlobalName).or_else(|| text(Column::ResourceName)),
            service: text(Column::ServiceDescription)
                .or_else(|| text(Column::ServiceId))
                .unwrap_or("unknown"),
            sku: text(Column::SkuId),
            sku_price: None,
            sub_account: text(Column::ProjectId),
            sub_account_name: text(Column::ProjectName),
            tags: extra.tags(),
            line_type: text(Column::CostType).unwrap_or(""),
            class: self.line.class(),
            resource_kind: self.meter.kind,
            usage_type: text(Column::SkuDescription),
            operation: None,
            instance_type: extra.machine(),
            credit_type: None,
            split_role: SplitRole::None,
            parent_resource_id: None,
            split_cost: None,
            split_unused_cost: None,
            unmapped: extra.unmapped(),
        }
    }
}
