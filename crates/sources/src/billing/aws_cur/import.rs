//! Turns the rows of a report into canonical charges, one after another.

use std::rc::Rc;

use ledger::{Interval, LineClass, SplitRole};
use money::{Amount, AmountError, Currency};

use super::column::Column;
use super::cost::{Costs, Judged, Valuation, costs};
use super::discount::DiscountPeriods;
use super::extra::Extra;
use super::layout::Layout;
use super::line::{Line, LineType};
use super::meter::{MeterText, Meters, instance_type_of_description, instance_type_of_usage};
use super::outcome::PeriodFacts;
use super::row::{Fault, Row, RowKey};
use crate::SourceError;
use crate::batches::{Batches, ChargeRow};
use crate::billing::table::cell::{Cells, Money};
use crate::billing::table::fault::overflow;
use crate::billing::table::progress::Advance;
use crate::billing::table::{BrokenRow, Visitor, Wanted};
use crate::billing::tally::{RowFault, RowPlace, Tally};
use crate::billing::{BillFile, BillOptions, Unmapped};

/// The state of an import between two rows.
pub(super) struct Import<'a> {
    pub(super) options: &'a BillOptions,
    pub(super) discounts: &'a DiscountPeriods,
    pub(super) batches: Batches<'a>,
    pub(super) tally: Tally,
    /// What the periods need beyond their totals, in the order of their groups.
    pub(super) facts: Vec<PeriodFacts>,
    pub(super) extra: Extra,
    meters: Meters,
    layout: Option<Rc<Layout>>,
    file: Rc<str>,
    currency: Option<(String, Currency)>,
    advance: Advance,
}

/// Why the reading of a row ends.
type Stop = crate::billing::table::fault::Stop<Column>;

impl From<AmountError> for Stop {
    fn from(fault: AmountError) -> Self {
        Self::Reject(Fault::out_of_range(Column::UnblendedCost, fault))
    }
}

/// A row read as far as its money.
struct Charge<'c, C> {
    number: u64,
    row: &'c Row<'c, C>,
    key: RowKey<'c>,
    currency: Currency,
    charge_period: Interval,
    judged: Judged<'c>,
    costs: Costs,
}

impl<'a> Import<'a> {
    /// No rows yet.
    pub(super) fn new(
        options: &'a BillOptions,
        discounts: &'a DiscountPeriods,
        batches: Batches<'a>,
    ) -> Self {
        Self {
            options,
            discounts,
            batches,
            tally: Tally::default(),
            facts: Vec::new(),
            extra: Extra::default(),
            meters: Meters::default(),
            layout: None,
            file: Rc::from(""),
            currency: None,
            advance: Advance::default(),
        }
    }

    /// Reads a row and hands it on.
    fn take<C: Cells>(&mut self, number: u64, row: &Row<'_, C>) -> Result<(), Stop> {
        let key = row.key()?;
        let currency = self.currency_of(row)?;
        let judged = self.judge(row)?;
        let billed = billed(row, &judged)?;
        let charge_period = row.charge_period(&key)?;
        let group = self.batches.group(key.payer, key.period, currency)?;
        let valuation = self.facts_of(group, &key).valuation(row.layout);
        let tally = &mut self.tally;
        let billed = tally.counted(billed);
        let costs = costs(&judged, billed, valuation, &mut |column| optional(row, column, tally))?;
        self.extra.read_tags(row);
        self.extra.read_product(row);
        if self.options.unmapped == Unmapped::Keep {
            self.extra.read_unmapped(row);
        }
        let charge = Charge { number, row, key, currency, charge_period, judged, costs };
        self.hand_on(&charge, group, valuation)
    }

    fn hand_on<C: Cells>(
        &mut self,
        charge: &Charge<'_, C>,
        group: usize,
        valuation: Valuation,
    ) -> Result<(), Stop> {
        let file = Rc::clone(&self.file);
        self.batches.push(&charge.canonical(&file, &self.extra))?;
        let costs = &charge.costs;
        if let Some(summary) = self.batches.summary_mut(group) {
            summary.source_total = summary.source_total.checked_add(costs.billed).map_err(overflow)?;
            summary.effective_unknown += u64::from(costs.effective_unknown);
        }
        if let Some(facts) = self.facts.get_mut(group) {
            facts.discount_rows |= charge.judged.line.line_type == LineType::Discount;
            facts.net_values |= valuation.net && !charge.row.cell(Column::NetUnblendedCost).is_null();
            facts.add_identity(costs.identity, charge.row.layout).map_err(overflow)?;
        }
        Ok(())
    }

