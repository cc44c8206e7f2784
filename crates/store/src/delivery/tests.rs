//! Deliveries have the id of their rows, and their totals are those of what rests.

use std::sync::Arc;

use arrow::array::{DictionaryArray, Int32Array, RecordBatch, StringArray};
use ledger::SourceId;
use proptest::prelude::*;

use super::columns::PAGE_ROWS;
use super::{DeliveryWriter, Layout, StagedDelivery, Totals, totals_at_rest};
use crate::fixture::{PERIOD, Row, amount, batch, batch_in, new_store, source};
use crate::{Store, StoreError};

/// Row groups and parts that a few thousand rows fill.
const SMALL: Layout = Layout { row_group_rows: PAGE_ROWS, part_rows: 2 * PAGE_ROWS };

const COSTS: [Row; 5] = [
    ("0.01999999999999999872", Some("1")),
    ("-3.5", None),
    ("0", Some("0.000000000000000000000001")),
    ("12345678.9", Some("-2")),
    ("0.25", Some("3")),
];

fn many(count: usize) -> RecordBatch {
    let rows: Vec<Row> = COSTS.iter().copied().cycle().take(count).collect();
    batch(&rows)
}

/// Writes `whole` cut into batches of the lengths in `cuts`, which repeat.
fn written(store: &Store, whole: &RecordBatch, cuts: &[usize]) -> StagedDelivery {
    let period = PERIOD.parse().unwrap();
    let mut writer = DeliveryWriter::begin(store.root(), &source(), period, SMALL).unwrap();
    let mut offset = 0;
    for cut in cuts.iter().cycle() {
        let length = (*cut).min(whole.num_rows() - offset);
        writer.append(&whole.slice(offset, length)).unwrap();
        offset += length;
        if offset == whole.num_rows() {
            break;
        }
    }
    writer.finish().unwrap()
}

#[tokio::test]
async fn parts_are_cut_and_their_totals_are_those_at_rest() {
    let (_folder, store) = new_store().await;
    let staged = written(&store, &many(5 * PAGE_ROWS + 5), &[10_000]);
    assert_eq!(staged.files, ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]);
    assert_eq!(totals_at_rest(store.root(), &staged.paths()).unwrap(), staged.totals);
    assert_eq!(staged.totals.rows, 5 * 16_384 + 5);
    assert_eq!(staged.currency.unwrap().code(), "USD");
}

#[tokio::test]
async fn totals_are_exact_and_unpriced_is_not_zero() {
    let (_folder, store) = new_store().await;
    let staged = written(&store, &batch(&COSTS), &[2]);
    let billed = amount("12345675.66999999999999999872");
    let expect = Totals {
        rows: 5,
        billed,
        effective: billed,
        list: amount("2.000000000000000000000001"),
        marginal: billed,
        unpriced: 1,
    };
    assert_eq!(staged.totals, expect);
}

#[tokio::test]
async fn a_delivery_without_rows_has_an_id_and_no_files() {
    let (_folder, store) = new_store().await;
    let staged = store.begin_delivery(&source(), PERIOD.parse().unwrap()).unwrap().finish().unwrap();
    assert_eq!((staged.files.len(), staged.totals, staged.currency), (0, Totals::default(), None));
    assert_eq!(staged.id.0.len(), 32);
}

#[tokio::test]
async fn the_id_follows_from_source_period_and_rows() {
    let (_folder, store) = new_store().await;
    let id = |source: &str, period: &str, rows: usize| {
        let source = SourceId(source.to_owned());
        let mut writer = store.begin_delivery(&source, period.parse().unwrap()).unwrap();
        writer.append(&many(rows)).unwrap();
        writer.finish().unwrap().id
    };
    let first = id("a", "2026-07", 10);
    assert_eq!(first, id("a", "2026-07", 10));
    assert_ne!(first, id("a", "2026-07", 11));
    assert_ne!(first, id("a", "2026-08", 10));
    assert_ne!(first, id("b", "2026-07", 10));
    // It stays from version to version: another would show every unchanged bill as restated.
    assert_eq!(first.0, "f59299bed3cf568021eaf4a5b5339754");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_id_does_not_depend_on_how_rows_were_cut_into_batches(
        cuts in proptest::collection::vec(1..30_000_usize, 1..6)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (_folder, store) = runtime.block_on(new_store());
        let whole = many(3 * PAGE_ROWS + 1000);
        let (one, other) = (written(&store, &whole, &[whole.num_rows()]), written(&store, &whole, &cuts));
        prop_assert_eq!(one.id, other.id);
        prop_assert_eq!(one.totals, other.totals);
    }
}

#[tokio::test]
async fn a_batch_that_does_not_fit_is_refused_and_leaves_nothing() {
    let (_folder, store) = new_store().await;
    let code = |batches: &[RecordBatch]| {
        let mut writer = store.begin_delivery(&source(), PERIOD.parse().unwrap()).unwrap();
        batches.iter().try_for_each(|batch| writer.append(batch)).unwrap_err().code()
    };
    let plain = batch(&COSTS);
    let narrow = plain.project(&(0..plain.num_columns() - 1).collect::<Vec<_>>()).unwrap();
    assert_eq!(code(&[narrow]), "store::schema");
    assert_eq!(code(&[plain.clone(), batch_in("EUR", &COSTS)]), "store::mixed_currency");
    assert_eq!(code(&[batch_in("coins", &COSTS)]), "store::unknown_word");
    let left = std::fs::read_dir(store.root().join("staging")).unwrap().count();
    assert_eq!(left, 0, "what was staged is gone");
}

#[tokio::test]
async fn a_row_whose_dictionary_says_that_its_value_is_none_is_refused_where_one_must_be() {
    let (_folder, store) = new_store().await;
    let plain = batch(&COSTS);
    let code = |name: &str| {
        let at = plain.schema_ref().index_of(name).unwrap();
        let values = StringArray::from(vec![Some("here"), None]);
        let column = DictionaryArray::new(Int32Array::from(vec![0, 0, 1, 0, 0]), Arc::new(values));
        let mut columns = plain.columns().to_vec();
        columns[at] = Arc::new(column);
        let batch = RecordBatch::try_new(plain.schema(), columns).unwrap();
        let mut writer = store.begin_delivery(&source(), PERIOD.parse().unwrap()).unwrap();
        writer.append(&batch).map_err(|error| error.code())
    };
    assert_eq!(code("service_name"), Err("store::schema"));
    assert_eq!(code("resource_id"), Ok(()));
}

#[tokio::test]
async fn a_total_past_its_range_is_an_error() {
    let (_folder, store) = new_store().await;
    let most = "99999999999999.999999999999999999999999";
    let mut writer = store.begin_delivery(&source(), PERIOD.parse().unwrap()).unwrap();
    let appended = (0..2).try_for_each(|_| writer.append(&batch(&[(most, None), (most, None)])));
    let error = appended.and_then(|()| writer.finish().map(|_| ())).unwrap_err();
    assert!(matches!(error, StoreError::OutOfRange { what: "billed_cost" }), "{error}");
}
