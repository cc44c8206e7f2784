//! Postings read back from Parquet, a batch at a time.

use std::fs::File;
use std::path::Path;

use arrow::array::{
    Array as _, AsArray as _, Date32Array, Decimal128Array, DictionaryArray, Int64Array, RecordBatch,
    StringArray, TypedDictionaryArray,
};
use arrow::datatypes::{Date32Type, Decimal128Type, Int32Type, Int64Type};
use ledger::{AttemptId, Day, ExperimentId, Posting};
use money::Amount;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::SettlementRecord;
use crate::StoreError;
use crate::word::known;

const BATCH_ROWS: usize = 8192;

/// Hands every posting of a settlement to `sink`, in the order in which they were staged.
pub(crate) fn read_postings(
    root: &Path,
    settlement: &SettlementRecord,
    sink: &mut dyn FnMut(Posting),
) -> Result<(), StoreError> {
    let mut rows = 0_u64;
    for file in &settlement.files {
        let path = root.join(file);
        let opened = File::open(&path).map_err(|error| StoreError::io("open", &path, error))?;
        let failed = |error| StoreError::parquet(&path, error);
        let builder = ParquetRecordBatchReaderBuilder::try_new(opened).map_err(failed)?;
        for batch in builder.with_batch_size(BATCH_ROWS).build().map_err(failed)? {
            let batch = batch?;
            let columns = Columns::of(&batch)?;
            for row in 0..batch.num_rows() {
                sink(columns.posting(row)?);
                rows += 1;
            }
        }
    }
    if rows == settlement.rows {
        return Ok(());
    }
    Err(StoreError::Disagreement {
        what: format!("the number of postings of `{}` for {}", settlement.source, settlement.period),
        expected: settlement.rows.to_string(),
        found: rows.to_string(),
    })
}

type Text<'a> = TypedDictionaryArray<'a, Int32Type, StringArray>;

/// The columns of a batch in their types.
struct Columns<'a> {
    step: Text<'a>,
    account: Text<'a>,
    attempt_id: Text<'a>,
    experiment_id: Text<'a>,
    rule: Text<'a>,
    evidence: Text<'a>,
    reason: Text<'a>,
    resource_kind: Text<'a>,
    service_name: Text<'a>,
    sub_account_id: Text<'a>,
    line_type: Text<'a>,
    usage_day: &'a Date32Array,
    currency: Text<'a>,
    billed_cost: &'a Decimal128Array,
    list_cost: &'a Decimal128Array,
    effective_cost: &'a Decimal128Array,
    marginal_cost: &'a Decimal128Array,
    charges: &'a Int64Array,
    unpriced: &'a Int64Array,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Result<Self, StoreError> {
        Ok(Self {
            step: text(batch, "step")?,
            account: text(batch, "account")?,
            attempt_id: text(batch, "attempt_id")?,
            experiment_id: text(batch, "experiment_id")?,
            rule: text(batch, "rule")?,
            evidence: text(batch, "evidence")?,
            reason: text(batch, "reason")?,
            resource_kind: text(batch, "resource_kind")?,
            service_name: text(batch, "service_name")?,
            sub_account_id: text(batch, "sub_account_id")?,
            line_type: text(batch, "line_type")?,
            usage_day: typed(batch, "usage_day", |column| column.as_primitive_opt::<Date32Type>())?,
            currency: text(batch, "currency")?,
            billed_cost: money(batch, "billed_cost")?,
            list_cost: money(batch, "list_cost")?,
            effective_cost: money(batch, "effective_cost")?,
            marginal_cost: money(batch, "marginal_cost")?,
            charges: typed(batch, "charges", |column| column.as_primitive_opt::<Int64Type>())?,
            unpriced: typed(batch, "unpriced", |column| column.as_primitive_opt::<Int64Type>())?,
        })
    }

    fn posting(&self, row: usize) -> Result<Posting, StoreError> {
        Ok(Posting {
            step: known(value(&self.step, row)?)?,
            account: known(value(&self.account, row)?)?,
            attempt: optional(&self.attempt_id, row).map(attempt).transpose()?,
            experiment: optional(&self.experiment_id, row).map(|text| ExperimentId(text.to_owned())),
            rule: known(value(&self.rule, row)?)?,
            evidence: known(value(&self.evidence, row)?)?,
            reason: value(&self.reason, row)?.to_owned(),
            resource_kind: known(value(&self.resource_kind, row)?)?,
            service_name: value(&self.service_name, row)?.to_owned(),
            sub_account_id: value(&self.sub_account_id, row)?.to_owned(),
            line_type: value(&self.line_type, row)?.to_owned(),
            usage_day: self.usage_day.is_valid(row).then(|| Day(self.usage_day.value(row))),
            currency: parsed(value(&self.currency, row)?, "currency")?,
            billed_cost: amount(self.billed_cost, row)?,
            list_cost: amount(self.list_cost, row)?,
            effective_cost: amount(self.effective_cost, row)?,
            marginal_cost: amount(self.marginal_cost, row)?,
            charges: count(self.charges, row)?,
            unpriced: count(self.unpriced, row)?,
        })
    }
}

fn typed<'a, T>(
    batch: &'a RecordBatch,
    name: &str,
    cast: impl Fn(&'a dyn arrow::array::Array) -> Option<T>,
) -> Result<T, StoreError> {
    let column = batch.column_by_name(name).and_then(|column| cast(column.as_ref()));
    column.ok_or_else(|| StoreError::damaged(format!("postings without a fitting column `{name}`")))
}

fn text<'a>(batch: &'a RecordBatch, name: &str) -> Result<Text<'a>, StoreError> {
    typed(batch, name, |column| {
        let dictionary: &DictionaryArray<Int32Type> = column.as_dictionary_opt()?;
        dictionary.downcast_dict::<StringArray>()
    })
}

fn money<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Decimal128Array, StoreError> {
    typed(batch, name, |column| column.as_primitive_opt::<Decimal128Type>())
}

fn optional<'a>(column: &Text<'a>, row: usize) -> Option<&'a str> {
    let key = column.keys().is_valid(row).then(|| column.keys().value(row))?;
    usize::try_from(key).ok().map(|key| column.values().value(key))
}

fn value<'a>(column: &Text<'a>, row: usize) -> Result<&'a str, StoreError> {
    optional(column, row).ok_or_else(|| StoreError::damaged("a posting without a required text"))
}

fn amount(column: &Decimal128Array, row: usize) -> Result<Amount, StoreError> {
    Amount::from_units(column.value(row)).map_err(|_| StoreError::OutOfRange { what: "amount" })
}

fn count(column: &Int64Array, row: usize) -> Result<u64, StoreError> {
    u64::try_from(column.value(row)).map_err(|_| StoreError::OutOfRange { what: "count" })
}

fn attempt(text: &str) -> Result<AttemptId, StoreError> {
    parsed(text, "attempt id")
}

fn parsed<T: std::str::FromStr>(text: &str, kind: &'static str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::UnknownWord { kind, word: text.to_owned() })
}