    fn facts_of(&mut self, group: usize, key: &RowKey<'_>) -> &PeriodFacts {
        while self.facts.len() <= group {
            let discount_rows = self.discounts.contains(key.payer, key.period);
            self.facts.push(PeriodFacts::new(discount_rows));
        }
        &self.facts[group]
    }

    fn currency_of<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<Currency, Fault> {
        let text = row.text(Column::Currency).unwrap_or("");
        if let Some((known, currency)) = &self.currency
            && known == text
        {
            return Ok(*currency);
        }
        let currency = row.currency()?;
        self.currency = Some((text.to_owned(), currency));
        Ok(currency)
    }

    fn judge<'c, C: Cells>(&mut self, row: &Row<'c, C>) -> Result<Judged<'c>, Fault> {
        let text = |column| row.text(column).unwrap_or("");
        let names_reservation = row.text(Column::ReservationArn).is_some();
        let product = text(Column::ProductCode);
        let has_amount = || {
            let amount = row.cell(Column::UsageAmount);
            !amount.is_null() && !amount.is_zero()
        };
        let no_money = || row.billed().is_ok_and(|money| money.is_none_or(|money| money.amount.is_zero()));
        let line = Line {
            line_type: LineType::of(text(Column::LineType)),
            product,
            usage_type: text(Column::UsageType),
            operation: text(Column::Operation),
            has_commitment: names_reservation || row.text(Column::SpArn).is_some(),
            has_usage: row.text(Column::ResourceId).is_some() || has_amount(),
            has_split_parent: row.text(Column::SplitParent).is_some() && no_money(),
        };
        let service_code = text(Column::ServiceCode);
        let meter = self.meters.of(MeterText {
            product,
            usage_type: line.usage_type,
            operation: line.operation,
            service_code,
        });
        let one_time_fee = "Refund for one-time fee for Savings Plan ID";
        let refunds_upfront_fee = line.line_type == LineType::Refund
            && product.ends_with("SavingsPlans")
            && text(Column::Description).starts_with(one_time_fee);
        Ok(Judged { line, class: line.class(), meter, refunds_upfront_fee, names_reservation })
    }

    /// Adds the cost of a rejected row to what its period should hold, as far as the row can be read.
    fn account_for_rejected<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<(), SourceError> {
        let (Ok(key), Ok(currency), Ok(Some(cost)), Ok(judged)) =
            (row.key(), row.currency(), row.billed(), self.judge(row))
        else {
            return Ok(());
        };
        if judged.class == LineClass::SplitDetail {
            return Ok(());
        }
        let group = self.batches.group(key.payer, key.period, currency)?;
        self.facts_of(group, &key);
        if let Some(summary) = self.batches.summary_mut(group) {
            summary.source_total = summary.source_total.checked_add(cost.amount).map_err(overflow)?;
            summary.rejected_total = summary.rejected_total.checked_add(cost.amount).map_err(overflow)?;
        }
        Ok(())
    }
}

