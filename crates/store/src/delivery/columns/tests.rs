//! What is written is read back equal by the library's reader, and its bytes do not depend on how rows were cut.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, DictionaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray, new_null_array,
};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Int32Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Encoding, PageType};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader};
use proptest::prelude::*;
use sources::charges::{self, COLUMNS, ColumnType};

use super::PAGE_ROWS;
use crate::delivery::charges_file::ChargesFiles;
use crate::delivery::writer::Layout;

/// Two pages a row group, so that a few tens of thousands of rows make several.
const LAYOUT: Layout = Layout { row_group_rows: 2 * PAGE_ROWS, part_rows: 1 << 23 };

/// How a batch brings its text.
#[derive(Debug, Clone, Copy)]
struct Style {
    /// Values stand in the dictionary from last to first.
    reversed: bool,
    /// Values that no row has.
    unused: usize,
    /// Each value stands there twice and rows take turns.
    twice: bool,
    /// A row without value has the key of a value that is none.
    null_value: bool,
}

const PLAIN: Style = Style { reversed: false, unused: 0, twice: false, null_value: false };

fn dictionary(rows: &[Option<String>], style: Style) -> DictionaryArray<Int32Type> {
    let distinct: BTreeSet<&String> = rows.iter().flatten().collect();
    let mut values: Vec<Option<String>> = distinct.into_iter().cloned().map(Some).collect();
    if style.null_value {
        values.push(None);
    }
    if style.twice {
        values.extend_from_within(..);
    }
    values.extend((0..style.unused).map(|at| Some(format!("unused-{at}"))));
    if style.reversed {
        values.reverse();
    }
    let mut places: BTreeMap<Option<&str>, Vec<i32>> = BTreeMap::new();
    for (at, value) in (0..).zip(&values) {
        places.entry(value.as_deref()).or_default().push(at);
    }
    let key = |(row, text): (usize, &Option<String>)| {
        let places = places.get(&text.as_deref())?;
        Some(places[row % places.len()])
    };
    let keys: Int32Array = rows.iter().enumerate().map(key).collect();
    DictionaryArray::new(keys, Arc::new(StringArray::from(values)))
}

/// What the columns of a batch hold; those of one kind differ by their number.
struct Table<'a> {
    rows: usize,
    text: &'a dyn Fn(usize, usize) -> Option<String>,
    money: &'a dyn Fn(usize, usize) -> Option<i128>,
    quantity: &'a dyn Fn(usize) -> Option<f64>,
    instant: &'a dyn Fn(usize, usize) -> i64,
}

impl Table<'_> {
    /// Rows of it as a canonical batch.
    fn batch(&self, rows: std::ops::Range<usize>, style: Style) -> RecordBatch {
        let columns = COLUMNS.iter().enumerate().map(|(number, column)| -> ArrayRef {
            let must = |text: Option<String>| text.or_else(|| column.required.then(|| "must".to_owned()));
            match column.kind {
                ColumnType::Text => {
                    let texts: Vec<_> = rows.clone().map(|row| must((self.text)(number, row))).collect();
                    let null_value = style.null_value && !column.required;
                    Arc::new(dictionary(&texts, Style { null_value, ..style }))
                }
                ColumnType::Money => {
                    let units = rows.clone().map(|row| match (self.money)(number, row) {
                        None if column.required => Some(7),
                        units => units,
                    });
                    Arc::new(units.collect::<Decimal128Array>().with_data_type(charges::MONEY))
                }
                ColumnType::Quantity => Arc::new(rows.clone().map(self.quantity).collect::<Float64Array>()),
                ColumnType::Instant => {
                    let micros = rows.clone().map(|row| (self.instant)(number, row));
                    Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone("UTC"))
                }
                ColumnType::Row => {
                    let row = |row: usize| i64::try_from(row * row).unwrap();
                    Arc::new(Int64Array::from_iter_values(rows.clone().map(row)))
                }
            }
        });
        RecordBatch::try_new(charges::schema(), columns.collect()).unwrap()
    }
}

/// The bytes of the file that these batches make, and the hashes of its rows.
fn written(batches: &[RecordBatch]) -> (Vec<u8>, Vec<blake3::Hash>) {
    let folder = tempfile::tempdir().unwrap();
    let mut files = ChargesFiles::new(folder.path(), LAYOUT).unwrap();
    batches.iter().for_each(|batch| files.append(batch).unwrap());
    let written = files.finish().unwrap();
    assert_eq!(written.parts, 1);
    (std::fs::read(folder.path().join("part-00000.parquet")).unwrap(), written.hashes)
}

