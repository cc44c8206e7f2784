//! Which columns of a file hold their text in dictionaries alone, by its footer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::basic::Encoding;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::statistics::Statistics;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};

/// The metadata under a schema in which text that lies in dictionaries stays in them, so that what is made of a value
/// once needs not be made again for each of its rows.
pub(super) fn with_dictionaries(
    read: &ArrowReaderMetadata,
    options: ArrowReaderOptions,
) -> Result<ArrowReaderMetadata, ParquetError> {
    let coded = coded_leaves(read.metadata());
    if coded.is_empty() {
        return Ok(read.clone());
    }
    let mut leaf = 0;
    let fields: Vec<FieldRef> =
        read.schema().fields().iter().map(|field| with_codes(field, &coded, &mut leaf)).collect();
    let schema = Schema::new_with_metadata(fields, read.schema().metadata().clone());
    ArrowReaderMetadata::try_new(Arc::clone(read.metadata()), options.with_schema(Arc::new(schema)))
}

/// The leaf columns of which every page of every row group lies in a dictionary.
///
/// A writer that gives up its dictionary goes on in plain pages, and of those a dictionary would first have to be made.
fn coded_leaves(metadata: &ParquetMetaData) -> BTreeSet<usize> {
    let mut coded: BTreeMap<usize, bool> = BTreeMap::new();
    for group in metadata.row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate() {
            *coded.entry(leaf).or_insert(true) &= is_coded(chunk);
        }
    }
    coded.into_iter().filter_map(|(leaf, coded)| coded.then_some(leaf)).collect()
}

fn is_coded(chunk: &ColumnChunkMetaData) -> bool {
    let dictionary = |encoding| matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
    // A chunk without any value has nothing in its dictionary, and is read faster as text. What the footer counts is only
    // a hint here: either way every value is read.
    let nulls = chunk.statistics().and_then(Statistics::null_count_opt);
    let is_empty = nulls.is_some_and(|nulls| i64::try_from(nulls) == Ok(chunk.num_values()));
    !is_empty
        && chunk.dictionary_page_offset().is_some()
        && chunk.page_encoding_stats_mask().is_some_and(|pages| pages.encodings().all(dictionary))
}

/// The field with its coded leaves as dictionaries; leaves are counted in the order of the file.
fn with_codes(field: &FieldRef, coded: &BTreeSet<usize>, leaf: &mut usize) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(all_with_codes(fields, coded, leaf)),
        DataType::Map(entries, sorted) => DataType::Map(with_codes(entries, coded, leaf), *sorted),
        DataType::List(item) => DataType::List(with_codes(item, coded, leaf)),
        other => {
            let is_coded = coded.contains(leaf);
            *leaf += 1;
            match other {
                DataType::Utf8 if is_coded => {
                    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
                }
                _ => return Arc::clone(field),
            }
        }
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}

fn all_with_codes(fields: &Fields, coded: &BTreeSet<usize>, leaf: &mut usize) -> Fields {
    fields.iter().map(|field| with_codes(field, coded, leaf)).collect()
}
