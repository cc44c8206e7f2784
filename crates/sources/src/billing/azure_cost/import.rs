//! Turns the rows of an Azure export into canonical charges, one after another.

use std::sync::Arc;

use ledger::{ResourceKind, SplitRole};
use money::{Amount, Currency};

use super::column::Column;
use super::date::Dates;
use super::evidence::Evidence;
use super::layout::{Layout, layout};
use super::line::Line;
use super::list::{List, list};
use crate::SourceError;
use crate::batches::{ChargeRow, Unstored};
use crate::billing::focus::kind::{Kinds, Words};
use crate::billing::table::cell::{Cells, Money};
use crate::billing::table::extra::{Extra, find_entry};
use crate::billing::table::made::Made;
use crate::billing::table::reader::{Core, Format, hand_on};
use crate::billing::table::row::{Fault as TableFault, Row as TableRow, Stop as TableStop};
use crate::billing::{BillFile, Unmapped};
use crate::text::Text;

type Row<'c, C> = TableRow<'c, Column, C>;
type Fault = TableFault<Column>;
type Stop = TableStop<Column>;

/// What of an import the rows of an Azure export change.
#[derive(Debug, Default)]
pub(super) struct Azure {
    pub(super) evidence: Evidence,
    kinds: Kinds,
    instance_type: Made,
}

/// A row read as far as its money.
struct Charge<'c, C> {
    number: u64,
    row: &'c Row<'c, C>,
    dates: Dates,
    currency: Currency,
    line: Line,
    kind: ResourceKind,
    cost: Amount,
    list: List,
}

impl Format for Azure {
    type Column = Column;

    fn layout(&mut self, file: &BillFile, headers: &[String]) -> Result<Layout, SourceError> {
        self.evidence.open(&file.name)?;
        self.instance_type.forget();
        layout(headers, &file.name)
    }

    fn take<C: Cells>(&mut self, core: &mut Core<'_>, number: u64, row: &Row<'_, C>) -> Result<(), Stop> {
        let dates = Dates::of(row)?;
        let currency = core.currency_of(row, Column::BillingCurrency)?;
        let cost = core.tally.counted(cost(row)?);
        let text = |column| row.text(column).unwrap_or("");
        let kind = self.kinds.of(Words {
            category: text(Column::MeterCategory),
            subcategory: text(Column::MeterSubCategory),
            service: text(Column::ConsumedService),
            meter: text(Column::MeterName),
        });
        let line = Line::of(row, kind);
        self.evidence.see(&line, cost.is_zero(), (&core.file, number))?;
        let list = list(row, &line, (cost, currency), &mut core.tally);
        core.extra.read_tags(row);
        find_entry(row, Column::AdditionalInfo, &["ServiceType"], &mut self.instance_type);
        if core.options.unmapped == Unmapped::Keep {
            core.extra.read_unmapped(row, None);
        }
        let charge = Charge { number, row, dates, currency, line, kind, cost, list };
        let file = Arc::clone(&core.file);
        hand_on(&mut core.batches, &charge.canonical((&file, &core.extra, self.instance_type.get())))?;
        Ok(())
    }

    fn rejected<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        row: &Row<'_, C>,
    ) -> Result<Option<(usize, Amount)>, SourceError> {
        let (Ok(dates), Ok(currency), Ok(cost)) =
            (Dates::of(row), row.currency(Column::BillingCurrency), cost(row))
        else {
            return Ok(None);
        };
        let group = core.batches.group(payer(row), dates.period, currency)?;
        Ok(Some((group, cost.amount)))
    }
}

fn cost<C: Cells>(row: &Row<'_, C>) -> Result<Money, Fault> {
    row.money(Column::Cost)?.ok_or_else(|| Fault::missing(Column::Cost, "a cost"))
}

/// The account that pays: the billing account, which pay-as-you-go exports leave out.
fn payer<'c, C: Cells>(row: &Row<'c, C>) -> &'c str {
    row.text(Column::BillingAccountId).or_else(|| row.text(Column::SubscriptionId)).unwrap_or("unknown")
}

impl<C: Cells> Charge<'_, C> {
    /// The canonical row.
    fn canonical<'r>(
        &'r self,
        (file, extra, instance_type): (&'r str, &'r Extra, Option<Text<'r>>),
    ) -> ChargeRow<'r> {
        let text = |column| self.row.named(column);
        let line = &self.line;
        let commitment_id = || text(Column::ReservationId).or_else(|| text(Column::BenefitId));
        let counted = line.is_usage() && !line.is_covered();
        ChargeRow {
            row: self.number,
            file: file.into(),
            line_item_id: None,
            payer: payer(self.row).into(),
            payer_name: text(Column::BillingAccountName),
            currency: self.currency,
            period: self.dates.period,
            billing_period: self.dates.billing,
            charge_period: self.dates.charge,
            category: line.category,
            correction: line.refund.then(|| Text::word("Correction")),
            description: text(Column::ProductName),
            billed_cost: self.cost,
            effective_cost: self.cost,
            list_cost: self.list.cost,
            contracted_cost: None,
            marginal_cost: if counted { self.cost } else { Amount::ZERO },
            pricing_quantity: self.row.cell(Column::Quantity).quantity(),
            pricing_unit: text(Column::UnitOfMeasure),
            commitment_id: line.commitment.and_then(|_| commitment_id()),
            commitment_type: line.commitment.map(Text::word),
            capacity_reservation_id: None,
            capacity_reservation_status: None,
            invoice_id: text(Column::InvoiceId),
            invoice_issuer: None,
            provider: Text::word("Microsoft"),
            publisher: text(Column::PublisherName),
            region: text(Column::ResourceLocation),
            zone: text(Column::AvailabilityZone),
            resource_id: text(Column::ResourceId),
            service: text(Column::ConsumedService)
                .or_else(|| text(Column::MeterCategory))
                .unwrap_or(Text::word("unknown")),
            sku: text(Column::MeterId),
            sku_price: text(Column::PartNumber),
            sub_account: text(Column::SubscriptionId),
            sub_account_name: text(Column::SubscriptionName),
            tags: extra.tags(),
            line_type: text(Column::ChargeType).unwrap_or(Text::word("Usage")),
            class: line.class,
            resource_kind: self.kind,
            usage_type: text(Column::MeterName),
            operation: None,
            instance_type,
            credit_type: None,
            split_role: SplitRole::None,
            parent_resource_id: None,
            split_cost: None,
            split_unused_cost: None,
            unmapped: extra.unmapped(),
            unstored: Unstored {
                list_unit_price: self.list.unit_price,
                effective_unknown: self.is_effective_unknown(),
                ..Unstored::default()
            },
        }
    }

    /// True for what the export of actual cost does not amortise: usage that costs nothing because a commitment pays
    /// for it, and the purchase of that commitment.
    fn is_effective_unknown(&self) -> bool {
        let covered = self.line.is_covered() && self.cost.is_zero();
        covered || self.line.trades_commitment() && !self.cost.is_zero()
    }
}
