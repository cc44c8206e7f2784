//! Turns the rows of a FOCUS file into canonical charges, one after another.

use std::sync::Arc;

use ledger::{BillingPeriod, Interval, LineClass, ResourceKind, SplitRole};
use money::{Amount, Currency};

use super::column::Column;
use super::cost::{Costs, billed, costs};
use super::kind::{Kinds, Words};
use super::layout::{Layout, layout};
use super::line::Line;
use super::nulls::Nulls;
use super::own;
use super::split::Allocation;
use crate::SourceError;
use crate::batches::{ChargeRow, Unstored};
use crate::billing::aws_cur::meter::{MeterText, instance_type_of_usage, meter};
use crate::billing::table::cell::{Cell, Cells};
use crate::billing::table::column::Name as _;
use crate::billing::table::extra::{Extra, find_entry};
use crate::billing::table::made::Made;
use crate::billing::table::reader::{Core, Format, hand_on};
use crate::billing::table::row::{Fault as TableFault, Row as TableRow, Stop as TableStop};
use crate::billing::{BillFile, Unmapped};
use crate::text::Text;

type Row<'c, C> = TableRow<'c, Column, C>;
type Fault = TableFault<Column>;
type Stop = TableStop<Column>;

/// What of an import FOCUS rows change.
pub(super) struct Focus {
    allocation: Allocation,
    kinds: Kinds,
    /// Instance types that the details of price and SKU name.
    details: [Made; 2],
}

/// Whose bill, which month and when.
struct Key<'c> {
    payer: &'c str,
    period: BillingPeriod,
    billing: Interval,
    charge: Interval,
}

/// A row read as far as its money.
struct Charge<'c, C> {
    number: u64,
    row: &'c Row<'c, C>,
    key: Key<'c>,
    currency: Currency,
    line: Line,
    kind: ResourceKind,
    costs: Costs,
}

impl Focus {
    /// No rows yet.
    pub(super) fn new(allocation: Allocation) -> Self {
        Self { allocation, kinds: Kinds::default(), details: Default::default() }
    }

    fn line<C: Cells>(&mut self, row: &Row<'_, C>) -> Result<(Line, ResourceKind), Fault> {
        if own::is_own(row.layout) {
            let (class, kind) = own::class_and_kind(row)?;
            return Ok((Line { class, ..Line::of(row, kind)? }, kind));
        }
        let kind = self.kind(row);
        let mut line = Line::of(row, kind)?;
        if line.allocated && self.allocation == Allocation::Beside {
            line.class = LineClass::SplitDetail;
        }
        Ok((line, kind))
    }

    fn kind<C: Cells>(&mut self, row: &Row<'_, C>) -> ResourceKind {
        let text = |column| row.text(column).unwrap_or("");
        if let Some(product) = row.text(Column::ServiceCode) {
            let usage_type = text(Column::UsageType);
            let found = meter(MeterText {
                product,
                usage_type,
                operation: text(Column::Operation),
                service_code: "",
            });
            if found.kind != ResourceKind::Other {
                return found.kind;
            }
        }
        self.kinds.of(Words {
            category: text(Column::ServiceCategory),
            subcategory: text(Column::ServiceSubcategory),
            service: text(Column::ServiceName),
            meter: text(Column::UsageType),
        })
    }

    fn read_details<C: Cells>(&mut self, row: &Row<'_, C>) {
        if row.text(Column::InstanceType).is_none() {
            let [of_price, of_sku] = &mut self.details;
            find_entry(row, Column::SkuPriceDetails, &["InstanceType"], of_price);
            find_entry(row, Column::SkuDetails, &["ServiceType", "InstanceType"], of_sku);
        }
    }

    /// The instance type: the file's own column, else what the details of the row read last name, else the usage type.
    fn instance_type<'r, C: Cells>(&'r self, row: &Row<'r, C>) -> Option<Text<'r>> {
        let usage = || row.text(Column::UsageType).and_then(instance_type_of_usage).map(Text::from);
        let details = || self.details.iter().find_map(Made::get);
        row.named(Column::InstanceType).or_else(details).or_else(usage)
    }

    fn take_row<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        number: u64,
        row: &Row<'_, Nulls<'_, C>>,
    ) -> Result<(), Stop> {
        let key = Key::of(row)?;
        let currency = core.currency_of(row, Column::BillingCurrency)?;
        let (line, kind) = self.line(row)?;
        let costs = costs(row, &line, &mut core.tally)?;
        core.extra.read_tags(row);
        self.read_details(row);
        if core.options.unmapped == Unmapped::Keep {
            let raw: Option<(&str, Cell<'_>)> = costs
                .effective_on_purchase
                .then(|| (Column::EffectiveCost.shown(), row.cell(Column::EffectiveCost)));
            core.extra.read_unmapped(row, raw);
        }
        let charge = Charge { number, row, key, currency, line, kind, costs };
        let file = Arc::clone(&core.file);
        let mut canonical = charge.canonical((&file, &core.extra, self.instance_type(row)));
        // Only now has every column been looked at.
        canonical.unstored.null_text = row.cells.seen();
        hand_on(&mut core.batches, &canonical)?;
        Ok(())
    }
}

impl Format for Focus {
    type Column = Column;

    fn layout(&mut self, file: &BillFile, headers: &[String]) -> Result<Layout, SourceError> {
        self.details.iter_mut().for_each(Made::forget);
        layout(headers, &file.name)
    }

