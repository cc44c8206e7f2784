//! Turns the rows of a report into canonical charges, one after another.

use std::collections::BTreeSet;
use std::sync::Arc;

use ledger::{Interval, LineClass, SplitRole};
use money::{Amount, Currency};

use super::column::Column;
use super::cost::{Costs, Judged, Valuation, costs};
use super::derived;
use super::discount::DiscountPeriods;
use super::layout::{Layout, layout};
use super::line::{Line, LineType};
use super::meter::MeterText;
use super::outcome::PeriodFacts;
use super::product::Product;
use super::row::{Fault, Row, RowKey};
use super::run::{Charges, Run};
use super::words::Lines;
use crate::SourceError;
use crate::batches::{ChargeRow, Unstored};
use crate::billing::table::cell::{Cells, Money};
use crate::billing::table::columns::Columns;
use crate::billing::table::extra::Extra;
use crate::billing::table::reader::{Core, Format, hand_on, optional, overflow};
use crate::billing::table::row::Stop as TableStop;
use crate::billing::{BillFile, Unmapped};
use crate::text::Text;

type Stop = TableStop<Column>;

/// The columns that make the words of a line.
const WORDS: [Column; 4] = [Column::ProductCode, Column::UsageType, Column::Operation, Column::ServiceCode];

/// What of an import the report's rows change.
pub(super) struct Report<'a> {
    pub(super) discounts: &'a DiscountPeriods,
    /// What the periods need beyond their totals, in the order of their groups.
    pub(super) facts: Vec<PeriodFacts>,
    pub(super) product: Product,
    lines: Lines,
    /// The dictionary of resources met last, by the symbol of its first value, and whether one of them is a reservation.
    pub(super) reservations: Option<(u64, bool)>,
    /// Buffers of a run, used again for every one.
    pub(super) charges: Charges,
    /// Tag keys that have a column of their own in some file, whether or not a row has a value: those that are activated
    /// for billing.
    pub(super) tag_columns: BTreeSet<String>,
}

/// A row read as far as its money.
struct Charge<'c, C> {
    number: u64,
    row: &'c Row<'c, C>,
    key: RowKey<'c>,
    currency: Currency,
    charge_period: Interval,
    judged: Judged,
    costs: Costs,
}

impl<'a> Report<'a> {
    /// No rows yet.
    pub(super) fn new(discounts: &'a DiscountPeriods) -> Self {
        Self {
            discounts,
            facts: Vec::new(),
            product: Product::default(),
            lines: Lines::default(),
            reservations: None,
            charges: Charges::default(),
            tag_columns: BTreeSet::new(),
        }
    }

    fn hand_on<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        charge: &Charge<'_, C>,
        (group, valuation): (usize, Valuation),
    ) -> Result<(), Stop> {
        let file = Arc::clone(&core.file);
        hand_on(&mut core.batches, &charge.canonical((&file, &core.extra, &self.product)))?;
        if let Some(facts) = self.facts.get_mut(group) {
            facts.discount_rows |= charge.judged.line.line_type == LineType::Discount;
            facts.net_values |= valuation.net && !charge.row.cell(Column::NetUnblendedCost).is_null();
            facts.add_identity(charge.costs.identity, charge.row.layout).map_err(overflow)?;
        }
        Ok(())
    }

    pub(super) fn facts_of(&mut self, group: usize, key: &RowKey<'_>) -> &mut PeriodFacts {
        while self.facts.len() <= group {
            let discount_rows = self.discounts.contains(key.payer.as_str(), key.period);
            self.facts.push(PeriodFacts::new(discount_rows));
        }
        &mut self.facts[group]
    }

    pub(super) fn judge<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<Judged, Fault> {
        let text = |column| row.text(column).unwrap_or("");
        let names_reservation = row.text(Column::ReservationArn).is_some();
        let product = text(Column::ProductCode);
        let has_amount = || {
            let amount = row.cell(Column::UsageAmount);
            !amount.is_null() && !amount.is_zero()
        };
        let no_money = || row.billed().is_ok_and(|money| money.is_none_or(|money| money.amount.is_zero()));
        let words = self.lines.of(
            MeterText {
                product,
                usage_type: text(Column::UsageType),
                operation: text(Column::Operation),
                service_code: text(Column::ServiceCode),
            },
            &|key| WORDS.iter().all(|column| row.identify(*column, key)),
        );
        let line = Line {
            line_type: LineType::of(text(Column::LineType)),
            words,
            has_commitment: names_reservation || row.text(Column::SpArn).is_some(),
            has_usage: row.text(Column::ResourceId).is_some() || has_amount(),
            has_split_parent: row.text(Column::SplitParent).is_some() && no_money(),
            is_marker: words.is_whole_reservation && no_money(),
        };
        let one_time_fee = "Refund for one-time fee for Savings Plan ID";
        let refunds_upfront_fee = line.line_type == LineType::Refund
            && product.ends_with("SavingsPlans")
            && text(Column::Description).starts_with(one_time_fee);
        Ok(Judged { line, class: line.class(), refunds_upfront_fee, names_reservation })
    }
}