fn read(bytes: &[u8]) -> Vec<RecordBatch> {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    assert_eq!(builder.schema().fields(), charges::schema().fields());
    builder.with_batch_size(5000).build().unwrap().map(Result::unwrap).collect()
}

/// A column of all batches, its text no longer in dictionaries.
fn whole(batches: &[RecordBatch], at: usize) -> ArrayRef {
    let columns: Vec<ArrayRef> = batches
        .iter()
        .map(|batch| match batch.column(at).as_dictionary_opt::<Int32Type>() {
            Some(column) => cast(column, &DataType::Utf8).unwrap(),
            None => Arc::clone(batch.column(at)),
        })
        .collect();
    concat(&columns.iter().map(AsRef::as_ref).collect::<Vec<_>>()).unwrap()
}

fn must_be_equal(expected: &[RecordBatch], found: &[RecordBatch]) {
    for (at, column) in COLUMNS.iter().enumerate() {
        let (expected, found) = (whole(expected, at), whole(found, at));
        assert_eq!(expected.to_data(), found.to_data(), "in `{}`", column.name);
    }
}

/// Writes the table whole and cut, and reads it back.
fn must_survive(table: &Table<'_>) -> Vec<u8> {
    let uncut = [table.batch(0..table.rows, PLAIN)];
    let (bytes, hashes) = written(&uncut);
    must_be_equal(&uncut, &read(&bytes));
    let style = Style { reversed: true, unused: 3, twice: true, null_value: true };
    let step = 5003;
    let starts = (0..table.rows).step_by(step);
    let cut: Vec<_> = starts.map(|start| table.batch(start..table.rows.min(start + step), style)).collect();
    assert!(written(&cut) == (bytes.clone(), hashes), "cut every {step} rows");
    bytes
}

fn metadata(bytes: &[u8]) -> ParquetMetaData {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    let policy = parquet::file::metadata::PageIndexPolicy::Required;
    let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
    let reader = ParquetMetaDataReader::new().with_page_index_policy(policy);
    reader.with_metadata_options(Some(options)).parse_and_finish(&bytes).unwrap()
}

/// The encodings of the data pages of a column in a row group, and how many pages each has.
fn pages(metadata: &ParquetMetaData, group: usize, name: &str) -> Vec<(Encoding, i32)> {
    let at = charges::schema().index_of(name).unwrap();
    let stats = metadata.row_group(group).column(at).page_encoding_stats().unwrap().iter();
    stats.filter(|s| s.page_type == PageType::DATA_PAGE).map(|s| (s.encoding, s.count)).collect()
}

#[test]
fn columns_of_every_kind_survive() {
    let table = Table {
        rows: 3 * PAGE_ROWS + 77,
        text: &|column, row| match column % 5 {
            0 => None,
            1 => Some(String::new()),
            2 => (row % (column + 2) != 0).then(|| format!("{}", row / 100 % 300)),
            3 => (row > 20_000).then(|| format!("{row}-{column}")),
            _ => Some(format!("{}", row * row % 1013)),
        },
        money: &|column, row| match column % 3 {
            0 => None,
            1 => Some(i128::try_from(row * row).unwrap() - 5_000_000),
            _ => (row % 7 < 5).then(|| [10_i128.pow(37), -1, 0][row / 9 % 3]),
        },
        quantity: &|row| [None, Some(-0.0), Some(0.0), Some(f64::NAN), Some(1.5)].get(row % 6).copied()?,
        instant: &|column, row| i64::try_from(row / (column * 500)).unwrap() - 40,
    };
    let bytes = must_survive(&table);
    let metadata = metadata(&bytes);
    assert_eq!(metadata.num_row_groups(), 2);
    assert_eq!(metadata.row_group(1).num_rows(), i64::try_from(PAGE_ROWS + 77).unwrap());
}