impl Visitor for Import<'_> {
    fn header(&mut self, file: &BillFile, headers: &[String]) -> Result<Option<Vec<Wanted>>, SourceError> {
        self.advance.next_file();
        let layout = Layout::of(headers, &file.name)?;
        let wanted = layout.wanted(self.options.unmapped);
        self.layout = Some(Rc::new(layout));
        self.file = Rc::from(file.name.as_str());
        Ok(Some(wanted))
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
                let name = layout.name(fault.column);
                let place = RowPlace { file: &self.file, row: number };
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
    /// The canonical row.
    fn canonical<'r>(&'r self, file: &'r str, extra: &'r Extra) -> ChargeRow<'r> {
        let text = |column| self.row.text(column);
        let line = &self.judged.line;
        let (commitment_id, commitment_type) = self.commitment();
        let (capacity_reservation_id, capacity_reservation_status) = self.capacity_reservation();
        let split = self.judged.class == LineClass::SplitDetail;
        ChargeRow {
            row: self.number,
            file,
            line_item_id: text(Column::LineItemId),
            payer: self.key.payer,
            payer_name: text(Column::PayerAccountName),
            currency: self.currency,
            period: self.key.period,
            billing_period: self.key.billing,
            charge_period: self.charge_period,
            category: line.line_type.category(),
            correction: (line.line_type == LineType::Refund).then_some("Correction"),
            description: text(Column::Description),
            billed_cost: self.costs.billed,
            effective_cost: self.costs.effective,
            list_cost: self.costs.list,
            contracted_cost: None,
            marginal_cost: self.costs.marginal,
            pricing_quantity: self.row.cell(Column::UsageAmount).quantity(),
            pricing_unit: text(Column::PricingUnit),
            commitment_id,
            commitment_type,
            capacity_reservation_id,
            capacity_reservation_status,
            invoice_id: text(Column::InvoiceId),
            invoice_issuer: text(Column::InvoicingEntity).or_else(|| text(Column::BillingEntity)),
            provider: "AWS",
            publisher: text(Column::LegalEntity),
            region: text(Column::Region).or_else(|| text(Column::RegionName)).or_else(|| extra.region()),
            zone: text(Column::Zone),
            resource_id: text(Column::ResourceId),
            service: text(Column::ProductCode).unwrap_or("unknown"),
            sku: text(Column::Sku),
            sku_price: text(Column::RateCode).or_else(|| text(Column::RateId)),
            sub_account: text(Column::UsageAccountId),
            sub_account_name: text(Column::UsageAccountName),
            tags: extra.tags(),
            line_type: text(Column::LineType).unwrap_or(""),
            class: self.judged.class,
            resource_kind: self.judged.meter.kind,
            usage_type: text(Column::UsageType),
            operation: text(Column::Operation),
            instance_type: self.instance_type(extra),
            credit_type: None,
            split_role: if split { SplitRole::Child } else { SplitRole::None },
            parent_resource_id: text(Column::SplitParent),
            split_cost: self.costs.split,
            split_unused_cost: self.costs.split_unused,
            unmapped: extra.unmapped(),
        }
    }

    fn commitment(&self) -> (Option<&'c str>, Option<&'static str>) {
        match (self.row.text(Column::SpArn), self.row.text(Column::ReservationArn)) {
            (Some(plan), _) => (Some(plan), Some("Savings Plan")),
            (None, Some(reservation)) => (Some(reservation), Some("Reserved Instance")),
            (None, None) => (None, None),
        }
    }

    /// The capacity reservation: from its columns, else from a resource id that is one.
    fn capacity_reservation(&self) -> (Option<&'c str>, Option<&'c str>) {
        let resource =
            self.row.text(Column::ResourceId).filter(|id| id.starts_with("cr-") || id.contains("/cr-"));
        let id = self.row.text(Column::CapacityReservationArn).or(resource);
        let status = match self.row.text(Column::CapacityReservationStatus) {
            Some("used") => Some("Used"),
            Some("unused") => Some("Unused"),
            Some(other) => Some(other),
            None => (self.judged.class == LineClass::UnusedReservation).then_some("Unused"),
        };
        (id, status)
    }

    /// The instance type: never from the description of a reserved instance, which names the reservation's own type.
    fn instance_type<'r>(&'r self, extra: &'r Extra) -> Option<&'r str> {
        let line = &self.judged.line;
        let spot = || self.row.text(Column::Description).filter(|_| line.is_spot());
        self.row
            .text(Column::InstanceType)
            .or_else(|| extra.instance_type())
            .or_else(|| instance_type_of_usage(line.usage_type))
            .or_else(|| spot().and_then(instance_type_of_description))
    }
}

/// The billed cost of a row; split details have none of their own.
fn billed<C: Cells>(row: &Row<'_, C>, judged: &Judged<'_>) -> Result<Money, Fault> {
    if judged.class == LineClass::SplitDetail {
        return Ok(Money::default());
    }
    row.billed()?.ok_or_else(|| Fault::missing(Column::UnblendedCost, "a cost"))
}

/// An optional amount; one that cannot be read is left out and counted.
fn optional<C: Cells>(row: &Row<'_, C>, column: Column, tally: &mut Tally) -> Option<Amount> {
    tally.amount(column.shown(), row.cell(column))
}
