//! Builds one record batch of the canonical schema, column by column in the order of `charges::COLUMNS`.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, TimestampMicrosecondArray};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use ledger::Interval;
use money::Amount;

use super::dictionary::{Mapped, TextColumn};
use super::sparse::Sparse;
use super::{ChargeRow, ChargeRun, Figures};
use crate::SourceError;
use crate::charges::{COLUMNS, ColumnType, MONEY, schema};
use crate::text::Text;

/// How many columns of text, money and instants the canonical schema has.
pub(super) const TEXTS: usize = count(ColumnType::Text);
const MONIES: usize = count(ColumnType::Money);
const INSTANTS: usize = count(ColumnType::Instant);

const fn count(kind: ColumnType) -> usize {
    let (mut found, mut at) = (0, 0);
    while at < COLUMNS.len() {
        if COLUMNS[at].kind as u8 == kind as u8 {
            found += 1;
        }
        at += 1;
    }
    found
}

/// Columns that grow together.
pub(super) struct BatchBuilder {
    rows: Vec<i64>,
    texts: Vec<TextColumn>,
    monies: Vec<Sparse<i128>>,
    quantity: Sparse<f64>,
    instants: Vec<Vec<i64>>,
    text_bytes: usize,
    /// Of this batch, among all that were begun.
    number: u64,
}

impl BatchBuilder {
    pub(super) fn new() -> Self {
        Self {
            rows: Vec::new(),
            texts: (0..TEXTS).map(|_| TextColumn::default()).collect(),
            monies: (0..MONIES).map(|_| Sparse::default()).collect(),
            quantity: Sparse::default(),
            instants: (0..INSTANTS).map(|_| Vec::new()).collect(),
            text_bytes: 0,
            number: 0,
        }
    }

    /// Begins the batch of this number.
    pub(super) const fn begin(&mut self, number: u64) {
        self.number = number;
    }

    /// Rows so far.
    pub(super) const fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of distinct text so far.
    pub(super) const fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Adds a row and gives the rows so far.
    pub(super) fn push(&mut self, row: &ChargeRow<'_>) -> Result<usize, SourceError> {
        let at = self.rows();
        self.rows.push(i64::try_from(row.row).unwrap_or(i64::MAX));
        for (column, text) in self.texts.iter_mut().zip(texts(row)) {
            if let Some(text) = text {
                self.text_bytes += column.set(at, text).map_err(not_built)?;
            }
        }
        self.push_figures(at, row.billing_period, &row.figures());
        Ok(self.rows())
    }

    /// Adds rows of a run and gives the rows so far; `mapped` is of each column of text what it was for the run before.
    pub(super) fn push_run(
        &mut self,
        run: &ChargeRun<'_>,
        range: Range<usize>,
        mapped: &mut Vec<Mapped>,
    ) -> Result<usize, SourceError> {
        let at = self.rows();
        let number = |row: usize| i64::try_from(run.first + row as u64).unwrap_or(i64::MAX);
        self.rows.extend(range.clone().map(number));
        mapped.resize_with(TEXTS, Mapped::default);
        for ((column, text), mapped) in self.texts.iter_mut().zip(run.texts.in_order()).zip(mapped) {
            mapped.belong_to(self.number);
            self.text_bytes += column.set_run(at, (text, range.clone()), mapped).map_err(not_built)?;
        }
        for (row, figures) in (at..).zip(run.figures.get(range).unwrap_or_default()) {
            self.push_figures(row, run.billing_period, figures);
        }
        Ok(self.rows())
    }

    fn push_figures(&mut self, row: usize, billing_period: Interval, figures: &Figures) {
        for (column, amount) in self.monies.iter_mut().zip(monies(figures)) {
            if let Some(amount) = amount {
                column.set(row, amount.units());
            }
        }
        if let Some(quantity) = figures.pricing_quantity {
            self.quantity.set(row, quantity);
        }
        for (column, instant) in self.instants.iter_mut().zip(instants(billing_period, figures)) {
            column.push(instant);
        }
    }