#[test]
fn values_that_hardly_repeat_are_written_as_they_come() {
    let table = Table {
        rows: 2 * PAGE_ROWS,
        text: &|column, row| match COLUMNS[column].name {
            "x_line_item_id" => Some(format!("id-{row}")),
            "tags" => Some(format!("{}", row % 100)),
            // Hardly repeats by number, but what repeats is long.
            "charge_description" => Some(if row % 20 < 2 { "long".repeat(100) } else { format!("{row}") }),
            _ => None,
        },
        money: &|column, row| Some(i128::try_from(if column % 2 == 0 { row } else { row % 3000 }).unwrap()),
        quantity: &|row| Some(row as f64),
        instant: &|_, row| i64::try_from(row).unwrap(),
    };
    let metadata = metadata(&must_survive(&table));
    let pages = |name| pages(&metadata, 0, name);
    assert_eq!(pages("x_line_item_id"), [(Encoding::PLAIN, 2)]);
    assert_eq!(pages("tags"), [(Encoding::RLE_DICTIONARY, 2)]);
    assert_eq!(pages("charge_description"), [(Encoding::RLE_DICTIONARY, 2)]);
    assert_eq!(pages("x_file"), [(Encoding::RLE_DICTIONARY, 2)]);
    assert_eq!(pages("pricing_quantity"), [(Encoding::PLAIN, 2)]);
    assert_eq!(pages("contracted_cost"), [(Encoding::PLAIN, 2)]);
    assert_eq!(pages("list_cost"), [(Encoding::RLE_DICTIONARY, 2)]);
    assert_eq!(pages("x_row"), [(Encoding::DELTA_BINARY_PACKED, 2)]);
}

#[test]
fn a_dictionary_that_is_full_is_left_and_a_page_of_long_texts_ends_early() {
    let table = Table {
        rows: 2 * PAGE_ROWS,
        text: &|column, row| match COLUMNS[column].name {
            // Full within its second page.
            "tags" if row > PAGE_ROWS => Some(format!("{row}{}", "x".repeat(1200))),
            "tags" => Some("same".to_owned()),
            // Full within its first page, of which each text is new.
            "charge_description" => Some(format!("{}{row}", "y".repeat(800))),
            _ => None,
        },
        money: &|_, _| None,
        quantity: &|_| None,
        instant: &|_, _| 0,
    };
    let metadata = metadata(&must_survive(&table));
    let pages = |name| pages(&metadata, 0, name);
    assert_eq!(pages("tags"), [(Encoding::RLE_DICTIONARY, 2), (Encoding::PLAIN, 11)]);
    assert_eq!(pages("charge_description"), [(Encoding::PLAIN, 19)]);
}

#[test]
fn dictionaries_are_left_when_they_are_large_together() {
    let table = Table {
        rows: 2 * PAGE_ROWS,
        text: &|column, row| match column {
            30..36 => Some(format!("{}{column}", row / 2).repeat(120)),
            36 => Some(format!("{}", row % 9)),
            _ => None,
        },
        money: &|_, _| None,
        quantity: &|_| None,
        instant: &|_, _| 0,
    };
    let metadata = metadata(&must_survive(&table));
    for column in &COLUMNS[30..36] {
        let pages = pages(&metadata, 0, column.name);
        assert_eq!(pages.first(), Some(&(Encoding::RLE_DICTIONARY, 1)), "{}", column.name);
        assert_eq!(pages.get(1).map(|page| page.0), Some(Encoding::PLAIN), "{}", column.name);
    }
    assert_eq!(pages(&metadata, 0, "tags"), [(Encoding::RLE_DICTIONARY, 2)]);
}

#[test]
fn the_footer_tells_nulls_everywhere_and_ranges_of_instants_and_rows() {
    let table = Table {
        rows: PAGE_ROWS + 10,
        text: &|_, row| (row % 2 == 0).then(|| "x".to_owned()),
        money: &|_, row| (row > 3).then_some(1),
        quantity: &|_| None,
        instant: &|_, row| i64::try_from(row).unwrap() - 3,
    };
    let metadata = metadata(&must_survive(&table));
    let at = |name| charges::schema().index_of(name).unwrap();
    let statistics = |name| metadata.row_group(0).column(at(name)).statistics().unwrap();
    let last = i64::try_from(PAGE_ROWS + 9).unwrap();
    assert_eq!(statistics("charge_period_start").min_bytes_opt(), Some(&(-3_i64).to_le_bytes()[..]));
    assert_eq!(statistics("charge_period_start").max_bytes_opt(), Some(&(last - 3).to_le_bytes()[..]));
    assert_eq!(statistics("x_row").max_bytes_opt(), Some(&(last * last).to_le_bytes()[..]));
    assert_eq!(statistics("resource_id").min_bytes_opt(), None);
    assert_eq!(statistics("resource_id").null_count_opt(), Some(u64::try_from(PAGE_ROWS / 2 + 5).unwrap()));
    assert_eq!(statistics("list_cost").null_count_opt(), Some(4));
    assert_eq!(statistics("x_file").null_count_opt(), Some(0));
    let offsets = metadata.offset_index().unwrap();
    assert!(offsets[0].iter().all(|column| column.page_locations.len() == 2));
    assert_eq!(offsets[0][at("tags")].page_locations[1].first_row_index, 16_384);
}

