//! Postings as the columns of a batch.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Decimal128Array, Int64Array, RecordBatch, StringDictionaryBuilder,
};
use arrow::datatypes::Int32Type;
use ledger::Posting;
use money::Amount;
use sources::charges::MONEY;

use super::postings_schema;
use crate::{DeliveryKey, StoreError};

/// The batch of postings of one delivery.
pub(super) fn batch(key: &DeliveryKey, postings: &[Posting]) -> Result<RecordBatch, StoreError> {
    let period = key.period.to_string();
    let columns = vec![
        text(postings, |_| Some(Cow::from(&key.source.0)))?,
        text(postings, |_| Some(Cow::from(&period)))?,
        text(postings, |_| Some(Cow::from(&key.delivery.0)))?,
        text(postings, |posting| Some(posting.step.word().into()))?,
        text(postings, |posting| Some(posting.account.word().into()))?,
        text(postings, |posting| posting.attempt.map(|attempt| attempt.to_string().into()))?,
        text(postings, |posting| posting.experiment.as_ref().map(|experiment| Cow::from(&experiment.0)))?,
        text(postings, |posting| Some(posting.rule.word().into()))?,
        text(postings, |posting| Some(posting.evidence.word().into()))?,
        text(postings, |posting| Some(Cow::from(&posting.reason)))?,
        text(postings, |posting| Some(posting.resource_kind.word().into()))?,
        text(postings, |posting| Some(Cow::from(&posting.service_name)))?,
        text(postings, |posting| Some(Cow::from(&posting.sub_account_id)))?,
        text(postings, |posting| Some(Cow::from(&posting.line_type)))?,
        Arc::new(Date32Array::from_iter(postings.iter().map(|posting| posting.usage_day.map(|day| day.0)))),
        text(postings, |posting| Some(posting.currency.code().into()))?,
        money(postings, |posting| posting.billed_cost)?,
        money(postings, |posting| posting.list_cost)?,
        money(postings, |posting| posting.effective_cost)?,
        money(postings, |posting| posting.marginal_cost)?,
        count(postings, |posting| posting.charges)?,
        count(postings, |posting| posting.unpriced)?,
    ];
    Ok(RecordBatch::try_new(postings_schema(), columns)?)
}

fn text<'a>(
    postings: &'a [Posting],
    of: impl Fn(&'a Posting) -> Option<Cow<'a, str>>,
) -> Result<ArrayRef, StoreError> {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    for posting in postings {
        match of(posting) {
            Some(text) => {
                builder.append(text)?;
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn money(postings: &[Posting], of: impl Fn(&Posting) -> Amount) -> Result<ArrayRef, StoreError> {
    let units = Decimal128Array::from_iter_values(postings.iter().map(|posting| of(posting).units()));
    Ok(Arc::new(units.with_data_type(MONEY)))
}

fn count(postings: &[Posting], of: impl Fn(&Posting) -> u64) -> Result<ArrayRef, StoreError> {
    let counts: Result<Vec<i64>, _> = postings.iter().map(|posting| i64::try_from(of(posting))).collect();
    let counts = counts.map_err(|_| StoreError::OutOfRange { what: "count" })?;
    Ok(Arc::new(Int64Array::from(counts)))
}