    /// The batch; a new one begins in the buffers of this one.
    pub(super) fn finish(&mut self) -> Result<RecordBatch, SourceError> {
        let rows = self.rows();
        self.text_bytes = 0;
        let (mut texts, mut monies, mut instants) =
            (self.texts.iter_mut(), self.monies.iter_mut(), self.instants.iter_mut());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(COLUMNS.len());
        for column in COLUMNS {
            let array: Option<ArrayRef> = match column.kind {
                ColumnType::Text => texts.next().map(|c| c.finish(rows)).transpose().map_err(not_built)?,
                ColumnType::Money => {
                    monies.next().map(|c| money_array(c, rows)).transpose().map_err(not_built)?
                }
                ColumnType::Instant => instants.next().map(|c| {
                    let array = TimestampMicrosecondArray::from(std::mem::take(c));
                    Arc::new(array.with_timezone("UTC")) as ArrayRef
                }),
                ColumnType::Quantity => {
                    let (quantities, nulls) = self.quantity.finish(rows);
                    Some(Arc::new(Float64Array::new(quantities.into(), nulls)))
                }
                ColumnType::Row => Some(Arc::new(Int64Array::from(std::mem::take(&mut self.rows)))),
            };
            arrays.extend(array);
        }
        RecordBatch::try_new(schema(), arrays).map_err(not_built)
    }
}

fn money_array(column: &mut Sparse<i128>, rows: usize) -> Result<ArrayRef, ArrowError> {
    let (precision, scale) = match MONEY {
        arrow::datatypes::DataType::Decimal128(precision, scale) => (precision, scale),
        _ => (38, 24),
    };
    let (units, nulls) = column.finish(rows);
    let array = Decimal128Array::try_new(units.into(), nulls)?;
    Ok(Arc::new(array.with_precision_and_scale(precision, scale)?))
}

fn not_built(fault: ArrowError) -> SourceError {
    SourceError::new("bill::batch", format!("a batch of charges could not be built: {fault}"))
}

/// The text columns in schema order.
fn texts<'a>(row: &'a ChargeRow<'a>) -> [Option<Text<'a>>; TEXTS] {
    [
        Some(row.file),
        row.line_item_id,
        Some(row.payer),
        row.payer_name,
        Some(row.currency.code().into()),
        Some(Text::word(row.category.word())),
        row.correction,
        row.description,
        row.pricing_unit,
        row.commitment_id,
        row.commitment_type,
        row.capacity_reservation_id,
        row.capacity_reservation_status,
        row.invoice_id,
        row.invoice_issuer,
        Some(row.provider),
        row.publisher,
        row.region,
        row.zone,
        row.resource_id,
        Some(row.service),
        row.sku,
        row.sku_price,
        row.sub_account,
        row.sub_account_name,
        row.tags,
        Some(row.line_type),
        Some(Text::word(row.class.word())),
        Some(Text::word(row.resource_kind.word())),
        row.usage_type,
        row.operation,
        row.instance_type,
        row.credit_type,
        Some(Text::word(row.split_role.word())),
        row.parent_resource_id,
        row.unmapped,
    ]
}

/// The columns of money in schema order.
const fn monies(row: &Figures) -> [Option<Amount>; MONIES] {
    [
        Some(row.billed_cost),
        Some(row.effective_cost),
        row.list_cost,
        row.contracted_cost,
        Some(row.marginal_cost),
        row.split_cost,
        row.split_unused_cost,
    ]
}