fn rows() -> impl Strategy<Value = Vec<(Option<u8>, Option<i64>, bool)>> {
    proptest::collection::vec(
        (proptest::option::of(0..6_u8), proptest::option::of(-2..3_i64), any::<bool>()),
        1..60,
    )
}

fn styles() -> impl Strategy<Value = Style> {
    (any::<bool>(), 0..3_usize, any::<bool>(), any::<bool>())
        .prop_map(|(reversed, unused, twice, null_value)| Style { reversed, unused, twice, null_value })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_in_any_batches_are_read_back(
        parts in proptest::collection::vec((rows(), styles()), 1..6),
        repeats in 1..20_usize,
    ) {
        let all: Vec<_> = parts.iter().flat_map(|(rows, _)| rows).collect();
        let table = Table {
            rows: all.len(),
            text: &|column, row| {
                let (text, _, long) = all[row];
                text.filter(|text| usize::from(*text) != column % 6)
                    .map(|text| format!("{text}").repeat(if *long { repeats } else { 1 }))
            },
            money: &|column, row| all[row].1.map(|units| i128::from(units) << (column + 60)),
            quantity: &|row| all[row].1.map(|units| units as f64),
            instant: &|_, row| all[row].1.unwrap_or(i64::MIN),
        };
        let mut start = 0;
        let cut: Vec<RecordBatch> = parts
            .iter()
            .map(|(rows, style)| {
                start += rows.len();
                table.batch(start - rows.len()..start, *style)
            })
            .collect();
        let (bytes, hashes) = written(&cut);
        must_be_equal(&cut, &read(&bytes));
        let uncut = [table.batch(0..table.rows, PLAIN)];
        prop_assert!(written(&uncut) == (bytes, hashes));
    }
}

#[test]
fn an_empty_dictionary_and_a_slice_are_taken() {
    let table = Table {
        rows: 100,
        text: &|_, row| (row % 3 > 0).then(|| format!("{row}")),
        money: &|_, row| (row % 3 > 0).then_some(1),
        quantity: &|row| Some(row as f64),
        instant: &|_, _| 0,
    };
    let batch = table.batch(0..100, PLAIN);
    let nothing = |at: usize| match COLUMNS[at] {
        column if column.required => Arc::clone(batch.column(at)),
        column => new_null_array(&charges::arrow_type(column.kind), 100),
    };
    let empty = RecordBatch::try_new(charges::schema(), (0..COLUMNS.len()).map(nothing).collect()).unwrap();
    let batches = [batch.slice(7, 13), empty, batch.slice(40, 1), batch.slice(50, 0), batch.slice(99, 1)];
    let (bytes, _) = written(&batches);
    must_be_equal(&batches, &read(&bytes));
}

#[test]
fn packed_bits_and_differences_are_read_back_at_every_width() {
    for width in 0..=20_u32 {
        let distinct = 1_usize << width.min(15);
        let table = Table {
            rows: 3000,
            text: &|_, row| Some(format!("{}", row * 31 % distinct)),
            money: &|_, row| Some(i128::try_from(row * 31 % distinct).unwrap()),
            quantity: &|_| None,
            instant: &|_, row| i64::try_from(row * 31 % distinct).unwrap() << width,
        };
        let batch = [table.batch(0..3000, PLAIN)];
        must_be_equal(&batch, &read(&written(&batch).0));
    }
    let numbers: [i64; 6] = [i64::MIN, i64::MAX, 0, -1, i64::MAX, i64::MIN];
    let table = Table {
        rows: 1000,
        text: &|_, _| None,
        money: &|_, _| None,
        quantity: &|_| None,
        instant: &|_, row| numbers[row % 6],
    };
    let batch = table.batch(0..1000, PLAIN);
    let mut columns = batch.columns().to_vec();
    columns[0] = Arc::new(Int64Array::from_iter_values((0..1000).map(|row| numbers[row % 5] >> (row / 16))));
    let batch = [RecordBatch::try_new(charges::schema(), columns).unwrap()];
    must_be_equal(&batch, &read(&written(&batch).0));
}