impl Format for Report<'_> {
    type Column = Column;

    fn layout(&mut self, file: &BillFile, headers: &[String]) -> Result<Layout, SourceError> {
        self.product.forget();
        self.lines.forget();
        let layout = layout(headers, &file.name)?;
        self.tag_columns.extend(layout.tags.iter().map(|tag| tag.key.clone()));
        Ok(layout)
    }

    fn take<C: Cells>(&mut self, core: &mut Core<'_>, number: u64, row: &Row<'_, C>) -> Result<(), Stop> {
        let key = row.key()?;
        let currency = core.currency_of(row, Column::Currency)?;
        let judged = self.judge(row)?;
        let billed = billed(row, &judged)?;
        let charge_period = row.charge_period(&key)?;
        let group = core.batches.group(key.payer.as_str(), key.period, currency)?;
        let valuation = self.facts_of(group, &key).valuation(row.layout);
        let tally = &mut core.tally;
        let billed = tally.counted(billed);
        let costs = costs(&judged, billed, valuation, &mut |column| optional(row, column, tally))?;
        core.extra.read_tags(row);
        self.product.read(row);
        if core.options.unmapped == Unmapped::Keep {
            core.extra.read_unmapped(row, None);
        }
        let charge = Charge { number, row, key, currency, charge_period, judged, costs };
        self.hand_on(core, &charge, (group, valuation))
    }

    fn take_run(
        &mut self,
        core: &mut Core<'_>,
        first: u64,
        (layout, columns): (&Layout, &Columns<'_>),
    ) -> Result<bool, SourceError> {
        self.read_run(core, first, Run { layout, columns })
    }

    fn rejected<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        row: &Row<'_, C>,
    ) -> Result<Option<(usize, Amount)>, SourceError> {
        let (Ok(key), Ok(currency), Ok(Some(cost)), Ok(judged)) =
            (row.key(), row.currency(Column::Currency), row.billed(), self.judge(row))
        else {
            return Ok(None);
        };
        if judged.class == LineClass::SplitDetail {
            return Ok(None);
        }
        let group = core.batches.group(key.payer.as_str(), key.period, currency)?;
        self.facts_of(group, &key);
        Ok(Some((group, cost.amount)))
    }
}

impl<'c, C: Cells> Charge<'c, C> {
    /// The canonical row.
    fn canonical<'r>(&'r self, (file, extra, product): (&'r str, &'r Extra, &'r Product)) -> ChargeRow<'r> {
        let text = |column| self.row.named(column);
        let line = &self.judged.line;
        let (commitment_id, commitment_type) = derived::commitment(self.row);
        let (capacity_reservation_id, capacity_reservation_status) =
            derived::capacity_reservation(self.row, &self.judged);
        let split = self.judged.class == LineClass::SplitDetail;
        ChargeRow {
            row: self.number,
            file: file.into(),
            line_item_id: text(Column::LineItemId),
            payer: self.key.payer,
            payer_name: text(Column::PayerAccountName),
            currency: self.currency,
            period: self.key.period,
            billing_period: self.key.billing,
            charge_period: self.charge_period,
            category: line.line_type.category(),
            correction: (line.line_type == LineType::Refund).then(|| Text::word("Correction")),
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
            provider: Text::word("AWS"),
            publisher: text(Column::LegalEntity),
            region: derived::region(self.row, product),
            zone: text(Column::Zone),
            resource_id: text(Column::ResourceId),
            service: text(Column::ProductCode).unwrap_or(Text::word("unknown")),
            sku: text(Column::Sku),
            sku_price: text(Column::RateCode).or_else(|| text(Column::RateId)),
            sub_account: text(Column::UsageAccountId),
            sub_account_name: text(Column::UsageAccountName),
            tags: extra.tags(),
            line_type: text(Column::LineType).unwrap_or(Text::word("")),
            class: self.judged.class,
            resource_kind: line.words.meter.kind,
            usage_type: text(Column::UsageType),
            operation: text(Column::Operation),
            instance_type: derived::instance_type(self.row, &self.judged, product),
            credit_type: None,
            split_role: if split { SplitRole::Child } else { SplitRole::None },
            parent_resource_id: text(Column::SplitParent),
            split_cost: self.costs.split,
            split_unused_cost: self.costs.split_unused,
            unmapped: extra.unmapped(),
            unstored: Unstored { effective_unknown: self.costs.effective_unknown, ..Unstored::default() },
        }
    }
}

/// The billed cost of a row; split details have none of their own.
fn billed<C: Cells>(row: &Row<'_, C>, judged: &Judged) -> Result<Money, Fault> {
    if judged.class == LineClass::SplitDetail {
        return Ok(Money::default());
    }
    row.billed()?.ok_or_else(|| Fault::missing(Column::UnblendedCost, "a cost"))
}
