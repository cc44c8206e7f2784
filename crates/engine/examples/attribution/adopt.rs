//! Takes a month that others generated: the charges of a store that imported it, and holdings in a plain table.
//!
//! The table has `attempt_id, experiment_id, resource_id, start, end, gpus, capacity`, attempt by attempt. Attempts are
//! numbered anew in the order of our ids, in which ties of a split are broken, so that the peers can break them alike.

use std::collections::BTreeMap;
use std::fs::{File, create_dir_all};
use std::path::{Path, PathBuf};

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type, TimeUnit, TimestampMicrosecondType};
use ledger::Attempt;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use testkit::build::{attempt, holding};

use crate::generate::write_usage;

/// Links the charges of a store and writes the holdings under `dir`.
pub(crate) fn adopt(dir: &Path, store: &Path, usage: &Path) {
    let charges = dir.join("charges");
    create_dir_all(&charges).unwrap();
    let mut parts = Vec::new();
    find_parts(&store.join("charges"), &mut parts);
    parts.sort();
    assert!(!parts.is_empty(), "no charges under {}", store.display());
    for (number, part) in parts.iter().enumerate() {
        std::fs::hard_link(part, charges.join(format!("part-{number:05}.parquet"))).unwrap();
    }
    write_usage(dir, &attempts(usage));
}

fn find_parts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_parts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            found.push(path);
        }
    }
}

fn attempts(usage: &Path) -> Vec<Attempt> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(usage).unwrap()).unwrap();
    let mut attempts: BTreeMap<i32, Attempt> = BTreeMap::new();
    for batch in reader.build().unwrap() {
        add(&batch.unwrap(), &mut attempts);
    }
    let mut attempts: Vec<Attempt> = attempts.into_values().collect();
    attempts.sort_by_key(|attempt| attempt.id);
    attempts
}

fn add(batch: &RecordBatch, attempts: &mut BTreeMap<i32, Attempt>) {
    let micros = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let column = |name: &str, kind: &DataType| -> ArrayRef {
        cast(batch.column_by_name(name).unwrap(), kind).unwrap()
    };
    let [numbers, experiments, gpus, capacities] =
        ["attempt_id", "experiment_id", "gpus", "capacity"].map(|name| column(name, &DataType::Int32));
    let [starts, ends] = ["start", "end"].map(|name| column(name, &micros));
    let resources = column("resource_id", &DataType::Utf8);
    let int = |array: &ArrayRef, row: usize| array.as_primitive::<Int32Type>().value(row);
    let time = |array: &ArrayRef, row: usize| array.as_primitive::<TimestampMicrosecondType>().value(row);
    for row in 0..batch.num_rows() {
        let number = int(&numbers, row);
        let made = attempts.entry(number).or_insert_with(|| {
            attempt(&format!("bench:{number}"), &format!("exp-{}", int(&experiments, row)), (0, 1))
        });
        let (units, capacity) = (int(&gpus, row) as u64, int(&capacities, row) as u64);
        let interval = (time(&starts, row), time(&ends, row));
        if interval.0 < interval.1 {
            made.bindings.push(holding(resources.as_string::<i32>().value(row), interval, units, capacity));
        }
    }
}