    fn take<C: Cells>(&mut self, core: &mut Core<'_>, number: u64, row: &Row<'_, C>) -> Result<(), Stop> {
        let cells = Nulls::of(row.cells);
        self.take_row(core, number, &Row { layout: row.layout, cells: &cells })
    }

    fn rejected<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        row: &Row<'_, C>,
    ) -> Result<Option<(usize, Amount)>, SourceError> {
        let cells = Nulls::of(row.cells);
        let row = &Row { layout: row.layout, cells: &cells };
        let (Ok((payer, period, _)), Ok(currency), Ok(cost)) =
            (whose(row, None), row.currency(Column::BillingCurrency), billed(row))
        else {
            return Ok(None);
        };
        if self.line(row).is_ok_and(|(line, _)| line.class == LineClass::SplitDetail) {
            return Ok(None);
        }
        let group = core.batches.group(payer, period, currency)?;
        Ok(Some((group, cost.amount)))
    }
}

/// The account that pays and its billing period.
fn whose<'c, C: Cells>(
    row: &Row<'c, C>,
    start: Option<ledger::Timestamp>,
) -> Result<(&'c str, BillingPeriod, Interval), Fault> {
    let start = match start {
        Some(start) => Some(start),
        None => row.instant(Column::ChargePeriodStart).ok().flatten(),
    };
    let (period, billing) = row.billing_period(
        (Column::BillingPeriodStart, Column::BillingPeriodEnd),
        (Column::ChargePeriodStart, start),
    )?;
    Ok((row.text(Column::BillingAccountId).unwrap_or("unknown"), period, billing))
}

impl<'c> Key<'c> {
    fn of<C: Cells>(row: &Row<'c, C>) -> Result<Self, Fault> {
        let needed = |column, expected| match row.instant(column)? {
            Some(instant) => Ok(instant),
            None => Err(Fault::missing(column, expected)),
        };
        let start = needed(Column::ChargePeriodStart, "the start of the charge period")?;
        let end = needed(Column::ChargePeriodEnd, "the end of the charge period")?;
        let charge =
            Interval::new(start, end).map_err(|fault| Fault::ends_before(Column::ChargePeriodEnd, &fault))?;
        let (payer, period, billing) = whose(row, Some(start))?;
        Ok(Self { payer, period, billing, charge })
    }
}

impl<'c, C: Cells> Charge<'c, C> {
    /// The canonical row.
    fn canonical<'r>(
        &'r self,
        (file, extra, instance_type): (&'r str, &'r Extra, Option<Text<'r>>),
    ) -> ChargeRow<'r> {
        let text = |column| self.row.named(column);
        let (resource_id, parent_resource_id) = self.resource();
        let costs = &self.costs;
        let split = self.line.class == LineClass::SplitDetail;
        ChargeRow {
            row: self.number,
            file: file.into(),
            line_item_id: text(Column::LineItemId),
            payer: self.key.payer.into(),
            payer_name: text(Column::BillingAccountName),
            currency: self.currency,
            period: self.key.period,
            billing_period: self.key.billing,
            charge_period: self.key.charge,
            category: self.line.category,
            correction: text(Column::ChargeClass),
            description: text(Column::ChargeDescription),
            billed_cost: costs.billed,
            effective_cost: costs.effective,
            list_cost: costs.list,
            contracted_cost: costs.contracted,
            marginal_cost: costs.marginal,
            pricing_quantity: self.row.cell(Column::PricingQuantity).quantity(),
            pricing_unit: text(Column::ProviderUnit).or_else(|| text(Column::PricingUnit)),
            commitment_id: text(Column::CommitmentDiscountId),
            commitment_type: text(Column::CommitmentDiscountType),
            capacity_reservation_id: text(Column::CapacityReservationId),
            capacity_reservation_status: text(Column::CapacityReservationStatus),
            invoice_id: text(Column::InvoiceId),
            invoice_issuer: text(Column::InvoiceIssuerName),
            provider: text(Column::ProviderName).unwrap_or(Text::word("unknown")),
            publisher: text(Column::PublisherName),
            region: text(Column::RegionId),
            zone: text(Column::AvailabilityZone),
            resource_id,
            service: text(Column::ServiceName).unwrap_or(Text::word("unknown")),
            sku: text(Column::SkuId),
            sku_price: text(Column::SkuPriceId),
            sub_account: text(Column::SubAccountId),
            sub_account_name: text(Column::SubAccountName),
            tags: extra.tags(),
            line_type: text(Column::LineType)
                .or_else(|| text(Column::ChargeCategory))
                .unwrap_or(Text::word("")),
            class: self.line.class,
            resource_kind: self.kind,
            usage_type: text(Column::UsageType),
            operation: text(Column::Operation),
            instance_type,
            credit_type: text(Column::CreditType),
            split_role: if split { SplitRole::Child } else { SplitRole::None },
            parent_resource_id,
            split_cost: costs.split,
            split_unused_cost: costs.split_unused,
            unmapped: extra.unmapped(),
            unstored: Unstored {
                list_unit_price: costs.list_unit_price,
                effective_unknown: costs.effective_unknown,
                effective_on_purchase: costs.effective_on_purchase,
                null_text: false,
            },
        }
    }

    /// The resource that the row is for, and the resource whose cost it allocates.
    fn resource(&self) -> (Option<Text<'c>>, Option<Text<'c>>) {
        let own = self.row.named(Column::ResourceId);
        match self.row.named(Column::AllocatedResourceId) {
            Some(allocated) => (Some(allocated), own),
            None => (own, self.row.named(Column::ParentResourceId)),
        }
    }
}
