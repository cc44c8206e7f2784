//! The texts of a run's charges: mostly the report's own columns as they are.

use super::super::derived;
use super::{Charges, Column, Common, Judged, LineClass, Report, Row, Run};
use crate::batches::{Gathered, RunText, RunTexts};
use crate::billing::Unmapped;
use crate::billing::table::reader::Core;
use crate::text::Text;
use ledger::SplitRole;

/// Columns whose texts are worked out row by row.
#[derive(Default)]
struct Worked {
    region: Gathered,
    instance_type: Gathered,
    capacity_reservation: (Gathered, Gathered),
}

/// Which of them must be.
#[derive(Clone, Copy)]
struct Needed {
    product: bool,
    region: bool,
    instance_type: bool,
    capacity_reservation: bool,
}

impl Report<'_> {
    /// The texts of a run.
    pub(super) fn texts<'r>(
        &mut self,
        core: &mut Core<'_>,
        run: Run<'r>,
        (common, charges, file): (&'r Common<'r>, &'r Charges, &'r str),
    ) -> RunTexts<'r> {
        let needed = Needed {
            product: run.layout.here(Column::Product).is_some(),
            region: run.layout.here(Column::Product).is_some() && !run.is_full(Column::Region),
            instance_type: !run.is_full(Column::InstanceType),
            capacity_reservation: self.may_name_reservations(run),
        };
        let worked = self.work_out((run, charges), needed);
        let unmapped = match core.options.unmapped {
            Unmapped::Keep => RunText::Gathered(core.extra.unmapped_of(run.layout, run.columns)),
            Unmapped::Drop => RunText::None,
        };
        let of = |worked: Gathered, needed, otherwise: RunText<'r>| {
            if needed { RunText::Gathered(worked) } else { otherwise }
        };
        let (reservation, status) = worked.capacity_reservation;
        let unused = charges.each_judged(&|judged| derived::unused(judged));
        RunTexts {
            capacity_reservation_id: of(
                reservation,
                needed.capacity_reservation,
                run.text(Column::CapacityReservationArn),
            ),
            capacity_reservation_status: of(status, needed.capacity_reservation, unused),
            region: of(worked.region, needed.region, run.first_of([Column::Region, Column::RegionName])),
            instance_type: of(worked.instance_type, needed.instance_type, run.text(Column::InstanceType)),
            tags: RunText::Gathered(core.extra.tags_of(run.layout, run.columns)),
            unmapped,
            file: RunText::Same(file.into()),
            payer: RunText::Same(common.key.payer),
            currency: RunText::Same(common.currency.code().into()),
            provider: RunText::Same(Text::word("AWS")),
            ..run.plain_texts(charges)
        }
    }

    /// True if a row may name a capacity reservation otherwise than by its column.
    fn may_name_reservations(&mut self, run: Run<'_>) -> bool {
        if run.layout.here(Column::CapacityReservationStatus).is_some() {
            return true;
        }
        let Some(resource) = run.layout.here(Column::ResourceId) else { return false };
        let Some(dictionary) = run.columns.dictionary(resource) else {
            return run
                .each_row()
                .any(|cells| run.row(&cells).text(Column::ResourceId).is_some_and(derived::is_reservation));
        };
        match self.reservations {
            Some((first, known)) if first == dictionary.first() => known,
            _ => {
                let any = dictionary.values().iter().flatten().any(derived::is_reservation);
                self.reservations = Some((dictionary.first(), any));
                any
            }
        }
    }

    fn work_out(&mut self, (run, charges): (Run<'_>, &Charges), needed: Needed) -> Worked {
        let mut worked = Worked::default();
        if !(needed.product || needed.instance_type || needed.capacity_reservation) {
            return worked;
        }
        for (cells, number) in run.each_row().zip(charges.alike.numbers()) {
            let row = run.row(&cells);
            let Some(judged) = charges.judged.get(*number as usize) else { break };
            if needed.product {
                self.product.read(&row);
            }
            if needed.region {
                worked.region.push(derived::region(&row, &self.product));
            }
            if needed.instance_type {
                worked.instance_type.push(derived::instance_type(&row, judged, &self.product));
            }
            if needed.capacity_reservation {
                let (id, status) = derived::capacity_reservation(&row, judged);
                worked.capacity_reservation.0.push(id);
                worked.capacity_reservation.1.push(status);
            }
        }
        worked
    }
}