/// The instants in schema order.
const fn instants(billing: Interval, row: &Figures) -> [i64; INSTANTS] {
    [billing.start.0, billing.end.0, row.charge_period.start.0, row.charge_period.end.0]
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::Int32Type;
    use ledger::{BillingPeriod, ChargeCategory, Interval, LineClass, ResourceKind, SplitRole, Timestamp};

    use super::*;

    fn text(batch: &RecordBatch, column: &str) -> String {
        let array = batch.column_by_name(column).unwrap().as_dictionary::<Int32Type>();
        array.values().as_string::<i32>().value(array.key(0).unwrap()).to_owned()
    }

    /// A row whose text in each column is the column's name.
    fn named_row() -> ChargeRow<'static> {
        ChargeRow {
            row: 7,
            file: "x_file".into(),
            line_item_id: Some("x_line_item_id".into()),
            payer: "billing_account_id".into(),
            payer_name: Some("billing_account_name".into()),
            currency: "USD".parse().unwrap(),
            period: BillingPeriod { year: 2026, month: 7 },
            billing_period: Interval { start: Timestamp(1), end: Timestamp(2) },
            charge_period: Interval { start: Timestamp(3), end: Timestamp(4) },
            category: ChargeCategory::Usage,
            correction: Some("charge_class".into()),
            description: Some("charge_description".into()),
            billed_cost: "1".parse().unwrap(),
            effective_cost: "2".parse().unwrap(),
            list_cost: Some("3".parse().unwrap()),
            contracted_cost: Some("4".parse().unwrap()),
            marginal_cost: "5".parse().unwrap(),
            pricing_quantity: Some(1.5),
            pricing_unit: Some("pricing_unit".into()),
            commitment_id: Some("commitment_discount_id".into()),
            commitment_type: Some("commitment_discount_type".into()),
            capacity_reservation_id: Some("capacity_reservation_id".into()),
            capacity_reservation_status: Some("capacity_reservation_status".into()),
            invoice_id: Some("invoice_id".into()),
            invoice_issuer: Some("invoice_issuer_name".into()),
            provider: "provider_name".into(),
            publisher: Some("publisher_name".into()),
            region: Some("region_id".into()),
            zone: Some("availability_zone".into()),
            resource_id: Some("resource_id".into()),
            service: "service_name".into(),
            sku: Some("sku_id".into()),
            sku_price: Some("sku_price_id".into()),
            sub_account: Some("sub_account_id".into()),
            sub_account_name: Some("sub_account_name".into()),
            tags: Some("tags".into()),
            line_type: "x_line_type".into(),
            class: LineClass::Usage,
            resource_kind: ResourceKind::Compute,
            usage_type: Some("x_usage_type".into()),
            operation: Some("x_operation".into()),
            instance_type: Some("x_instance_type".into()),
            credit_type: Some("x_credit_type".into()),
            split_role: SplitRole::None,
            parent_resource_id: Some("x_parent_resource_id".into()),
            split_cost: Some("6".parse().unwrap()),
            split_unused_cost: Some("7".parse().unwrap()),
            unmapped: Some("x_unmapped".into()),
            unstored: crate::batches::Unstored::default(),
        }
    }

    #[test]
    fn every_field_lands_in_the_column_of_its_name() {
        let row = named_row();
        let mut builder = BatchBuilder::new();
        assert_eq!(builder.push(&row).unwrap(), 1);
        let batch = builder.finish().unwrap();
        let words = ["billing_currency", "charge_category", "x_class", "x_resource_kind", "x_split_role"];
        for column in COLUMNS.iter().filter(|c| c.kind == ColumnType::Text && !words.contains(&c.name)) {
            assert_eq!(text(&batch, column.name), column.name);
        }
        let shown: Vec<String> = words.iter().map(|word| text(&batch, word)).collect();
        assert_eq!(shown, ["USD", "Usage", "usage", "compute", "none"]);
        let monies = [
            "billed_cost",
            "effective_cost",
            "list_cost",
            "contracted_cost",
            "x_marginal_cost",
            "x_split_cost",
            "x_split_unused_cost",
        ];
        for (index, name) in monies.iter().enumerate() {
            let array = batch.column_by_name(name).unwrap();
            let units = array.as_primitive::<arrow::datatypes::Decimal128Type>().value(0);
            assert_eq!(Amount::from_units(units).unwrap().to_string(), (index + 1).to_string(), "for {name}");
        }
        let instants =
            ["billing_period_start", "billing_period_end", "charge_period_start", "charge_period_end"];
        for (index, name) in instants.iter().enumerate() {
            let array = batch.column_by_name(name).unwrap();
            let micros = array.as_primitive::<arrow::datatypes::TimestampMicrosecondType>().value(0);
            assert_eq!(micros, i64::try_from(index).unwrap() + 1, "for {name}");
        }
        assert_eq!(batch.num_rows(), 1);
        assert!(!batch.column(0).is_null(0));
    }
}