impl Charges {
    /// A text that follows from how a row is judged.
    fn each_judged(&self, of: &dyn Fn(&Judged) -> Option<Text<'static>>) -> RunText<'_> {
        RunText::chosen(self.alike.numbers(), self.judged.iter().map(of).collect())
    }
}

impl<'c> Run<'c> {
    /// The texts that are a column of the report, or follow from how a row is judged; no row is a correction.
    fn plain_texts(self, charges: &'c Charges) -> RunTexts<'c> {
        let word = |of: &dyn Fn(&Judged) -> &'static str| {
            charges.each_judged(&|judged| Some(Text::word(of(judged))))
        };
        let role = |class| if class == LineClass::SplitDetail { SplitRole::Child } else { SplitRole::None };
        let firsts = charges.alike.firsts().iter().map(|first| {
            let cells = self.columns.row(*first);
            derived::commitment(&self.row(&cells)).1
        });
        RunTexts {
            line_item_id: self.text(Column::LineItemId),
            payer_name: self.text(Column::PayerAccountName),
            category: word(&|judged| judged.line.line_type.category().word()),
            description: self.text(Column::Description),
            pricing_unit: self.text(Column::PricingUnit),
            commitment_id: self.first_of([Column::SpArn, Column::ReservationArn]),
            commitment_type: RunText::chosen(charges.alike.numbers(), firsts.collect()),
            invoice_id: self.text(Column::InvoiceId),
            invoice_issuer: self.first_of([Column::InvoicingEntity, Column::BillingEntity]),
            publisher: self.text(Column::LegalEntity),
            zone: self.text(Column::Zone),
            resource_id: self.text(Column::ResourceId),
            service: self.text_or(Column::ProductCode, "unknown"),
            sku: self.text(Column::Sku),
            sku_price: self.first_of([Column::RateCode, Column::RateId]),
            sub_account: self.text(Column::UsageAccountId),
            sub_account_name: self.text(Column::UsageAccountName),
            line_type: self.text_or(Column::LineType, ""),
            class: word(&|judged| judged.class.word()),
            resource_kind: word(&|judged| judged.line.words.meter.kind.word()),
            usage_type: self.text(Column::UsageType),
            operation: self.text(Column::Operation),
            split_role: word(&|judged| role(judged.class).word()),
            parent_resource_id: self.text(Column::SplitParent),
            ..RunTexts::default()
        }
    }

    /// The first of two columns that has a text, row by row.
    fn first_of(self, [first, second]: [Column; 2]) -> RunText<'c> {
        if self.layout.here(second).is_none() || self.is_full(first) {
            return self.text(first);
        }
        if self.layout.here(first).is_none() {
            return self.text(second);
        }
        self.gather(&|row| row.named(first).or_else(|| row.named(second)))
    }

    /// A column of text with a word for the rows that have none.
    fn text_or(self, column: Column, word: &'static str) -> RunText<'c> {
        if self.is_full(column) {
            return self.text(column);
        }
        self.gather(&|row| Some(row.named(column).unwrap_or(Text::word(word))))
    }

    fn gather(self, of: &dyn for<'x> Fn(&Row<'x, Cells<'x>>) -> Option<Text<'x>>) -> RunText<'c> {
        let mut gathered = Gathered::default();
        for cells in self.each_row() {
            gathered.push(of(&self.row(&cells)));
        }
        RunText::Gathered(gathered)
    }

    fn each_row(self) -> impl Iterator<Item = Cells<'c>> {
        self.columns.each_row()
    }

    const fn row<'x>(&self, cells: &'x Cells<'c>) -> Row<'x, Cells<'c>>
    where
        'c: 'x,
    {
        Row { layout: self.layout, cells }
    }
}

type Cells<'c> = crate::billing::table::columns::ColumnsRow<'c>;
